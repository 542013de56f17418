//! A server of tokio-quiche, and a client of quiche that reads one datagram at a time.

use crate::{Arrivals, PATHS, site};
use plug_in::over_h3::AnyError;
use plug_in::over_tokio_quiche::Answers;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use schedulers::find_scheme;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;
use tokio_quiche::metrics::DefaultMetrics;
use tokio_quiche::quiche::h3::{self, APPLICATION_PROTOCOL, Event, Header};
use tokio_quiche::quiche::{
    self, Config, Connection, ConnectionId, PROTOCOL_VERSION, RecvInfo, Shutdown,
};
use tokio_quiche::settings::{CertificateKind, Hooks, QuicSettings, TlsCertificatePaths};
use tokio_quiche::{ConnectionParams, listen};

/// The responses, by path, in the order in which their pieces came.
pub async fn order(scheme: &str) -> Result<String, AnyError> {
    let pieces = fetch(serve(scheme, 3).await?, None).await?;
    Ok(pieces.join(" "))
}

#[tokio::test]
async fn a_cancelled_response_does_not_hold_up_the_others() -> Result<(), AnyError> {
    let pieces = fetch(serve("fifo", 100).await?, Some("0")).await?;
    assert_eq!(pieces.iter().filter(|path| **path != "0").count(), 200);
    Ok(())
}

/// The address of a server whose bodies have this many pieces.
async fn serve(scheme: &str, pieces: usize) -> Result<SocketAddr, AnyError> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    let address = socket.local_addr()?;
    let folder = format!("{}/{scheme}-{pieces}", env!("CARGO_TARGET_TMPDIR"));
    let (cert, private_key) = certificate(&folder)?;
    let kind = CertificateKind::X509;
    let tls = TlsCertificatePaths { cert: &cert, private_key: &private_key, kind };
    let params = ConnectionParams::new_server(QuicSettings::default(), tls, Hooks::default());
    let mut clients = listen([socket], params, DefaultMetrics)?.remove(0).into_inner();
    let scheme = find_scheme(scheme)?;
    tokio::spawn(async move {
        let client = clients.recv().await.expect("a client").expect("a connection");
        client.start(Answers::new(&scheme, PATHS.len(), move |path| site(path, pieces)));
    });
    Ok(address)
}

/// The files of a certificate and its key: tokio-quiche reads files.
fn certificate(folder: &str) -> Result<(String, String), AnyError> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()])?;
    let files = (format!("{folder}/cert.pem"), format!("{folder}/key.pem"));
    std::fs::create_dir_all(folder)?;
    std::fs::write(&files.0, cert.pem())?;
    std::fs::write(&files.1, signing_key.serialize_pem())?;
    Ok(files)
}

/// Fetches all paths, and gives up on one as its first bytes come. Returns the path of each piece, in the order of arrival.
async fn fetch(
    address: SocketAddr,
    cancelled: Option<&str>,
) -> Result<Vec<&'static str>, AnyError> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    let to = socket.local_addr()?;
    let id = ConnectionId::from_ref(&[7; 16]);
    let mut quic = quiche::connect(Some("localhost"), &id, to, address, &mut config()?)?;
    let (mut http, mut arrivals) = (None, Arrivals::default());
    let mut datagram = [0; 1500];
    let mut missing = PATHS.len() - cancelled.iter().len();
    while missing > 0 {
        while let Ok((bytes, _)) = quic.send(&mut datagram) {
            socket.send_to(&datagram[..bytes], address).await?;
        }
        let due = quic.timeout().unwrap_or(Duration::MAX);
        match timeout(due, socket.recv(&mut datagram)).await {
            Ok(bytes) => {
                quic.recv(&mut datagram[..bytes?], RecvInfo { from: address, to })?;
            }
            Err(_) => quic.on_timeout(),
        }
        if quic.is_closed() {
            return Err("the server has closed the connection".into());
        }
        if http.is_none() && quic.is_established() {
            http = Some(request(&mut quic)?);
        }
        if let Some(http) = &mut http {
            missing -= read(http, &mut quic, &mut arrivals, cancelled)?;
        }
    }
    Ok(arrivals.pieces)
}

fn config() -> Result<Config, AnyError> {
    let mut config = Config::new(PROTOCOL_VERSION)?;
    config.set_application_protos(APPLICATION_PROTOCOL)?;
    config.verify_peer(false);
    config.set_max_idle_timeout(10_000);
    config.set_initial_max_data(1_000_000);
    config.set_initial_max_stream_data_bidi_local(1_000_000);
    config.set_initial_max_stream_data_uni(1_000_000);
    config.set_initial_max_streams_uni(3);
    Ok(config)
}

fn request(quic: &mut Connection) -> Result<h3::Connection, AnyError> {
    let mut http = h3::Connection::with_transport(quic, &h3::Config::new()?)?;
    for path in PATHS {
        let path = format!("/{path}");
        let fields = [
            (":method", "GET"),
            (":scheme", "https"),
            (":authority", "localhost"),
            (":path", &path),
        ];
        let fields = fields.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
        http.send_request(quic, &fields, true)?;
    }
    Ok(http)
}

/// Returns how many responses have become complete.
fn read(
    http: &mut h3::Connection,
    quic: &mut Connection,
    arrivals: &mut Arrivals,
    cancelled: Option<&str>,
) -> Result<usize, AnyError> {
    let (mut body, mut complete) = ([0; 65536], 0);
    loop {
        match http.poll(quic) {
            Ok((stream, Event::Data)) => {
                let path = PATHS[stream as usize / 4];
                while let Ok(bytes) = http.recv_body(quic, stream, &mut body) {
                    arrivals.add(path, bytes);
                }
                if cancelled == Some(path) {
                    quic.stream_shutdown(stream, Shutdown::Read, 0)?;
                }
            }
            Ok((_, Event::Finished)) => complete += 1,
            Ok(_) => {}
            Err(h3::Error::Done) => return Ok(complete),
            Err(error) => return Err(error.into()),
        }
    }
}

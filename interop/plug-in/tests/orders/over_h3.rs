//! A server and a client of h3 over quinn.

use crate::{Arrivals, PATHS, site};
use bytes::Buf;
use plug_in::PIECE_BYTES;
use plug_in::over_h3::{AnyError, serve};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use schedulers::find_scheme;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;

fn endpoints() -> Result<(Endpoint, Endpoint), AnyError> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let mut transport = TransportConfig::default();
    // One piece with its frame's head.
    transport.send_window(PIECE_BYTES as u64 + 8);
    server.transport_config(Arc::new(transport));

    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone())?;
    let mut tls =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut client = Endpoint::client("127.0.0.1:0".parse()?)?;
    client.set_default_client_config(ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?)));
    Ok((Endpoint::server(server, "127.0.0.1:0".parse()?)?, client))
}

/// The responses, by path, in the order in which their pieces came.
pub async fn order(scheme: &str) -> Result<String, AnyError> {
    let (server, client) = endpoints()?;
    let address = server.local_addr()?;
    let scheme = find_scheme(scheme)?;
    let serving = tokio::spawn(async move {
        let incoming = server.accept().await.expect("a client");
        serve(incoming, &scheme, PATHS.len(), |path| site(path, 3)).await
    });
    let connection = h3_quinn::Connection::new(client.connect(address, "localhost")?.await?);
    let (mut driver, mut requests) = h3::client::new(connection).await?;
    let driving = tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });
    let arrivals = Arc::new(Mutex::new(Arrivals::default()));
    let mut fetches = JoinSet::new();
    for path in PATHS {
        let request = http::Request::get(format!("https://localhost/{path}")).body(())?;
        let mut stream = requests.send_request(request).await?;
        stream.finish().await?;
        let arrivals = Arc::clone(&arrivals);
        fetches.spawn(async move {
            stream.recv_response().await?;
            while let Some(data) = stream.recv_data().await? {
                arrivals.lock().expect("no panic").add(path, data.remaining());
            }
            Ok::<_, AnyError>(())
        });
    }
    while let Some(fetched) = fetches.join_next().await {
        fetched??;
    }
    drop(requests);
    driving.await?;
    serving.await??;
    let order = arrivals.lock().expect("no panic").pieces.join(" ");
    Ok(order)
}

//! Measures one download over HTTP/2 from our server and from the smallest server of the library below it (h2), which sends
//! from memory; and over HTTP/3 from our server with TCP and without. The servers take turns, and are processes of their own,
//! whose CPU time the system counts.
//!
//! `cargo run --release -p utmost-gateway --example measure_versions [ROUNDS [MEGABYTES]]`

use boring::ssl::{
    AlpnError, SslAcceptor, SslConnector, SslMethod, SslVerifyMode, select_next_proto,
};
use boring::{pkey::PKey, x509::X509};
use bytes::Bytes;
use connection::{ClientConfig, Connection, Path as Line, Verify};
use gateway::site::DirectorySite;
use gateway::{Listeners, Sending};
use http3::Event;
use schedulers::find_scheme;
use server::event_loop::EventLoop;
use server::{Identity, Options, Server};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The file that is loaded.
const NAME: &str = "large.bin";
/// What the library's server sends at once, as ours does.
const PIECE_BYTES: usize = 16 << 10;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, kind, folder] = &arguments[..]
        && flag == "--server"
    {
        return serve(kind, Path::new(folder));
    }
    let number = |place: usize, usual| arguments.get(place).map_or(Ok(usual), |it| it.parse());
    let (rounds, megabytes) = (number(0, 7)?, number(1, 100)?);
    let folder = tempfile::tempdir()?;
    let bytes: Vec<u8> = (0..=250).cycle().take(megabytes * 1_000_000).collect();
    std::fs::write(folder.path().join(NAME), bytes)?;
    compare("HTTP/2", ["ours", "library"], load_2, folder.path(), rounds)?;
    compare("HTTP/3", ["ours", "without-tcp"], load_3, folder.path(), rounds)
}

/// Two servers take turns; prints what each gave, and the ratio of the medians.
fn compare(
    version: &str,
    kinds: [&str; 2],
    load: fn(SocketAddr) -> Fallible<usize>,
    folder: &Path,
    rounds: usize,
) -> Fallible<()> {
    let servers = [Running::start(kinds[0], folder)?, Running::start(kinds[1], folder)?];
    let mut seen = [Vec::new(), Vec::new()];
    for server in &servers {
        load(server.address)?;
    }
    for round in 0..rounds {
        for turn in [round % 2, 1 - round % 2] {
            let server = &servers[turn];
            let (cpu, begin) = (server.cpu_s()?, now());
            let bytes = load(server.address)? as f64;
            let took = (now() - begin).as_secs_f64();
            seen[turn].push((bytes / took / 1e6, (server.cpu_s()? - cpu) / bytes * 1e9));
        }
    }
    let medians = seen.map(|it| {
        let median = |of: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = it.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        (median(|it| it.0), median(|it| it.1))
    });
    for (kind, (rate, cpu)) in kinds.iter().zip(medians) {
        println!("{version} {kind}: {rate:.0} MB/s, {cpu:.2} s of CPU a GB");
    }
    let [(rate, cpu), (other_rate, other_cpu)] = medians;
    println!(
        "{version} {} to {}: {:.2} times the bytes a second, {:.2} times the CPU",
        kinds[0],
        kinds[1],
        rate / other_rate,
        cpu / other_cpu
    );
    Ok(())
}

/// A server in a process of its own, ended when this is dropped.
struct Running {
    process: Child,
    address: SocketAddr,
}

impl Running {
    fn start(kind: &str, folder: &Path) -> Fallible<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--server", kind]).arg(folder).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let mut line = String::new();
        let stdout = process.stdout.take().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        Ok(Self { process, address: line.trim().parse()? })
    }

    /// Seconds of CPU so far, from Linux's `/proc`.
    fn cpu_s(&self) -> Fallible<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let after_name = text.rsplit_once(") ").ok_or("no name")?.1;
        let fields: Vec<&str> = after_name.split(' ').collect();
        // Fields 14 and 15 of proc(5), in hundredths of a second.
        Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless all is well.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn serve(kind: &str, folder: &Path) -> Fallible<()> {
    if kind == "library" {
        return library(&folder.join(NAME));
    }
    let (mut event_loop, secure) = loop {
        let event_loop = EventLoop::bind(([127, 0, 0, 1], 0).into())?;
        if let Ok(secure) = TcpListener::bind(event_loop.local_addr()?) {
            break (event_loop, secure);
        }
    };
    let address = event_loop.local_addr()?;
    let identity = Identity::self_signed()?;
    let options = Options::new(find_scheme("rfc9218")?).over_networks();
    let mut server = Server::new(address, &identity, DirectorySite::open(folder)?, options)?;
    if kind == "ours" {
        gateway::serve_tcp(
            &mut server,
            Listeners { secure: vec![secure], plain: Vec::new(), sending: Sending::default() },
            &identity,
            1,
        )?;
    }
    println!("{address}");
    event_loop.run(&mut server)?;
    Ok(())
}

/// The smallest server: one response after another, from memory.
fn library(file: &Path) -> Fallible<()> {
    let body = Bytes::from(std::fs::read(file)?);
    let mut tls = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls())?;
    let (certificate, key) = certificate()?;
    tls.set_certificate(&certificate)?;
    tls.set_private_key(&key)?;
    tls.set_alpn_select_callback(|_, offered| {
        select_next_proto(b"\x02h2", offered).ok_or(AlpnError::ALERT_FATAL)
    });
    let acceptor = tls.build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let stream =
                tokio_boring::accept(&acceptor, stream).await.map_err(|it| it.to_string())?;
            let mut connection = h2::server::handshake(stream).await?;
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let mut stream = respond.send_response(hyper::Response::new(()), false)?;
                let mut body = body.clone();
                tokio::spawn(async move {
                    while !body.is_empty() {
                        stream.reserve_capacity(body.len().min(PIECE_BYTES));
                        let Some(Ok(room)) =
                            std::future::poll_fn(|it| stream.poll_capacity(it)).await
                        else {
                            return;
                        };
                        let piece = body.split_to(room.min(body.len()));
                        if stream.send_data(piece, body.is_empty()).is_err() {
                            return;
                        }
                    }
                });
            }
        }
    })
}

/// A certificate like ours.
fn certificate() -> Fallible<(X509, PKey<boring::pkey::Private>)> {
    use boring::asn1::Asn1Time;
    use boring::ec::{EcGroup, EcKey};
    let group = EcGroup::from_curve_name(boring::nid::Nid::X9_62_PRIME256V1)?;
    let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    builder.set_pubkey(&key)?;
    let (from, until) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(1)?);
    builder.set_not_before(&from)?;
    builder.set_not_after(&until)?;
    builder.sign(&key, boring::hash::MessageDigest::sha256())?;
    Ok((builder.build(), key))
}

/// Loads the file over HTTP/2 with the windows of Chromium; how many bytes came.
fn load_2(server: SocketAddr) -> Fallible<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server).await?;
        let mut tls = SslConnector::builder(SslMethod::tls())?;
        tls.set_verify(SslVerifyMode::NONE);
        tls.set_alpn_protos(b"\x02h2")?;
        let tls = tls.build().configure()?;
        let stream =
            tokio_boring::connect(tls, "localhost", stream).await.map_err(|it| it.to_string())?;
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(6 << 20).initial_connection_window_size(15 << 20);
        let (sender, connection) = builder.handshake::<_, Bytes>(stream).await?;
        let driver = tokio::spawn(connection);
        let mut sender = sender.ready().await?;
        let request = hyper::Request::get(format!("https://localhost/{NAME}")).body(())?;
        let mut body = sender.send_request(request, true)?.0.await?.into_body();
        let mut count = 0;
        while let Some(bytes) = body.data().await {
            let bytes = bytes?;
            count += bytes.len();
            body.flow_control().release_capacity(bytes.len())?;
        }
        driver.abort();
        Ok(count)
    })
}

/// The same over HTTP/3.
fn load_3(server: SocketAddr) -> Fallible<usize> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let local = socket.local_addr()?;
    socket.connect(server)?;
    let config = ClientConfig { verify: Verify::Nobody, ..ClientConfig::default() };
    let mut connection = Connection::connect(Some("localhost"), local, server, &config, now())?;
    let request = http3::get_request("localhost", &format!("/{NAME}"));
    let (mut buffer, mut count, mut has_asked) = (vec![0; 65_536], 0, false);
    loop {
        while let Some(transmit) = connection.transmit(&mut buffer) {
            // A full socket is as good as loss.
            socket.send(&buffer[..transmit.bytes]).ok();
        }
        if connection.is_over() {
            return Err("the connection has ended".into());
        }
        let wait = connection.next_timeout().map_or(Duration::from_secs(1), |it| it - now());
        socket.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
        if let Ok(bytes) = socket.recv(&mut buffer) {
            connection.receive(&mut buffer[..bytes], Line { local, peer: server });
        }
        connection.on_timeout(now());
        connection.open();
        if connection.is_connected() && !has_asked {
            let stream = connection.next_request();
            has_asked = connection.request(stream, &request, true)?;
        }
        for stream in connection.readable() {
            while connection.read(stream, &mut buffer)?.is_some_and(|it| !it.is_last) {}
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Data { bytes, .. } => count += bytes.len(),
                Event::Finished { .. } => {
                    connection.close(http3::Code::NoError, "");
                    while let Some(transmit) = connection.transmit(&mut buffer) {
                        socket.send(&buffer[..transmit.bytes]).ok();
                    }
                    return Ok(count);
                }
                Event::Reset { .. } => return Err("the response was reset".into()),
                _ => {}
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures time")]
fn now() -> Instant {
    Instant::now()
}

//! The memory of connections that wait, each after a file of 10 KB: how much the server's process grows by them. Over HTTP/2
//! also with a response of 1 MB on each that the client does not read. Linux only.
//!
//! ```sh
//! cargo build --release --workspace --bin utmost-serve
//! cargo run --release -p utmost-stress --example measure_waiting [CONNECTIONS [PROGRAM]]
//! ```

use boring::ssl::{SslConnector, SslMethod, SslStream, SslVerifyMode};
use bytes::Bytes;
use connection::{ClientConfig, Connection, Path as Line, Verify};
use h2::client::SendRequest;
use http3::Event;
use std::any::Any;
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// What was opened stays open until it is dropped.
type Opened = Box<dyn Any>;

const SMALL: (&str, usize) = ("small.bin", 10_000);
const LARGE: (&str, usize) = ("large.bin", 1_000_000);

/// Opens connections that wait.
type Open = fn(SocketAddr, usize) -> Fallible<Opened>;

const WAYS: [(&str, Open); 4] = [
    ("HTTP/3, idle", open_3),
    ("HTTP/2, idle", |server, count| open_2(server, count, false)),
    ("HTTP/1.1, idle", open_1),
    ("HTTP/2, a response that is not read", |server, count| open_2(server, count, true)),
];

fn main() -> Fallible<()> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(1000), |it| it.parse())?;
    let program = arguments.next().map_or_else(beside, |it| Ok(PathBuf::from(it)))?;
    let folder = tempfile::tempdir()?;
    for (name, bytes) in [SMALL, LARGE] {
        std::fs::write(folder.path().join(name), vec![b'x'; bytes])?;
    }
    for (name, open) in WAYS {
        let server = Server::start(&program, folder.path(), count)?;
        // What all connections share is there before them.
        let first = open(server.address, 1)?;
        let before_kb = server.settled_kb()?;
        let others = open(server.address, count)?;
        let each_kb = (server.settled_kb()? - before_kb) / count as f64;
        println!("{name}: {each_kb:.1} kB a connection, of {count}");
        drop((first, others));
    }
    Ok(())
}

/// The program that lies beside the folder of this example.
fn beside() -> Fallible<PathBuf> {
    let folder = std::env::current_exe()?;
    let folder = folder.parent().and_then(Path::parent).ok_or("no folder")?;
    Ok(folder.join("utmost-serve"))
}

/// A server in a process of its own, ended when this is dropped.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start(program: &Path, folder: &Path, connections: usize) -> Fallible<Self> {
        let config = folder.join("site.toml");
        let limit = connections + 10;
        let site = format!(
            "[site]\nroot = \"{}\"\n[limits]\nconnections_per_network = {limit}\nidle_s = 600\n",
            folder.display()
        );
        std::fs::write(&config, site)?;
        let mut command = Command::new(program);
        command.args(["--listen", "127.0.0.1:0", "--config"]).arg(&config);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = process.stdout.take().ok_or("no output")?;
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let said = lines.find_map(|it| Some(it.strip_prefix("listening on ")?.to_owned()));
        Ok(Self { process, address: said.ok_or("it does not listen")?.parse()? })
    }

    /// Resident memory, once it does not change.
    fn settled_kb(&self) -> Fallible<f64> {
        let mut last = self.resident_kb()?;
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = self.resident_kb()?;
            if (now - last).abs() <= 0.002 * last {
                return Ok(now);
            }
            last = now;
        }
    }

    fn resident_kb(&self) -> Fallible<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|it| it.trim().strip_suffix(" kB")).ok_or("no VmRSS")?;
        Ok(kilobytes.parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already, unless all is well.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn connector(protocol: &[u8]) -> Fallible<SslConnector> {
    let mut tls = SslConnector::builder(SslMethod::tls())?;
    tls.set_verify(SslVerifyMode::NONE);
    tls.set_alpn_protos(protocol)?;
    Ok(tls.build())
}

fn open_1(server: SocketAddr, count: usize) -> Fallible<Opened> {
    let tls = connector(b"\x08http/1.1")?;
    let one = |_| -> Fallible<SslStream<TcpStream>> {
        let mut stream = tls.connect("localhost", TcpStream::connect(server)?)?;
        write!(stream, "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", SMALL.0)?;
        let mut reader = BufReader::new(&mut stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        reader.read_exact(&mut vec![0; SMALL.1])?;
        Ok(stream)
    };
    Ok(Box::new((0..count).map(one).collect::<Fallible<Vec<_>>>()?))
}

/// With `stalls`, each has a response of which nothing is read.
fn open_2(server: SocketAddr, count: usize, stalls: bool) -> Fallible<Opened> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let tls = connector(b"\x02h2")?;
    let mut all: Vec<Opened> = Vec::new();
    for _ in 0..count {
        let mut sender = runtime.block_on(connect_2(server, &tls))?;
        let body = runtime.block_on(respond_2(&mut sender, SMALL.0))?;
        runtime.block_on(read_2(body))?;
        if stalls {
            all.push(Box::new(runtime.block_on(respond_2(&mut sender, LARGE.0))?));
        }
        all.push(Box::new(sender));
    }
    // The connections are tasks of the runtime.
    Ok(Box::new((all, runtime) as (Vec<Opened>, Runtime)))
}

async fn connect_2(server: SocketAddr, tls: &SslConnector) -> Fallible<SendRequest<Bytes>> {
    let stream = tokio::net::TcpStream::connect(server).await?;
    let connecting = tokio_boring::connect(tls.configure()?, "localhost", stream).await;
    let stream = connecting.map_err(|error| error.to_string())?;
    let (sender, connection) = h2::client::handshake(stream).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// The response whose head has come.
async fn respond_2(sender: &mut SendRequest<Bytes>, name: &str) -> Fallible<h2::RecvStream> {
    let mut sender = sender.clone().ready().await?;
    let request = hyper::Request::get(format!("https://localhost/{name}")).body(())?;
    Ok(sender.send_request(request, true)?.0.await?.into_body())
}

async fn read_2(mut body: h2::RecvStream) -> Fallible<()> {
    while let Some(bytes) = body.data().await {
        body.flow_control().release_capacity(bytes?.len())?;
    }
    Ok(())
}

fn open_3(server: SocketAddr, count: usize) -> Fallible<Opened> {
    let mut buffer = vec![0; 65_536];
    let one = |_| load_3(server, &mut buffer);
    Ok(Box::new((0..count).map(one).collect::<Fallible<Vec<_>>>()?))
}

/// A connection that has loaded the small file.
fn load_3(server: SocketAddr, buffer: &mut [u8]) -> Fallible<(UdpSocket, Connection)> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let local = socket.local_addr()?;
    socket.connect(server)?;
    let config = ClientConfig { verify: Verify::Nobody, ..ClientConfig::default() };
    let mut connection = Connection::connect(Some("localhost"), local, server, &config, now())?;
    let (mut is_over, mut has_asked) = (false, false);
    while !is_over {
        send(&socket, &mut connection, buffer);
        let wait = connection.next_timeout().map_or(Duration::from_secs(1), |it| it - now());
        socket.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
        if let Ok(bytes) = socket.recv(buffer) {
            connection.receive(&mut buffer[..bytes], Line { local, peer: server });
        }
        connection.on_timeout(now());
        connection.open();
        if connection.is_over() {
            return Err("the connection has ended".into());
        }
        if connection.is_connected() && !has_asked {
            let stream = connection.next_request();
            let request = http3::get_request("localhost", &format!("/{}", SMALL.0));
            has_asked = connection.request(stream, &request, true)?;
        }
        for stream in connection.readable() {
            while connection.read(stream, buffer)?.is_some_and(|it| !it.is_last) {}
        }
        while let Some(event) = connection.poll() {
            is_over |= matches!(event, Event::Finished { .. });
        }
    }
    // The last acknowledgements.
    send(&socket, &mut connection, buffer);
    Ok((socket, connection))
}

fn send(socket: &UdpSocket, connection: &mut Connection, buffer: &mut [u8]) {
    while let Some(transmit) = connection.transmit(buffer) {
        // A full socket is as good as loss.
        socket.send(&buffer[..transmit.bytes]).ok();
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures connections in real time")]
fn now() -> Instant {
    Instant::now()
}

//! An HTTP/3 server on tokio-quiche, like its example `async_http3_server`, but for the files of one directory, which
//! it keeps in memory. Like the example, it ignores priorities.
//!
//! ```text
//! tokio-quiche-peer serve --listen ADDR --root DIR --cert FILE --key FILE [--streams N]
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::net::UdpSocket;
use tokio_quiche::buf_factory::BufFactory;
use tokio_quiche::http3::driver::{
    IncomingH3Headers, OutboundFrame, ServerEventStream, ServerH3Event,
};
use tokio_quiche::http3::settings::Http3Settings;
use tokio_quiche::metrics::DefaultMetrics;
use tokio_quiche::quiche::h3::{Header, NameValue};
use tokio_quiche::settings::{CertificateKind, Hooks, QuicSettings, TlsCertificatePaths};
use tokio_quiche::{ConnectionParams, ServerH3Driver, listen};

/// Any error ends the program, so errors need no distinct types.
type AnyError = Box<dyn Error + Send + Sync>;

/// Bodies by path.
type Files = Arc<HashMap<Vec<u8>, Bytes>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    let words: Vec<_> = std::env::args().skip(2).collect();
    let options: HashMap<_, _> =
        words.chunks_exact(2).map(|it| (it[0].as_str(), it[1].as_str())).collect();
    let option = |name| options.get(name).copied().ok_or(format!("{name} is missing"));
    let files = read(Path::new(option("--root")?))?;
    let socket = UdpSocket::bind(option("--listen")?).await?;
    let address = socket.local_addr()?;
    let mut settings = QuicSettings::default();
    // The other servers do not verify addresses either.
    settings.disable_client_ip_validation = true;
    if let Ok(streams) = option("--streams") {
        settings.initial_max_streams_bidi = streams.parse()?;
    }
    let identity = TlsCertificatePaths {
        cert: option("--cert")?,
        private_key: option("--key")?,
        kind: CertificateKind::X509,
    };
    let params = ConnectionParams::new_server(settings, identity, Hooks::default());
    let mut listeners = listen([socket], params, DefaultMetrics)?;
    println!("listening on {address}");
    while let Some(connection) = listeners[0].next().await {
        let (driver, mut controller) = ServerH3Driver::new(Http3Settings::default());
        connection?.start(driver);
        let files = files.clone();
        tokio::spawn(async move { serve(controller.event_receiver_mut(), files).await });
    }
    Ok(())
}

fn read(root: &Path) -> Result<Files, AnyError> {
    let mut files = HashMap::new();
    for entry in root.read_dir()? {
        let entry = entry?;
        let path = format!("/{}", entry.file_name().to_string_lossy());
        files.insert(path.into_bytes(), Bytes::from(std::fs::read(entry.path())?));
    }
    Ok(Arc::new(files))
}

async fn serve(events: &mut ServerEventStream, files: Files) {
    while let Some(event) = events.recv().await {
        if let ServerH3Event::Headers { incoming_headers, .. } = event {
            let path = incoming_headers.headers.iter().find(|it| it.name() == b":path");
            let body = path.and_then(|it| files.get(it.value())).cloned();
            tokio::spawn(answer(incoming_headers, body));
        }
    }
}

/// `None` if the client has disconnected.
async fn answer(request: IncomingH3Headers, body: Option<Bytes>) -> Option<()> {
    let mut stream = request.send;
    let Some(mut body) = body else {
        let not_found = OutboundFrame::Headers(vec![Header::new(b":status", b"404")], None);
        stream.send(not_found).await.ok()?;
        return stream.send(OutboundFrame::Body(Bytes::new(), true)).await.ok();
    };
    let length = body.len().to_string();
    let found =
        vec![Header::new(b":status", b"200"), Header::new(b"content-length", length.as_bytes())];
    stream.send(OutboundFrame::Headers(found, None)).await.ok()?;
    while body.len() > BufFactory::MAX_BUF_SIZE {
        let chunk = body.split_to(BufFactory::MAX_BUF_SIZE);
        stream.send(OutboundFrame::Body(chunk, false)).await.ok()?;
    }
    stream.send(OutboundFrame::Body(body, true)).await.ok()
}

//! Serves the files of one directory until SIGTERM. It keeps them in memory.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h3::server::RequestResolver;
use quinn::crypto::rustls::QuicServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio::signal::unix::{SignalKind, signal};

use crate::{AnyError, Options};

/// Bodies by name.
type Files = Arc<HashMap<OsString, Bytes>>;

/// Prints `listening on ADDR` when clients may come.
pub(crate) async fn serve(options: &Options) -> Result<(), AnyError> {
    let files = read(Path::new(options.get("--root")?))?;
    let config = server_config(options)?;
    let endpoint = quinn::Endpoint::server(config, options.get("--listen")?.parse()?)?;
    let mut stop = signal(SignalKind::terminate())?;
    println!("listening on {}", endpoint.local_addr()?);
    loop {
        tokio::select! {
            incoming = endpoint.accept() => {
                let Some(incoming) = incoming else { return Ok(()) };
                tokio::spawn(report(serve_connection(incoming, files.clone())));
            }
            _ = stop.recv() => return Ok(()),
        }
    }
}

fn read(root: &Path) -> Result<Files, AnyError> {
    let mut files = HashMap::new();
    for entry in root.read_dir()? {
        let entry = entry?;
        files.insert(entry.file_name(), Bytes::from(std::fs::read(entry.path())?));
    }
    Ok(Arc::new(files))
}

fn server_config(options: &Options) -> Result<quinn::ServerConfig, AnyError> {
    let chain = CertificateDer::pem_file_iter(options.get("--cert")?)?;
    let chain = chain.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(options.get("--key")?)?;
    let mut tls =
        rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    if let Ok(streams) = options.get("--streams") {
        let mut transport = quinn::TransportConfig::default();
        transport.max_concurrent_bidi_streams(streams.parse::<u32>()?.into());
        transport.max_idle_timeout(Some(Duration::from_secs(60).try_into()?));
        config.transport_config(Arc::new(transport));
    }
    Ok(config)
}

async fn serve_connection(incoming: quinn::Incoming, files: Files) -> Result<(), AnyError> {
    let connection = h3_quinn::Connection::new(incoming.await?);
    let mut connection = h3::server::Connection::<_, Bytes>::new(connection).await?;
    while let Some(resolver) = connection.accept().await? {
        tokio::spawn(report(answer(resolver, files.clone())));
    }
    Ok(())
}

async fn answer(
    resolver: RequestResolver<h3_quinn::Connection, Bytes>,
    files: Files,
) -> Result<(), AnyError> {
    let (request, mut stream) = resolver.resolve_request().await?;
    // A request dropped before its end has been read would be refused with STOP_SENDING, which libcurl takes for a reset.
    while stream.recv_data().await?.is_some() {}
    let name = Path::new(request.uri().path()).file_name().unwrap_or_default();
    let Some(body) = files.get(name).cloned() else {
        let not_found = http::Response::builder().status(http::StatusCode::NOT_FOUND).body(())?;
        stream.send_response(not_found).await?;
        return Ok(stream.finish().await?);
    };
    let found = http::Response::builder().header("content-length", body.len()).body(())?;
    stream.send_response(found).await?;
    stream.send_data(body).await?;
    Ok(stream.finish().await?)
}

/// An error ends one connection or request, not the server.
async fn report(work: impl Future<Output = Result<(), AnyError>>) {
    if let Err(error) = work.await {
        eprintln!("h3-quinn-peer: {error}");
    }
}

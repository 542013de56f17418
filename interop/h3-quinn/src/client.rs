//! Fetches all URLs at once over one connection.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio::task::JoinSet;

use crate::{AnyError, Options};

/// Each body goes to a file named by its URL's last segment.
pub(crate) async fn fetch(options: &Options, urls: Vec<String>) -> Result<(), AnyError> {
    let address: SocketAddr = options.get("--connect")?.parse()?;
    let mut endpoint = quinn::Endpoint::client(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    endpoint.set_default_client_config(client_config(options.get("--ca")?)?);
    let connection = endpoint.connect(address, "localhost")?.await?;
    let (mut driver, requests) = h3::client::new(h3_quinn::Connection::new(connection)).await?;
    let driving = tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });

    let mut fetches = JoinSet::new();
    for url in urls {
        let file = Path::new(options.get("--out")?).join(url.rsplit('/').next().unwrap_or("body"));
        let requests = requests.clone();
        fetches.spawn(async move { fetch_one(requests, &url, &file).await });
    }
    while let Some(result) = fetches.join_next().await {
        result??;
    }
    // The driver ends the connection when the last handle for requests is gone.
    drop(requests);
    driving.await?;
    endpoint.wait_idle().await;
    Ok(())
}

fn client_config(ca_file: &str) -> Result<quinn::ClientConfig, AnyError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca_file)? {
        roots.add(certificate?)?;
    }
    let mut tls =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    Ok(quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?)))
}

async fn fetch_one(
    mut requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
    url: &str,
    file: &Path,
) -> Result<(), AnyError> {
    let mut stream = requests.send_request(http::Request::get(url).body(())?).await?;
    stream.finish().await?;
    let response = stream.recv_response().await?;
    if response.status() != http::StatusCode::OK {
        return Err(format!("{url}: status {}", response.status()).into());
    }
    let mut body = Vec::new();
    while let Some(mut chunk) = stream.recv_data().await? {
        body.extend_from_slice(&chunk.copy_to_bytes(chunk.remaining()));
    }
    tokio::fs::write(file, body).await?;
    Ok(())
}

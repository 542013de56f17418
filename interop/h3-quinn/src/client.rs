//! Fetches all URLs at once over one connection, or over two of which the second resumes the first one's session.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio::task::JoinSet;

use crate::{AnyError, Options};

/// What a connection is asked to do besides fetching.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feature {
    None,
    EarlyData,
    KeyUpdate,
}

/// Each body goes to a file named by its URL's last segment.
pub(crate) async fn fetch(options: &Options, mut urls: Vec<String>) -> Result<(), AnyError> {
    let address: SocketAddr = options.get("--connect")?.parse()?;
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let mut endpoint = quinn::Endpoint::client(SocketAddr::new(any, 0))?;
    let name = options.get("--feature").unwrap_or_default();
    let early = name == "early-data";
    endpoint.set_default_client_config(client_config(options.get("--ca")?, early)?);
    let out = Path::new(options.get("--out")?);
    if early || name == "resumption" {
        visit(&endpoint, address, vec![urls.remove(0)], out, Feature::None).await?;
    }
    let feature = match name {
        "early-data" => Feature::EarlyData,
        "key-update" => Feature::KeyUpdate,
        _ => Feature::None,
    };
    visit(&endpoint, address, urls, out, feature).await
}

/// One connection.
async fn visit(
    endpoint: &quinn::Endpoint,
    address: SocketAddr,
    urls: Vec<String>,
    out: &Path,
    feature: Feature,
) -> Result<(), AnyError> {
    let connecting = endpoint.connect(address, "localhost")?;
    let connection = if feature == Feature::EarlyData {
        connecting.into_0rtt().map_err(|_| "the ticket does not allow early data")?.0
    } else {
        connecting.await?
    };
    let (mut driver, requests) =
        h3::client::new(h3_quinn::Connection::new(connection.clone())).await?;
    let driving = tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });

    let mut fetches = JoinSet::new();
    for url in urls {
        let file = out.join(url.rsplit('/').next().unwrap_or("body"));
        let requests = requests.clone();
        fetches.spawn(async move { fetch_one(requests, &url, &file).await });
    }
    let mut updates_keys = feature == Feature::KeyUpdate;
    while let Some(result) = fetches.join_next().await {
        result??;
        if std::mem::take(&mut updates_keys) {
            connection.force_key_update();
        }
    }
    // The driver ends the connection when the last handle for requests is gone.
    drop(requests);
    driving.await?;
    endpoint.wait_idle().await;
    Ok(())
}

/// Sessions are kept in the configuration.
fn client_config(ca_file: &str, early: bool) -> Result<quinn::ClientConfig, AnyError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca_file)? {
        roots.add(certificate?)?;
    }
    let mut tls =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    tls.enable_early_data = early;
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

//! A client of h3 over quinn gets three pages in the orders of three schemes.

use bytes::{Buf, Bytes};
use plug_in::over_h3::{AnyError, PIECE_BYTES, serve};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use schedulers::{Kind, Resource, find_scheme};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;

/// A document, an image and a style sheet of three pieces each, by path.
fn site(path: &str) -> (Resource, Bytes) {
    let kind = match path {
        "/0" => Kind::Html,
        "/4" => Kind::Image,
        _ => Kind::Css,
    };
    let resource = Resource { kind, main: path == "/0", ..Resource::default() };
    (resource, Bytes::from(vec![b'x'; 3 * PIECE_BYTES]))
}

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
async fn order(scheme: &str) -> Result<String, AnyError> {
    let (server, client) = endpoints()?;
    let address = server.local_addr()?;
    let scheme = find_scheme(scheme)?;
    let serving = tokio::spawn(async move {
        let incoming = server.accept().await.expect("a client");
        serve(incoming, &scheme, 3, site).await
    });
    let connection = h3_quinn::Connection::new(client.connect(address, "localhost")?.await?);
    let (mut driver, mut requests) = h3::client::new(connection).await?;
    let driving = tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let mut fetches = JoinSet::new();
    for path in ["0", "4", "8"] {
        let request = http::Request::get(format!("https://localhost/{path}")).body(())?;
        let mut stream = requests.send_request(request).await?;
        stream.finish().await?;
        let pieces = Arc::clone(&pieces);
        fetches.spawn(async move {
            stream.recv_response().await?;
            let mut bytes = 0;
            while let Some(data) = stream.recv_data().await? {
                let before = bytes / PIECE_BYTES;
                bytes += data.remaining();
                for _ in before..bytes / PIECE_BYTES {
                    pieces.lock().expect("no panic").push(path);
                }
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
    let order = pieces.lock().expect("no panic").join(" ");
    Ok(order)
}

#[tokio::test]
async fn responses_follow_one_another_under_fifo() -> Result<(), AnyError> {
    assert_eq!(order("fifo").await?, "0 0 0 4 4 4 8 8 8");
    Ok(())
}

#[tokio::test]
async fn responses_take_turns_under_rr() -> Result<(), AnyError> {
    assert_eq!(order("rr").await?, "0 4 8 0 4 8 0 4 8");
    Ok(())
}

#[tokio::test]
async fn a_style_sheet_goes_before_an_image_under_bucket_html() -> Result<(), AnyError> {
    assert_eq!(order("bucket-html").await?, "0 0 0 8 8 8 4 4 4");
    Ok(())
}

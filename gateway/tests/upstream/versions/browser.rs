//! A browser that knows nothing about HTTP/3 at this site: it begins with HTTP/2, and continues with HTTP/3, or opens a
//! WebSocket.

use super::websockets::{backend_site, serving, switch};
use super::{Serving, folder};
use crate::backend;
use gateway::site::{Rule, RuledSite};
use schedulers::find_scheme;
use server::{Identity, Options};
use std::io::Read;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// A page that repeats a request for a file until an answer arrives over HTTP/3.
const PAGE: &[u8] = b"<!doctype html><title>page</title><link rel=icon href='data:,'>
<body><script>
(async () => {
  const protocols = () => performance.getEntriesByType('resource').map(it => it.nextHopProtocol);
  for (let i = 0; i < 40 && !protocols().includes('h3'); i += 1) {
    await fetch('/a.txt?' + i, { cache: 'no-store' });
    await new Promise(done => setTimeout(done, 200));
  }
  document.body.textContent = 'came by ' + protocols().join(' ') + '.';
})();
</script>";

#[test]
fn chromium_comes_by_http_2_and_moves_to_http_3_by_itself() {
    let (_folder, site) = folder(&[("index.html", PAGE), ("a.txt", b"a")]);
    let options = Options {
        alt_svc_silence: Duration::ZERO,
        ..Options::new(find_scheme("rfc9218").expect("known"))
    };
    let identity = Identity::self_signed().expect("a certificate");
    let server = Serving::with(&identity, RuledSite::of(site), options);
    let Some(page) = shown(&server) else { return };
    let (_, came) = page.split_once("came by ").unwrap_or_else(|| panic!("{page}"));
    let came: Vec<&str> = came.split('.').next().unwrap_or_default().split(' ').collect();
    // Once no response is in progress, a frame says where HTTP/3 is, so the first file can come by it.
    assert_eq!(came.last(), Some(&"h3"), "{came:?}");
    let answered = server.events.answered();
    let document = answered.iter().find(|it| it.path == "/").expect("a document");
    assert_eq!(document.protocol.name(), "HTTP/2");
}

/// What Chromium shows of the site's first page, once its scripts are done; `None`: it is not here.
fn shown(server: &Serving) -> Option<String> {
    let program = fixtures::program("chromium")?;
    let data = tempfile::tempdir().expect("a folder");
    let output = Command::new(program)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--timeout=15000", "--virtual-time-budget=10000"])
        .arg(format!("--user-data-dir={}", data.path().display()))
        .arg("--host-resolver-rules=MAP *.test 127.0.0.1")
        .arg(format!("--ignore-certificate-errors-spki-list={}", server.pin))
        // For HTTP/3, Chromium also wants a root that it knows, but not of hosts that are named here. QUIC is forced for the
        // port only that is named, and that is another one.
        .arg("--origin-to-force-quic-on=www.page.test:1")
        .arg(format!("https://www.page.test:{}/", server.address.port()))
        .stderr(Stdio::null())
        .output()
        .expect("it runs");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A page that sends a message over a WebSocket, and shows the answer.
const CHAT: &[u8] = b"<!doctype html><title>page</title><link rel=icon href='data:,'>
<body><script>
(async () => {
  let heard = 'nothing';
  const socket = new WebSocket('wss://' + location.host + '/chat', ['a', 'b']);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = it => { heard = it.data + ' by ' + socket.protocol; socket.close(); };
  socket.onerror = () => { heard = 'an error'; };
  for (let i = 0; i < 40 && heard == 'nothing'; i += 1) {
    await fetch('/a.txt?' + i, { cache: 'no-store' });
    await new Promise(done => setTimeout(done, 200));
  }
  document.body.textContent = 'heard ' + heard + '.';
})();
</script>";

/// Echoes the first message, and waits until the client closes. Clients mask their messages (RFC 6455, 5.2 and 5.3).
fn say_back(head: &str, stream: &mut TcpStream) {
    switch(head, stream);
    let mut start = [0; 6];
    stream.read_exact(&mut start).expect("a short frame");
    let [0x81, length, mask @ ..] = start else { panic!("not a text: {start:?}") };
    let mut text = vec![0; usize::from(length & 0x7f)];
    stream.read_exact(&mut text).expect("its payload");
    text.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    backend::say_bytes(stream, &[&[0x81, length & 0x7f], text.as_slice()].concat());
    stream.read_to_end(&mut Vec::new()).ok();
    backend::hang_up(stream);
}

#[test]
fn chromium_opens_a_websocket_by_extended_connect_8441_5() {
    let (_folder, site) = folder(&[("index.html", CHAT), ("a.txt", b"a")]);
    let chat = Arc::new(backend_site(say_back, &gateway::UpstreamLimits::default(), true));
    let rule: Rule = Rule { path: "/chat".to_owned(), source: Some(chat), ..Rule::default() };
    let server = serving(RuledSite::new(site, vec![rule]), true);
    let Some(page) = shown(&server) else { return };
    assert!(page.contains("heard hello by b."), "{page}");
    let answered = server.events.answered();
    let chat = answered.iter().find(|it| it.path == "/chat").expect("a WebSocket");
    assert_eq!((chat.protocol.name(), chat.status, chat.is_tunnel), ("HTTP/2", 200, true));
}

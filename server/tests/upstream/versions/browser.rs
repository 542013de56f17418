//! A browser that knows nothing of HTTP/3 at this site: it comes by HTTP/2, and goes on by HTTP/3.

use super::{Serving, folder};
use std::process::{Command, Stdio};

/// A page that asks for a file again and again, until an answer has come over HTTP/3.
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
    let Some(program) = fixtures::program("chromium") else { return };
    let (_folder, site) = folder(&[("index.html", PAGE), ("a.txt", b"a")]);
    let server = Serving::start(site);
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
    let page = String::from_utf8_lossy(&output.stdout);
    let (_, came) = page.split_once("came by ").unwrap_or_else(|| panic!("{page}"));
    let came: Vec<&str> = came.split('.').next().unwrap_or_default().split(' ').collect();
    // The document's response already says where HTTP/3 is, so the first file can come by it.
    assert_eq!(came.last(), Some(&"h3"), "{came:?}");
    let answered = server.events.answered();
    let document = answered.iter().find(|it| it.path == "/").expect("a document");
    assert_eq!(document.protocol.name(), "HTTP/2");
}

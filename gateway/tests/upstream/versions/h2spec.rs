//! h2spec plays HTTP/2 clients that each break one rule, and reads the server's answer.

use super::{Serving, folder};
use std::process::Command;

#[test]
fn h2spec_finds_each_rule_of_http_2_kept() {
    let Some(program) = fixtures::program("h2spec") else { return };
    let (_folder, site) = folder(&[("index.html", b"hello")]);
    let server = Serving::start(site);
    let port = server.address.port().to_string();
    let mut command = Command::new(program);
    let ran = command.args(["-t", "-k", "-h", "127.0.0.1", "-p", &port, "-o", "10"]).output();
    let said = String::from_utf8_lossy(&ran.expect("it runs").stdout).into_owned();
    // It skips a case of flow control where the file has fewer than five bytes.
    assert!(said.contains("145 tests, 145 passed, 0 skipped, 0 failed"), "{said}");
}

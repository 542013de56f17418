//! `utmost doctor` before our own server, whole and in each state in which no browser moves.

use crate::schemas::assert_valid;
use crate::serving::{Serving, private_key};
use crate::{data, utmost};
use serde_json::Value;
use std::net::UdpSocket;

/// The doctor's findings about a server with these flags: exit code, and what is bad.
fn examined(flags: &[&str], host: &str, trust: &[&str]) -> (Option<i32>, Vec<String>) {
    let (_folder, key) = private_key();
    let certificate = data("server.pem");
    let own = [
        "--page",
        "davies-meenan",
        "--cert",
        certificate.to_str().expect("UTF-8"),
        "--key",
        key.to_str().expect("UTF-8"),
    ];
    let server = Serving::start(&[&own, flags].concat());
    let port = server.address.rsplit_once(':').expect("a port").1;
    let place = format!("{host}:{port}");
    let command = ["doctor", &place, "--server", &server.address, "--within", "3", "--json"];
    let output = utmost(&[&command[..], trust].concat()).output().expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("doctor.json", &document);
    let findings = document["findings"].as_array().expect("a list").iter();
    let bad = findings.filter(|it| it["state"] == "bad");
    let bad = bad.map(|it| it["of"].as_str().expect("a name").to_owned()).collect();
    (output.status.code(), bad)
}

#[test]
fn a_doctor_finds_what_keeps_a_browser_from_http_3() {
    let certificate = data("server.pem");
    let ca = ["--ca", certificate.to_str().expect("UTF-8")];
    // Nobody listens there.
    let free = UdpSocket::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let free = free.port().to_string();
    for (flags, host, trust, bad) in [
        (&[][..], "localhost", &ca[..], &[][..]),
        (&[], "localhost", &["--insecure"], &[]),
        (&[], "localhost", &[], &["certificate"]),
        (&[], "other.test", &ca, &["certificate"]),
        (&["--no-tcp"], "localhost", &ca, &["TCP"]),
        (&["--public-port", &free], "localhost", &ca, &["QUIC"]),
    ] {
        let code = Some(i32::from(!bad.is_empty()));
        let expected = bad.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(examined(flags, host, trust), (code, expected), "{flags:?} {host} {trust:?}");
    }
}

#[test]
fn a_host_that_nobody_knows_is_named() {
    let output = utmost(&["doctor", "nowhere.invalid"]).output().expect("it runs");
    let line = crate::only_line(&output, 3);
    assert!(line.contains("nowhere.invalid:443"), "{line}");
}

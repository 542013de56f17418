//! `utmost stress` beside a server of its own.

use crate::documents::assert_valid;
use crate::serving::Serving;
use crate::{only_line, utmost};
use serde_json::Value;
use std::net::TcpListener;

#[test]
fn visitors_of_each_version_are_shown_beside_an_attack_on_websockets() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let backend = free.to_string();
    let server = Serving::start(&["--upstream", &format!("http://{backend}"), "--websockets"]);
    let attack = ["stress", &server.address, "--backend", &backend, "--seconds", "1", "--json"];
    let output = utmost(&[&attack[..], &["--attacks", "h2-tunnels-garbage"]].concat()).output();
    let output = output.expect("the program runs");
    // Whether the server holds on a busy machine is another matter.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("stress.json", &document);
    let attack = &document["attacks"][0];
    assert_eq!(attack["refused"], 0, "{attack}");
    let visitors = attack["visitors"].as_array().expect("visitors");
    let protocols: Vec<&str> = visitors.iter().filter_map(|it| it["protocol"].as_str()).collect();
    assert_eq!(protocols, ["HTTP/3", "HTTP/2", "HTTP/1.1"]);
    for phase in ["before", "during", "after"] {
        let is_served = |it: &Value| it[phase]["responses"].as_u64() > Some(0);
        assert!(visitors.iter().all(is_served), "{phase}: {attack}");
    }
}

#[test]
fn an_attack_on_websockets_without_a_backend_is_refused() {
    let output = utmost(&["stress", "127.0.0.1:1", "--attacks", "tunnels-idle"]).output();
    let message = only_line(&output.expect("the program runs"), 2);
    assert!(message.contains("tunnels-idle: needs a backend that takes part; give --backend"));
}

//! `utmost-workshop stress` beside a server in this process.

use crate::at_server::{at_proxy, at_server};
use crate::schemas::assert_valid;
use crate::{only_line, utmost};
use gateway::site::RuledSite;
use serde_json::{Value, json};
use server::site::{Body, Request, Response, Site};
use std::time::Duration;
use stress::{File, Soak, Target, find, soak};

#[test]
fn visitors_of_each_version_are_shown_beside_an_attack_on_websockets() {
    let output = at_proxy(true, |server, backend| {
        let (server, backend) = (server.to_string(), backend.to_string());
        let attack = ["stress", &server, "--backend", &backend, "--seconds", "1", "--json"];
        utmost(&[&attack[..], &["--attacks", "h2-tunnels-garbage"]].concat()).output()
    });
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

/// One file for all paths.
struct OneFile;

impl Site for OneFile {
    fn respond(&self, _: &Request) -> Response {
        Response { body: Body::synthetic(20_000, 1), ..Response::empty(200) }
    }
}

/// Four seconds, where the program takes minutes.
#[test]
fn a_soak_is_as_its_schema_says() {
    let plan = Soak {
        length: Duration::from_secs(4),
        attacks: vec![find("rapid-reset").expect("in the list")],
        attack_length: Duration::from_secs(1),
        loss_percent: 2,
        patience: Duration::from_secs(30),
        moves: true,
        seed: 7,
    };
    let soaked = at_server(RuledSite::of(OneFile), |address| {
        let process = Some(std::process::id());
        let target = Target::new(address, vec![File::unknown("/")], process);
        soak(&target.expect("on this machine"), &plan, |_| {}).expect("carried out")
    });
    let document = json!({"format": "utmost-soak/1", "provenance": {}, "soak": soaked});
    assert_valid("soak.json", &document);
    assert_eq!(document["soak"]["rounds"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_attack_on_websockets_without_a_backend_is_refused() {
    let output = utmost(&["stress", "127.0.0.1:1", "--attacks", "tunnels-idle"]).output();
    let message = only_line(&output.expect("the program runs"), 2);
    assert!(message.contains("tunnels-idle: needs a backend that participates; give --backend"));
}

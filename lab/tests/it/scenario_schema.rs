//! The scenario's JSON Schema agrees with its reader.

use lab::scenario::Scenario;
use serde_json::{Value, json};

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(include_str!("../../../schemas/scenario.json"))
        .expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

fn scenario() -> Value {
    json!({
        "format": "utmost-scenario/1", "name": "one", "description": "one image", "packet_bytes": 1400,
        "requests": [{"stream": 0, "arrival_slot": 0, "wait_slots": 2, "bytes": 3000,
            "resource": {"mime": "image/png", "above_fold": true}}],
        "orders": {"fifo": [[2, 0, 3, 200]]}
    })
}

fn both_accept(scenario: &Value) -> (bool, bool) {
    (validator().is_valid(scenario), Scenario::parse(&scenario.to_string(), "a.json").is_ok())
}

#[test]
fn both_accept_a_scenario_with_and_without_what_is_optional() {
    assert_eq!(both_accept(&scenario()), (true, true));
    let least =
        json!({"name": "least", "requests": [{"stream": 0, "bytes": 1, "resource": {"mime": ""}}]});
    assert_eq!(both_accept(&least), (true, true));
}

#[test]
fn both_refuse_what_is_not_a_scenario() {
    let mut refused = vec![json!(null), json!({"name": "no requests"})];
    for (pointer, value) in [
        ("/format", json!("utmost-page/1")),
        ("/packet_bytes", json!(0)),
        ("/requests/0/bytes", json!(-1)),
        ("/requests/0/stream", json!(1_u64 << 62)),
        ("/requests/0/resource", json!({"mime": "image/png", "hero": true})),
        ("/requests/0/resource", json!({"main": true})),
        ("/orders/fifo/0", json!([2, 0, 3])),
    ] {
        let mut scenario = scenario();
        *scenario.pointer_mut(pointer).expect("the place exists") = value;
        refused.push(scenario);
    }
    for scenario in refused {
        assert_eq!(both_accept(&scenario), (false, false), "{scenario}");
    }
}

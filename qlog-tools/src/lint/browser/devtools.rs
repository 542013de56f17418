//! Lists of DevTools events (`Network.*`), as Lighthouse and sitespeed.io write them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Exchange, RESPONSE_BYTES_MAX, is_multiplexed, urgency, us};

pub(super) fn exchanges(events: &[Value]) -> Vec<Exchange> {
    let mut known: BTreeMap<&str, Exchange> = BTreeMap::new();
    for event in events {
        let params = &event["params"];
        let (Some(method), Some(id)) = (event["method"].as_str(), params["requestId"].as_str())
        else {
            continue;
        };
        let time_us = us(params["timestamp"].as_f64().unwrap_or_default() * 1000.0);
        let exchange = known.entry(id).or_default();
        match method {
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                url.clone_into(&mut exchange.url);
                exchange.sent_us = time_us;
                note_priority(exchange, time_us, &params["request"]["initialPriority"]);
            }
            "Network.resourceChangedPriority" => {
                note_priority(exchange, time_us, &params["newPriority"]);
            }
            "Network.responseReceived" => note_response(exchange, &params["response"]),
            "Network.dataReceived" => {
                let encoded = params["encodedDataLength"].as_u64().filter(|bytes| *bytes > 0);
                let bytes = encoded
                    .or(params["dataLength"].as_u64())
                    .unwrap_or_default()
                    .min(RESPONSE_BYTES_MAX);
                if bytes > 0 {
                    exchange.arrivals.push((time_us, bytes));
                }
            }
            _ => {}
        }
    }
    let whole = |it: &Exchange| !it.connection.is_empty() && !it.arrivals.is_empty();
    let mut exchanges: Vec<Exchange> = known.into_values().filter(whole).collect();
    exchanges.sort_by_key(|it| it.sent_us);
    exchanges
}

fn note_priority(exchange: &mut Exchange, time_us: u64, name: &Value) {
    exchange.priorities.extend(name.as_str().and_then(urgency).map(|value| (time_us, value)));
}

fn note_response(exchange: &mut Exchange, response: &Value) {
    if !response["protocol"].as_str().is_some_and(is_multiplexed) {
        return;
    }
    exchange.connection = response["connectionId"].to_string();
    let timing = &response["timing"];
    let (Some(start_s), Some(send_ms)) =
        (timing["requestTime"].as_f64(), timing["sendStart"].as_f64())
    else {
        return;
    };
    exchange.sent_us = us(start_s * 1000.0 + send_ms);
    let send_end_ms = timing["sendEnd"].as_f64().unwrap_or(send_ms);
    exchange.wait_us = timing["receiveHeadersEnd"].as_f64().map(|end_ms| us(end_ms - send_end_ms));
}

//! Lists of DevTools events (`Network.*`), as Lighthouse and sitespeed.io write them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Exchange, Part, REQUESTS_MAX, RESPONSE_BYTES_MAX, TooManyRequests, elements, is_multiplexed,
    number, parsed, text, urgency, us, whole,
};

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    method: Part<'a>,
    #[serde(borrow)]
    params: Part<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    request_id: Part<'a>,
    #[serde(borrow)]
    timestamp: Part<'a>,
    #[serde(borrow)]
    request: Part<'a>,
    #[serde(borrow)]
    new_priority: Part<'a>,
    #[serde(borrow)]
    response: Part<'a>,
    #[serde(borrow)]
    encoded_data_length: Part<'a>,
    #[serde(borrow)]
    data_length: Part<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    url: Part<'a>,
    #[serde(borrow)]
    initial_priority: Part<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    #[serde(borrow)]
    protocol: Part<'a>,
    #[serde(borrow)]
    connection_id: Part<'a>,
    #[serde(borrow)]
    timing: Part<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timing<'a> {
    #[serde(borrow)]
    request_time: Part<'a>,
    #[serde(borrow)]
    send_start: Part<'a>,
    #[serde(borrow)]
    send_end: Part<'a>,
    #[serde(borrow)]
    receive_headers_end: Part<'a>,
}

/// `None` if it is not a list.
pub(super) fn exchanges(json: &[u8]) -> Result<Option<Vec<Exchange>>, TooManyRequests> {
    let mut known: BTreeMap<String, Exchange> = BTreeMap::new();
    let all = elements(json, |event| {
        parsed(Some(event)).and_then(|event| note(&mut known, &event));
        known.len() <= REQUESTS_MAX
    });
    if known.len() > REQUESTS_MAX {
        return Err(TooManyRequests);
    }
    let whole = |it: &Exchange| !it.connection.is_empty() && !it.arrivals.is_empty();
    let mut exchanges: Vec<Exchange> = known.into_values().filter(whole).collect();
    exchanges.sort_by_key(|it| it.sent_us);
    Ok(all.map(|()| exchanges))
}

/// `None` for events that tell of no request.
fn note(known: &mut BTreeMap<String, Exchange>, event: &Event<'_>) -> Option<()> {
    let params: Params<'_> = parsed(event.params)?;
    let (method, id) = (text(event.method)?, text(params.request_id)?);
    let time_us = us(number(params.timestamp).unwrap_or_default() * 1000.0);
    let exchange = known.entry(id).or_default();
    match &*method {
        "Network.requestWillBeSent" => {
            let request: Option<Request<'_>> = parsed(params.request);
            exchange.url = request.as_ref().and_then(|it| text(it.url)).unwrap_or_default();
            exchange.sent_us = time_us;
            note_priority(exchange, time_us, request.and_then(|it| it.initial_priority));
        }
        "Network.resourceChangedPriority" => note_priority(exchange, time_us, params.new_priority),
        "Network.responseReceived" => note_response(exchange, &parsed(params.response)?),
        "Network.dataReceived" => {
            let encoded = whole(params.encoded_data_length).filter(|bytes| *bytes > 0);
            let bytes = encoded.or_else(|| whole(params.data_length)).unwrap_or_default();
            let bytes = bytes.min(RESPONSE_BYTES_MAX);
            if bytes > 0 {
                exchange.arrivals.push((time_us, bytes));
            }
        }
        _ => {}
    }
    Some(())
}

fn note_priority(exchange: &mut Exchange, time_us: u64, name: Part<'_>) {
    let urgency = text(name).and_then(|name| urgency(&name));
    exchange.priorities.extend(urgency.map(|value| (time_us, value)));
}

fn note_response(exchange: &mut Exchange, response: &Response<'_>) {
    if !text(response.protocol).is_some_and(|it| is_multiplexed(&it)) {
        return;
    }
    let connection = response.connection_id.map_or("null", serde_json::value::RawValue::get);
    exchange.connection = connection.chars().take(100).collect();
    let Some(timing) = parsed::<Timing<'_>>(response.timing) else { return };
    let (Some(start_s), Some(send_ms)) = (number(timing.request_time), number(timing.send_start))
    else {
        return;
    };
    exchange.sent_us = us(start_s * 1000.0 + send_ms);
    let send_end_ms = number(timing.send_end).unwrap_or(send_ms);
    exchange.wait_us = number(timing.receive_headers_end).map(|end_ms| us(end_ms - send_end_ms));
}

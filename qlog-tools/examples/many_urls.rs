//! A made-up client's log of many requests with long URLs, as an attacker might hand in.
//! `many_urls REQUESTS URL_BYTES FILE`

use std::fs::File;
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, requests, url_bytes, file] = &arguments[..] else {
        return Err(io::Error::other("usage: many_urls REQUESTS URL_BYTES FILE"));
    };
    let number = |text: &String| text.parse::<usize>().map_err(io::Error::other);
    let (requests, url_bytes) = (number(requests)?, number(url_bytes)?);
    let mut log = BufWriter::new(File::create(file)?);
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}"#;
    writeln!(log, "{header}")?;
    for request in 0..requests {
        let (stream, urgency) = (4 * request, request % 7);
        let path = format!("/{request:x<width$}", width = url_bytes.saturating_sub(1));
        writeln!(
            log,
            r#"{{"time":{request},"name":"http:frame_created","data":{{"stream_id":{stream},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"{path}"}},{{"name":"priority","value":"u={urgency}"}}]}}}}}}"#
        )?;
        writeln!(
            log,
            r#"{{"time":{request}.5,"name":"transport:packet_received","data":{{"header":{{"packet_number":{request}}},"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":1000,"fin":true}}]}}}}"#
        )?;
    }
    log.flush()
}

//! Logs beyond what a reader accepts.

use super::*;

#[test]
fn deep_nesting_is_left_out_and_what_follows_is_read() {
    let deep = format!(
        "{{\"time\":1,\"name\":\"quic:packet_sent\",\"data\":{{\"frames\":{}{}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let good = r#"{"time":2,"name":"quic:packet_received","data":{"frames":[{"frame_type":"stream","stream_id":0,"length":9}]}}"#;
    for log in
        [format!("{good}\n{deep}\n"), format!("{{\"traces\":[{{\"events\":[{deep},{good}]}}]}}")]
    {
        let trace = read_ok(log.as_bytes());
        assert_eq!((trace.counts.bad_records, trace.unique_stream_bytes()), (1, 9));
    }
}

fn request(stream: u64, path: &str) -> String {
    format!(
        r#"{{"time":1,"name":"http3:frame_created","data":{{"stream_id":{stream},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"{path}"}}]}}}}}}"#
    ) + "\n"
}

#[test]
fn a_long_url_is_cut_and_counted() {
    let trace = read_ok(request(0, &"p".repeat(9000)).as_bytes());
    let url = &trace.timeline.transfers[0].url;
    assert_eq!((url.chars().count(), url.chars().last()), (2001, Some('\u{2026}')));
    assert!(trace.repairs.iter().any(|it| it.what.contains("2000 characters") && it.count == 1));
}

#[test]
fn more_text_than_a_page_has_is_an_error_and_not_memory() {
    let path = "p".repeat(2000);
    let log: String = (0..101_000).map(|place| request(4 * place, &path)).collect();
    let error = read("test", log.as_bytes()).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("test: its URLs and other texts take more than 192 MiB"), "{error}");
}

#[test]
fn damaged_gzip_is_not_called_an_early_end() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(&sequence(CLIENT)).unwrap();
    let mut packed = packer.finish().unwrap();
    let checksum = packed.len() - 8;
    packed[checksum] ^= 1;
    let repairs =
        |bytes: &[u8]| read_ok(bytes).repairs.iter().map(|it| it.what).collect::<Vec<_>>();
    assert_eq!(repairs(&packed), [DAMAGED]);
    packed.truncate(checksum);
    assert_eq!(repairs(&packed), [CUT]);
}

#[test]
fn sixty_thousand_requests_are_all_read() {
    let events: Vec<String> = (0..60_000_u64)
        .flat_map(|request| {
            let stream = 4 * request;
            [
                format!(r#"{{"time":{request},"name":"http:frame_created","data":{{"stream_id":{stream},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":path","value":"/{request}"}}]}}}}}}"#),
                format!(r#"{{"time":{request},"name":"transport:packet_sent","data":{{"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":9,"fin":true}}]}}}}"#),
                format!(r#"{{"time":{request},"name":"transport:packet_received","data":{{"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":0,"length":1000,"fin":true}}]}}}}"#),
            ]
        })
        .collect();
    let options = ReadOptions { detail: Detail::Summary, ..ReadOptions::default() };
    let log = clients_log(&events);
    let trace = read_traces("a", log.as_bytes(), options).unwrap().remove(0);
    assert_eq!((trace.unique_stream_bytes(), trace.incomplete()), (60_000_000, None));
}

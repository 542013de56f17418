use super::*;
use crate::reader::{ReadOptions, read_traces};

/// Events of one connection; `side` wrote them.
fn log(side: &str, events: &[&str]) -> Trace {
    let header = format!(
        r#"{{"qlog_version":"0.3","trace":{{"vantage_point":{{"type":"{side}"}},"common_fields":{{"ODCID":"aa01"}}}}}}"#
    );
    let text = [&[&*header], events].concat().join("\n");
    let options = ReadOptions { detail: Detail::Events, vantage: None };
    let mut traces = read_traces(side, text.as_bytes(), options).unwrap();
    crate::naming::named(traces.remove(0), Some(side))
}

const REQUEST: &str = r#"{"time":1,"name":"http:frame_created","data":{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a,b"}]}}}"#;

/// The client: packet 2 arrived first, then the one that repairs packet 1. Its clock is 100 ms ahead of the
/// server's.
fn client() -> Trace {
    log(
        "client",
        &[
            REQUEST,
            r#"{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":80}}}"#,
            r#"{"time":110,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":2},"raw":{"length":140},"frames":[{"frame_type":"stream","stream_id":0,"offset":100,"length":100,"fin":true}]}}"#,
            r#"{"time":130.5,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":3},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":100},{"frame_type":"ack","acked_ranges":[[0,3],[5]]}]}}"#,
        ],
    )
}

fn server() -> Trace {
    let sent = |time: &str, number: u64, offset: u64| {
        format!(
            r#"{{"time":{time},"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":140}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":100,"fin":{}}}]}}}}"#,
            offset > 0
        )
    };
    log(
        "server",
        &[
            r#"{"time":1,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":80}}}"#,
            &sent("2", 1, 0),
            &sent("2", 2, 100),
            r#"{"time":2,"name":"recovery:metrics_updated","data":{"congestion_window":12000,"bytes_in_flight":280,"smoothed_rtt":12.5}}"#,
            r#"{"time":20,"name":"recovery:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":1}}}"#,
            &sent("22.5", 3, 0),
        ],
    )
}

/// The rows of a series as text, without the columns common to all.
fn rows(name: &str, traces: &mut [Trace]) -> Vec<String> {
    let mut written = Vec::new();
    let series = Series::named(name).unwrap();
    let mut add = |row: &[Cell<'_>]| {
        assert_eq!(row.len(), series.header().count(), "a value for each column");
        written.push(row.iter().map(ToString::to_string).collect::<Vec<_>>().join("|"));
        Ok(())
    };
    series.write(traces, &mut add).unwrap();
    written
}

#[test]
fn frames_say_why_they_came_late() {
    let client = rows("frames", &mut [client()]);
    assert_eq!(
        client,
        [
            "client|client|0.000|110.000|2|0|100|100|100|",
            "client|client|0.000|130.500|3|0|0|100|100|retransmitted"
        ]
    );
    let server = rows("frames", &mut [server()]);
    assert_eq!(server[2], "server|server|0.000|22.500|3|0|0|100|0|retransmitted");
}

#[test]
fn packets_of_both_ends_have_what_moves_them_to_one_clock() {
    let rows = rows("packets", &mut [client(), server()]);
    assert_eq!(rows[0], "client|client|0.000|1.000|sent|application|7|80");
    assert_eq!(rows[1], "client|client|0.000|110.000|received|application|2|140");
    // The minimum delays are 108 ms down and 0 up, so the server's clock counts as 54 ms behind.
    let of_server = rows.iter().find(|it| it.starts_with("server"));
    let first = "server|server|54.000|1.000|received|application|7|80";
    assert_eq!(of_server.map(String::as_str), Some(first));
    assert!(
        rows.contains(&"server|server|54.000|20.000|lost|application|1|".to_owned()),
        "{rows:#?}"
    );
}

#[test]
fn what_an_arrival_made_readable_is_in_its_row() {
    let rows = rows("blocking", &mut [client(), server()]);
    assert_eq!(
        rows,
        [
            "client|client|0.000|110.000|0|100|0|0|exact",
            "client|client|0.000|130.500|0|100|200|200|exact"
        ]
    );
}

/// The second response is larger, and half of it is missing.
#[test]
fn the_curve_of_the_index_is_of_the_responses_that_finished() {
    let second = REQUEST.replace(":0,", ":4,").replace("/a,b", "/c");
    let trace = log(
        "client",
        &[
            REQUEST,
            &second,
            r#"{"time":21,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":2},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":100,"fin":true},{"frame_type":"stream","stream_id":4,"offset":0,"length":900}]}}"#,
        ],
    );
    let finished = crate::metrics::Completions::of_finished(&trace, |_| true).unwrap();
    assert_eq!((finished.0.byte_index_ms(), finished.1.len()), (20.0, 1));
    let expected = ["client|client|0.000|1.000|0", "client|client|0.000|21.000|1"];
    assert_eq!(rows("index", &mut [trace]), expected);
}

#[test]
fn the_other_series_have_what_the_log_says() {
    assert_eq!(
        rows("streams", &mut [client()]),
        ["client|client|0.000|0|request|/a,b|||1.000|110.000|130.500|130.500|200||2|100|0|0"]
    );
    assert_eq!(
        rows("index", &mut [client()]),
        ["client|client|0.000|1.000|0", "client|client|0.000|130.500|1"]
    );
    assert_eq!(
        rows("congestion", &mut [server()]),
        ["server|server|0.000|2.000|12000|280||12.5||"]
    );
    let events = rows("events", &mut [client()]);
    assert_eq!(
        events[3],
        "client|client|0.000|130.500|transport:packet_received||received|application|3||stream 0 0+100; ack 5 0-3"
    );
    let progress = rows("progress", &mut [server()]);
    assert!(progress.contains(&"server|server|0.000|22.500|sent|420".to_owned()), "{progress:#?}");
    assert!(progress.contains(&"server|server|0.000|20.000|lost|140".to_owned()), "{progress:#?}");
    let restraints = rows("restraints", &mut [server()]);
    assert!(restraints.iter().all(|it| it.ends_with("|computed")), "{restraints:#?}");
}

#[test]
fn a_log_lacks_only_what_its_other_end_does_not_have() {
    let restraints = Series::named("restraints").unwrap();
    assert!(restraints.lacking(&[client()])[0].is_some());
    assert_eq!(restraints.lacking(&[client(), server()]), [None, None]);
    let flow_control = Series::named("flow-control").unwrap();
    assert!(flow_control.lacking(&[client(), server()]).iter().all(Option::is_some));
}

#[test]
fn names_are_unique_and_end_with_their_unit() {
    for series in &SERIES {
        assert!(std::ptr::eq(Series::named(series.name).unwrap(), series), "{}", series.name);
        let mut names: Vec<&str> = series.header().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), series.header().count(), "{}", series.name);
    }
}

/// The part of `docs/series.md` that is made from the registry.
fn documented() -> String {
    let table = |columns: &[Column]| {
        let rows = columns.iter().map(|it| format!("| `{}` | {} |\n", it.name, it.about));
        format!("| column | meaning |\n|---|---|\n{}", rows.collect::<String>())
    };
    let head = format!("{HEADING}\n\nEvery row begins with\n\n{}", table(&FIRST_COLUMNS));
    let part = |it: &Series| {
        let (name, about) = (it.name, it.about);
        format!("\n### `{name}`\n\nA row is {about}.\n\n{}", table(it.columns))
    };
    SERIES.iter().map(part).fold(head, |text, part| text + &part)
}

const HEADING: &str = "## Columns";

#[test]
fn the_documentation_lists_every_column() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/series.md");
    let intact = std::fs::read_to_string(file).unwrap();
    let (before, _) = intact.split_once(HEADING).expect("the heading of the tables");
    let expected = format!("{before}{}", documented());
    if std::env::var_os("UTMOST_BLESS").is_some() {
        std::fs::write(file, expected).unwrap();
    } else {
        assert!(
            intact == expected,
            "docs/series.md is out of date: UTMOST_BLESS=1 cargo test --lib documentation"
        );
    }
}

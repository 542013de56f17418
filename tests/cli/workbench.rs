//! The workbench of `utmost view`: its numbers equal those of `compare`, and it answers nobody else.

use crate::running::Running;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

pub(crate) const JSON: &str = "application/json";

/// The body of an answer.
pub(crate) fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").expect("a head and a body").1
}

pub(crate) fn ask(view: &Running, place: &str, question: &Value) -> Value {
    let line = format!("POST /{place}");
    let answer = view.http_of_type(&line, &view.address, JSON, &question.to_string());
    serde_json::from_str(body(&answer)).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

pub(crate) fn question(page: &str, engine: &str) -> Value {
    json!({
        "page": page, "network": "3g-lossy", "engine": engine, "metric": "byte_index", "seed": 3,
        "set": {"rtt_ms": "80", "rate": "3000000"}, "listed": {"send_buffer_bytes": "14000"},
        "rows": [
            {"scheme": "rfc9218"},
            {"scheme": "dfifo"},
            {"scheme": "rfc9218", "label": "by hand", "by_hand": {
                "priorities": {"2": {"urgency": 0, "incremental": false}}, "preloads": [3],
            }},
        ],
    })
}

/// Runs the command that the workbench prints, in a folder with the files that it names, and compares every number.
fn assert_equal_to_compare(view: &Running, question: &Value) -> tempfile::TempDir {
    let answers = ask(view, "answers", question);
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in ask(view, "file", question).as_object().expect("files") {
        fs::write(folder.path().join(name), text.as_str().expect("text")).expect("written");
    }
    if let Some(text) = question["scheme_file"].as_str() {
        fs::write(folder.path().join("fonts-first.toml"), text).expect("written");
    }
    let commands = answers["command"].as_str().expect("commands");
    let runs = commands.lines().flat_map(|command| {
        let words = command.split(' ').skip(1).chain(["--json"]);
        let mut compare = Command::new(crate::PROGRAM);
        let output = compare.current_dir(folder.path()).args(words).output().expect("it runs");
        assert!(output.status.success(), "{command}: {output:?}");
        let study: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        // The terminal has a row a scheme, so no page may have others' numbers in its means.
        assert_eq!(study["pages"].as_array().map(Vec::len), Some(1), "{command}");
        study["runs"].as_array().expect("runs").clone()
    });
    let runs: Vec<Value> = runs.collect();
    let rows = ask(view, "load", question);
    for row in rows["rows"].as_array().expect("rows") {
        let is_same = |it: &&Value| ["page", "scheme"].iter().all(|key| it[key] == row["run"][key]);
        assert_eq!(runs.iter().find(is_same), Some(&row["run"]), "{commands}");
    }
    folder
}

#[test]
fn the_numbers_of_the_workbench_are_those_of_the_command_that_it_prints() {
    let view = Running::start(&["view"]);
    for page in ["case-study-1", "davies-meenan", "gentelella-index", "chrome-har-bing"] {
        assert_equal_to_compare(&view, &question(page, "ideal"));
    }
    assert_equal_to_compare(&view, &question("case-study-1", "stack"));
}

#[test]
fn the_numbers_with_a_scheme_file_a_hero_and_hints_are_those_of_compare_too() {
    let view = Running::start(&["view"]);
    let mut asked = question("case-study-2", "stack");
    let answer = view.http("GET /page?name=case-study-2", &view.address, "");
    let page: Value = serde_json::from_str(body(&answer)).expect("JSON");
    let resources = page["resources"].as_array().expect("resources");
    let image = resources.iter().find(|it| it["kind"] == "image").expect("an image");
    let is_hero = image["hero"].as_bool().expect("a fact");
    asked["facts"] = json!({"heroes": {image["id"].to_string(): !is_hero}});
    asked["listed"] = json!({"hints": "preload", "queue": "1bdp"});
    asked["rows"][1]["scheme"] = "fonts-first".into();
    let file = format!("{}/examples/schemes/fonts-first.toml", crate::REPOSITORY);
    asked["scheme_file"] = fs::read_to_string(file).expect("an example").into();
    let folder = assert_equal_to_compare(&view, &asked);
    assert!(folder.path().join("case-study-2-marked-by-hand.json").is_file());
}

#[test]
fn pushes_and_early_hints_by_hand_are_those_of_compare_too() {
    let view = Running::start(&["view"]);
    let mut asked = question("case-study-1", "stack");
    asked["listed"] = json!({});
    asked["rows"][2]["by_hand"] = json!({"pushes": [3], "early_hints": [1]});
    assert_equal_to_compare(&view, &asked);
    let loaded = ask(&view, "load", &asked);
    let pushed = |row: usize| {
        let resources = loaded["rows"][row]["run"]["resources"].as_array().expect("resources");
        let pushed = resources.iter().filter(|it| it["pushed"] == true);
        pushed.map(|it| it["id"].as_u64().expect("an ID")).collect::<Vec<_>>()
    };
    assert_eq!([pushed(0), pushed(2)], [vec![], vec![3]]);
    asked["engine"] = "ideal".into();
    let left_out = &ask(&view, "load", &asked)["left_out"];
    assert_eq!(left_out, &json!(["loss", "push and early hints by hand"]));
    asked["rows"][2]["by_hand"] = json!({"pushes": [0]});
    let answer = view.http_of_type("POST /load", &view.address, JSON, &asked.to_string());
    assert!(
        answer.contains("resources[0].announced: is for what the document leads to"),
        "{answer}"
    );
}

#[test]
fn the_tests_of_a_study_follow_the_choice_and_are_those_of_compare() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = folder.path().join("study").display().to_string();
    let compare = |arguments: &[&str]| {
        let output = Command::new(crate::PROGRAM).arg("compare").args(arguments).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let asked = "case-study-1 case-study-2 davies-meenan --schemes rfc9218,dfifo,rr --engine ideal --network 3g,cable --json";
    compare(&[&*asked.split(' ').collect::<Vec<_>>(), &["--out", &study]].concat());
    let view = Running::start(&["view", &study]);
    let get = |place: &str| {
        let answer = view.http(&format!("GET /{place}"), &view.address, "");
        serde_json::from_str::<Value>(body(&answer)).unwrap_or_else(|_| panic!("{answer}"))
    };
    for (baseline, metric) in [("dfifo", "load"), ("rfc9218", "byte_index"), ("rr", "speed_index")]
    {
        let answer = get(&format!("studied?baseline={baseline}&metric={metric}"));
        let manifest = format!("{study}/manifest.json");
        let again = ["--from", &manifest, "--baseline", baseline, "--metric", metric, "--json"];
        let expected = compare(&again);
        for (key, rows) in [("comparisons", "comparisons"), ("pages", "page_summary")] {
            let found = answer[key].as_array().expect("rows").iter().map(|it| it["row"].clone());
            assert_eq!(found.collect::<Value>(), expected[rows], "{baseline} {metric} {key}");
        }
    }
    let loads = get("loads?page=case-study-1");
    assert_eq!(loads.as_array().expect("loads").len(), 3 * 2);
    let refused = |place: &str| view.http(&format!("GET /{place}"), &view.address, "");
    assert!(refused("studied?baseline=fifo").contains("the study has no scheme \"fifo\""));
    assert!(refused("studied?metric=x").contains("no metric is named \"x\""));
    let without = Running::start(&["view"]);
    let answer = without.http("GET /studied", &without.address, "");
    assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("utmost view DIR"), "{answer}");
}

#[test]
fn a_dropped_har_file_is_a_page_and_its_names_stay_text() {
    let view = Running::start(&["view"]);
    let attack = "/</script><img src=x onerror=alert(1)>";
    let entry = |path: &str, wait: u32| {
        json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 100,
            "request": {"method": "GET", "url": format!("https://shop.example{path}"), "headers": []},
            "response": {"status": 200, "headers": [], "content": {"size": 5000, "mimeType": "text/html"}, "bodySize": 5000},
            "timings": {"send": 0, "wait": wait, "receive": 50},
        })
    };
    let har = json!({"log": {"entries": [entry("/", 10), entry(attack, 20)]}}).to_string();
    let drop = |name: &str, body: &str| {
        let line = format!("POST /drop?name={name}");
        view.http_of_type(&line, &view.address, "application/octet-stream", body)
    };
    let answer = drop("%3Cb%3Eshop.har", &har);
    assert_eq!(
        serde_json::from_str::<Value>(body(&answer)).expect("JSON"),
        json!({"name": "bshop"})
    );
    let mut asked = question("bshop", "ideal");
    asked["rows"].as_array_mut().expect("rows").truncate(2);
    let loaded = ask(&view, "load", &asked);
    let svg = loaded["svg"].as_str().expect("a picture");
    assert!(!svg.contains("<img") && !svg.contains("</script"), "{svg}");
    for (name, text) in
        [("x.har", "nonsense"), ("x.json", "{}"), ("x.qlog", "{\"qlog_version\":1}")]
    {
        let answer = drop(name, text);
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains(name), "{answer}");
    }
}

#[test]
fn a_hundred_megabytes_are_refused_before_they_come() {
    let view = Running::start(&["view"]);
    let (host, below) = (&view.address, &view.below);
    for (place, mime) in [("drop?name=large.har", "application/octet-stream"), ("load", JSON)] {
        let mut client = TcpStream::connect(host).expect("it listens");
        write!(
            client,
            "POST {below}/{place} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {mime}\r\nContent-Length: 100000000\r\n\r\n"
        )
        .expect("sent");
        let mut answer = [0; 12];
        client.read_exact(&mut answer).expect("an answer without the body");
        assert_eq!(&answer, b"HTTP/1.1 413", "{place}");
    }
}

#[test]
fn another_page_cannot_ask_the_workbench() {
    let view = Running::start(&["view"]);
    let (host, text) = (view.address.clone(), question("case-study-1", "ideal").to_string());
    let status = |line: &str, host: &str, mime: &str| {
        view.http_of_type(line, host, mime, &text).split(' ').nth(1).expect("a status").to_owned()
    };
    assert_eq!(status("POST /load", &host, JSON), "200");
    // A form can send these types without being asked first.
    for mime in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        assert_eq!(status("POST /load", &host, mime), "404", "{mime}");
    }
    for foreign in ["Origin: http://evil.test", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        assert_eq!(status("POST /load", &format!("{host}\r\n{foreign}"), JSON), "403", "{foreign}");
    }
    assert_eq!(status("POST /load", "evil.test", JSON), "403");
    let mut without_token = Running::start(&["view"]);
    without_token.below = "/00".to_owned();
    let answer = without_token.http("GET /", &without_token.address, "");
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("token"), "{answer}");
}

#[test]
fn what_cannot_be_is_refused_with_its_cause() {
    let view = Running::start(&["view"]);
    let refusal = |change: &dyn Fn(&mut Value)| {
        let mut asked = question("case-study-1", "ideal");
        change(&mut asked);
        let answer = view.http_of_type("POST /load", &view.address, JSON, &asked.to_string());
        assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
        body(&answer).trim().to_owned()
    };
    assert!(refusal(&|it| it["page"] = "/etc/passwd".into()).contains("no such page"));
    assert!(refusal(&|it| it["network"] = "./x.toml".into()).contains("no network is named"));
    assert!(refusal(&|it| it["engine"] = "wire".into()).contains("ideal and stack"));
    assert!(refusal(&|it| it["rows"][1]["scheme"] = "oracle".into()).contains("bracket"));
    assert!(refusal(&|it| it["set"]["rate"] = "fast".into()).contains("`fast` is not a number"));
    assert!(refusal(&|it| it["set"]["rate"] = "$(id)".into()).contains("is not a value"));
    assert!(refusal(&|it| it["rows"] = json!([])).starts_with("0 orders"));
    let scheme = "[scheme]\nname = \"mine\"\nabout = \"x\"\n[[place]]\nrank = -1\n";
    assert!(
        refusal(&|it| it["scheme_file"] = scheme.into())
            .starts_with("scheme.toml: line 5: rank -1")
    );
    // Whatever was asked, it goes on.
    assert!(view.http("GET /page?name=case-study-1", &view.address, "").contains("200 OK"));
}

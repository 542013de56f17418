//! What the workbench of `utmost view` is given: a study, a URL to record, pictures and packed files. None of it does harm.

use crate::running::Running;
use crate::workbench::{JSON, ask, body, question};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

#[test]
fn a_study_that_was_dropped_answers_as_its_folder_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = folder.path().join("study").display().to_string();
    let words = ["compare", "case-study-1", "davies-meenan", "--schemes", "rfc9218,rr"];
    let words = [&words[..], &["--engine", "ideal", "--network", "3g", "--out", &study]].concat();
    let output = Command::new(crate::PROGRAM).args(words).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let files = ["manifest.json", "runs.jsonl"].map(|name| {
        let text = fs::read_to_string(format!("{study}/{name}")).expect("a file");
        (name.to_owned(), Value::from(text))
    });
    let files: serde_json::Map<String, Value> = files.into_iter().collect();
    let view = Running::start(&["view"]);
    let drop =
        |files: &Value| view.http_of_type("POST /study", &view.address, JSON, &files.to_string());
    let studied = |view: &Running| {
        let answer = view.http("GET /studied?metric=load", &view.address, "");
        serde_json::from_str::<Value>(body(&answer)).unwrap_or_else(|_| panic!("{answer}"))
    };
    let whole = Value::from(files.clone());
    assert!(drop(&whole).starts_with("HTTP/1.1 200"), "{}", drop(&whole));
    assert_eq!(studied(&view), studied(&Running::start(&["view", &study])));

    let refused = |change: &dyn Fn(&mut Value)| {
        let mut files = Value::from(files.clone());
        change(&mut files);
        let answer = drop(&files);
        assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
        body(&answer).trim().to_owned()
    };
    let manifest = files["manifest.json"].as_str().expect("text");
    for name in ["../x", "/etc/x", "a/b/c", "pages/../../x"] {
        assert!(refused(&|it| it[name] = "".into()).contains("a study has no such file"), "{name}");
    }
    assert!(refused(&|it| *it = json!({})).contains("this is not a study"));
    let own = manifest.replacen("\"name\": \"3g\"", "\"name\": \"/etc/passwd\"", 1);
    assert!(
        refused(&|it| it["manifest.json"] = own.clone().into()).contains("a network of a file")
    );
    let seeds = format!("\"seeds\": [{}0]", "0,".repeat(600_000));
    let many = manifest.replacen("\"seeds\": [\n    0\n  ]", &seeds, 1);
    assert!(
        refused(&|it| it["manifest.json"] = many.clone().into()).contains("over 1000000 loads")
    );
    let torn = refused(&|it| it["runs.jsonl"] = "{}\n".into());
    assert!(torn.starts_with("runs.jsonl: ") && !torn.contains("/tmp"), "{torn}");
    assert_eq!(studied(&view)["schemes"], json!(["rfc9218", "rr"]));
}

/// A server of a page with one image, over plain HTTP, for as long as the test runs.
fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let read = client.read(&mut asked).unwrap_or_default();
            let is_image = asked[..read].starts_with(b"GET /hero.svg");
            let (mime, text) = if is_image {
                (
                    "image/svg+xml",
                    "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='500'/>",
                )
            } else {
                (
                    "text/html",
                    "<!doctype html><title>x</title><img src=/hero.svg width=900 height=500>",
                )
            };
            let length = text.len();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {length}");
            write!(client, "{head}\r\nConnection: close\r\n\r\n{text}").ok();
        }
    });
    format!("http://{address}/shop")
}

#[test]
fn a_url_is_recorded_and_only_an_address_of_the_web_is() {
    let view = Running::start(&["view"]);
    let record = |url: &str, mime: &str| {
        let question = json!({ "url": url }).to_string();
        view.http_of_type("POST /record", &view.address, mime, &question)
    };
    for url in
        ["", "file:///etc/passwd", "/etc", "npm:startbootstrap-agency@7.0.12/dist/", "ftp://a/"]
    {
        let answer = record(url, JSON);
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("http or https"), "{answer}");
    }
    // A form elsewhere can send this type.
    assert!(record("http://127.0.0.1:9/", "text/plain").starts_with("HTTP/1.1 404"));
    if fixtures::program("chromium").is_none() {
        return;
    }
    let answer = record(&site(), JSON);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let name: Value = serde_json::from_str(body(&answer)).expect("JSON");
    let name = name["name"].as_str().expect("a name");
    let answer = view.http(&format!("GET /page?name={name}"), &view.address, "");
    let page: Value = serde_json::from_str(body(&answer)).unwrap_or_else(|_| panic!("{answer}"));
    let urls = page["resources"].as_array().expect("resources").iter().map(|it| it["url"].clone());
    assert_eq!(urls.collect::<Value>(), json!(["/shop", "/hero.svg"]));
    assert!(view.http("GET /progress", &view.address, "").contains("load 1 of 1"));
}

#[test]
fn a_picture_becomes_a_pdf_file_and_anything_else_is_refused() {
    let view = Running::start(&["view"]);
    let pdf = |svg: &str, mime| view.http_of_type("POST /pdf", &view.address, mime, svg);
    let loaded = ask(&view, "load", &question("case-study-1", "ideal"));
    let answer = pdf(loaded["svg"].as_str().expect("a picture"), "image/svg+xml");
    assert!(body(&answer).starts_with("%PDF-"), "{answer:.300}");
    let svg = |inside: &str| {
        format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{inside}</svg>"#)
    };
    let deep = svg(&format!("{}{}", "<g opacity=\"0.5\">".repeat(5000), "</g>".repeat(5000)));
    let entities =
        ["b", "c", "d", "e", "f", "g", "h"].into_iter().zip(["a", "b", "c", "d", "e", "f", "g"]);
    let entities: Vec<String> = entities
        .map(|(name, of)| format!(r#"<!ENTITY {name} "{}">"#, format!("&{of};").repeat(20)))
        .collect();
    let first = "a".repeat(1000);
    let bomb = format!(
        r#"<!DOCTYPE x [<!ENTITY a "{first}">{}]>{}"#,
        entities.concat(),
        svg("<text>&h;</text>")
    );
    for hostile in ["", "<svg", &deep, &bomb] {
        let answer = pdf(hostile, "image/svg+xml");
        assert!(answer.starts_with("HTTP/1.1 422"), "{answer:.300}");
    }
    assert!(pdf("<svg/>", "text/plain").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_small_file_that_unpacks_to_gigabytes_is_refused() {
    let view = Running::start(&["view"]);
    let pack = "head -c 600000000 /dev/zero | gzip -1";
    let packed = Command::new("sh").args(["-c", pack]).output().expect("it runs").stdout;
    assert!((100_000..10_000_000).contains(&packed.len()), "{}", packed.len());
    let mut client = TcpStream::connect(&view.address).expect("it listens");
    let (below, host, length) = (&view.below, &view.address, packed.len());
    write!(client, "POST {below}/drop?name=bomb.har.gz HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/octet-stream\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n").expect("sent");
    client.write_all(&packed).expect("sent");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("bomb.har.gz"), "{answer}");
}

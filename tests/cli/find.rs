//! `utmost find`: which order should a site send its pages in?

use crate::schemas::assert_valid;
use crate::serving::Serving;
use crate::{only_line, stdout_of, utmost};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A page whose hero image the document names after a large picture: an order that knows what matters gains.
pub(crate) const PAGE: &str = "davies-meenan";

pub(crate) fn answer(arguments: &[&str]) -> Value {
    let text = stdout_of(&[&["find"], arguments, &["--json"]].concat());
    let document: Value = serde_json::from_str(&text).expect("one JSON document and nothing else");
    assert_valid("find.json", &document);
    document
}

#[track_caller]
pub(crate) fn refused(arguments: &[&str], expected: &str) {
    let output = utmost(&[&["find"], arguments].concat()).output().expect("the program runs");
    let line = only_line(&output, 2);
    assert!(line.contains(expected), "{line}");
}

pub(crate) fn har(folder: &Path) -> String {
    let entry = |ms: &str, url: &str, mime: &str, size: i64| {
        json!({"startedDateTime": format!("2020-01-01T00:00:00.{ms}Z"), "time": 50.0,
            "request": {"method": "GET", "url": url},
            "response": {"status": 200, "bodySize": size, "content": {"size": 90_000, "mimeType": mime}}})
    };
    let file = json!({"log": {"entries": [
        entry("100", "https://shop.example/", "text/html", 9_000),
        entry("200", "https://shop.example/a.css", "text/css", 20_000),
        entry("300", "https://shop.example/a.png", "image/png", -1),
    ]}});
    let path = folder.join("home.har");
    fs::write(&path, file.to_string()).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// The times of the loads in the present order, in ms.
fn present_ms(document: &Value) -> Vec<f64> {
    let loads = document["by_resource"][0]["networks"][0]["each_present_ms"].as_array();
    loads.expect("loads").iter().map(|it| it.as_f64().expect("a time")).collect()
}

/// The answer by the `ByteIndex` and one by the first rendering have other values.
#[test]
fn loads_are_judged_by_the_metric_that_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let judged =
        |metric: &str| answer(&[PAGE, "--networks", "3g", "--most-loads", "9", "--metric", metric]);
    let mixed = judged("byte_index:1,first_render:3");
    assert_eq!(mixed["metric"], "byte_index:1,first_render:3");
    let [byte_index, first_render, hero_render, seen] =
        ["byte_index", "first_render", "hero_render", "seen"].map(|it| present_ms(&judged(it)));
    // Each goal decides how often the page is loaded; the first seeds are the same.
    for (place, mixed) in present_ms(&mixed).into_iter().enumerate().take(6) {
        assert!((mixed - (byte_index[place] + 3.0 * first_render[place]) / 4.0).abs() < 1e-6);
        let all = byte_index[place] + first_render[place] + hero_render[place];
        assert!((seen[place] - all / 3.0).abs() < 1e-6, "the default: what a visitor sees");
    }
    let file = folder.path().join("mixed.json");
    fs::write(&file, mixed.to_string()).expect("written");
    let baseline = file.to_str().expect("UTF-8");
    refused(
        &[PAGE, "--networks", "3g", "--baseline", baseline],
        "it is judged by byte_index:1,first_render:3, not by seen; use --metric byte_index:1,first_render:3",
    );
    refused(
        &[PAGE, "--metric", "hero"],
        "no metric is named `hero`; use one of seen, byte_index, ",
    );
}

/// In real time, so on a fast network.
#[test]
fn priorities_are_confirmed_over_real_udp() {
    let document = answer(&[PAGE, "--networks", "cable", "--confirm"]);
    assert_eq!(document["answer"]["verdict"], "better", "{}", document["answer"]);
    let confirmation = &document["confirmations"][0];
    assert_eq!(confirmation["network"], "cable");
    assert!(confirmation["pairs"].as_u64().is_some_and(|it| it > 0), "{confirmation}");
    let words = confirmation["words"].as_str().expect("words");
    assert!(words.starts_with("davies-meenan on cable, over real UDP: "), "{words}");
}

/// The client's log of a load of [`PAGE`] under `rr`.
fn log(folder: &Path) -> String {
    let out = folder.join("out");
    let study =
        ["compare", "--paper", PAGE, "--schemes", "rr", "--engine", "stack", "--network", "3g"];
    stdout_of(&[&study[..], &["--keep-qlogs", "--out", out.to_str().expect("UTF-8")]].concat());
    let log = out.join("qlogs").join(PAGE).join("rr-0/client.sqlog");
    log.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_log_is_asked_about_on_its_own_link_unless_another_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = log(folder.path());
    let document = answer(&[&log]);
    let page = &document["by_resource"][0];
    let place = [&page["page"], &page["networks"][0]["network"]];
    let place = place.map(|it| it.as_str().expect("a name"));
    assert_eq!(place, ["client.sqlog", "link-of-client.sqlog"]);
    let shown = stdout_of(&["find", &log, "--networks", "lte", "--details"]);
    for words in [
        "client.sqlog on lte",
        "assumed for client.sqlog, because its source does not contain it:",
        "the log's order is most like ",
        "a log does not say what is above the fold: all of the page counts",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // Contents tell a log, too, and a log that ends early is named.
    let text = fs::read(&log).expect("a log");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    fs::write(path("log.json"), &text).expect("written");
    assert_eq!(answer(&[&path("log.json")])["by_resource"].as_array().expect("pages").len(), 1);
    fs::write(path("cut.sqlog"), &text[..2000]).expect("written");
    refused(&[&path("cut.sqlog")], "cut.sqlog: ");
    fs::write(path("late.sqlog"), &text[..text.len() * 4 / 5]).expect("written");
    let shown = stdout_of(&["find", &path("late.sqlog"), "--details"]);
    assert!(shown.contains("are not whole in the log"), "{shown}");
    let all = fs::read_dir(Path::new(&log).parent().expect("a folder")).expect("logs");
    let server = all
        .map(|it| it.expect("a file").path())
        .find(|it| it.to_string_lossy().ends_with("_server.sqlog"));
    let server = server.expect("a server's log");
    refused(&[server.to_str().expect("UTF-8")], "name the client's log of this load");
}

#[test]
#[cfg(feature = "record")]
fn a_url_is_loaded_in_chromium_and_keeps_its_address() {
    if fixtures::program("chromium").is_none() {
        return;
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/data");
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key.pem");
    fs::copy(data.join("server-key.pem"), &key).expect("copied");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&key, permissions).expect("permissions");
    let certificate = data.join("server.pem").to_str().expect("UTF-8").to_owned();
    let key = key.to_str().expect("UTF-8");
    let obeying = ["--page", PAGE, "--signals", "obey", "--scheme", "rfc9218"];
    let certified = ["--cert", &certificate, "--key", key];
    let server = Serving::start(&[&obeying[..], &certified].concat());
    let page = corpus::page(PAGE).expect("bundled");
    let url = format!("https://{}{}", server.address, page.resources[0].url);
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().expect("UTF-8");
    let find = ["find", &url, "--ca", &certificate, "--http3", "--networks", "3g"];
    let document = answer(&[&find[1..], &["--policy", policy, "--measure"]].concat());
    assert_eq!(document["baseline_server"], "rfc9218", "the server of the URL was asked");
    let assumptions = document["by_resource"][0]["assumptions"].to_string();
    let derived = "the causes of requests were derived from 3 loads";
    assert!(assumptions.contains(derived), "{assumptions}");
    let certainty = document["answer"]["certainty"].as_str().expect("words");
    let is_found =
        document["by_resource"][0]["resources"].as_array().is_some_and(|it| !it.is_empty());
    assert!(
        !is_found || certainty.contains("of 4 recordings, varied as on another day"),
        "{certainty}"
    );
    let policy = fs::read_to_string(policy).expect("a policy");
    let host = format!("host = \"{}\"", server.address);
    assert!(policy.contains(&host) || !policy.contains("[[route]]"), "{policy}");
}

/// A folder with a page that is not its index: a logo, a hero as a background, and images that are invisible at
/// first.
#[cfg(feature = "record")]
fn team(folder: &Path) -> String {
    let site = folder.join("public");
    fs::create_dir(&site).expect("a folder");
    let image = |width: u32, height: u32, bytes: u32| {
        let text = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}'/><!--"
        );
        let letter =
            |it: u32| b'a' + it.wrapping_mul(2_654_435_761).rotate_left(7).to_le_bytes()[1] % 26;
        let noise: String = (0..bytes).map(|it| char::from(letter(it))).collect();
        format!("{text}{noise}-->")
    };
    fs::write(site.join("logo.svg"), image(120, 40, 6000)).expect("written");
    fs::write(site.join("hero.svg"), image(1200, 500, 90_000)).expect("written");
    let below = (0..6).map(|it| {
        fs::write(site.join(format!("below{it}.svg")), image(300, 300, 60_000)).expect("written");
        format!("<img src=\"below{it}.svg\" width=\"300\" height=\"300\">")
    });
    let text = format!(
        "<!doctype html><title>Team</title><link rel=stylesheet href=style.css><img src=\"logo.svg\" width=120 height=40>\
         <div id=hero></div><div style=\"height:2000px\"></div>{}",
        below.collect::<String>()
    );
    fs::write(site.join("team.html"), text).expect("written");
    let style = "#hero { height: 500px; background: url(hero.svg) }";
    fs::write(site.join("style.css"), style).expect("written");
    site.join("team.html").to_str().expect("UTF-8").to_owned()
}

#[test]
#[cfg(feature = "record")]
fn a_document_in_a_folder_is_found_for_any_host_and_its_logo_is_not_put_off() {
    if fixtures::program("chromium").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let document = team(folder.path());
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().expect("UTF-8");
    let find = ["find", &document, "--loads", "2", "--networks", "3g", "--policy", policy];
    let exported = stdout_of(&[&find[..], &["--export", "nginx"]].concat());
    for text in [&exported, &fs::read_to_string(policy).expect("a policy")] {
        assert!(!text.contains("page.test") && !text.contains("u=7"), "{text}");
        assert!(!text.contains("<img src=\"/hero.svg\""), "a style sheet names it: {text}");
    }
    let text = fs::read_to_string(policy).expect("a policy");
    assert!(text.contains("\nroot = \"public\"\n"), "{text}");
    let is_unsure = text.contains("nsure") || text.contains("in some recordings");
    assert!(text.contains("path = \"/team.html\"") || is_unsure, "{text}");
    let again =
        stdout_of(&["find", "--from", policy, "--export", "nginx", "--host", "team.example"]);
    assert!(again.contains("$host$uri") || !again.contains("map "), "{again}");
    assert!(!again.contains("<img src=\"/hero.svg\""), "a style sheet names it: {again}");
    let server = Serving::start(&["--config", policy]);
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn the_answer_is_a_sentence_a_line_a_network_and_what_to_paste_in_80_columns() {
    let shown = stdout_of(&["find", PAGE, "--networks", "3g,cable"]);
    let sentence = "Give 1 response of davies-meenan another priority: on cable, it is 1.";
    assert!(shown.starts_with(sentence), "{shown}");
    assert!(shown.lines().all(|it| it.chars().count() <= 80), "{shown}");
    let rows: Vec<Vec<&str>> = shown.lines().map(|it| it.split_whitespace().collect()).collect();
    let header = rows.iter().position(|it| it.first() == Some(&"network")).expect("a table");
    for (row, network) in rows[header + 1..].iter().zip(["3g", "cable"]) {
        assert_eq!(row[0], network, "{shown}");
        assert!(
            row.contains(&"earlier") || row.contains(&"earlier,"),
            "its hero comes earlier: {shown}"
        );
    }
    for words in [
        "\n[[route]]\n",
        "\n[route.resource.\"/hero.jpg\"]  # ",
        "\nSure: ",
        "--export nginx, caddy,",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    for words in ["  regret", "oracle", "One order for all", "assumed of", "speedup"] {
        assert!(!shown.contains(words), "{words} is among the details: {shown}");
    }
}

#[test]
fn details_rank_whole_schemes_and_say_how_near_the_oracle_priorities_come() {
    let shown = stdout_of(&["find", PAGE, "--networks", "3g,cable", "--details"]);
    assert!(
        shown.starts_with("Give 1 response of davies-meenan"),
        "the answer comes first: {shown}"
    );
    for words in [
        "\nOne order for all: ",
        "mix ATF ms",
        "speedup over rr",
        "over what you have",
        "95 % interval",
        "regret",
        "\n what you have  ",
        " % of what the oracle's order gains",
        " loads on ideal, ",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("assumed of"), "the assumptions of a bundled page are known: {shown}");
}

/// A server that sends all in turn shows a page later than one that obeys, and the baseline is named.
#[test]
fn what_runs_now_is_the_baseline_that_is_named() {
    let present = |server| {
        let flags = [PAGE, "--networks", "3g", "--most-loads", "9", "--baseline-server", server];
        let document = answer(&flags);
        assert_eq!(document["baseline_server"], server);
        (document["by_resource"][0]["networks"][0]["first_render"]["present_ms"].as_f64(), document)
    };
    let (obeying, _) = present("h2o");
    let (in_turn, document) = present("nginx");
    assert!(in_turn > obeying, "{in_turn:?} {obeying:?}");
    let sentence = document["answer"]["sentence"].as_str().expect("words");
    assert!(
        sentence.starts_with("Send by RFC 9218, as utmost serve and h2o do, and not as nginx does"),
        "{sentence}"
    );
    refused(
        &[PAGE, "--baseline-server", "iis"],
        "no model of a server `iis`; use one of rfc9218, nginx,",
    );
}

#[test]
fn an_answer_is_as_its_schema_says_and_stands_in_the_folder_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("answer");
    let document = answer(&[PAGE, "--networks", "3g", "--out", out.to_str().expect("UTF-8")]);
    let text = fs::read_to_string(out.join("answer.json")).expect("an answer");
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), document);
    let report = fs::read_to_string(out.join("report.html")).expect("a report");
    for part in ["speedup over what you have", "what arrived when", "Hodges-Lehmann estimate"] {
        assert!(report.contains(part), "{part}");
    }
    let sentence = document["answer"]["sentence"].as_str().expect("words").replace('\'', "&#x27;");
    let [answered, drawn] = [&*sentence, "<svg"].map(|it| report.find(it).expect("in the report"));
    assert!(answered < drawn, "the answer comes first");
    assert!(!report.contains("<script") && !report.contains("src="), "it needs nothing else");
    let schemes = &document["schemes"];
    assert_eq!(
        schemes["robust_choice"],
        Value::Null,
        "one page on one network needs no compromise"
    );
    let page = &schemes["pages"][0];
    let ranking = page["ranking"].as_array().expect("orders");
    assert_eq!(ranking.iter().filter(|it| it["is_present"] == true).count(), 1);
    let index = |it: &Value| it["atf_ms"].as_f64().expect("an index");
    assert!(ranking.is_sorted_by(|one, other| index(one) <= index(other)), "{ranking:?}");
    let screened = page["screened"].as_array().expect("schemes");
    assert!(!screened.iter().any(|it| it["scheme"] == "cpl"), "it looks ahead in the page");
    assert!(ranking.iter().any(|it| it["scheme"] == screened[0]["scheme"]), "the best goes on");
    // Three seeds choose and do not judge.
    let [loads, pairs] = ["loads", "pairs"].map(|it| page[it].as_u64().expect("a number"));
    assert_eq!(loads, pairs + 3);
    assert_eq!(page["choice"].is_null(), page["verdict"] != "better");
}

#[test]
fn the_same_question_has_the_same_answer() {
    let found = || answer(&[PAGE, "--networks", "cable"])["by_resource"].clone();
    assert_eq!(found(), found());
}

#[test]
fn a_recording_is_read_and_its_assumptions_are_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let har = har(folder.path());
    let shown = stdout_of(&["find", &har, "--networks", "3g", "--details"]);
    assert!(shown.starts_with("Keep what you have: no response of home gains"), "{shown}");
    let decoded =
        "1 responses have no recorded size on the wire (a cache or a service worker answered)";
    assert!(shown.contains(decoded), "{shown}");
    assert!(
        shown.contains("\nassumed for home, because its source does not contain it:\n"),
        "{shown}"
    );
    assert!(shown.contains("names no initiators"), "{shown}");
    let document = answer(&[&har, "--networks", "3g"]);
    let assumptions = document["by_resource"][0]["assumptions"].as_array().expect("assumptions");
    assert!(!assumptions.is_empty());
}

#[test]
fn where_no_load_finishes_nothing_is_known_and_the_first_cause_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let network = folder.path().join("dead.toml").display().to_string();
    let text = "rate = 1e6\ndelay_ms = 10\nqueue = \"unlimited\"\nblackhole = { windows_ms = [[200, 1e9]] }\n";
    fs::write(&network, text).expect("written");
    let search = ["find", "davies-meenan", "--networks", &network, "--export", "nginx"];
    let output = utmost(&search).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(3));
    let shown = String::from_utf8(output.stdout).expect("UTF-8").replace("\n# ", " ");
    for words in [
        "Unknown: too few loads finished. The first that failed, of davies-meenan on ",
        "dead.toml: connection lost: nothing arrived for too long.",
        "Nothing is known. ",
        "Nothing is known, so there is nothing to paste.",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("Sure: ") && !shown.contains("No difference"), "{shown}");
}

#[test]
fn a_network_that_loses_packets_is_searched_without_the_losses() {
    let document = answer(&[PAGE, "--networks", "3g-lossy", "--most-loads", "9"]);
    let gain = &document["by_resource"][0]["networks"][0];
    assert_eq!(gain["pairs"], 6);
    assert!(gain["interval"].is_array(), "six pairs have an interval: {gain}");
}

#[test]
fn hints_are_judged_beside_the_present_order_and_go_into_the_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().expect("UTF-8");
    let document =
        answer(&["agency-index", "--networks", "3g", "--with-hints", "--policy", policy]);
    let found = &document["by_hints"][0];
    let links = ["links", "early_hints"].map(|it| found[it].as_array().expect("links").len());
    assert!(links[0] + links[1] > 0, "its fonts are critical and hidden: {found}");
    let gain = &found["networks"][0];
    assert!(gain["ratio"].as_f64().is_some_and(|it| it > 0.0), "{found}");
    assert_eq!(found["is_better"], gain["verdict"] == "better");
    let text = fs::read_to_string(policy).expect("a policy");
    assert!(text.contains("# agency-index on 3g: with "), "{text}");
    let server = Serving::start(&["--config", policy]);
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn a_page_that_got_slower_fails_beside_its_baseline_with_what_ci_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let page = |hero_bytes: u64| {
        let text = corpus::bundled_text(PAGE).expect("bundled");
        let mut page: Value = serde_json::from_str(text).expect("a page");
        let resources = page["resources"].as_array_mut().expect("resources");
        resources
            .iter_mut()
            .filter(|it| it["hero"] == true)
            .for_each(|it| it["bytes"] = hero_bytes.into());
        page["name"] = "mine".into();
        fs::write(path("mine.json"), page.to_string()).expect("written");
    };
    page(100_000);
    let now = ["find", &path("mine.json"), "--networks", "3g"];
    let before = stdout_of(&[&now[..], &["--json"]].concat());
    fs::write(path("before.json"), &before).expect("written");
    let beside = ["--baseline", &path("before.json")];
    let same = stdout_of(&[&now[..], &beside].concat());
    assert!(same.contains("mine on 3g: as fast as in the baseline (1.00; "), "{same}");

    page(900_000);
    let files = ["--markdown", &path("change.md"), "--junit", &path("change.xml"), "--json"];
    let output = utmost(&[&now[..], &beside, &files].concat()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("mine on 3g: slower than in the baseline"), "{message}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_valid("find.json", &document);
    assert_eq!(document["changes"][0]["verdict"], "slower");
    let markdown = fs::read_to_string(path("change.md")).expect("a table");
    assert!(
        markdown.lines().nth(2).is_some_and(|it| it.starts_with("| mine | 3g | 0.")),
        "{markdown}"
    );
    let junit = fs::read_to_string(path("change.xml")).expect("XML");
    assert!(junit.contains("tests=\"1\" failures=\"1\""), "{junit}");
    assert!(junit.contains("<failure message=\"slower than in the baseline\">"), "{junit}");

    fs::write(path("before.json"), "{}").expect("written");
    refused(&[&now[1..], &beside].concat(), "--baseline takes an answer of `utmost find --json`");
}

/// A recording of a page like that of [`har`], with this status for all but the document, over this protocol, with a cache or without.
fn recording(
    folder: &Path,
    [name, page, protocol]: [&str; 3],
    status: u16,
    is_cached: bool,
) -> String {
    let entry = |ms: u32, path: &str, mime: &str, bytes: u64| {
        let on_wire = if is_cached { 0 } else { bytes };
        json!({"startedDateTime": format!("2020-01-01T00:00:00.{ms}Z"), "time": 50.0, "pageref": page,
            "request": {"method": "GET", "url": format!("{page}{path}")},
            "response": {"status": if path == "/" { 200 } else { status }, "httpVersion": protocol, "bodySize": on_wire,
                "_transferSize": on_wire, "content": {"size": bytes, "mimeType": mime}}})
    };
    let entries = [
        entry(100, "/", "text/html", 9_000),
        entry(200, "/a.css", "text/css", 20_000),
        entry(300, "/a.png", "image/png", 90_000),
    ];
    let path = folder.join(format!("{name}.har"));
    fs::write(&path, json!({"log": {"entries": entries}}).to_string()).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// The first screen, on one line.
fn screen(har: &str) -> String {
    let shown = stdout_of(&["find", har, "--networks", "3g", "--most-loads", "9"]);
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_recording_of_failures_or_of_a_cache_is_not_sure() {
    let folder = tempfile::tempdir().expect("a folder");
    let shop = "https://shop.example";
    let failed = screen(&recording(folder.path(), ["failed", shop, "h2"], 500, false));
    let words = "Unsure: failed: 2 of 3 responses (92 % of the bytes) failed: /a.css (status 500), /a.png (status 500); record the page \
                 again when it loads. ";
    assert!(failed.contains(words) && !failed.contains("Sure: "), "{failed}");
    let cached = screen(&recording(folder.path(), ["cached", shop, "h2"], 200, true));
    let words = "Unsure: cached: most of the page came from a cache (3 of 3 responses, 100 % of the bytes); record it again with an empty \
                 cache. ";
    assert!(cached.contains(words) && !cached.contains("Sure: "), "{cached}");
}

#[test]
fn a_recording_without_priorities_today_says_for_which_server_its_answer_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let http1 = recording(folder.path(), ["one", "https://shop.example", "http/1.1"], 200, false);
    let words = "But one: the page came over HTTP/1, which has no priorities. The answer is for a server that sends it over HTTP/2 or \
                 HTTP/3; --baseline-server names which one.";
    let shown = screen(&http1);
    assert!(shown.contains(words), "{shown}");
    let plain = recording(folder.path(), ["plain", "http://shop.example", "http/1.1"], 200, false);
    let shown = screen(&plain);
    assert!(shown.contains("But plain: the page came over http://, and browsers use"), "{shown}");
}

#[test]
fn a_page_that_is_not_in_the_baseline_is_not_compared_and_does_not_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let before = answer(&["agency-index", "--networks", "3g", "--most-loads", "9"]);
    fs::write(path("before.json"), before.to_string()).expect("written");
    let files = ["--markdown", &path("change.md"), "--junit", &path("change.xml")];
    let now = ["find", PAGE, "--networks", "3g", "--most-loads", "9", "--baseline"];
    let output = utmost(&[&now[..], &[&path("before.json")], &files].concat()).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let message = String::from_utf8_lossy(&output.stderr);
    let cause = "nothing could be compared with the baseline: davies-meenan on 3g: not in the baseline; name a baseline with the same \
                 pages and networks";
    assert!(message.contains(cause), "{message}");
    let markdown = fs::read_to_string(path("change.md")).expect("a table");
    assert!(markdown.contains("| davies-meenan | 3g | - | - | not compared |"), "{markdown}");
    let junit = fs::read_to_string(path("change.xml")).expect("XML");
    assert!(junit.contains("tests=\"2\" failures=\"0\" skipped=\"2\""), "{junit}");
    let skipped = "<skipped message=\"davies-meenan on 3g: not in the baseline\"/>";
    assert!(junit.contains(skipped), "{junit}");
}

#[test]
fn a_second_load_of_a_recording_is_named_on_the_first_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str, page: &str| -> Value {
        let file = recording(folder.path(), [name, page, "h2"], 200, false);
        serde_json::from_str(&fs::read_to_string(file).expect("a recording")).expect("JSON")
    };
    let mut both = read("one", "https://shop.example");
    let second = read("two", "https://two.example");
    let entries = both["log"]["entries"].as_array_mut().expect("entries");
    entries.extend(second["log"]["entries"].as_array().expect("entries").clone());
    let path = folder.path().join("both.har");
    fs::write(&path, both.to_string()).expect("written");
    let shown = screen(path.to_str().expect("UTF-8"));
    let words = "Left out. both: the recording holds several loads: load 1 (https://shop.example/) of 2 is kept, the first of 2 with the \
                 most bytes (3 of 6 requests), and not load 2 (https://two.example/)";
    assert!(shown.contains(words), "{shown}");
}

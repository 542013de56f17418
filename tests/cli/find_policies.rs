//! The policies of `utmost find`: written, served, and exported for other servers.

use crate::find::{PAGE, answer, har, refused};
use crate::serving::Serving;
use crate::stdout_of;
use serde_json::{Value, json};
use std::fs;

#[test]
fn priorities_of_single_resources_come_as_a_policy_that_the_server_takes_and_another_server_gets() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().expect("UTF-8");
    let out = folder.path().join("answer");
    let out = out.to_str().expect("UTF-8");
    let document = answer(&[PAGE, "--networks", "3g", "--policy", policy, "--out", out]);
    let report = fs::read_to_string(folder.path().join("answer/report.html")).expect("a report");
    for part in ["largest image ", "davies-meenan: send ", "hero.jpg with u="] {
        assert!(report.contains(part), "{part}");
    }
    let found = &document["by_resource"][0];
    assert_eq!((&found["page"], &found["is_better"]), (&json!(PAGE), &json!(true)));
    let hero = found["resources"].as_array().expect("resources").iter();
    let hero: Vec<&Value> =
        hero.filter(|it| it["url"].as_str().expect("a URL").ends_with("/hero.jpg")).collect();
    assert!(hero[0]["urgency"].as_u64() < Some(3), "images have urgency 3: {found}");
    let share = found["networks"][0]["percent_of_oracle"].as_f64().expect("the oracle gains");
    assert!(share > 80.0, "{found}");

    let text = fs::read_to_string(policy).expect("a policy");
    assert!(text.starts_with("# Give 1 response of davies-meenan another priority: "), "{text}");
    for line in ["\nsignals = \"override\"  # ", "\nurgency = 0  # ", "\nincremental = true  # "] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let exported = stdout_of(&["find", "--from", policy, "--export", "nginx"]);
    assert!(exported.starts_with("# For nginx, by utmost."), "{exported}");
    assert!(exported.contains("\"/hero.jpg\" \"u="), "{exported}");
    // A bundled page has no host of a site, so the export holds under any, or under the one that is named.
    let [paths, hosts] = ["map $uri ", "map $host$uri "];
    assert!(exported.contains(paths) && !exported.contains("davies-meenan.test"), "{exported}");
    let host = ["--host", "www.shop.example"];
    let exported =
        stdout_of(&[&["find", "--from", policy, "--export", "nginx"], &host[..]].concat());
    assert!(exported.contains(hosts), "{exported}");
    assert!(exported.contains("\"www.shop.example/hero.jpg\" \"u="), "{exported}");
    refused(&[&[PAGE], &host[..]].concat(), "add --policy or --export");
}

#[test]
fn the_policy_of_a_recording_is_served_as_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let har = har(folder.path());
    let policy = folder.path().join("policy.toml");
    let policy = policy.to_str().expect("UTF-8");
    let find = ["find", &har, "--networks", "3g", "--most-loads", "9", "--policy", policy];
    let served = format!("\npolicy: {policy}; serve it by: utmost serve --config {policy}\n");
    assert!(stdout_of(&find).contains(&served), "{served}");
    let text = fs::read_to_string(policy).expect("a policy");
    assert!(
        text.contains("\n# FILL IN: the address of the server that makes your site, "),
        "{text}"
    );
    assert!(text.contains("\nupstream = \"http://127.0.0.1:8080\"\n"), "{text}");
    assert!(!text.contains("page = "), "the page of a recording is not bundled: {text}");
    let server = Serving::start(&["--config", policy]);
    assert_eq!(server.stop().0, Some(0));

    let site = folder.path().to_str().expect("UTF-8");
    stdout_of(&[&find[..], &["--site", site]].concat());
    let text = fs::read_to_string(policy).expect("a policy");
    assert!(text.contains("\nroot = \".\"\n") && !text.contains("FILL IN"), "{text}");
    let server = Serving::start(&["--config", policy]);
    assert_eq!(server.stop().0, Some(0));
}

//! Input that `utmost find` refuses, each with its remedy.

use crate::find::{PAGE, refused};
use crate::{only_line, utmost};
use std::fs;

#[test]
#[cfg(feature = "record")]
fn a_folder_without_a_page_and_a_url_without_a_browser_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("UTF-8");
    refused(&[path], "holds no index.html; name the folder of a site");
    refused(&[PAGE, "--http3"], "no URL is named");
    let mut find = utmost(&["find", "https://127.0.0.1:9/"]);
    let output = find.env("PATH", path).env_remove("UTMOST_CHROMIUM").output().expect("it runs");
    let line = only_line(&output, 3);
    assert!(line.contains("install the package chromium"), "{line}");
    assert!(line.contains("save a HAR file of the page in any browser"), "{line}");
}

#[test]
fn bad_input_is_refused_with_its_remedy() {
    refused(
        &[PAGE, "--export", "iis"],
        "no server `iis` has an export; use one of nginx, caddy, h2o,",
    );
    refused(&["--from", "policy.toml"], "--export <SERVER>");
    refused(&["--from", "absent.toml", "--export", "h2o"], "absent.toml");
    refused(
        &[PAGE, "--policy", "absent/policy.toml"],
        "absent/policy.toml: there is no folder absent; create it, or name another file with --policy",
    );
    refused(&["gentelela"], "no bundled page is named \"gentelela\", but gentelella-");
    refused(&["@first-20"], "no set of bundled pages has this name; use one of all, first-60, web");
    refused(&[PAGE, PAGE], "davies-meenan: a second page named `davies-meenan`; name each once");
    refused(
        &["missing.har"],
        "missing.har: there is no such file; name a recording such as a HAR file, ",
    );
    refused(
        &[PAGE, "--policy", "policy.toml", "--site", "absent"],
        "name the folder of your site, or a URL such as http://127.0.0.1:8080",
    );
    refused(&[PAGE, "--networks", "5g"], "no network named `5g`; there are paper, ");
    refused(&[PAGE, "--width", "2"], "a share from 0.001 to 1 is needed, for example 0.05");
    refused(&[PAGE, "--most-loads", "6"], "a whole number from 9 to 10000 is needed");
    refused(&[], "required arguments were not provided: <INPUT>...");
    refused(&[PAGE, "--measure"], "--measure: `davies-meenan` is not an https URL: ");
    refused(&[PAGE, PAGE, "--all-pages"], "--all-pages takes one site: a folder, ");
    refused(&["absent.xml", "--all-pages"], "absent.xml: ");
    refused(&[PAGE, "--metric", "seen:-1"], "seen is a mix of metrics and takes neither a weight");
}

#[test]
fn a_server_of_which_nothing_listens_over_udp_is_not_loaded_in_a_browser_first() {
    let nobody = ["find", "https://127.0.0.1:9/", "--measure", "--networks", "3g"];
    let line = only_line(&utmost(&nobody).env("PATH", "").output().expect("it runs"), 3);
    let expected = "cannot be requested over HTTP/3 (UDP), which --measure needs";
    assert!(line.contains(expected), "{line}");
}

#[test]
fn files_that_are_no_recordings_are_refused_with_their_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let har = file("empty.har", "{\"log\": {}}");
    refused(&[&har], "empty.har: is not a HAR file: missing field `entries`");
    let none = file("null.har", "{\"log\": null}");
    refused(
        &[&none],
        "null.har: is not a HAR file: null, where an object with keys is expected at",
    );
    refused(
        &[&file("list.json", "[]")],
        "list.json:1:2: a list, where an object with keys is expected",
    );
    let other = file("other.json", "{\"a\": 1}");
    refused(&[&other], "as a recording, ");
    let mut same = Vec::new();
    for below in ["a", "b"] {
        fs::create_dir(folder.path().join(below)).expect("a folder");
        same.push(file(
            &format!("{below}/mine.json"),
            corpus::bundled_text(PAGE).expect("bundled"),
        ));
    }
    let remedy =
        format!("a second page named `{PAGE}`; {} has the same name: name one of them,", same[0]);
    refused(&[&same[0], &same[1]], &remedy);
    let taken = file("taken", "");
    refused(&[PAGE, "--out", &taken], "--out takes a directory");
}

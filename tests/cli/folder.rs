//! The whole path of a site's owner: a folder, `find`, `serve --config`, and a browser that gets the
//! order.

use crate::serving::Serving;
use crate::stdout_of;
use recorder::browser::{Chromium, Quiet};
use recorder::site::HOST;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A picture of 160 x 160 points that no compression makes smaller.
fn picture(seed: u64) -> Vec<u8> {
    // SplitMix64.
    let byte = |it: u64| {
        let state = ((seed << 32) + it + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb).to_be_bytes()[2]
    };
    let data: Vec<u8> = (0..160 * 160 * 3).map(byte).collect();
    let bytes = u32::try_from(54 + data.len()).expect("small");
    let mut file = b"BM".to_vec();
    for number in [bytes, 0, 54, 40, 160, 160, 1 | 24 << 16, 0, bytes - 54, 2835, 2835, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    file.extend(data);
    file
}

/// A page whose large picture is named by a style sheet, after four that are below the fold.
fn write_site(root: &Path) {
    let below = (1..=4).map(|it| {
        format!("<p style='margin-top: 1200px'><img src=/{it}.bmp width=160 height=160></p>")
    });
    let document =
        "<!doctype html><title>Shop</title><link rel=stylesheet href=/style.css><header></header>";
    let style = "header { height: 700px; background: url(/hero.bmp) center/cover }";
    fs::write(root.join("index.html"), format!("{document}{}", below.collect::<String>()))
        .expect("written");
    fs::write(root.join("style.css"), style).expect("written");
    for (seed, name) in ["hero", "1", "2", "3", "4"].into_iter().enumerate() {
        fs::write(root.join(format!("{name}.bmp")), picture(seed as u64)).expect("written");
    }
}

/// The pictures in the order in which Chromium gets their last bytes, over a link of 2.24 Mbit/s.
fn order(what: &[&str]) -> String {
    let mut server =
        Serving::start(&[what, &["--access-log", "-", "--pace", "1400/5"][..]].concat());
    let pin = server.stderr_line();
    let pin = pin.trim_end().split("spki-list=").nth(1).expect("a pin").to_owned();
    let port = server.address.rsplit(':').next().and_then(|it| it.parse().ok()).expect("a port");
    let chromium = Chromium::start(HOST, port, &pin).expect("it starts");
    let quiet = Quiet { requests: &|| 0, waiting: &|| false, after: Duration::from_millis(500) };
    chromium.report(&format!("https://{HOST}/"), &quiet).expect("a load");
    let mut pictures = Vec::new();
    while pictures.len() < 5 {
        let line = server.stdout_line();
        let path = line.split('"').nth(1).and_then(|it| it.split(' ').nth(1)).expect("a path");
        pictures.extend(path.strip_suffix(".bmp").map(|it| it[1..].to_owned()));
    }
    pictures.join(",")
}

/// The commands of the README.
#[test]
fn a_folder_becomes_a_policy_and_a_browser_gets_its_order() {
    if fixtures::program("chromium").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let [public, policy] = ["public", "policy.toml"].map(|it| folder.path().join(it));
    fs::create_dir(&public).expect("a folder");
    write_site(&public);
    let [public, policy] = [&public, &policy].map(|it| it.to_str().expect("UTF-8"));
    let shown = stdout_of(&["find", public, "--networks", "3g", "--policy", policy]);
    assert!(shown.starts_with("Give "), "{shown}");
    let before = order(&["--root", public]);
    assert!(!before.starts_with("hero,"), "what browsers ask for: {before}");
    let after = order(&["--config", policy]);
    assert!(after.starts_with("hero,"), "the policy: {after}");
}

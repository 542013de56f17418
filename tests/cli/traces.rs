//! Networks whose rate changes, made according to the guide.

use crate::stdout_of;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The guide's block of this language that contains `words`.
fn block(language: &str, words: &str) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/engines.md");
    let text = fs::read_to_string(guide).expect("a guide");
    let begin = format!("```{language}\n");
    let blocks = text.split(&begin).skip(1);
    let mut blocks = blocks.filter_map(|it| it.split("```").next());
    blocks.find(|it| it.contains(words)).expect("the block").to_owned()
}

/// The lines of the guide that make a trace and a network of it.
fn recipe() -> String {
    let block = block("sh", "kbits.txt");
    let lines: Vec<&str> = block.lines().filter(|it| !it.starts_with("utmost ")).collect();
    lines.join("\n")
}

/// What a study of one page on engine `stack` prints on the network of this file.
fn study(network: &Path) -> String {
    let page = ["compare", "--paper", "davies-meenan", "--engine", "stack", "--schemes", "fifo"];
    stdout_of(&[&page[..], &["--network", network.to_str().expect("UTF-8")]].concat())
}

#[test]
fn rates_of_each_second_become_a_network_that_loads_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |text: &str| fs::write(folder.path().join("kbits.txt"), text).expect("written");
    let made = || {
        let mut shell = Command::new("sh");
        let status = shell.arg("-ec").arg(recipe()).current_dir(folder.path()).status();
        assert!(status.expect("a shell").success());
        fs::read_to_string(folder.path().join("mobile.trace")).expect("a trace")
    };
    // 12 kbit are the 1500 bytes of a line; what is left of a second counts in the next one.
    write("18\n6\n24\n");
    assert_eq!(made(), "667\n2000\n2500\n3000\n");

    write("6000\n1200\n");
    assert_eq!(made().lines().count(), 600);
    let shown = study(&folder.path().join("mobile.toml"));
    assert!(shown.contains("(3600000 bit/s, 35 ms one way, queue 150000 bytes)"), "{shown}");
}

/// The last number of the line of `scheme`: its ByteIndex.
fn byte_index_ms(shown: &str, scheme: &str) -> u32 {
    let mut lines = shown.lines().filter(|it| it.starts_with(&format!(" {scheme} ")));
    let line = lines.next().unwrap_or_else(|| panic!("{shown}"));
    line.split_whitespace()
        .last()
        .and_then(|it| it.parse().ok())
        .unwrap_or_else(|| panic!("{shown}"))
}

#[test]
fn a_recording_of_each_direction_is_a_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("written");
        folder.path().join(name)
    };
    let network = write("umts.toml", &block("toml", "TMobile-UMTS-driving.down"));
    // Two packets each 10 ms; the same, with nothing in the second second.
    let trace = |has_packets: fn(i32) -> bool| -> String {
        let slots = (1..=300).filter(|it| has_packets(*it)).map(|it| it * 10);
        slots.map(|it| format!("{it}\n").repeat(2)).collect()
    };
    let (steady, gap) = (trace(|_| true), trace(|it| it <= 100 || it > 200));
    write("TMobile-UMTS-driving.up", &steady);
    write("TMobile-UMTS-driving.down", &steady);
    let shown = study(&network);
    assert!(shown.contains("(2400000 bit/s, 45 ms one way, queue 150000 bytes)"), "{shown}");
    let without_gap_ms = byte_index_ms(&shown, "rr");

    write("TMobile-UMTS-driving.down", &gap);
    let shown = study(&network);
    assert!(shown.contains("(1600000 bit/s, 45 ms one way, queue 150000 bytes)"), "{shown}");
    let later_ms = byte_index_ms(&shown, "rr") - without_gap_ms;
    assert!((1000..=1200).contains(&later_ms), "{later_ms}: as long as the gap");
}

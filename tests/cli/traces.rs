//! Networks whose rate changes, made according to the guide.

use crate::stdout_of;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The lines of the guide that make a trace and a network of it.
fn recipe() -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/engines.md");
    let text = fs::read_to_string(guide).expect("a guide");
    let mut blocks = text.split("```sh\n").skip(1).filter_map(|it| it.split("```").next());
    let block = blocks.find(|it| it.contains("kbits.txt")).expect("the recipe");
    let lines: Vec<&str> = block.lines().filter(|it| !it.starts_with("utmost ")).collect();
    lines.join("\n")
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
    let network = folder.path().join("mobile.toml").display().to_string();
    let page = [
        "compare",
        "--paper",
        "davies-meenan",
        "--engine",
        "stack",
        "--schemes",
        "fifo",
        "--network",
    ];
    let shown = stdout_of(&[&page[..], &[&network]].concat());
    assert!(shown.contains("(3600000 bit/s, 35 ms one way, queue 150000 bytes)"), "{shown}");
}

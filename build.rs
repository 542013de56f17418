//! Tells the program what it was built from: for the provenance of its results.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rustc-env=UTMOST_COMMIT={}", commit());
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!(
        "cargo::rustc-env=UTMOST_RUSTC={}",
        output(&rustc, &["--version"]).unwrap_or_default()
    );
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    for package in ["quiche", "boring"] {
        let version = locked_version(&lock, package).unwrap_or("unknown");
        println!("cargo::rustc-env=UTMOST_{}={version}", package.to_uppercase());
    }
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rerun-if-changed=src");
    for path in [".git/HEAD", ".git/logs/HEAD", ".git/index"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn commit() -> String {
    let Some(commit) = output("git", &["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    let dirty = output("git", &["status", "--porcelain", "--untracked-files=no"])
        .is_some_and(|it| !it.is_empty());
    if dirty { format!("{commit}-dirty") } else { commit }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

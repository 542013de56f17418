//! Tells the program what it was built from: for the provenance of its results.

use std::path::Path;
use std::process::Command;

/// Where an archive names its commit: `make artifact`.
const ARCHIVED: &str = "COMMIT";
const COMMIT_LETTERS: usize = 12;

/// The repository's folder, from that of this package.
const REPOSITORY: &str = "..";

fn main() {
    std::env::set_current_dir(REPOSITORY).expect("the repository's folder");
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
    let known = ["HEAD", "logs/HEAD", "index"].iter().filter_map(|it| git_path(it));
    for path in parts().chain(known).chain([ARCHIVED.to_owned()]) {
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={}", Path::new(REPOSITORY).join(path).display());
        }
    }
}

/// What the program is made of. Tests, documents and kept results are not: to make results again does not make the commit
/// dirty.
fn parts() -> impl Iterator<Item = String> {
    const ROOT: [&str; 4] = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src"];
    const APART: [&str; 5] = ["benches", "examples", "fuzz", "target", "tests"];
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap_or_default();
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = "));
    let members: Vec<String> = members.unwrap_or_default().split('"').map(str::to_owned).collect();
    // Members below others are among the entries of those.
    let folders = members.into_iter().filter(|it| !it.contains('/') && !APART.contains(&&**it));
    let folders = folders.filter_map(|it| std::fs::read_dir(it).ok());
    let entries = folders.flatten().filter_map(Result::ok);
    let linked = entries.filter(|it| !APART.iter().any(|apart| it.file_name() == *apart));
    let linked = linked.map(|it| it.path().display().to_string());
    ROOT.map(str::to_owned).into_iter().chain(linked)
}

/// Where Git keeps a file; in a worktree that is not below `.git`.
fn git_path(file: &str) -> Option<String> {
    output("git", &["rev-parse", "--git-path", file])
}

/// An archive of the source has a file with the name of its commit; a clone knows its own.
fn commit() -> String {
    if let Ok(archived) = std::fs::read_to_string(ARCHIVED) {
        return archived.trim().chars().take(COMMIT_LETTERS).collect();
    }
    let Some(commit) = output("git", &["rev-parse", &format!("--short={COMMIT_LETTERS}"), "HEAD"])
    else {
        return "unknown".to_owned();
    };
    let parts: Vec<String> = parts().collect();
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let status: Vec<&str> = status.into_iter().chain(parts.iter().map(String::as_str)).collect();
    let dirty = output("git", &status).is_some_and(|it| !it.is_empty());
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

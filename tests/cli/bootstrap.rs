//! `./bootstrap` on machines that lack something, played by a folder as the only one on the PATH.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The programs that the script itself calls.
const SYSTEM: [&str; 10] =
    ["sh", "cat", "dirname", "sed", "sort", "grep", "expr", "env", "chmod", "mkdir"];
/// The programs that the build needs.
const TOOLS: [&str; 6] = ["cc", "c++", "cmake", "make", "git", "cargo"];

/// A machine: a folder of programs.
struct Machine {
    folder: TempDir,
}

impl Machine {
    /// One that has everything but `lacking`.
    fn without(lacking: &[&str]) -> Self {
        let machine = Self { folder: tempfile::tempdir().expect("a folder") };
        let path = std::env::var_os("PATH").expect("a PATH");
        fs::create_dir(machine.programs()).expect("a folder");
        for name in SYSTEM {
            let found =
                std::env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file());
            symlink(found.expect(name), machine.programs().join(name)).expect("a link");
        }
        for name in TOOLS.iter().filter(|it| !lacking.contains(it)) {
            machine.program(name, "echo 'cargo 1.95.0 (0000000 2026-01-01)'");
        }
        machine.program("id", "echo 0");
        fs::create_dir(machine.folder.path().join("clang")).expect("a folder");
        if !lacking.contains(&"libclang") {
            fs::write(machine.folder.path().join("clang/libclang-14.so"), "").expect("a file");
        }
        machine
    }

    fn programs(&self) -> PathBuf {
        self.folder.path().join("programs")
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.programs().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// A package manager that writes its arguments to `calls` and "installs" programs.
    fn manager(&self, name: &str, installs: &[&str]) {
        let mut script = vec!["echo \"$0 $*\" | sed 's,.*/,,' >>\"$CALLS\"".to_owned()];
        for program in installs {
            let path = self.programs().join(program).display().to_string();
            script.push(format!("echo '#!/bin/sh' >{path}; chmod +x {path}"));
        }
        self.program(name, &script.join("\n"));
    }

    fn bootstrap(&self) -> Output {
        self.bootstrap_for(&[])
    }

    fn bootstrap_for(&self, purpose: &[&str]) -> Output {
        Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("bootstrap"))
            .env_clear()
            .env("PATH", self.programs())
            .env("HOME", self.folder.path())
            .env("LIBCLANG_PATH", self.folder.path().join("clang"))
            .env("CALLS", self.folder.path().join("calls"))
            .env("UTMOST_TOOLS", self.folder.path().join("tools"))
            .args(purpose)
            .output()
            .expect("the script runs")
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn it_is_silent_when_nothing_is_missing() {
    let machine = Machine::without(&[]);
    machine.manager("apt-get", &[]);
    let output = machine.bootstrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        (output.stdout.len(), stderr(&output).as_str(), machine.calls().as_str()),
        (0, "", "")
    );
}

#[test]
fn what_is_missing_is_installed_with_the_systems_package_manager() {
    for (manager, calls) in [
        ("apt-get", "apt-get update -q\napt-get install -y -q --no-install-recommends cmake g++\n"),
        ("dnf", "dnf install -y cmake gcc-c++\n"),
        ("pacman", "pacman -S --needed --noconfirm cmake gcc\n"),
        ("apk", "apk add build-base linux-headers cmake\n"),
        ("brew", "brew install cmake llvm\n"),
    ] {
        let machine = Machine::without(&["c++", "cmake"]);
        machine.manager(manager, &["c++", "cmake"]);
        let output = machine.bootstrap();
        assert!(output.status.success(), "{manager}: {output:?}");
        assert_eq!(machine.calls(), calls);
    }
}

#[test]
fn sudo_is_used_by_those_who_are_not_root() {
    let machine = Machine::without(&["cmake"]);
    machine.manager("dnf", &["cmake"]);
    machine.program("id", "echo 1000");
    machine.program("sudo", "echo sudo >>\"$CALLS\"; \"$@\"");
    assert!(machine.bootstrap().status.success());
    assert_eq!(machine.calls(), "sudo\ndnf install -y cmake\n");
}

#[test]
fn without_root_and_sudo_it_says_what_to_install() {
    let machine = Machine::without(&["cmake", "libclang"]);
    machine.manager("apt-get", &["cmake"]);
    machine.program("id", "echo 1000");
    let output = machine.bootstrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output),
        "bootstrap: missing: cmake libclang. Install with apt-get: cmake libclang-dev\n"
    );
    assert_eq!(machine.calls(), "");
}

#[test]
fn without_a_package_manager_it_says_what_is_missing() {
    let output = Machine::without(&["git"]).bootstrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output)
            .starts_with("bootstrap: missing: git. No package manager that is known here"),
        "{output:?}"
    );
}

#[test]
fn a_package_that_does_not_bring_it_is_not_a_success() {
    let machine = Machine::without(&["libclang"]);
    machine.manager("apt-get", &[]);
    let output = machine.bootstrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output)
            .ends_with("bootstrap: missing: libclang. Install with apt-get: libclang-dev\n"),
        "{output:?}"
    );
}

#[test]
fn rust_is_installed_apart_since_not_every_system_packages_rustup() {
    let machine = Machine::without(&["cargo", "cmake"]);
    machine.manager("dnf", &["cmake"]);
    let output = machine.bootstrap();
    assert_eq!(machine.calls(), "dnf install -y cmake\ndnf install -y rustup\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("bootstrap: missing: rustup."), "{output:?}");
}

#[test]
fn a_rust_that_is_too_old_or_broken_is_named() {
    let machine = Machine::without(&[]);
    machine.program("cargo", "echo 'cargo 1.63.0'");
    let output = machine.bootstrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output),
        "bootstrap: cargo 1.63.0 is too old; install Rust 1.89 or later, best with rustup\n"
    );
    machine.program("cargo", "exit 1");
    assert_eq!(machine.bootstrap().status.code(), Some(1));
}

#[test]
fn rustup_installs_the_toolchain_of_this_repository() {
    let machine = Machine::without(&[]);
    machine.program("cargo", "[ -f \"$CALLS\" ] && echo 'cargo 1.95.0'");
    machine.program("rustup", "echo \"rustup $*\" >>\"$CALLS\"");
    let output = machine.bootstrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        machine.calls(),
        "rustup toolchain install 1.95.0 --profile minimal --component rustfmt --component clippy\n"
    );
}

/// A machine on which the tests' tools can be installed.
fn with_python() -> Machine {
    let machine = Machine::without(&[]);
    machine.program("openssl", "");
    let cargo = r#"case $1 in
--version) echo 'cargo 1.95.0' ;;
*) echo "cargo $*" | sed "s,$UTMOST_TOOLS,TOOLS," >>"$CALLS"
    mkdir -p "$UTMOST_TOOLS"; for it in "$@"; do crate=$it; done
    echo "\"$crate (registry)\"" | sed 's/@/ /' >>"$UTMOST_TOOLS/.crates.toml" ;;
esac"#;
    machine.program("cargo", cargo);
    let python = r#"[ "$1" = -m ] || exit 0
mkdir -p "$UTMOST_TOOLS/python/bin"
echo '#!/bin/sh
echo "pip $*" >>"$CALLS"' >"$UTMOST_TOOLS/python/bin/pip"
chmod +x "$UTMOST_TOOLS/python/bin/pip""#;
    machine.program("python3", python);
    machine
}

#[test]
fn the_tools_of_the_tests_are_installed_once_into_the_projects_own_folder() {
    let machine = with_python();
    assert!(machine.bootstrap_for(&["test"]).status.success());
    let calls = machine.calls();
    let programs: Vec<&str> =
        calls.lines().map(|it| it.split('@').next().unwrap_or_default()).collect();
    assert_eq!(
        programs,
        [
            "cargo install --quiet --debug --locked --root TOOLS cargo-machete",
            "cargo install --quiet --debug --locked --root TOOLS cargo-deny",
            "pip install --quiet --disable-pip-version-check dask[distributed]==2026.8.0 pytest==9.2.0 -r python/requirements.txt",
        ]
    );
    let again = machine.bootstrap_for(&["test"]);
    assert_eq!(machine.calls(), calls);
    // Node is not there, and no package has it.
    let told = stderr(&again);
    assert!(told.ends_with("; the tests in a browser will be skipped\n"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn the_build_alone_needs_no_tools_of_the_tests() {
    let machine = with_python();
    assert!(machine.bootstrap().status.success());
    assert_eq!(machine.calls(), "");
}

#[test]
fn a_tool_of_the_tests_that_cannot_be_installed_ends_the_bootstrap() {
    let machine = with_python();
    machine.program("cargo", "[ \"$1\" = --version ] && echo 'cargo 1.95.0'");
    let output = machine.bootstrap_for(&["test"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("bootstrap: could not install cargo-machete"), "{output:?}");
}

#[test]
fn without_python_the_bootstrap_for_tests_installs_it() {
    let machine = Machine::without(&[]);
    machine.program("openssl", "");
    machine.manager("apt-get", &[]);
    let output = machine.bootstrap_for(&["test"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        machine.calls(),
        "apt-get update -q\napt-get install -y -q --no-install-recommends python3 python3-venv\n"
    );
}

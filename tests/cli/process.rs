//! The program as a process.

use assert_cmd::Command;
use std::process::Output;

/// The program, in the repository's folder, where the help's examples are right.
pub(crate) fn utmost(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::PROGRAM);
    command.current_dir(crate::REPOSITORY).args(arguments);
    command
}

/// What the program printed on success.
pub(crate) fn stdout_of(arguments: &[&str]) -> String {
    let output = utmost(arguments).output().expect("the program runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Its stderr, which must be one line, after it ended with `code` and printed nothing else.
pub(crate) fn only_line(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr.trim_end().to_owned()
}

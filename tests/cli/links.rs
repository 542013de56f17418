//! `utmost link --tun`: programs in network namespaces.

use crate::utmost;
use std::process::Output;

/// The output of a command behind a link, or `None` if the system allows no such namespaces.
fn behind_a_link(arguments: &[&str]) -> Option<Output> {
    let all = [&["link", "--tun", "--network", "loopback"], arguments].concat();
    let output = utmost(&all).output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_refused = ["namespace for the link:", "/dev/net/tun:", "its addresses: No such file"];
    if is_refused.iter().any(|it| said.contains(it)) {
        fixtures::skip(&said);
        return None;
    }
    Some(output)
}

#[test]
fn a_command_behind_a_link_is_on_its_own_network_and_gives_its_exit_code() {
    let script = "cat /proc/net/dev; exit 7";
    let Some(output) = behind_a_link(&["--", "/bin/sh", "-c", script]) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(said.ends_with("utmost: /bin/sh ended with exit code 7\n"), "{said}");
    let devices = String::from_utf8_lossy(&output.stdout);
    let names = devices.lines().filter_map(|it| it.split_once(':')).map(|it| it.0.trim());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    assert_eq!(names, ["lo", "utmost"]);
}

#[test]
fn a_server_that_ends_before_it_listens_ends_the_link() {
    let Some(output) = behind_a_link(&["--server", "exit 4", "--", "true"]) else { return };
    let line = crate::process::only_line(&output, 3);
    let cause = "ended before it listened (exit status: 4)";
    assert_eq!(line, format!("utmost: --server exit 4: {cause}"));
}

#[test]
fn what_a_command_leaves_behind_the_link_is_ended_with_it() {
    let script = "(setsid sleep 600 >/dev/null 2>&1 & echo $!) ; exit 0";
    let Some(output) = behind_a_link(&["--", "/bin/sh", "-c", script]) else { return };
    assert!(output.status.success(), "{output:?}");
    let process = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&command).contains("600"), "process {process} goes on");
}

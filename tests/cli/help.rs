//! The program's help.

use crate::utmost;

#[test]
fn a_reader_that_went_away_is_not_an_error() {
    for arguments in [&["schemes"][..], &["schemes", "--json"], &["corpus", "list"], &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_utmost"));
        let output = command.args(arguments).stdout(writer).output().expect("the program runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn the_version_is_the_crates() {
    utmost(&["--version"]).assert().success().stdout(concat!(
        "utmost ",
        env!("CARGO_PKG_VERSION"),
        "\n"
    ));
}

#[test]
fn the_metrics_are_listed_where_one_is_chosen() {
    let help = crate::stdout_of(&["compare", "--help"]);
    for name in ["byte_index", "byte_index_sampled", "object_index", "critical_ms", "first_render"]
    {
        assert!(help.contains(&format!("- {name}:")), "{name}: {help}");
    }
}

#[test]
fn a_command_of_the_other_program_is_told_its_name() {
    for command in ["reproduce", "stress"] {
        let output = utmost(&[command, "--list"]).output().expect("the program runs");
        let line = crate::only_line(&output, 2);
        assert_eq!(line, format!("utmost: {command}: use `utmost-workshop {command}`"));
    }
}

#[test]
fn the_short_help_of_a_study_fits_a_screen_and_has_its_flags_in_groups() {
    let help = crate::stdout_of(&["compare", "-h"]);
    assert!(help.lines().count() <= 40, "{}:\n{help}", help.lines().count());
    for group in ["Pages:", "Schemes:", "Engine and link:", "Server:", "Statistics:", "Output:"] {
        assert!(help.lines().any(|it| it == group), "{group}: {help}");
    }
    let long = crate::stdout_of(&["compare", "--help"]);
    assert!(!long.lines().any(|it| it == "Arguments:"), "{long}");
}

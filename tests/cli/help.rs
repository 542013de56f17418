//! Every subcommand explains itself.

use crate::{stdout_of, utmost};

const COMMANDS: &[&str] = &[
    "schemes",
    "order",
    "serve",
    "play",
    "compare",
    "find",
    "merge",
    "link",
    "corpus",
    "corpus list",
    "corpus stats",
    "corpus check",
    "corpus import",
    "qlog",
    "qlog check",
    "qlog streams",
    "qlog index",
    "qlog ribbon",
    "qlog hol",
    "qlog compare",
    "qlog convert",
    "qlog export",
    "corpus generate",
    "corpus record",
    "corpus bodies",
    "corpus graph",
    "reproduce",
    "qlog report",
    "qlog lint",
    "qlog limits",
    "qlog tree",
    "view",
    "probe",
    "doctor",
];

#[test]
fn the_help_of_every_command_has_an_example_of_it() {
    for command in COMMANDS {
        let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = stdout_of(&arguments);
        let (_, examples) = help.split_once("Example").expect(command);
        assert!(examples.contains(&format!("\n  utmost {command}")), "{help}");
    }
}

#[test]
fn the_programs_own_help_names_every_command() {
    let help = stdout_of(&["--help"]);
    for command in COMMANDS.iter().filter(|it| !it.contains(' ')) {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in {help}");
    }
    assert!(help.contains("Exit codes: 0 done"), "{help}");
}

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

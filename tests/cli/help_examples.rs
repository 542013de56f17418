//! What a program's help shows can be typed. For the tests of each program's `main.rs`.

use clap::Command;

/// Panics unless the help of the program and of each of its subcommands has an example, and all of them can be parsed.
pub(crate) fn assert_examples_are_parsed(program: &Command) {
    let examples = examples(program, program.get_name());
    assert!(examples.len() > program.get_subcommands().count(), "{examples:?}");
    for example in examples {
        let words = shlex::split(example.trim_end_matches('&')).expect("balanced quotes");
        let parsed = program.clone().try_get_matches_from(words);
        assert!(parsed.is_ok(), "{example}: {parsed:?}");
    }
}

/// The lines of a command's help that call the program, and those of its subcommands.
fn examples(command: &Command, program: &str) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let own = help.lines().map(str::trim).filter(|it| it.split(' ').next() == Some(program));
    let below = command.get_subcommands().flat_map(|it| examples(it, program));
    own.map(str::to_owned).chain(below).collect()
}

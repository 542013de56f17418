//! How the programs read their arguments. A mistake is one line.

use crate::failure::Failure;
use crate::help::arranged_where;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Command, Parser};
use std::ffi::OsString;
use std::ops::RangeInclusive;

/// Parses the command line. For help or version, prints it and exits.
pub fn arguments<A: Parser>() -> Result<A, Failure> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let is_named = |command: &Command| {
        command.get_name_and_visible_aliases().iter().any(|name| words.iter().any(|it| it == name))
    };
    let matches = arranged_where(A::command(), is_named).try_get_matches_from(&words);
    matches.and_then(|it| A::from_arg_matches(&it)).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => Failure::BadInput(in_one_line(&error.to_string())),
    })
}

/// Parses a whole number in this range.
pub fn whole_number(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = u64> {
    move |text: &str| {
        let number = text.parse::<u64>().ok().filter(|it| range.contains(it));
        number.ok_or_else(|| wanted(&range.start().to_string(), &range.end().to_string()))
    }
}

fn wanted(least: &str, most: &str) -> String {
    format!("a whole number from {least} to {most} is needed")
}

/// The cause and the tip of clap's message.
fn in_one_line(text: &str) -> String {
    let first = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let cause = plainly(first.collect::<Vec<_>>().join(" "));
    let cause = cause.trim_start_matches("error: ");
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    // A value such as `-5..3`, or a mistyped flag, is not meant as a page or a file.
    let tip = tip.filter(|it| !it.starts_with("to pass "));
    let tip = tip.map(|it| format!("; {it}")).unwrap_or_default();
    format!("{cause}{tip} (see --help)")
}

/// Replaces Rust's messages about numbers.
fn plainly(cause: String) -> String {
    let texts = [
        ("invalid digit found in string", "use a whole number from 0 on"),
        ("number too large to fit in target type", "is too large"),
        ("invalid float literal", "use a number"),
    ];
    let cause = texts.iter().fold(cause, |cause, (rust, plain)| cause.replace(rust, plain));
    let said = cause.rsplit_once(": ").and_then(|(before, said)| {
        let (least, most) = said.split_once(" is not in ")?.1.split_once("..=")?;
        Some(format!("{before}: {}", wanted(least, most)))
    });
    said.unwrap_or(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_range_is_answered_with_the_range() {
        let text = "error: invalid value '7' for '--size <TIMES>': 7 is not in 1..=4\n\nFor more";
        let expected = "invalid value '7' for '--size <TIMES>': a whole number from 1 to 4 is needed (see --help)";
        assert_eq!(in_one_line(text), expected);
    }

    #[test]
    fn a_tip_is_kept_unless_it_takes_a_mistake_for_a_value() {
        let with =
            |tip| format!("error: unexpected argument '-5..3' found\n\n  tip: {tip}\n\nUsage");
        assert_eq!(
            in_one_line(&with("to pass '-5..3' as a value, use '-- -5..3'")),
            "unexpected argument '-5..3' found (see --help)"
        );
        assert_eq!(
            in_one_line(&with("a similar argument exists: '--seed'")),
            "unexpected argument '-5..3' found; a similar argument exists: '--seed' (see --help)"
        );
    }
}

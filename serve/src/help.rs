//! Arranges the help of every command: an example first, options by group, and one sentence for each option under `-h`.

use clap::{Arg, ArgAction, Command};

/// The groups of options for all commands, with the options' long names. A command can override the group of an option.
const GROUPS: [(&str, &str); 7] = [
    (
        "Pages",
        "all-pages bytes depth entry from imitate late-share licence loads name page pages path resources set \
         settings site template think root upstream upstream-ca websockets config check visits fresh cancel \
         leave-after document again load",
    ),
    (
        "Schemes",
        "baseline-server explore explore-file explore-share measure metadata order profile scheme scheme-file \
         schemes signals with-hints cache-digest push-log",
    ),
    (
        "Link",
        "listen network public-port http-redirect no-tcp pace server to port insecure ca http http3 within \
         engine delivery-order migrate migrate-after confirm browser host",
    ),
    (
        "Server",
        "cc cert downloads-from drain-within early-data idle-reset initial-window key self-signed send-buffer \
         session shards ticket-key",
    ),
    (
        "Statistics",
        "baseline jobs metric most-loads others repeats repeats-max seed seeds watch-drift width",
    ),
    (
        "Output",
        "access-log access-log-format bodies captures details export figures film json junit log markdown \
         metrics out output page-out panels policy qlog screenshot trace",
    ),
    ("Help", "help version"),
];

/// The layout of a command's help.
const TEMPLATE: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Arranges the help of a program or command, and of its subcommands.
#[must_use]
pub fn arranged(command: Command) -> Command {
    arranged_where(command, |_| true)
}

/// The same for subcommands that `is_wanted`; the other ones stay as they are, which takes no time.
pub(crate) fn arranged_where(
    command: Command,
    is_wanted: impl Fn(&Command) -> bool + Copy,
) -> Command {
    if command.get_subcommands().next().is_some() {
        let wanted = command.get_subcommands().filter(|it| is_wanted(it));
        let names: Vec<String> = wanted.map(|it| it.get_name().to_owned()).collect();
        return names.into_iter().fold(command, |command, name| {
            command.mut_subcommand(name, |it| arranged_where(it, is_wanted))
        });
    }
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let help = help.help("Print help: -h the usual options, --help all of them, in full");
    let command = command
        .before_help(first_example(examples))
        .before_long_help(examples.to_owned())
        .after_help(rest.to_owned());
    command
        .help_template(TEMPLATE)
        .disable_help_flag(true)
        .arg(help)
        .mut_args(shortened)
        .mut_args(numbered)
}

/// The first example, with its continuation lines.
fn first_example(examples: &str) -> String {
    let mut lines = examples.lines().skip(1);
    let mut example = "Example:".to_owned();
    for line in lines.by_ref() {
        example.push('\n');
        example.push_str(line);
        if !line.ends_with(['&', '\\']) {
            break;
        }
    }
    example
}

/// An option in its group, with one sentence under `-h`.
fn shortened(option: Arg) -> Arg {
    let long = option.get_long().unwrap_or_else(|| option.get_id().as_str()).to_owned();
    let group = GROUPS.iter().find(|(_, names)| names.split(' ').any(|it| it == long));
    let option = match group {
        Some((heading, _)) if !option.is_positional() && option.get_help_heading().is_none() => {
            option.help_heading(*heading)
        }
        _ => option,
    };
    let Some(help) = option.get_help().map(ToString::to_string) else { return option };
    let whole = option.get_long_help().map_or_else(|| help.clone(), ToString::to_string);
    option.help(first_sentence(&help).to_owned()).long_help(whole)
}

/// An option whose value may begin with `-`, so that its parser says which numbers there may be.
fn numbered(option: Arg) -> Arg {
    let has_value = option.get_action().takes_values() && !option.is_positional();
    if has_value { option.allow_negative_numbers(true) } else { option }
}

/// A text up to the end of its first sentence, without the full stop.
fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(". ").map(|(place, _)| place);
    let mut ends = ends
        .filter(|place| text[place + 2..].starts_with(|it: char| it.is_uppercase() || it == '`'));
    ends.next().map_or(text, |place| &text[..place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_ends_before_the_next_one_begins() {
        let text = "Begin with the initial window (RFC 5681, 4.1). Only for cubic: bbr2 paces";
        assert_eq!(first_sentence(text), "Begin with the initial window (RFC 5681, 4.1)");
        assert_eq!(first_sentence("A time of 1. 5 s"), "A time of 1. 5 s");
    }

    #[test]
    fn short_help_has_the_first_example_and_the_group_of_each_option() {
        let command = Command::new("x")
            .about("Do it")
            .after_help("Examples:\n  x --json &\n  x --out a\n  x")
            .arg(Arg::new("json").long("json").help("Print JSON. With --out, also there"));
        let mut command = arranged(command);
        let short = command.render_help().to_string();
        let expected = "Do it\n\nExample:\n  x --json &\n  x --out a\n\nUsage: x [OPTIONS]\n\nOutput:\n      --json <json>  Print JSON\n\n";
        assert!(short.starts_with(expected), "{short}");
        let long = command.render_long_help().to_string();
        assert!(
            long.contains("\n  x\n\nUsage:") && long.contains("With --out, also there"),
            "{long}"
        );
    }
}

//! The flags of a study's dimensions: one for each row of the table that names the flag of a dimension.

use crate::values::{self, Choices};
use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use lab::study::{DIMENSIONS, Dimension, Settings};

/// The dimensions whose values flags list, each with the values as given.
#[derive(Debug, Clone)]
pub(super) struct Listed(Vec<(&'static Dimension, Vec<String>)>);

impl Listed {
    pub(super) fn has(&self, column: &str, value: &str) -> bool {
        self.0.iter().any(|(of, values)| of.column == column && values.iter().any(|it| it == value))
    }

    pub(super) fn set_in(&self, settings: &mut Settings) -> Result<(), String> {
        self.0.iter().try_for_each(|(dimension, values)| settings.list(dimension, values))
    }
}

impl clap::Args for Listed {
    fn augment_args(command: Command) -> Command {
        command.args(with_flags().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Listed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let listed = with_flags().filter_map(|dimension| {
            let values = matches.get_many::<String>(dimension.column)?;
            Some((dimension, values.cloned().collect()))
        });
        Ok(Self(listed.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn with_flags() -> impl Iterator<Item = &'static Dimension> {
    DIMENSIONS.iter().filter(|it| !it.help.is_empty())
}

fn flag(dimension: &'static Dimension) -> Arg {
    Arg::new(dimension.column)
        .long(dimension.flag.trim_start_matches('-'))
        .help(dimension.help)
        .value_name("LIST")
        .help_heading(heading(dimension))
        .hide_short_help(!IN_SHORT_HELP.contains(&dimension.column))
        .value_delimiter(',')
        .action(ArgAction::Append)
        .value_parser(parser(dimension))
}

const IN_SHORT_HELP: [&str; 2] = ["send_buffer_bytes", "cc"];

fn heading(dimension: &Dimension) -> &'static str {
    if ["http", "queue", "cross"].contains(&dimension.column) { super::LINK } else { super::SERVER }
}

fn parser(dimension: &'static Dimension) -> ValueParser {
    match dimension.column {
        "cc" => names(values::CONGESTION_CONTROLS),
        "hints" => names(HINTS),
        "http" => names(values::HTTP_VERSIONS),
        "signals" => names(values::SIGNALS),
        _ => ValueParser::from(|text: &str| dimension.check(text)),
    }
}

fn names<T>(choices: Choices<T>) -> ValueParser {
    let names = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).into()
}

const HINTS: Choices<()> = &[
    ("none", "Nothing", ()),
    (
        "preload",
        "Its `Link` fields name what is critical and hidden from a browser that reads the document, and so do early \
         hints while the document takes time",
        (),
    ),
    ("early-hints", "Early hints name everything critical while the document takes time", ()),
];

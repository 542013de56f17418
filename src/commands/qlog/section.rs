//! The arguments of `utmost qlog summary`: the sections that it can show in full, and their options.

use super::input::Files;
use super::set::SetArguments;
use crate::values::{Choices, choice};
use ::serve::Failure;
use figures::axis::Axis;
use std::path::PathBuf;

/// Summarize a connection in some sentences, or show one section in full
///
/// The first sentence names what held the sender back longest. Each sentence gives a time on the log's clock; with the logs of
/// both ends, on the client's. The command joins the logs of both ends by connection ID; for a client's log alone, it reports as
/// much as that log shows. For two connections in separate logs, it first reports the differences. Exit code 2: a log could not
/// be read, or lacks what a section needs; the output still has the others.
///
/// In earlier releases, the sections `hol`, `index`, `limits` and `ribbon` were commands of these names.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog summary client.sqlog server.sqlog\n  \
utmost qlog summary before=before.sqlog after=after.sqlog\n  \
utmost qlog summary logs/ --csv > connections.csv\n  \
utmost qlog summary server.sqlog --section limits --json | jq '.spans[] | select(.by == \"pacing\")'\n  \
utmost qlog summary rr=rr.sqlog fifo=fifo.sqlog --section ribbon -o ribbons.svg")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) files: Files,
    /// Print JSON: the sentences and each number in them, or the section
    #[arg(long)]
    pub(super) json: bool,
    /// Print CSV: a row for each connection
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,
    /// Show this section in full, instead of the sentences
    #[arg(long, value_parser = choice(SECTIONS))]
    section: Option<Section>,
    #[command(flatten)]
    pub(super) options: SectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Limits,
    Index,
    Hol,
    Ribbon,
}

use Section::{Hol, Index, Limits, Ribbon};

pub(super) const SECTIONS: Choices<Section> = &[
    ("limits", "What held the sender back at each moment, from servers' logs", Limits),
    ("index", "When the bytes were available: `ByteIndex`, `ObjectIndex` and so on", Index),
    (
        "hol",
        "How long bytes that had arrived waited for earlier ones, also as if there were one stream",
        Hol,
    ),
    (
        "ribbon",
        "The order of the streams' frames, one word for consecutive frames of a stream",
        Ribbon,
    ),
];

/// Options that apply only to some sections.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of sections")]
pub(crate) struct SectionOptions {
    #[command(flatten)]
    pub(super) set: SetArguments,
    /// hol, ribbon: draw into FILE.svg or FILE.png (the paper's Figures 13 and 8)
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// ribbon: what the width shows [default: time]
    #[arg(long, value_parser = choice(AXES))]
    pub(super) by: Option<Axis>,
    /// limits: compute them from packets and windows, even if the server logged them
    #[arg(long)]
    pub(super) computed: bool,
}

const AXES: Choices<Axis> = &[
    ("time", "Milliseconds since the first request", Axis::Time),
    ("count", "STREAM frames, whatever their size", Axis::Frames),
    ("bytes", "Stream bytes", Axis::Bytes),
];

impl Arguments {
    /// The section to show in full; `old_name` if the command has an old name. Fails if an option does not apply to it.
    pub(super) fn section(&self, old_name: Option<Section>) -> Result<Option<Section>, Failure> {
        let section = self.section.or(old_name);
        if self.csv && section.is_some() {
            let reason = "--csv has the numbers of the sentences: leave out --section";
            return Err(Failure::BadInput(reason.to_owned()));
        }
        self.options.check(section).map(|()| section)
    }
}

impl SectionOptions {
    /// Fails if an option does not apply to this section.
    fn check(&self, section: Option<Section>) -> Result<(), Failure> {
        let options: [(&str, bool, &[Section]); 4] = [
            ("--page and --set are", self.set.is_given(), &[Index, Ribbon]),
            ("--out is", self.out.is_some(), &[Hol, Ribbon]),
            ("--by is", self.by.is_some(), &[Ribbon]),
            ("--computed is", self.computed, &[Limits]),
        ];
        let mut options = options.into_iter();
        let misplaced = options.find(|(_, is_given, sections)| {
            *is_given && section.is_none_or(|it| !sections.contains(&it))
        });
        let Some((option, _, sections)) = misplaced else { return Ok(()) };
        let names = SECTIONS.iter().filter(|it| sections.contains(&it.2)).map(|it| it.0);
        let names = names.collect::<Vec<&str>>().join(" or ");
        Err(Failure::BadInput(format!("{option} only for --section {names}")))
    }
}

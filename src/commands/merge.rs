//! `utmost merge`: joins the shards of a study.

use super::compare;
use crate::{output, values};
use ::serve::Failure;
use lab::study::merge::merge;
use std::path::PathBuf;

/// Join the shards of a study
///
/// The result is the same as if one machine had carried out the study. Rejects shards that belong to another study, come
/// from another version, or are unfinished.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  utmost merge part1 part2 --out study")]
pub(crate) struct Arguments {
    /// The directories that `utmost compare --shard` wrote
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Write the study into this directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    figures: values::Figures,
    /// Print JSON, and write it into OUT/study.json
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    values::directory(&arguments.out, "--out")?;
    let merged = merge(&arguments.folders, &arguments.out, &output::provenance(), values::cores());
    let (plan, mut study) = merged.map_err(compare::failure)?;
    let style = arguments.figures.style();
    compare::present(&plan, &mut study, Some(&arguments.out), style, arguments.json, false)?;
    compare::finished(&plan, &study)
}

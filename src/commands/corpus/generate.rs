//! `utmost corpus generate`.

use super::outputs::{self, Kind};
use crate::{output, values};
use ::corpus::Page;
use ::corpus::generate::{Growth, Profile, Shape, generate, grow};
use ::serve::Failure;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The seed of all random numbers; the same seed gives the same bytes
    #[arg(long)]
    seed: u64,
    /// The distributions of counts and sizes
    #[arg(long, value_parser = values::choice(PROFILES), default_value = "web-2024")]
    profile: Profile,
    /// Generate a page with this page's structure, but other numbers of resources and bytes: a bundled
    /// name or a file
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["profile", "depth", "late_share"])]
    template: Option<String>,
    /// Resources, document included [default: random, or as in --template]
    #[arg(long, value_name = "N")]
    resources: Option<usize>,
    /// Body bytes of the page [default: random, or as in --template]
    #[arg(long, value_name = "SIZE", value_parser = corpus::size::parse)]
    bytes: Option<u64>,
    /// Longest chain of discoveries after the document; 1 if the document references everything
    #[arg(long, value_name = "D", default_value_t = 3)]
    depth: usize,
    /// Share of resources that stylesheets and scripts reference [default: 0.2; 0 at depth 1]
    #[arg(long, value_name = "X")]
    late_share: Option<f64>,
    /// The page's name [default: made from profile and seed]
    #[arg(long)]
    name: Option<String>,
    /// Write the page into this file
    #[arg(short, value_name = "PAGE")]
    output: PathBuf,
}

const PROFILES: values::Choices<Profile> = &[
    ("web-2024", "HTTP Archive, Web Almanac 2024, desktop", Profile::Web2024),
    ("paper-2019", "The range of the paper's corpus", Profile::Paper2019),
];

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    outputs::check(&arguments.output, Kind::Page)?;
    let late_share = if arguments.depth == 1 { 0.0 } else { 0.2 };
    let shape = Shape {
        seed: arguments.seed,
        profile: arguments.profile,
        resources: arguments.resources,
        bytes: arguments.bytes,
        depth: arguments.depth,
        late_share: arguments.late_share.unwrap_or(late_share),
    };
    let mut page = match &arguments.template {
        Some(template) => grown(template, arguments)?,
        None => generate(&shape).map_err(Failure::bad_input)?,
    };
    if let Some(name) = &arguments.name {
        page.name.clone_from(name);
    }
    if let Some(problem) = ::corpus::check(&page).into_iter().next() {
        return Err(Failure::BadInput(problem.to_string()));
    }
    outputs::write(&arguments.output, Kind::Page, page.to_text().as_bytes())?;
    let bytes: u64 = page.resources.iter().map(|it| it.bytes).sum();
    let count = page.resources.len();
    output::line(&format!("{}: {count} resources, {bytes} bytes", arguments.output.display()))
}

fn grown(template: &str, arguments: &Arguments) -> Result<Page, Failure> {
    let template = values::page(template)?;
    let bytes: u64 = template.resources.iter().map(|it| it.bytes).sum();
    let growth = Growth {
        seed: arguments.seed,
        resources: arguments.resources.unwrap_or(template.resources.len()),
        bytes: arguments.bytes.unwrap_or(bytes),
    };
    grow(&template, &growth).map_err(Failure::bad_input)
}

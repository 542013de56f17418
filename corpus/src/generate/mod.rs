//! Synthetic, seeded pages: counts and sizes follow published distributions; the depth of discoveries and
//! the share of late ones can be set.
//!
//! Numbers come from `SplitMix64` and pass only through additions, multiplications and divisions: the
//! same seed gives the same bytes on every machine.

mod draw;
mod grow;
mod place;
mod quantiles;
mod web;

pub use grow::{FILE_BYTES_MAX, Growth, grow};
pub use web::web_pages;

use crate::import::derive::{set_after_first_image, set_eval_order};
use crate::page::{BrowserPriority, Origin, Page, PageResource, Script, Source, SourceKind};
use draw::Draw;
use schedulers::Kind;
use thiserror::Error;

/// The allowed numbers of resources.
pub const RESOURCES: std::ops::RangeInclusive<usize> = 3..=5000;
/// The greatest allowed depth.
pub const DEPTH_MAX: usize = 20;
/// Decoded bytes per byte of compressed text.
const TEXT_EXPANSION: u64 = 4;

schedulers::named! {
    /// A source of distributions for the counts and sizes of pages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Profile {
        /// The desktop pages of the HTTP Archive (Web Almanac 2024, "Page Weight").
        Web2024 = "web-2024",
        /// The range of the paper's corpus: 10 to 214 resources, 29 KB to 7.4 MB.
        Paper2019 = "paper-2019",
    }
}

/// The page to generate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Decides all that is drawn.
    pub seed: u64,
    /// The distributions.
    pub profile: Profile,
    /// Resources, the document included; random if `None`.
    pub resources: Option<usize>,
    /// Body bytes of the page; random if `None`.
    pub bytes: Option<u64>,
    /// Longest chain of discoveries after the document; 1 if the document's text references everything.
    pub depth: usize,
    /// Share of the resources that stylesheets and scripts discover, and not the document's text, 0 to 1.
    pub late_share: f64,
}

impl Shape {
    /// A web page that is three discoveries deep, a fifth of its resources late.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            profile: Profile::Web2024,
            resources: None,
            bytes: None,
            depth: 3,
            late_share: 0.2,
        }
    }
}

/// Why no such page exists.
#[derive(Debug, Clone, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ShapeError {
    #[error("{0} resources: use {min} to {max}", min = RESOURCES.start(), max = RESOURCES.end())]
    Resources(usize),
    #[error("{0} bytes: use 1000 to 1000000000")]
    Bytes(u64),
    #[error("depth {0}: use 1 to {DEPTH_MAX}")]
    Depth(usize),
    #[error("late share {0}: use 0 to 1, and 0 at depth 1")]
    LateShare(f64),
    #[error("{bytes} bytes in files of at most 2 MB: use at most {most}, or more resources")]
    Files { bytes: u64, most: u64 },
    #[error("template `{0}` is a document alone; use a page with resources")]
    Bare(String),
}

/// The page of this shape. It passes [`crate::check()`].
pub fn generate(shape: &Shape) -> Result<Page, ShapeError> {
    check_shape(shape)?;
    let mut draw = Draw::new(shape.seed);
    let budget = quantiles::budget(shape, &mut draw);
    let mut resources = Vec::new();
    for (kind, bytes) in budget {
        let id = resources.len();
        let mut it = PageResource::plain(id, url(id, kind), mime(kind).to_owned(), bytes);
        let text = matches!(kind, Kind::Html | Kind::Css | Kind::Js | Kind::Xhr);
        it.decoded_bytes = Some(if text { bytes * TEXT_EXPANSION } else { bytes });
        resources.push(it);
    }
    let resources = place::discoveries(&resources, shape, &mut draw);
    let resources = resources.into_iter().map(with_signals).collect();
    let name = format!("generated-{}-{}", shape.profile.name(), shape.seed);
    Ok(Page::new(name, source(shape), vec![Origin::own("generated.test")], resources))
}

fn check_shape(shape: &Shape) -> Result<(), ShapeError> {
    if let Some(count) = shape.resources.filter(|count| !RESOURCES.contains(count)) {
        return Err(ShapeError::Resources(count));
    }
    shape.bytes.map_or(Ok(()), check_bytes)?;
    if !(1..=DEPTH_MAX).contains(&shape.depth) {
        return Err(ShapeError::Depth(shape.depth));
    }
    let late = (0.0..=1.0).contains(&shape.late_share);
    if !late || shape.depth == 1 && shape.late_share > 0.0 {
        return Err(ShapeError::LateShare(shape.late_share));
    }
    Ok(())
}

fn check_bytes(bytes: u64) -> Result<(), ShapeError> {
    if (1000..=1_000_000_000).contains(&bytes) { Ok(()) } else { Err(ShapeError::Bytes(bytes)) }
}

/// Derives the order of evaluation, and which resources follow the first image, from the places in the
/// document's text. Call it after changing a generated page.
pub fn set_order(resources: &mut [PageResource]) {
    for it in resources.iter_mut() {
        it.eval_order = None;
    }
    set_eval_order(resources);
    set_after_first_image(resources);
}

fn command(shape: &Shape) -> String {
    let Shape { seed, profile, resources, bytes, depth, late_share } = shape;
    let resources = resources.map_or(String::new(), |it| format!(" --resources {it}"));
    let bytes = bytes.map_or(String::new(), |it| format!(" --bytes {it}"));
    let (profile, knobs) = (profile.name(), format!("--depth {depth} --late-share {late_share}"));
    format!("utmost corpus generate --seed {seed} --profile {profile}{resources}{bytes} {knobs}")
}

fn source(shape: &Shape) -> Source {
    Source {
        assumptions: quantiles::ASSUMPTIONS.iter().map(|&it| it.to_owned()).collect(),
        ..Source::new(SourceKind::Generated, command(shape), "MIT OR Apache-2.0")
    }
}

fn url(id: usize, kind: Kind) -> String {
    if id == 0 { "/".to_owned() } else { format!("/r/{id}.{}", kind.name()) }
}

/// A MIME type of this kind.
pub const fn mime(kind: Kind) -> &'static str {
    match kind {
        Kind::Html => "text/html",
        Kind::Css => "text/css",
        Kind::Js => "text/javascript",
        Kind::Font => "font/woff2",
        Kind::Image => "image/jpeg",
        Kind::Media => "video/mp4",
        Kind::Xhr => "application/json",
        Kind::Other => "application/octet-stream",
    }
}

/// Sets Chrome's signal (measured over HTTP/3).
fn with_signals(mut it: PageResource) -> PageResource {
    let urgency = match it.kind {
        Kind::Html | Kind::Font => 0,
        Kind::Css if it.critical => 0,
        Kind::Js if it.in_head => 1,
        Kind::Xhr => 1,
        Kind::Css => 2,
        Kind::Js if it.script == Some(Script::Sync) => 2,
        _ => 3,
    };
    let incremental = matches!(it.kind, Kind::Html | Kind::Image | Kind::Xhr);
    it.browser = Some(BrowserPriority { urgency, incremental });
    it
}

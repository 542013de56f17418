//! Figure 11: the ByteIndex as the area above a curve, for `rr` and `bucket` on the page of Figure 8.

use super::matrix::{Buffer, indices};
use super::published::{FIGURE_11_AXIS_MS, FIGURE_11_BUCKET, FIGURE_11_RR};
use super::readings::{BY_HAND, READINGS, Reading};
use super::{KNOWN, load};
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use corpus::Page;
use figures::{Curve, Curves, Drawing};
use lab::above_fold;
use lab::ideal::Conditions;
use qlog_tools::metrics::{Completions, CurvePoint, completed_share};
use std::sync::Arc;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "marx-figure11",
    about: "Figure 11: the ByteIndex of rr and bucket as areas above curves",
    source: "Marx et al. 2019, Figure 11, page 139",
    engine: "ideal",
    conditions: "page davies-meenan-public; engine ideal, network paper (a packet of 1400 bytes each 10 ms), no send buffer, metadata full; the only load under each scheme",
    run,
};

const SCHEMES: [&str; 2] = ["bucket", "rr"];

/// How near an area must be to the printed one.
const NEAR: f64 = 0.1;

/// A scheme's curve, and the area above it.
struct Progress {
    points: Vec<CurvePoint>,
    index_ms: f64,
    /// The same, sampled each 100 ms as in the paper.
    sampled_ms: f64,
    /// In the unit that was once thought to be the printed values': percent, summed over samples 10 ms apart.
    percent_samples: f64,
}

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let readings = Reading::all(setting)?;
    let mut found = Vec::new();
    let mut drawn = Vec::new();
    for reading in &readings {
        let [bucket, rr] =
            [progress(&reading.page, SCHEMES[0])?, progress(&reading.page, SCHEMES[1])?];
        let rows =
            if reading.page.name == BY_HAND { by_hand(&bucket, &rr) } else { rows(&bucket, &rr) };
        found.extend(reading.named(rows));
        drawn.push([bucket, rr]);
    }
    let curves = SCHEMES.iter().zip(&drawn[0]).map(|(scheme, progress)| Curve {
        label: (*scheme).to_owned(),
        index_ms: Some(progress.index_ms),
        points: progress.points.clone(),
    });
    let figure = Curves {
        title: "davies-meenan-public: above-the-fold bytes in fully downloaded resources"
            .to_owned(),
        what: "ATF bytes complete".to_owned(),
        curves: curves.collect(),
    };
    Ok(Findings {
        method: format!(
            "On engine `ideal` and network `paper`. {READINGS} The printed areas are \
             milliseconds: the axis of the printed figure counts samples of 100 ms by tens, from 10 to 2810, and so reads a tenth of the \
             time, 281 samples or 28.1 s. {KNOWN}"
        ),
        rows: found,
        schemes: SCHEMES.map(str::to_owned).into(),
        pages: Reading::pages(&readings),
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: figure.caption(),
    })
}

fn rows(bucket: &Progress, rr: &Progress) -> Vec<Row> {
    let ratio = rr.sampled_ms / bucket.sampled_ms;
    vec![
        Row::shown("area-rr", "rr: ByteIndex above the fold, sampled each 100 ms, in ms", Some(rr.sampled_ms))
            .published(FIGURE_11_RR)
            .within_share(NEAR),
        Row::shown("area-bucket", "bucket: the same", Some(bucket.sampled_ms))
            .published(FIGURE_11_BUCKET)
            .within_share(NEAR),
        Row::shown("ratio", "rr's area divided by bucket's", Some(ratio))
            .published(printed_ratio())
            .within_share(NEAR)
            .note("\"Bucket is clearly faster for ATF resources\"."),
        never_below(bucket, rr),
        Row::shown("axis", "the end of the load, in ms", rr.points.last().map(|it| it.time_ms))
            .published(10.0 * FIGURE_11_AXIS_MS)
            .note("The printed axis ends at 2810, which are 281 samples of 100 ms. A page of 3.5 MB takes at least 24.8 s at 140 kB/s."),
    ]
}

/// Rows of the page that was made by hand, as they were defined.
fn by_hand(bucket: &Progress, rr: &Progress) -> Vec<Row> {
    let ratio = Some(rr.index_ms / bucket.index_ms);
    let missing = "rr: percent of bytes missing, summed over samples each 10 ms";
    vec![
        Row::shown("bi-rr", missing, Some(rr.percent_samples)).published(FIGURE_11_RR).note(
            "A unit that was thought to be the printed value's: it is not, see the rows of the public page.",
        ),
        Row::shown("bi-bucket", "bucket: the same", Some(bucket.percent_samples))
            .published(FIGURE_11_BUCKET),
        Row::shown("ratio", "rr's area divided by bucket's", ratio).published(printed_ratio()),
        Row::shown("ratio-is-a-gain", "rr's area divided by bucket's, as a gain", ratio)
            .at_least(2.0)
            .note("\"Bucket is clearly faster for ATF resources\"; one-sided, as these words are."),
        never_below(bucket, rr),
        Row::shown(
            "axis",
            "largest area that the axis allows, in ms: the end of the load",
            rr.points.last().map(|it| it.time_ms),
        )
        .published(FIGURE_11_AXIS_MS),
    ]
}

fn printed_ratio() -> f64 {
    (FIGURE_11_RR / FIGURE_11_BUCKET * 100.0).round() / 100.0
}

fn progress(page: &Arc<Page>, scheme: &str) -> Result<Progress, ReproduceError> {
    let load = load(page, scheme, "paper", Conditions::default())?;
    let above_fold = above_fold(page);
    let set = Completions::new(&load.timeline, |it| above_fold.contains(&it.url));
    let set = set.map_err(ReproduceError::unusable)?;
    let points = completed_share(&load.timeline, |it| above_fold.contains(&it.url));
    let samples = samples(points.last().map_or(0.0, |it| it.time_ms));
    let percent_samples = samples.map(|it| 100.0 * (1.0 - share_at(&points, it))).sum();
    let index_ms = set.byte_index_ms();
    let sampled_ms = indices(page, scheme, Buffer::NONE)?.atf.unwrap_or(f64::NAN);
    Ok(Progress { points, index_ms, sampled_ms, percent_samples })
}

/// Each 10 ms, as the printed axis was read.
fn samples(end_ms: f64) -> impl Iterator<Item = f64> {
    (0..u32::MAX).map(|it| f64::from(it) * 10.0).take_while(move |it| *it <= end_ms)
}

fn share_at(points: &[CurvePoint], time_ms: f64) -> f64 {
    let reached = points.partition_point(|it| it.time_ms <= time_ms);
    reached.checked_sub(1).map_or(0.0, |it| points[it].share)
}

fn never_below(bucket: &Progress, rr: &Progress) -> Row {
    let end_ms = rr.points.last().map_or(0.0, |it| it.time_ms);
    let ahead = samples(end_ms)
        .filter(|it| share_at(&bucket.points, *it) >= share_at(&rr.points, *it) - 1e-9);
    let share = ahead.count() as f64 / samples(end_ms).count().max(1) as f64;
    Row::shown(
        "never-below",
        "share of moments, each 10 ms, at which bucket has no fewer bytes complete than rr",
        Some(share),
    )
    .published(1.0)
    .at_least(1.0)
    .note("In the printed figure bucket's curve is nowhere below rr's.")
    .because("bucket sends the HTML with the images: for some time rr has it complete and bucket has not.")
}

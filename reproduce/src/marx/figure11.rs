//! Figure 11: the ByteIndex as the area above a curve, for `rr` and `bucket` on the page of Figure 8.

use super::published::{DAVIES_SPEEDUP, FIGURE_11_AXIS_MS, FIGURE_11_BUCKET, FIGURE_11_RR};
use super::{DAVIES, KNOWN, load};
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use corpus::Page;
use figures::{Curve, Curves, Drawing};
use lab::above_fold;
use lab::ideal::Conditions;
use qlog_tools::metrics::{Completions, CurvePoint, completed_share};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "marx-figure11",
    about: "Figure 11: the ByteIndex of rr and bucket as areas above curves",
    source: "Marx et al. 2019, Figure 11, page 139",
    engine: "ideal",
    conditions: "page davies-meenan; engine ideal, network paper (a packet of 1400 bytes each 10 ms), no send buffer, metadata full; the only load under each scheme",
    run,
};

const SCHEMES: [&str; 2] = ["bucket", "rr"];

/// A scheme's curve, and the area above it.
struct Progress {
    points: Vec<CurvePoint>,
    index_ms: f64,
    /// In the unit that the printed values fit: percent, summed over samples 10 ms apart.
    percent_samples: f64,
}

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let page = setting.page(DAVIES)?;
    let bucket = progress(page, SCHEMES[0])?;
    let rr = progress(page, SCHEMES[1])?;
    let curves = SCHEMES.iter().zip([&bucket, &rr]).map(|(scheme, progress)| Curve {
        label: (*scheme).to_owned(),
        index_ms: Some(progress.index_ms),
        points: progress.points.clone(),
    });
    let figure = Curves {
        title: "davies-meenan: above-the-fold bytes in fully downloaded resources".to_owned(),
        what: "ATF bytes complete".to_owned(),
        curves: curves.collect(),
    };
    Ok(Findings {
        method: format!(
            "The page of Davies and Meenan, with sizes of our own, on engine `ideal` and network `paper`; the \
             ByteIndex is exact here. The printed areas cannot be milliseconds under a curve from 0 to 1, so \
             ratios are compared. {KNOWN}"
        ),
        rows: rows(&bucket, &rr),
        schemes: SCHEMES.map(str::to_owned).into(),
        pages: vec![page.clone()],
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: figure.caption(),
    })
}

fn rows(bucket: &Progress, rr: &Progress) -> Vec<Row> {
    let ratio = Some(rr.index_ms / bucket.index_ms);
    let missing = "rr: percent of bytes missing, summed over samples each 10 ms";
    vec![
        Row::shown("bi-rr", missing, Some(rr.percent_samples))
            .published(FIGURE_11_RR)
            .note("The unit that fits the printed value: 21589 is 2159 ms, on an axis of 2810 ms. Our page is larger."),
        Row::shown("bi-bucket", "bucket: the same", Some(bucket.percent_samples))
            .published(FIGURE_11_BUCKET)
            .note("In that unit 1506 is 151 ms, or 15 packets of 1400 bytes; ours has more bytes above the fold."),
        Row::shown("ratio", "rr's area divided by bucket's", ratio)
            .published((FIGURE_11_RR / FIGURE_11_BUCKET * 100.0).round() / 100.0)
            .note(format!(
                "The anomaly: the printed areas make bucket 14 times as fast as rr, while the text says that this \
                 page gains x{DAVIES_SPEEDUP} at most (page 140)."
            )),
        Row::shown("ratio-is-a-gain", "rr's area divided by bucket's, as a gain", ratio)
            .at_least(2.0)
            .note("\"Bucket is clearly faster for ATF resources\"."),
        Row::shown(
            "never-below",
            "share of moments, each 10 ms, at which bucket has no fewer bytes complete than rr",
            Some(never_below(bucket, rr)),
        )
        .published(1.0)
        .at_least(1.0)
        .note("In the printed figure bucket's curve is nowhere below rr's.")
        .because(
            "bucket sends the HTML with the images: for some 400 ms rr has it complete and bucket has not. Which area \
             is larger is as published, the shape is not.",
        ),
        Row::shown(
            "axis",
            "largest area that the axis allows, in ms: the end of the load",
            rr.points.last().map(|it| it.time_ms),
        )
        .published(FIGURE_11_AXIS_MS)
        .note("The printed 21589 exceeds it eightfold: the value is not what the axis says."),
    ]
}

fn progress(page: &std::sync::Arc<Page>, scheme: &str) -> Result<Progress, ReproduceError> {
    let load = load(page, scheme, "paper", Conditions::default())?;
    let above_fold = above_fold(page);
    let set = Completions::new(&load.timeline, |it| above_fold.contains(&it.url));
    let set = set.map_err(ReproduceError::unusable)?;
    let points = completed_share(&load.timeline, |it| above_fold.contains(&it.url));
    let samples = samples(points.last().map_or(0.0, |it| it.time_ms));
    let percent_samples = samples.map(|it| 100.0 * (1.0 - share_at(&points, it))).sum();
    Ok(Progress { points, index_ms: set.byte_index_ms(), percent_samples })
}

/// Each 10 ms, as the figure's axis has it.
fn samples(end_ms: f64) -> impl Iterator<Item = f64> {
    (0..u32::MAX).map(|it| f64::from(it) * 10.0).take_while(move |it| *it <= end_ms)
}

fn share_at(points: &[CurvePoint], time_ms: f64) -> f64 {
    let reached = points.partition_point(|it| it.time_ms <= time_ms);
    reached.checked_sub(1).map_or(0.0, |it| points[it].share)
}

fn never_below(bucket: &Progress, rr: &Progress) -> f64 {
    let end_ms = rr.points.last().map_or(0.0, |it| it.time_ms);
    let ahead = samples(end_ms)
        .filter(|it| share_at(&bucket.points, *it) >= share_at(&rr.points, *it) - 1e-9);
    ahead.count() as f64 / samples(end_ms).count().max(1) as f64
}

//! Colours that colour-blind readers and grey print can distinguish, followed by the same with patterns. On large
//! pages, one colour for each kind, from dark to light in request order; in logs, each stream has its own look.

use schedulers::Kind;
use serde::Serialize;

use qlog_tools::page_resources::PageResource;
use qlog_tools::saturating_cast::to_u64;

/// On pages with at most this many resources, each has its own look; with more, each kind shares a colour. Streams of a
/// log always have their own looks, which repeat after [`LOOKS`].
pub const OWN_LOOKS: usize = 24;

/// The number of different looks.
pub const LOOKS: usize = COLOURS.len() * PATTERNS.len();

/// Okabe and Ito (2008) without black, which marks ATF bytes; then four more that colour-blind readers can also
/// distinguish from them (a test measures it).
pub const COLOURS: [&str; 11] = [
    "#D55E00", "#56B4E9", "#E69F00", "#0072B2", "#F0E442", "#009E73", "#CC79A7", "#882255",
    "#A6E3D7", "#5010E0", "#8C510A",
];

const PATTERNS: [Pattern; 5] =
    [Pattern::Solid, Pattern::Hatched, Pattern::Dotted, Pattern::Barred, Pattern::BackHatched];

/// Okabe and Ito's colours for thin lines. The yellow, which is too light on paper, is darker.
pub const LINE_COLOURS: [&str; 8] =
    ["#D55E00", "#56B4E9", "#E69F00", "#0072B2", "#A89A00", "#009E73", "#CC79A7", "#8C8C8C"];

/// How a resource is painted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Look {
    /// `#rrggbb`.
    pub colour: String,
    /// The pattern over the colour.
    pub pattern: Pattern,
    /// The colour of the pattern: black on light colours, white on dark ones.
    pub ink: &'static str,
}

/// A pattern over a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Nothing.
    Solid,
    /// Diagonal lines.
    Hatched,
    /// Dots.
    Dotted,
    /// Level lines.
    Barred,
    /// Diagonal lines in the other direction.
    BackHatched,
}

impl Look {
    /// The look at `place`: first the plain colours, then the same with patterns; repeats after [`LOOKS`].
    pub fn nth(place: usize) -> Self {
        let colour = COLOURS[place % COLOURS.len()].to_owned();
        Self::new(colour, PATTERNS[place / COLOURS.len() % PATTERNS.len()])
    }

    fn new(colour: String, pattern: Pattern) -> Self {
        let [red, green, blue] = [1, 3, 5].map(|place| channel(&colour, place));
        let is_dark = 0.299 * red + 0.587 * green + 0.114 * blue < 110.0;
        Self { colour, pattern, ink: if is_dark { "#ffffff" } else { "#1a1a1a" } }
    }
}

/// One look for each resource: its own for streams of a log and on pages that are not too large, otherwise by kind.
pub fn looks(resources: &[PageResource]) -> Vec<Look> {
    if are_by_kind(resources) {
        return by_kind(resources);
    }
    (0..resources.len()).map(Look::nth).collect()
}

/// Whether kinds share a colour.
pub(crate) fn are_by_kind(resources: &[PageResource]) -> bool {
    resources.len() > OWN_LOOKS && resources.iter().all(|it| it.streams.is_empty())
}

/// The colour of a kind, in the middle of its range.
pub fn kind_colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Html => "#D55E00",
        Kind::Css => "#CC79A7",
        Kind::Js => "#E69F00",
        Kind::Font => "#009E73",
        Kind::Image => "#0072B2",
        Kind::Media => "#6E6E6E",
        Kind::Xhr => "#D9CC1E",
        Kind::Other => "#A8A8A8",
    }
}

fn by_kind(resources: &[PageResource]) -> Vec<Look> {
    let of_kinds = Kind::ALL.map(|kind| resources.iter().filter(|it| it.kind == kind).count());
    let mut seen = [0_usize; Kind::ALL.len()];
    let mut looks = Vec::with_capacity(resources.len());
    for resource in resources {
        let place = resource.kind as usize;
        let of_kind = of_kinds[place];
        let share = if of_kind < 2 { 0.33 } else { seen[place] as f64 / (of_kind - 1) as f64 };
        seen[place] += 1;
        looks.push(Look::new(shade(kind_colour(resource.kind), share), Pattern::Solid));
    }
    looks
}

pub(crate) fn line_colour(place: usize) -> &'static str {
    LINE_COLOURS[place % LINE_COLOURS.len()]
}

/// The stroke of the line at `place` of a figure: by colour, and once colours are used up, also by dashes.
pub(crate) fn line_stroke(place: usize) -> String {
    stroke(place, place / LINE_COLOURS.len(), "2.2")
}

/// The same in print: thinner, and dashed from the second line on, because colours can get lost.
pub(crate) fn print_stroke(place: usize) -> String {
    stroke(place, place, "1.5")
}

fn stroke(colour: usize, dashes: usize, width: &str) -> String {
    const DASHES: [&str; 5] = ["", "7 3", "2 2.5", "9 3 2 3", "12 2"];
    let colour = line_colour(colour);
    let dashes = DASHES[dashes % DASHES.len()];
    let dashes =
        if dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dashes}""#) };
    format!(
        r#"fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dashes}"#
    )
}

/// `colour` from dark (0) through itself (about a third) to light (1).
pub(crate) fn shade(colour: &str, share: f64) -> String {
    const DARKEST: f64 = -0.3;
    const LIGHTEST: f64 = 0.62;
    let amount = DARKEST + (LIGHTEST - DARKEST) * share.clamp(0.0, 1.0);
    let target = if amount < 0.0 { 0.0 } else { 255.0 };
    let [red, green, blue] = [1, 3, 5].map(|place| {
        let value = channel(colour, place);
        to_u64((value + (target - value) * amount.abs()).round())
    });
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// The channel of `#rrggbb` whose two digits begin at `place`.
fn channel(colour: &str, place: usize) -> f64 {
    let value = colour.get(place..place + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
    f64::from(value.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(count: usize) -> Vec<PageResource> {
        let kinds = [Kind::Html, Kind::Css, Kind::Image];
        (0..count)
            .map(|n| PageResource {
                url: format!("/{n}"),
                kind: kinds[n % 3],
                above_fold: false,
                body_bytes: None,
                streams: Vec::new(),
            })
            .collect()
    }

    /// The `OKLab` colour (Ottosson 2020) after a matrix on linear RGB that models the viewer.
    fn seen(colour: &str, through: [[f64; 3]; 3]) -> [f64; 3] {
        let linear = [1, 3, 5].map(|place| {
            let value = channel(colour, place) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        let of = |row: [f64; 3], of: [f64; 3]| (0..3).map(|at| row[at] * of[at]).sum::<f64>();
        let rgb = through.map(|row| of(row, linear).max(0.0));
        let cones = [
            [0.412_221, 0.536_333, 0.051_446],
            [0.211_903, 0.680_700, 0.107_397],
            [0.088_302, 0.281_719, 0.629_979],
        ]
        .map(|row| of(row, rgb).cbrt());
        [
            of([0.210_454, 0.793_618, -0.004_072], cones),
            of([1.977_998, -2.428_592, 0.450_594], cones),
            of([0.025_904, 0.782_772, -0.808_676], cones),
        ]
    }

    /// Distances in `OKLab`; about 0.02 can just be told apart side by side.
    #[test]
    fn colours_stay_apart_for_colour_blind_readers() {
        // Machado, Oliveira and Fernandes (2009), severity 1.
        let eyes = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ];
        for eye in eyes {
            for (place, one) in COLOURS.iter().enumerate() {
                for other in &COLOURS[..place] {
                    let (a, b) = (seen(one, eye), seen(other, eye));
                    let far = (0..3).map(|at| (a[at] - b[at]).powi(2)).sum::<f64>().sqrt();
                    assert!(far > 0.075, "{one} {other}: {far}");
                }
            }
        }
    }

    #[test]
    fn lines_in_print_that_are_alike_in_grey_differ_in_their_dashes() {
        let strokes: Vec<String> = (0..40).map(print_stroke).collect();
        for (place, stroke) in strokes.iter().enumerate() {
            assert!(!strokes[..place].contains(stroke), "{place}: {stroke}");
        }
        let dashes = |stroke: &str| stroke.split_once("dasharray").map(|it| it.1.to_owned());
        let near: Vec<_> = strokes[..5].iter().map(|it| dashes(it)).collect();
        assert!(near.iter().enumerate().all(|(place, it)| !near[..place].contains(it)), "{near:?}");
    }

    #[test]
    fn streams_of_a_log_have_looks_of_their_own_whatever_their_kind() {
        let streams: Vec<PageResource> = (0..)
            .step_by(4)
            .zip(page(55))
            .map(|(stream, it)| PageResource { streams: vec![stream], kind: Kind::Other, ..it })
            .collect();
        let looks = looks(&streams);
        for (place, look) in looks.iter().enumerate() {
            assert!(!looks[..place].contains(look), "{look:?}");
        }
        assert_eq!((looks.len(), Look::nth(LOOKS)), (LOOKS, Look::nth(0)));
    }

    #[test]
    fn a_pattern_is_seen_on_dark_and_on_light() {
        let ink = |colour: &str| Look::new(colour.to_owned(), Pattern::Dotted).ink;
        assert_eq!(["#5010E0", "#F0E442"].map(ink), ["#ffffff", "#1a1a1a"]);
    }

    #[test]
    fn no_two_resources_look_the_same() {
        for count in [1, 8, 9, 24, 25, 60] {
            let looks = looks(&page(count));
            for (place, look) in looks.iter().enumerate() {
                assert!(!looks[..place].contains(look), "{count}: {look:?}");
            }
            assert_eq!(looks.len(), count);
        }
    }

    #[test]
    fn a_kind_goes_from_dark_to_light() {
        assert_eq!(shade("#0072B2", 0.0), "#00507D");
        assert_eq!(shade("#0072B2", 0.3261), "#0072B2");
        assert_eq!(shade("#0072B2", 1.0), "#9EC9E2");
    }
}

//! Values that Bergan, Pelchat and Buettner printed: "Rules of Thumb for HTTP/2 Push", version of 2016-08-03. Times are
//! in milliseconds, differences in percent of the time without push; `None` stands for a printed dash.

use crate::model::Path;
use push::Policy;

/// "3G" and "2G" as measured, section "Experimental Methodology".
pub(super) const G3: Path = Path { bits_per_s: 1_360_000.0, rtt_ms: 209.0 };
pub(super) const G2: Path = Path { bits_per_s: 113_000.0, rtt_ms: 1420.0 };

/// Sizes of the document in the first two tables, in KB.
pub(super) const HTML_KB: [u64; 5] = [5, 20, 40, 80, 200];

/// A load without push, with push, and the difference.
pub(super) type Cell = (f64, f64, Option<f64>);

/// "Load Times for Cold Connections (ms)", in the order of [`HTML_KB`].
pub(super) const COLD_3G: [Cell; 5] = [
    (1231.0, 1097.0, Some(11.0)),
    (1233.0, 1175.0, Some(5.0)),
    (1344.0, 1349.0, None),
    (1532.0, 1537.0, None),
    (2120.0, 2134.0, None),
];
pub(super) const COLD_2G: [Cell; 5] = [
    (7240.0, 6721.0, Some(7.0)),
    (7760.0, 7781.0, None),
    (9136.0, 9164.0, None),
    (11_813.0, 11_832.0, None),
    (19_930.0, 19_953.0, None),
];

/// "Load Times for Warm Connections (ms)".
pub(super) const WARM_3G: [Cell; 5] = [
    (746.0, 462.0, Some(38.0)),
    (1378.0, 1161.0, Some(16.0)),
    (3319.0, 3237.0, Some(2.0)),
    (5885.0, 5891.0, None),
    (14_142.0, 14_150.0, None),
];
pub(super) const WARM_2G: [Cell; 5] = [
    (3876.0, 2691.0, Some(30.0)),
    (3884.0, 3763.0, Some(3.0)),
    (5143.0, 5166.0, None),
    (7899.0, 7910.0, None),
    (16_226.0, 16_228.0, None),
];

/// The closed formula's predictions (section "A Simple Example"): network, HTML in KB, percent.
pub(super) const FORMULA: [(&str, Path, u64, f64); 3] =
    [("2g", G2, 5, 29.5), ("3g", G3, 5, 37.6), ("3g", G3, 20, 18.9)];

/// The results of their own simulation of slow start (section "Slow Start Means Slow Push").
pub(super) const COLD_SIMULATION: [(&str, Path, u64, f64); 3] =
    [("2g", G2, 5, 11.3), ("3g", G3, 5, 13.6), ("3g", G3, 20, 0.0)];

/// Section "How Resource Evaluation Speed Affects Idle Time": HTML and 1.js in KB; pushed 1.js only, both.
pub(super) const TAIL: [((u64, u64), Cell); 5] = [
    ((5, 5), (4125.0, 2995.0, Some(27.0))),
    ((20, 5), (5204.0, 4067.0, Some(21.0))),
    ((40, 5), (6685.0, 5461.0, Some(18.0))),
    ((40, 20), (6681.0, 6580.0, None)),
    ((40, 40), (8079.0, 8089.0, None)),
];

/// Section "Generalizing to Multiple RTTs": 2.js in KB; pushed 1.js and 2.js, all three.
pub(super) const CHAIN: [(u64, Cell); 3] = [
    (5, (5419.0, 4206.0, Some(22.0))),
    (20, (5491.0, 5303.0, Some(3.0))),
    (40, (6813.0, 6786.0, None)),
];

/// Section "Rule #2: Push Resources in the Right Order": pushed, load time, percent.
pub(super) const ORDER: [(&[&str], f64, Option<f64>); 6] = [
    (&[], 3593.0, None),
    (&["/1.js"], 2740.0, Some(23.0)),
    (&["/3.js"], 2789.0, Some(22.0)),
    (&["/1.js", "/2.js"], 2796.0, Some(22.0)),
    (&["/3.js", "/1.js"], 3465.0, None),
    (&["/3.js", "/4.js"], 4179.0, Some(-16.0)),
];

/// The same section, the timelines of three push orders: what is pushed, and the responses in their order.
pub(super) const TIMELINES: [(&[&str], [&str; 5]); 3] = [
    (&[], ["/", "/1.js", "/3.js", "/4.js", "/2.js"]),
    (&["/3.js", "/1.js"], ["/", "/3.js", "/1.js", "/4.js", "/2.js"]),
    (&["/3.js", "/4.js"], ["/", "/3.js", "/4.js", "/1.js", "/2.js"]),
];

/// Section "Implications for Developers" of rule 1, of httparchive: percent of documents that are larger than 5 KB, and of those up
/// to 20 KB.
pub(super) const DOCUMENTS: [(u64, f64); 2] = [(5, 80.0), (20, 85.0)];

/// Section "Implications for Developers" of rule 1: connection, path, bandwidth-delay product in KB.
pub(super) const CONNECTIONS: [(&str, &str, Path, f64); 6] = [
    ("2g", "2G", G2, 20.0),
    ("3g", "3G", G3, 35.0),
    ("lte-4500", "4G LTE, 4.5 Mbit/s", Path { bits_per_s: 4.5e6, rtt_ms: 150.0 }, 85.0),
    ("lte-8500", "4G LTE, 8.5 Mbit/s", Path { bits_per_s: 8.5e6, rtt_ms: 150.0 }, 160.0),
    ("cable", "25 Mbit/s cable", Path { bits_per_s: 25e6, rtt_ms: 50.0 }, 156.0),
    ("satellite", "1 Mbit/s satellite", Path { bits_per_s: 1e6, rtt_ms: 638.0 }, 80.0),
];

/// A page of the case studies, with medians of `SpeedIndex` on 3G in milliseconds.
pub(super) struct StudiedPage {
    /// Whether the source names a resource of it that is hidden and critical: the one that Preload is for.
    pub(super) hides_critical: bool,
    /// `NoOpt`, Push, Preload, `PushAndPreload`.
    pub(super) policies: [f64; 4],
    /// The straw man: `NoOpt`, `PushStaticWithHTMLOneBDP` (none: a dash, because its document is larger than the bandwidth-delay
    /// product), `PushStaticWithHTML`.
    pub(super) straw_man: (f64, Option<f64>, f64),
}

/// The tables of the case studies and of the straw man, in their order: artofliving, t24mobile, bleacherreport,
/// bollywoodhungama, vguard, pornhub.
pub(super) const STUDIED_PAGES: [StudiedPage; 6] = [
    page(true, [7557.0, 7744.0, 6269.0, 6231.0], (7720.0, Some(7740.0), 9872.0)),
    page(true, [2319.0, 2097.0, 2048.0, 2067.0], (2286.0, Some(2078.0), 2962.0)),
    page(false, [10_671.0, 10_455.0, 10_609.0, 10_655.0], (13_487.0, None, 13_311.0)),
    page(false, [2809.0, 2421.0, 2816.0, 2455.0], (5479.0, Some(4857.0), 5058.0)),
    page(false, [5712.0, 5394.0, 5716.0, 5708.0], (5687.0, None, 7176.0)),
    page(true, [4031.0, 4009.0, 3550.0, 3537.0], (4538.0, None, 4623.0)),
];

const fn page(
    hides_critical: bool,
    policies: [f64; 4],
    straw_man: (f64, Option<f64>, f64),
) -> StudiedPage {
    StudiedPage { hides_critical, policies, straw_man }
}

impl StudiedPage {
    /// Whether its document is larger than the bandwidth-delay product.
    pub(super) fn is_large(&self) -> bool {
        self.straw_man.1.is_none()
    }

    /// Without and with a policy, where the source has both.
    pub(super) fn with(&self, policy: Policy) -> Option<[f64; 2]> {
        let ([none, push, preload, both], (straw_none, one_bdp, all)) =
            (self.policies, self.straw_man);
        match policy {
            Policy::Push => Some([none, push]),
            Policy::Preload => Some([none, preload]),
            Policy::PushAndPreload => Some([none, both]),
            Policy::PushStaticWithHtmlOneBdp => one_bdp.map(|it| [straw_none, it]),
            Policy::PushStaticWithHtml => Some([straw_none, all]),
            Policy::PushInEvaluationOrder | Policy::NoOpt => None,
        }
    }
}

//! Values that Marx, De Decker, Quax and Lamotte printed: "Of the Utmost Importance: Resource Prioritization in HTTP/3
//! over QUIC", WEBIST 2019, pages 130 to 143.

pub(super) use lab::study::published::{TABLE_2, Table2Row};

/// All but the "few bad performers (i.e., firefox, wrr, s+)" (page 140).
pub(super) const WELL_PERFORMING: [&str; 7] =
    ["fifo", "dfifo", "p+", "spdyrr", "bucket", "bucket-html", "zeroweight"];

/// "A few bad performers" (page 140).
pub(super) const BAD_PERFORMING: [&str; 3] = ["firefox", "wrr", "s+"];

/// "Impressive gains of x3.5 to x5+ speedup factors for individual web pages" (page 140).
pub(super) const BEST_PAGE_SPEEDUP: f64 = 3.5;

/// The two areas printed in Figure 11 (page 139): `rr`'s and `bucket`'s.
pub(super) const FIGURE_11_RR: f64 = 21_589.0;
pub(super) const FIGURE_11_BUCKET: f64 = 1506.0;
/// Where its time axis ends, in milliseconds.
pub(super) const FIGURE_11_AXIS_MS: f64 = 2810.0;

/// The page of Davies and Meenan drops "from x9 speedup without send buffer to x3 with 1000K" (page 140).
pub(super) const DAVIES_SPEEDUP: f64 = 9.0;
pub(super) const DAVIES_SPEEDUP_1000K: f64 = 3.0;

/// "rr jitter only has far fewer stacked packets (maximum of two)"; HOL-blocking leads "to frequent stacks of four
/// packets" (pages 141 and 142).
pub(super) const STACK_RR_JITTER: f64 = 2.0;
pub(super) const STACK_RR_BLOCKED: f64 = 4.0;

/// Case study 1 (page 141): "a slowdown of about /3 for three separate schemes, yet sees major improvements of x4 in
/// others"; the three are fifo, firefox and s+.
pub(super) const CASE_1_SLOWED: [&str; 3] = ["fifo", "firefox", "s+"];

//! How much faster pages are.

/// A distribution of per-page speedups; `None` without any.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Speedups {
    /// Pages that have a speedup.
    pub pages: usize,
    /// The mean of the per-page ratios.
    pub mean: Option<f64>,
    /// The median.
    pub median: Option<f64>,
    /// The highest.
    pub best: Option<f64>,
    /// The lowest.
    pub worst: Option<f64>,
}

impl Speedups {
    /// The distribution of these ratios.
    pub fn of(mut ratios: Vec<f64>) -> Self {
        ratios.sort_by(f64::total_cmp);
        let pages = ratios.len();
        if pages == 0 {
            return Self::default();
        }
        Self {
            pages,
            mean: Some(ratios.iter().sum::<f64>() / pages as f64),
            median: Some(f64::midpoint(ratios[(pages - 1) / 2], ratios[pages / 2])),
            best: ratios.last().copied(),
            worst: ratios.first().copied(),
        }
    }
}

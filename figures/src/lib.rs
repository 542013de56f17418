//! Figures as SVG: light when saved alone, following the reader's light or dark scheme when
//! embedded in a report (the report's style sheet overrides the classes `ink`, `muted`, `grid`,
//! `track` and `paper`). [`png`] turns them into pictures.

pub mod axis;
pub mod blocks;
pub mod byte_index_curve;
pub mod delivery_stacks;
pub mod distribution;
pub mod heat_map;
pub mod interleaving;
pub mod intervals;
pub mod legend;
pub mod lines;
mod moved;
mod number_axis;
pub mod number_texts;
pub mod paint;
pub mod paired_dots;
pub mod palette;
pub mod png;
mod ratio_axis;
pub mod ratio_panels;
pub mod ribbon;
pub mod savings;
mod sheet;
mod small_multiples;
pub mod speedup_dots;
pub mod speedups;
mod standing;
pub mod svg;
pub mod sweep;
pub mod table;
mod text_lines;
pub mod tree;

pub use byte_index_curve::{Curve, Curves};
pub use distribution::{Distribution, DistributionOf};
pub use heat_map::{HeatMap, HeatRow};
pub use interleaving::{Interleaving, InterleavingLine};
pub use intervals::{IntervalPanel, IntervalRow, Intervals};
pub use lines::{Line, Lines};
pub use moved::MovedResources;
pub use ribbon::{Mark, RibbonRow, Ribbons};
pub use savings::{Saving, Savings, SavingsGroup};
pub use sheet::{Drawing, FigureStyle, PaperWidth, Sheet};
pub use speedup_dots::{Dot, DotGroup, SizeClass, SpeedupDots};
pub use standing::Standing;
pub use svg::escape;
pub use sweep::{Sweep, SweepOf, SweepPoint};
pub use table::Table;
pub use tree::{TreePanel, Trees};

/// The explanation of a regret in captions.
pub(crate) const REGRET: &str =
    " Regret is the ByteIndex divided by its lower bound: 1 is as good as can be.";

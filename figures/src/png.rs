//! Figures as PNG, rasterized from their SVG, and as PDF.

#[cfg(not(feature = "png"))]
mod missing;
#[cfg(feature = "png")]
mod pdf;
#[cfg(feature = "png")]
mod rasterizer;

#[cfg(not(feature = "png"))]
pub use missing::Rasterizer;
#[cfg(feature = "png")]
pub use rasterizer::Rasterizer;

/// The metadata that a PDF reader shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its subject.
    pub subject: &'a str,
}

/// Why a picture cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The feature `png` is off.
    #[error("this program was built without the feature `png`; keep the SVG")]
    NotBuilt,
    /// Without a font, the figure would have no text.
    #[error(
        "no font was found on this system: install one (for example the package fonts-dejavu-core), or keep the SVG"
    )]
    NoFont,
    /// The SVG is not from this crate, or is damaged.
    #[error("the SVG could not be read: {0}")]
    Svg(String),
    /// Too wide or too high to be drawn: both in pixels.
    #[error("a picture of {0} x {1} pixels is too large; choose a smaller scale")]
    TooLarge(f64, f64),
    /// The encoder's complaint.
    #[error("the PNG could not be written: {0}")]
    Encoding(String),
}

//! Stands in for the rasterizer in a program built without the feature `png`.

use super::PngError;

/// Cannot be made.
pub enum Rasterizer {}

impl Rasterizer {
    /// Always fails: the SVG files are all there is.
    pub fn new() -> Result<Self, PngError> {
        Err(PngError::NotBuilt)
    }

    /// Never called.
    pub fn png(&self, _: &str, _: f32) -> Result<Vec<u8>, PngError> {
        match *self {}
    }
}

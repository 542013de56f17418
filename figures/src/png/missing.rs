//! Replaces the rasterizer in a program built without the feature `png`.

use super::{About, PngError};

/// Cannot be made.
pub enum Rasterizer {}

impl Rasterizer {
    /// Always fails: there are only SVG files.
    pub fn new() -> Result<Self, PngError> {
        Err(PngError::NotBuilt)
    }

    /// Never called.
    pub fn pdf(&self, _: &str, _: &About<'_>) -> Result<Vec<u8>, PngError> {
        match *self {}
    }

    /// Never called.
    pub fn png(&self, _: &str, _: f32) -> Result<Vec<u8>, PngError> {
        match *self {}
    }
}

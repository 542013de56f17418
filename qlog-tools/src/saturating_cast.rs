//! Saturating conversions from floating-point to whole numbers: 0 for negative values and NaN, the maximum for larger ones.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values that do not fit are clamped"
)]

/// The whole part.
pub fn to_u64(value: f64) -> u64 {
    value as u64
}

/// The whole part: the pixel, or the index, of a number.
pub fn to_usize(value: f64) -> usize {
    value as usize
}

//! From decimal numbers to whole ones, which saturate: 0 for what is negative or not a number, and the most for what is larger.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what does not fit is clamped"
)]

/// The whole part.
pub fn to_u64(value: f64) -> u64 {
    value as u64
}

/// The whole part: the pixel, or the place, that a number falls into.
pub fn to_usize(value: f64) -> usize {
    value as usize
}

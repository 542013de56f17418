//! From decimal numbers to whole ones.

/// The whole part; 0 for what is negative or not a number, and the most for what is larger.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what does not fit is clamped"
)]
pub fn whole(value: f64) -> u64 {
    value as u64
}

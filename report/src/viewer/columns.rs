//! Columns of numbers for the page: LEB128 varints, gzip, base64. `templates/view/decode.js` reads them.

use std::io::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use flate2::Compression;
use flate2::write::GzEncoder;

use qlog_tools::varint::put;

/// Packs the numbers in the form that the page embeds.
pub(super) fn pack(values: impl IntoIterator<Item = u64>) -> String {
    let mut plain = Vec::new();
    for value in values {
        put(&mut plain, value);
    }
    pack_bytes(&plain)
}

/// Bytes as the page embeds them.
pub(super) fn pack_bytes(plain: &[u8]) -> String {
    let mut gzip = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::new(5));
    // Writing to memory cannot fail; if it did, the page would report unreadable data.
    let packed = gzip.write_all(plain).and_then(|()| gzip.finish()).unwrap_or_default();
    BASE64_STANDARD.encode(packed)
}

/// Packs ascending numbers as their differences; a step back counts as 0.
pub(super) fn pack_rising(values: impl IntoIterator<Item = u64>) -> String {
    let mut before = 0;
    pack(values.into_iter().map(move |value| {
        let step = value.saturating_sub(before);
        before = before.max(value);
        step
    }))
}

//! Columns of numbers for the page: LEB128 varints, gzip, base64. `templates/view/decode.js` reads them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::varint::put;

/// The numbers as the page embeds them.
pub(super) fn pack(values: impl IntoIterator<Item = u64>) -> String {
    let mut plain = Vec::new();
    for value in values {
        put(&mut plain, value);
    }
    let mut gzip = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::new(5));
    // Writing to memory cannot fail; were it to, the page would say that it cannot be read.
    let packed = gzip.write_all(&plain).and_then(|()| gzip.finish()).unwrap_or_default();
    base64(&packed)
}

/// Rising numbers as the distances between them; a step back counts as 0.
pub(super) fn pack_rising(values: impl IntoIterator<Item = u64>) -> String {
    let mut before = 0;
    pack(values.into_iter().map(move |value| {
        let step = value.saturating_sub(before);
        before = before.max(value);
        step
    }))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or_default());
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place > chunk.len() {
                text.push('=');
            } else {
                text.push(char::from(ALPHABET[(word >> (18 - 6 * place) & 63) as usize]));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let texts: Vec<String> =
            ["", "f", "fo", "foo", "foobar"].map(|it| base64(it.as_bytes())).into();
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy"]);
    }
}

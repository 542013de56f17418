//! The smallest font that browsers accept, so that a page with synthetic bodies shows its text as soon as the real
//! page would. Letters may follow it.

use std::sync::LazyLock;

/// A table: its tag, its first words, and its number of words; the other words are 0.
type Table = (&'static [u8; 4], &'static [u16], usize);

/// -200, the lowest point of the letters.
const DESCENT: u16 = 0xff38;
/// The tables that browsers require (OpenType 1.9), in order of their tags: one empty glyph, no letters.
const TABLES: [Table; 10] = [
    // Version 0, 500 units wide, weight 400, width 5; from word 34 on, the heights of lines.
    (
        b"OS/2",
        &[
            0, 500, 400, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 800, DESCENT, 0, 800, 200,
        ],
        39,
    ),
    // For Unicode, a segment of format 4 that ends the list.
    (b"cmap", &[0, 1, 3, 1, 0, 12, 4, 24, 0, 2, 2, 0, 0, 0xffff, 0, 0xffff, 1], 18),
    (b"glyf", &[], 2),
    // Version 1.0, the magic number, 1000 units per em; at least 8 pixels, left to right.
    (
        b"head",
        &[1, 0, 0, 0, 0, 0, 0x5f0f, 0x3cf5, 0, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 2],
        27,
    ),
    (b"hhea", &[1, 0, 800, DESCENT, 0, 500, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], 18),
    (b"hmtx", &[500], 2),
    (b"loca", &[], 2),
    (b"maxp", &[1, 0, 1, 0, 0, 0, 0, 2], 16),
    (b"name", &[0, 0, 6], 3),
    (b"post", &[3], 16),
];

/// The font, in `TrueType` form; browsers check the bytes, not the MIME type.
pub(crate) fn least() -> &'static [u8] {
    static FONT: LazyLock<Vec<u8>> = LazyLock::new(written);
    &FONT
}

fn written() -> Vec<u8> {
    // Version 1.0, ten tables, and the fields for a binary search among them.
    let mut font = words(&[1, 0, 10, 128, 3, 32]);
    let mut offset = font.len() + 16 * TABLES.len();
    let mut bodies = Vec::new();
    for (tag, begin, length) in TABLES {
        let mut body = words(begin);
        body.resize(2 * length, 0);
        font.extend(tag);
        // Browsers ignore the checksum.
        for number in [0, offset, body.len()] {
            font.extend(u32::try_from(number).unwrap_or_default().to_be_bytes());
        }
        body.resize(body.len().next_multiple_of(4), 0);
        offset += body.len();
        bodies.extend(body);
    }
    font.extend(bodies);
    font
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_be_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_font_has_each_table_where_its_list_says() {
        let font = least();
        assert_eq!(font.len(), 464);
        let number = |at: usize| {
            let bytes: [u8; 4] = font[at..at + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes) as usize
        };
        let mut end = 12 + 16 * TABLES.len();
        for (index, (tag, begin, length)) in TABLES.iter().enumerate() {
            let entry = 12 + 16 * index;
            let (offset, bytes) = (number(entry + 8), number(entry + 12));
            assert_eq!((&font[entry..entry + 4], bytes), (&tag[..], 2 * length));
            assert_eq!(offset, end, "tables lie behind each other, at multiples of four");
            assert!(font[offset..].starts_with(&words(begin)));
            end = (offset + bytes).next_multiple_of(4);
        }
        assert_eq!(end, font.len());
    }
}

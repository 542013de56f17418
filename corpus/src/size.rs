//! Human-readable sizes in bytes: the one parser for flags, tables and results.
//!
//! Units are decimal, as for rates and for files in browsers: `16k` is 16,000 bytes. An `i` makes them binary:
//! `16Ki` is 16,384 bytes.

/// The units, the largest first, and the bytes of each.
const UNITS: [(&str, u64); 4] = [("M", 1_000_000), ("k", 1_000), ("Mi", 1 << 20), ("Ki", 1 << 10)];

/// `16k`, `16Ki`, `1M`, `16 KiB`, or plain bytes; units in any case.
pub fn parse(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
    let unit = text[digits.len()..].trim_start().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let known = UNITS.iter().find(|it| it.0.eq_ignore_ascii_case(unit));
    let factor = match (unit, known) {
        ("", _) => 1,
        (_, Some((_, factor))) => *factor,
        _ => return Err(format!("unit `{unit}`: use k, M, Ki, Mi or leave it out")),
    };
    let number: u64 =
        digits.parse().map_err(|_| format!("`{text}` is not a size: use for example 280k"))?;
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is too large"))
}

/// The shortest exact text that [`parse`] reads as `bytes`: `16k`, `16Ki`, `1M`, `1500`.
pub fn text(bytes: u64) -> String {
    let exact = UNITS.iter().find(|it| bytes > 0 && bytes.is_multiple_of(it.1));
    exact.map_or_else(|| bytes.to_string(), |(unit, factor)| format!("{}{unit}", bytes / factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_decimal_and_with_an_i_binary() {
        for (text, bytes) in [
            ("0", 0),
            ("1500", 1500),
            ("1500B", 1500),
            ("280k", 280_000),
            ("280K", 280_000),
            ("16kB", 16_000),
            ("16Ki", 16_384),
            ("16 KiB", 16_384),
            ("1m", 1_000_000),
            ("1MB", 1_000_000),
            ("2Mi", 2_097_152),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_size_is_refused_with_the_units_or_an_example() {
        assert_eq!(parse("5x"), Err("unit `x`: use k, M, Ki, Mi or leave it out".to_owned()));
        for wrong in ["", "k", "-1", "1.5k"] {
            assert_eq!(parse(wrong), Err(format!("`{wrong}` is not a size: use for example 280k")));
        }
        assert_eq!(parse("99999999999999M"), Err("`99999999999999M` is too large".to_owned()));
    }

    #[test]
    fn a_size_is_written_in_the_largest_exact_unit() {
        let texts = [0, 1500, 16_000, 16_384, 1_000_000, 5 << 20, 435_000].map(text);
        assert_eq!(texts, ["0", "1500", "16k", "16Ki", "1M", "5Mi", "435k"]);
    }

    proptest! {
        #[test]
        fn a_written_size_is_read_as_it_was(bytes: u64) {
            prop_assert_eq!(parse(&text(bytes)), Ok(bytes));
        }
    }
}

//! Numbers as readers want them.

/// A readable number of milliseconds: `7.3`, `1506`, `21,589`.
pub fn milliseconds_text(value_ms: f64) -> String {
    if value_ms.abs() < 10.0 {
        return format!("{value_ms:.1}");
    }
    let digits = format!("{:.0}", value_ms.abs());
    let sign = if value_ms < 0.0 { "-" } else { "" };
    if digits.len() <= 4 {
        return format!("{sign}{digits}");
    }
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

/// A readable number of milliseconds; a dash for `None`.
pub fn milliseconds_or_dash(value_ms: Option<f64>) -> String {
    or_dash(value_ms.map(milliseconds_text))
}

/// A ratio in the paper's notation: `×2.00` faster, `/3.00` slower; a dash for `None`.
pub fn ratio_text(ratio: Option<f64>) -> String {
    match ratio {
        // A ratio that would print as /1.00 is written as ×1.00.
        Some(ratio) if ratio > 0.0 && 1.0 / ratio >= 1.005 => format!("/{:.2}", 1.0 / ratio),
        Some(ratio) => format!("\u{d7}{ratio:.2}"),
        None => "\u{2013}".to_owned(),
    }
}

/// A ratio for tables and sentences, precise enough to show on which side of 1 it lies.
pub fn ratio_number(ratio: f64) -> String {
    let decimals = (2..=6).find(|it| format!("{ratio:.it$}") != format!("{:.it$}", 1.0));
    format!("{ratio:.*}", decimals.unwrap_or(2))
}

/// A text, or a dash for a missing one.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "\u{2013}".to_owned())
}

/// A number of bytes with a decimal unit: `940 B`, `29.4 kB`, `7.40 MB`.
pub fn bytes_text(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", value / 1e3),
        _ => format!("{:.2} MB", value / 1e6),
    }
}

/// A rate in bit/s with a decimal unit: `120 kbit/s`, `9.6 Mbit/s`.
pub fn rate_text(bits_per_second: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let (size, unit) =
        units.into_iter().find(|it| bits_per_second >= it.0).unwrap_or((1.0, "bit/s"));
    let value = bits_per_second / size;
    if value >= 10.0 || value.fract() == 0.0 {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let texts: Vec<String> =
            [7.25, 42.0, 1506.4, 21_589.0, -12_345_678.0].map(milliseconds_text).into();
        assert_eq!(texts, ["7.2", "42", "1506", "21,589", "-12,345,678"]);
        assert_eq!([940, 29_400, 7_400_000].map(bytes_text), ["940 B", "29.4 kB", "7.40 MB"]);
    }

    #[test]
    fn a_rate_has_the_unit_that_suits_it() {
        assert_eq!(
            [0.0, 950.0, 120_000.0, 9.6e6, 1.25e9].map(rate_text),
            ["0 bit/s", "950 bit/s", "120 kbit/s", "9.6 Mbit/s", "1.2 Gbit/s"]
        );
    }

    #[test]
    fn a_ratio_shows_on_which_side_of_1_it_lies() {
        let texts = [0.25, 0.9984, 1.0, 1.000_04, 1.086].map(ratio_number);
        assert_eq!(texts, ["0.25", "0.998", "1.00", "1.00004", "1.09"]);
    }

    #[test]
    fn a_ratio_below_one_is_a_slowdown() {
        assert_eq!(
            [Some(2.0), Some(1.0), Some(0.997), Some(0.25), None].map(ratio_text),
            ["×2.00", "×1.00", "×1.00", "/4.00", "–"]
        );
    }
}

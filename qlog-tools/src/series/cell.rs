//! A value in a row of a series.

use std::fmt;

/// A value. Its text is what a CSV file has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Unknown or missing: an empty text.
    None,
    /// A count, bytes, an ID.
    Whole(u64),
    /// A time in microseconds, written in milliseconds with all digits.
    Time(u64),
    /// A difference of times, in the same units.
    Signed(i64),
    /// A number that need not be whole.
    Number(f64),
    /// A text.
    Text(&'a str),
}

impl Cell<'_> {
    /// The value in `of`, if there is one.
    pub(super) fn maybe<T>(value: Option<T>, of: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::None, of)
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Whole(value) => write!(formatter, "{value}"),
            Self::Time(us) => write!(formatter, "{}.{:03}", us / 1000, us % 1000),
            Self::Signed(us) => {
                let sign = if *us < 0 { "-" } else { "" };
                write!(formatter, "{sign}{}", Self::Time(us.unsigned_abs()))
            }
            Self::Number(value) => write!(formatter, "{value}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_all_digits_of_a_microsecond() {
        let cells = [
            Cell::Time(90_616),
            Cell::Time(7),
            Cell::Signed(-1500),
            Cell::Signed(-5),
            Cell::Number(0.25),
            Cell::None,
        ];
        assert_eq!(
            cells.map(|it| it.to_string()),
            ["90.616", "0.007", "-1.500", "-0.005", "0.25", ""]
        );
    }
}

//! Which content codings a client takes (RFC 9110, 12.5.3).

/// A coding of contents, in the order in which they are preferred: the smaller one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Coding {
    Brotli,
    Zstd,
    Gzip,
}

impl Coding {
    pub(super) const ALL: [Self; 3] = [Self::Brotli, Self::Zstd, Self::Gzip];

    /// The name in header fields.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// What the name of a file ends with that holds another one in this coding.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
        }
    }

    /// Whether an `Accept-Encoding` field allows it. A coding that is not named is allowed only by `*`.
    pub(super) fn is_accepted(self, field: &str) -> bool {
        let mut any = false;
        for item in field.split(',') {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let weight = parts.find_map(|it| it.strip_prefix("q=").or(it.strip_prefix("Q=")));
            let is_allowed = weight.is_none_or(|it| it.parse::<f32>().is_ok_and(|it| it > 0.0));
            let is_gzip = self == Self::Gzip && name.eq_ignore_ascii_case("x-gzip");
            if name.eq_ignore_ascii_case(self.name()) || is_gzip {
                return is_allowed;
            }
            any |= name == "*" && is_allowed;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_is_accepted_if_it_is_named_with_a_weight_above_0() {
        for (field, expected) in [
            ("", [false, false, false]),
            ("gzip, deflate, br, zstd", [true, true, true]),
            ("GZIP", [false, false, true]),
            ("x-gzip", [false, false, true]),
            ("br;q=0, gzip;q=0.001", [false, false, true]),
            ("*", [true, true, true]),
            ("*;q=0.5, zstd; q=0", [true, false, true]),
            ("*;q=0", [false, false, false]),
            ("gzip;q=much", [false, false, false]),
            ("identity", [false, false, false]),
        ] {
            assert_eq!(Coding::ALL.map(|it| it.is_accepted(field)), expected, "{field}");
        }
    }
}

//! Which content codings a client accepts (RFC 9110, 12.5.3), and their encoders.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Result, Write};

/// The levels that other servers use for compression while a client waits.
const BROTLI_QUALITY: u32 = 4;
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
/// The size of the compression window, as a power of two; it determines the memory.
const WINDOW_BITS: u32 = 18;
/// Bytes that are passed to the brotli encoder at once.
const BUFFER_BYTES: usize = 4 << 10;

schedulers::named! {
    /// A content coding, in order of preference: the smaller one first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum Coding {
        Brotli = "br",
        Zstd = "zstd",
        Gzip = "gzip",
    }
}

impl Coding {
    /// The extension of a file that holds another one in this coding.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
        }
    }

    /// The codings that an `Accept-Encoding` field prefers to none, by its weights, and where these are equal in order of preference
    /// (RFC 9110, 12.4.2).
    pub(crate) fn accepted(field: &str) -> Vec<Self> {
        let plain = weight(field, |name| name.eq_ignore_ascii_case("identity"));
        let weighted = Self::ALL.map(|it| (it, it.weight(field)));
        let mut accepted: Vec<(Self, f32)> = weighted.into();
        accepted.retain(|it| it.1 > 0.0 && plain.is_none_or(|plain| it.1 >= plain));
        accepted.sort_by(|one, other| other.1.total_cmp(&one.1));
        accepted.into_iter().map(|it| it.0).collect()
    }

    /// A coding that is not named has the weight of `*`.
    fn weight(self, field: &str) -> f32 {
        let is_own = |name: &str| {
            name.eq_ignore_ascii_case(self.name())
                || self == Self::Gzip && name.eq_ignore_ascii_case("x-gzip")
        };
        weight(field, is_own).or_else(|| weight(field, |name| name == "*")).unwrap_or_default()
    }
}

/// The weight of the first name that fits; a text that is not a number counts as 0.
fn weight(field: &str, fits: impl Fn(&str) -> bool) -> Option<f32> {
    field.split(',').find_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        if !fits(parts.next().unwrap_or_default()) {
            return None;
        }
        let weight = parts.find_map(|it| it.strip_prefix("q=").or(it.strip_prefix("Q=")));
        Some(weight.map_or(1.0, |it| it.parse().unwrap_or_default()))
    })
}

/// Compresses bytes as they arrive.
pub(crate) enum Encoder {
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Zstd(zstd::Encoder<'static, Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl Encoder {
    pub(crate) fn new(coding: Coding) -> Result<Self> {
        let made = Vec::new();
        Ok(match coding {
            Coding::Brotli => {
                let (quality, bits) = (BROTLI_QUALITY, WINDOW_BITS);
                let writer = brotli::CompressorWriter::new(made, BUFFER_BYTES, quality, bits);
                Self::Brotli(writer.into())
            }
            Coding::Zstd => {
                let mut encoder = zstd::Encoder::new(made, ZSTD_LEVEL)?;
                encoder.window_log(WINDOW_BITS)?;
                Self::Zstd(encoder)
            }
            Coding::Gzip => Self::Gzip(GzEncoder::new(made, Compression::new(GZIP_LEVEL))),
        })
    }

    /// Adds input. The output may appear later.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer().write_all(bytes)
    }

    /// Adds input and flushes: returns output for all bytes so far.
    pub(crate) fn encoded(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.take(bytes)?;
        self.writer().flush()?;
        Ok(std::mem::take(match self {
            Self::Brotli(it) => it.get_mut(),
            Self::Zstd(it) => it.get_mut(),
            Self::Gzip(it) => it.get_mut(),
        }))
    }

    /// Ends the stream and returns the rest of the output.
    pub(crate) fn end(self) -> Result<Vec<u8>> {
        match self {
            Self::Brotli(it) => Ok(it.into_inner()),
            Self::Zstd(it) => it.finish(),
            Self::Gzip(it) => it.finish(),
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Brotli(it) => it,
            Self::Zstd(it) => it,
            Self::Gzip(it) => it,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_is_accepted_by_its_weight_and_before_another_one_by_a_higher_weight() {
        use Coding::{Brotli, Gzip, Zstd};
        for (field, expected) in [
            ("", &[][..]),
            ("gzip, deflate, br, zstd", &[Brotli, Zstd, Gzip]),
            ("GZIP", &[Gzip]),
            ("x-gzip", &[Gzip]),
            ("br;q=0, gzip;q=0.001", &[Gzip]),
            ("br;q=0.1, gzip;q=1", &[Gzip, Brotli]),
            ("zstd;q=0.2,gzip", &[Gzip, Zstd]),
            ("*", &[Brotli, Zstd, Gzip]),
            ("*;q=0.5, zstd; q=0", &[Brotli, Gzip]),
            ("gzip;q=0.8, *;q=0.5", &[Gzip, Brotli, Zstd]),
            ("*;q=0", &[]),
            ("gzip;q=much", &[]),
            ("identity", &[]),
            ("identity, gzip;q=0.5", &[]),
            ("identity;q=0.5, gzip", &[Gzip]),
        ] {
            assert_eq!(Coding::accepted(field), expected, "{field}");
        }
    }
}

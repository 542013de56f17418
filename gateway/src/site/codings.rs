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

    /// Whether an `Accept-Encoding` field allows it. A coding that is not named is allowed only by `*`.
    pub(crate) fn is_accepted(self, field: &str) -> bool {
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

//! Detects compression by its magic bytes, and decompresses.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

use crate::limits::ZSTD_WINDOW_LOG;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of `input`, decompressed if necessary (gzip, zstd).
pub fn plain<'a>(mut input: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut magic = Vec::with_capacity(ZSTD.len());
    input.by_ref().take(ZSTD.len() as u64).read_to_end(&mut magic)?;
    let is_gzip = magic.starts_with(&GZIP);
    let is_zstd = magic.starts_with(&ZSTD);
    let whole = Cursor::new(magic).chain(input);
    if is_gzip {
        return Ok(Box::new(Named { packed: MultiGzDecoder::new(whole), format: "gzip" }));
    }
    if is_zstd {
        let mut decoder = zstd::stream::read::Decoder::new(whole)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG)?;
        return Ok(Box::new(Named { packed: decoder, format: "zstd" }));
    }
    Ok(Box::new(whole))
}

/// Compressed data; its errors name the compression.
struct Named<R> {
    packed: R,
    format: &'static str,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.packed.read(buffer).map_err(|cause| {
            if cause.kind() == io::ErrorKind::Interrupted {
                return cause;
            }
            let message = format!("its {} data is damaged or not complete: {cause}", self.format);
            io::Error::new(cause.kind(), message)
        })
    }
}

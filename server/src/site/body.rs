//! The body of a response, read where and when it is sent.

use super::{Contents, Later};
use std::sync::Arc;

/// The source of a body's bytes.
#[derive(Debug, Clone, Default)]
pub enum Body {
    /// No body.
    #[default]
    Empty,
    /// Bytes in memory.
    Bytes(Arc<[u8]>),
    /// A file of this size.
    File(Arc<Contents>, u64),
    /// A part of another one.
    Part {
        /// The whole.
        of: Arc<Self>,
        /// The first byte of the part.
        from: u64,
        /// The size of the part.
        bytes: u64,
    },
    /// Bodies one after another.
    Several(Arc<[Self]>),
    /// A body whose real bytes are unavailable.
    Synthetic {
        /// The first bytes.
        begin: &'static [u8],
        /// The size, `begin` included.
        bytes: u64,
        /// Distinguishes the bytes after `begin` from bytes of other bodies.
        seed: u64,
    },
    /// Both head and body follow later, from another server.
    Later(Arc<Later>),
}

impl Body {
    /// A synthetic body without a given beginning.
    pub fn synthetic(bytes: u64, seed: u64) -> Self {
        Self::Synthetic { begin: &[], bytes, seed }
    }

    /// The size, as far as it is known.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Empty | Self::Later(_) => 0,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Several(bodies) => bodies.iter().map(Self::bytes).sum(),
            Self::File(_, bytes) | Self::Synthetic { bytes, .. } | Self::Part { bytes, .. } => {
                *bytes
            }
        }
    }

    /// Whether each read is a system call.
    pub(crate) fn is_on_disk(&self) -> bool {
        match self {
            Self::File(contents, _) => contents.memory_bytes().is_none(),
            Self::Part { of, .. } => of.is_on_disk(),
            _ => false,
        }
    }

    /// The whole body for packets to share, if it is in memory.
    pub fn shared(&self) -> Option<bytes::Bytes> {
        match self {
            Self::Bytes(bytes) => Some(bytes::Bytes::from_owner(Arc::clone(bytes))),
            Self::File(contents, _) => Contents::shared(contents),
            Self::Part { of, from, bytes } => {
                let start = usize::try_from(*from).ok()?;
                let end = start.checked_add(usize::try_from(*bytes).ok()?)?;
                of.shared().filter(|it| end <= it.len()).map(|it| it.slice(start..end))
            }
            _ => None,
        }
    }

    /// Fills `buffer` from `offset` on; fails if the file was written to.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        match self {
            Self::Empty | Self::Later(_) => {}
            Self::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let end = start.saturating_add(buffer.len());
                let part = bytes.get(start..end).ok_or(std::io::ErrorKind::UnexpectedEof)?;
                buffer.copy_from_slice(part);
            }
            Self::File(contents, _) => contents.read_at(offset, buffer)?,
            Self::Part { of, from, bytes } => {
                let end = offset.saturating_add(buffer.len() as u64);
                if end > *bytes {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
                of.read_at(from + offset, buffer)?;
            }
            Self::Several(bodies) => read_several(bodies, offset, buffer)?,
            Self::Synthetic { begin, seed, .. } => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(begin.len());
                let given = buffer.len().min(begin.len() - start);
                buffer[..given].copy_from_slice(&begin[start..start + given]);
                for (place, byte) in buffer.iter_mut().enumerate().skip(given) {
                    *byte = synthetic_byte(*seed, offset + place as u64);
                }
            }
        }
        Ok(())
    }
}

/// Fills `buffer` from `offset` on with the concatenated bodies.
fn read_several(bodies: &[Body], mut offset: u64, mut buffer: &mut [u8]) -> std::io::Result<()> {
    for body in bodies {
        let left = body.bytes().saturating_sub(offset);
        let count = usize::try_from(left).map_or(buffer.len(), |it| it.min(buffer.len()));
        let (here, rest) = buffer.split_at_mut(count);
        if count > 0 {
            body.read_at(offset, here)?;
        }
        offset = offset.saturating_sub(body.bytes());
        buffer = rest;
    }
    if buffer.is_empty() { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

/// Byte `offset` of the synthetic body `seed`; it is printable.
fn synthetic_byte(seed: u64, offset: u64) -> u8 {
    let letters = b"abcdefghijklmnopqrstuvwxyz012345";
    letters[(seed.wrapping_mul(7).wrapping_add(offset.wrapping_mul(11)).wrapping_add(offset >> 5)
        & 31) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synthetic_body_reads_the_same_in_pieces_and_whole() {
        let body = Body::Synthetic { begin: b"begin", bytes: 1000, seed: 3 };
        let mut whole = vec![0; 1000];
        body.read_at(0, &mut whole).expect("in range");
        for pieces in [1, 7, 999] {
            let mut joined = Vec::new();
            while joined.len() < 1000 {
                let mut piece = vec![0; pieces.min(1000 - joined.len())];
                body.read_at(joined.len() as u64, &mut piece).expect("in range");
                joined.extend(piece);
            }
            assert_eq!(joined, whole);
            assert!(whole.starts_with(b"begin"));
        }
        assert!(Body::Bytes(Arc::from(&b"abc"[..])).read_at(2, &mut [0; 2]).is_err());
    }
}

//! Bytes that the transport shares with the sender, instead of copying them.

use bytes::Bytes;
use quiche::BufFactory;

/// The transport. It takes slices, which it copies, and shared [`Bytes`], which it keeps until they are acknowledged.
pub type Quic = quiche::Connection<Buffers>;

/// How the transport keeps the bytes of streams.
#[derive(Debug, Clone, Default)]
pub struct Buffers;

impl BufFactory for Buffers {
    type Buf = Bytes;
    type DgramBuf = Vec<u8>;

    fn buf_from_slice(bytes: &[u8]) -> Bytes {
        Bytes::copy_from_slice(bytes)
    }

    fn dgram_buf_from_slice(bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }
}

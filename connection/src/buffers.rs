//! Lets the transport share bytes with the sender instead of copying them.

use bytes::Bytes;
use quiche::BufFactory;

/// The transport. It copies slices, and keeps shared [`Bytes`] until they are acknowledged.
pub type Quic = quiche::Connection<Buffers>;

/// How the transport stores the bytes of streams.
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

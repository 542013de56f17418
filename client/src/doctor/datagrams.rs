//! Datagrams that make a QUIC server answer with its supported versions (RFC 9000, 6).

/// A reserved version that no server supports (RFC 9000, 15).
const NO_VERSION: u32 = 0x1a2a_3a4a;
/// Version 1 (RFC 9000).
pub(crate) const VERSION_1: u32 = 1;
const ID_BYTES: usize = 8;
/// The sizes to try: the minimum of a first datagram, Chromium's, and the largest in a 1500-byte IPv6 packet.
pub(crate) const SIZES: [usize; 3] = [1200, 1350, 1452];

/// A first datagram of this size.
pub(crate) fn asking(bytes: usize) -> Vec<u8> {
    // The ID holds the size, so that an answer shows which datagram it answers.
    let id = (bytes as u64).to_be_bytes();
    let header = [&[0xc0][..], &NO_VERSION.to_be_bytes(), &[8], &id, &[8], &id];
    let mut datagram = header.concat();
    datagram.resize(bytes, 0);
    datagram
}

/// The size of the datagram that this one answers, and the versions it lists; `None` if it is not such an answer.
pub(crate) fn answer(datagram: &[u8]) -> Option<(usize, Vec<u32>)> {
    let (first, rest) = datagram.split_first()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (ids, versions) = rest.split_at_checked(2 * (1 + ID_BYTES))?;
    let is_one = first & 0x80 != 0 && *version == [0; 4];
    let size = u64::from_be_bytes(*ids[1..].first_chunk()?);
    let versions = versions.chunks_exact(4).filter_map(|it| it.try_into().ok());
    is_one.then(|| (usize::try_from(size).unwrap_or(0), versions.map(u32::from_be_bytes).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_to_which_size_it_is_and_which_versions_there_are() {
        for size in SIZES {
            let asked = asking(size);
            assert_eq!(asked.len(), size);
            let (mut dcid, mut scid) = ([0; 8], [0; 8]);
            dcid.copy_from_slice(&asked[6..14]);
            scid.copy_from_slice(&asked[15..23]);
            let mut buffer = [0; 100];
            let [dcid, scid] = [&dcid, &scid].map(|it| quiche::ConnectionId::from_ref(it));
            let bytes = quiche::negotiate_version(&scid, &dcid, &mut buffer).expect("room");
            assert_eq!(answer(&buffer[..bytes]), Some((size, vec![VERSION_1])));
            assert_eq!(answer(&asked), None);
        }
        assert_eq!(answer(b""), None);
    }
}

//! QPACK (RFC 9204) with the static table only: this code neither offers nor uses a dynamic table, so a reference to one, an
//! insertion or an acknowledgement is an error. Huffman and the static table are quiche's.

use crate::error::{Code, Error};
use crate::{Header, NameValue, StreamId};
use quiche::h3::qpack;

/// Required Insert Count 0 and Delta Base 0, one byte each.
const PREFIX_BYTES: usize = 2;
/// The length of the longest accepted prefixed integer (RFC 9204, 4.1.1 asks for 62 bits).
const INTEGER_BYTES_MAX: usize = 10;
/// The bytes that count for each field besides its name and value (RFC 9114, 4.2.2).
const FIELD_OVERHEAD_BYTES: u64 = 32;

/// The size of a field section for its limit (RFC 9114, 4.2.2).
pub(crate) fn section_bytes(headers: &[impl NameValue]) -> u64 {
    let bytes = headers.iter().map(|it| (it.name().len() + it.value().len()) as u64);
    bytes.map(|it| it + FIELD_OVERHEAD_BYTES).sum()
}

/// Encodes a field section; names become lowercase.
pub(crate) fn encode_section(headers: &[impl NameValue]) -> Result<Vec<u8>, Error> {
    let bytes = headers.iter().map(|it| it.name().len() + it.value().len());
    let bound: usize = bytes.map(|it| it + 2 * INTEGER_BYTES_MAX).sum();
    let mut section = vec![0; PREFIX_BYTES + bound];
    let length = qpack::Encoder::new()
        .encode(headers, &mut section)
        .or_else(|_| Code::Internal.fail("the field section cannot be encoded"))?;
    section.truncate(length);
    Ok(section)
}

/// Decodes a field section of at most `limit_bytes`, counted as in [`section_bytes`].
pub(crate) fn decode_section(
    stream: StreamId,
    section: &[u8],
    limit_bytes: u64,
) -> Result<Vec<Header>, Error> {
    let failed = |reason| Code::QpackDecompressionFailed.fail(reason);
    match section {
        [0, base, ..] if base & 0x80 == 0 => {}
        [0, _, ..] => return failed("the base of a field section is negative (RFC 9204, 4.5.1.2)"),
        [_, _, ..] => {
            return failed(
                "a field section needs a dynamic table, which has no room (RFC 9204, 4.5.1.1)",
            );
        }
        _ => return failed("a field section ends inside its prefix (RFC 9204, 4.5.1)"),
    }
    match qpack::Decoder::new().decode(section, limit_bytes) {
        Ok(headers) if is_laid_out(section) => Ok(headers),
        Err(qpack::Error::HeaderListTooLarge) if is_too_large(section, limit_bytes) => {
            Code::ExcessiveLoad
                .fail_stream(stream, "the field section is larger than our limit (RFC 9114, 4.2.2)")
        }
        _ => failed("a field line cannot be decoded (RFC 9204, 2.2)"),
    }
}

/// Rejects a section of more than `most` field lines before decoding any, because each costs the time of many bytes. Decoding
/// finds other errors.
pub(crate) fn check_line_count(stream: StreamId, section: &[u8], most: usize) -> Result<(), Error> {
    let mut lines = field_lines(section);
    for _ in 0..most {
        let Some(length) = line_bytes(lines) else { return Ok(()) };
        lines = &lines[length..];
    }
    match line_bytes(lines) {
        None => Ok(()),
        Some(_) => Code::ExcessiveLoad
            .fail_stream(stream, "the field section has more fields than our limit"),
    }
}

/// Whether the integers of a decoded section fit into 64 bits. The decoder drops higher bits, and would read a different section
/// (RFC 7541, 5.1).
fn is_laid_out(section: &[u8]) -> bool {
    let mut lines = field_lines(section);
    while let Some(length) = line_bytes(lines) {
        lines = &lines[length..];
    }
    lines.is_empty() && prefix_bytes(section).is_some()
}

/// The field lines of a section, which follow its prefix.
fn field_lines(section: &[u8]) -> &[u8] {
    prefix_bytes(section).map_or(&[], |it| &section[it..])
}

/// The length of a section's prefix, whose Required Insert Count is 0. `None`: it is cut short, or its base is too large (RFC
/// 9204, 4.5.1).
fn prefix_bytes(section: &[u8]) -> Option<usize> {
    Some(1 + integer(section.get(1..)?, 7)?.1)
}

/// Whether the first fault of a rejected section is its size. The decoder also reports a wrong Huffman code as "too large", but
/// that is a connection error, while excessive size is a stream error. It checks line by line up to the limit, so that a large
/// section costs no more than an accepted one.
fn is_too_large(section: &[u8], limit_bytes: u64) -> bool {
    let mut lines = field_lines(section);
    let mut left_bytes = limit_bytes;
    while let Some(length) = line_bytes(lines) {
        let line = [&[0; PREFIX_BYTES], &lines[..length]].concat();
        let Ok(headers) = qpack::Decoder::new().decode(&line, u64::MAX) else { return false };
        let Some(left) = left_bytes.checked_sub(section_bytes(&headers)) else { return true };
        left_bytes = left;
        lines = &lines[length..];
    }
    false
}

/// The length of the first field line in `lines`. `None`: it refers to a dynamic table or is cut short (RFC 9204, 4.5.2 to
/// 4.5.6).
fn line_bytes(lines: &[u8]) -> Option<usize> {
    let first = *lines.first()?;
    if first & 0x80 != 0 {
        return Some(integer(lines, 6)?.1);
    }
    let name_bytes = match first {
        _ if first & 0x40 != 0 => integer(lines, 4)?.1,
        _ if first & 0x20 != 0 => string_bytes(lines, 3)?,
        _ => return None,
    };
    Some(name_bytes + string_bytes(lines.get(name_bytes..)?, 7)?)
}

/// The length of a string literal, including its length field.
fn string_bytes(bytes: &[u8], prefix_bits: u32) -> Option<usize> {
    let (length, integer_bytes) = integer(bytes, prefix_bits)?;
    let end = integer_bytes.checked_add(usize::try_from(length).ok()?)?;
    (end <= bytes.len()).then_some(end)
}

/// A prefixed integer and its length (RFC 7541, 5.1).
fn integer(bytes: &[u8], prefix_bits: u32) -> Option<(u64, usize)> {
    let mask = (1u64 << prefix_bits) - 1;
    let mut value = u64::from(*bytes.first()?) & mask;
    if value < mask {
        return Some((value, 1));
    }
    for (index, byte) in bytes.iter().enumerate().skip(1).take(INTEGER_BYTES_MAX) {
        let shift = u32::try_from(7 * (index - 1)).ok()?;
        let bits = u64::from(byte & 0x7f);
        value = value.checked_add(bits.checked_shl(shift).filter(|it| it >> shift == bits)?)?;
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

/// Checks bytes of the peer's encoder stream. Without a table, the only possible instruction is Set Dynamic Table Capacity to 0,
/// which is one byte (RFC 9204, 4.3.1).
pub(crate) fn check_encoder_stream(bytes: &[u8]) -> Result<(), Error> {
    match bytes.iter().find(|byte| **byte != 0x20) {
        None => Ok(()),
        Some(byte) if byte & 0xe0 == 0x20 => Code::QpackEncoderStream
            .fail("a dynamic table larger than we allow, which is 0 (RFC 9204, 4.3.1)"),
        Some(_) => Code::QpackEncoderStream
            .fail("an insertion into the dynamic table, which has no room (RFC 9204, 3.2.2)"),
    }
}

/// The peer's decoder stream. We never refer to a dynamic table, so only Stream Cancellation can arrive, and it has no effect
/// (RFC 9204, 4.4.2).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecoderStream {
    /// Bytes so far of an incomplete stream ID; 0 between instructions.
    integer_bytes: usize,
}

impl DecoderStream {
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let refused = |reason| Code::QpackDecoderStream.fail(reason);
        for byte in bytes {
            self.integer_bytes = match (self.integer_bytes, byte) {
                (0, byte) if byte & 0x80 != 0 => {
                    return refused(
                        "a section is acknowledged that used no dynamic table (RFC 9204, 4.4.1)",
                    );
                }
                (0, byte) if byte & 0x40 == 0 => {
                    return refused(
                        "insertions are acknowledged that were never made (RFC 9204, 4.4.3)",
                    );
                }
                (0, byte) => usize::from(byte & 0x3f == 0x3f),
                (INTEGER_BYTES_MAX, _) => {
                    return refused("a stream ID has no end (RFC 9204, 4.4.2)");
                }
                (_, byte) if byte & 0x80 == 0 => 0,
                (count, _) => count + 1,
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: StreamId = StreamId(0);

    fn refusal(section: &[u8]) -> (Code, Option<StreamId>) {
        let error = decode_section(STREAM, section, 4096).unwrap_err();
        (error.kind(), error.stream())
    }

    #[test]
    fn a_static_line_is_read_9204_4_5_2() {
        let headers = decode_section(STREAM, &[0, 0, 0xc0 | 0x11], 4096).unwrap();
        assert_eq!(headers, [Header::new(b":method", b"GET")]);
    }

    /// RFC 9204, 2.2.3. Client: refers to a dynamic table. Server: `QPACK_DECOMPRESSION_FAILED`.
    /// RFC 9204, 4.5.1.2. Client: sends a base below 0. Server: `QPACK_DECOMPRESSION_FAILED`.
    #[test]
    fn any_reference_to_a_dynamic_table_fails_9204_2_2() {
        let failed = (Code::QpackDecompressionFailed, None);
        assert_eq!(refusal(&[1, 0, 0xc0 | 0x11]), failed, "required insert count");
        assert_eq!(refusal(&[0, 0x80, 0xc0 | 0x11]), failed, "negative base");
        assert_eq!(refusal(&[0, 0, 0x80]), failed, "indexed, dynamic");
        assert_eq!(refusal(&[0, 0, 0x10]), failed, "indexed, post-base");
        assert_eq!(refusal(&[0, 0, 0x40, 0]), failed, "name reference, dynamic");
        assert_eq!(refusal(&[0, 0, 0x00, 0]), failed, "name reference, post-base");
    }

    /// RFC 9204, 3.1. Client: names a static line from 99 on. Server: `QPACK_DECOMPRESSION_FAILED`; on the encoder stream
    /// `QPACK_ENCODER_STREAM_ERROR`.
    #[test]
    fn an_undecodable_section_is_not_an_error_of_size_9204_2_2() {
        let failed = (Code::QpackDecompressionFailed, None);
        assert_eq!(refusal(&[]), failed, "no prefix");
        assert_eq!(refusal(&[0]), failed, "half a prefix");
        assert_eq!(refusal(&[0, 0, 0xff, 0x24]), failed, "static index 99");
        assert_eq!(
            refusal(&[0, 0, 0x51, 0x85, 0xff, 0xff, 0xff, 0xff, 0xff]),
            failed,
            "Huffman code of the end"
        );
        assert_eq!(refusal(&[0, 0, 0x51, 0x05, b'a']), failed, "string cut short");
    }

    /// The decoder would take the first for index 63, and the second for a string of 127 bytes.
    ///
    /// RFC 9204, 4.1.1. Client: sends an integer of more than 64 bits (62 must be taken). Server: `QPACK_DECOMPRESSION_FAILED`.
    #[test]
    fn an_integer_that_no_implementation_holds_is_a_decoding_error_9204_4_1_1() {
        let above = |start: &[u8]| [&[0, 0], start, &[0x80; 9], &[2]].concat();
        let failed = (Code::QpackDecompressionFailed, None);
        assert_eq!(refusal(&above(&[0xff])), failed, "a static index");
        let value = [above(&[0x51, 0x7f]), vec![b'a'; 127]].concat();
        assert_eq!(refusal(&value), failed, "the length of a value");
        let base = [&[0, 0x7f], &[0x80; 9][..], &[2, 0xc0 | 0x11]].concat();
        assert_eq!(refusal(&base), failed, "a base");
    }

    /// RFC 9204, 4.5.1.2. Client: sends any other base. Server: taken.
    #[test]
    fn a_base_that_nothing_refers_to_may_be_any_9204_4_5_1_2() {
        let get = [0, 0x7f, 0x80, 0x01, 0xc0 | 0x11];
        assert_eq!(decode_section(STREAM, &get, 4096).unwrap().len(), 1);
        let large = encode_section(&[Header::new(b"cookie", &[b'a'; 4096])]).unwrap();
        let large = [&[0, 0x7f, 0x80, 0x01], &large[2..]].concat();
        assert_eq!(refusal(&large), (Code::ExcessiveLoad, Some(STREAM)));
    }

    /// RFC 9204, 4.1.2. Client: pads a Huffman code wrongly, or sends its end. Server: `QPACK_DECOMPRESSION_FAILED`.
    #[test]
    fn a_huffman_code_is_padded_with_the_start_of_its_end_9204_4_1_2() {
        // "a" is 00011.
        let value = |huffman: &[u8]| [&[0, 0, 0x51], huffman].concat();
        let failed = (Code::QpackDecompressionFailed, None);
        assert!(decode_section(STREAM, &value(&[0x81, 0b0001_1111]), 4096).is_ok());
        assert_eq!(refusal(&value(&[0x81, 0b0001_1000])), failed, "padding of zeros");
        assert_eq!(refusal(&value(&[0x82, 0b0001_1111, 0xff])), failed, "more than 7 bits");
        assert_eq!(refusal(&value(&[0x84, 0xff, 0xff, 0xff, 0xff])), failed, "the end itself");
    }

    #[test]
    fn a_section_larger_than_we_take_is_an_error_of_its_stream_9114_4_2_2() {
        let headers = [Header::new(b"cookie", &[b'a'; 4096])];
        let section = encode_section(&headers).unwrap();
        assert_eq!(refusal(&section), (Code::ExcessiveLoad, Some(STREAM)));
        assert!(decode_section(STREAM, &section, section_bytes(&headers)).is_ok());
        assert!(decode_section(STREAM, &section, section_bytes(&headers) - 1).is_err());
    }

    #[test]
    fn a_section_of_one_byte_lines_is_counted_before_it_is_kept() {
        let mut section = vec![0, 0];
        section.resize(10_000, 0xc0 | 0x11);
        assert_eq!(refusal(&section), (Code::ExcessiveLoad, Some(STREAM)));
    }

    #[test]
    fn a_section_of_more_lines_than_the_limit_is_an_error_of_its_stream() {
        let section = |lines: usize| [&[0, 0], vec![0xc0 | 0x11; lines].as_slice()].concat();
        assert!(check_line_count(STREAM, &section(1005), 1005).is_ok());
        let error = check_line_count(STREAM, &section(1006), 1005).unwrap_err();
        assert_eq!((error.kind(), error.stream()), (Code::ExcessiveLoad, Some(STREAM)));
    }

    #[test]
    fn of_a_section_that_is_too_large_and_wrong_the_first_fault_counts() {
        let large = encode_section(&[Header::new(b"cookie", &[b'a'; 4096])]).unwrap();
        let wrong = [0x51, 0x85, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(refusal(&[large.as_slice(), &wrong].concat()).0, Code::ExcessiveLoad);
        assert_eq!(
            refusal(&[&[0, 0], &wrong[..], &large[2..]].concat()).0,
            Code::QpackDecompressionFailed
        );
    }

    #[test]
    fn an_encoder_stream_may_only_set_the_capacity_to_0_9204_4_3() {
        assert!(check_encoder_stream(&[0x20, 0x20]).is_ok());
        for byte in [0x21, 0x3f, 0x80, 0xc0, 0x40, 0x60, 0x00, 0x1f] {
            assert_eq!(
                check_encoder_stream(&[byte]).unwrap_err().kind(),
                Code::QpackEncoderStream,
                "{byte:#x}"
            );
        }
    }

    #[test]
    fn a_decoder_stream_may_only_cancel_streams_9204_4_4() {
        let mut stream = DecoderStream::default();
        assert!(stream.receive(&[0x40, 0x7f, 0x80]).is_ok());
        assert!(stream.receive(&[0x01, 0x44]).is_ok());
        for byte in [0x80, 0xff, 0x00, 0x01] {
            assert_eq!(
                stream.receive(&[byte]).unwrap_err().kind(),
                Code::QpackDecoderStream,
                "{byte:#x}"
            );
        }
        let endless = [&[0x7f][..], &[0x80; 10]].concat();
        assert_eq!(stream.receive(&endless).unwrap_err().kind(), Code::QpackDecoderStream);
    }

    proptest! {
        /// RFC 9204, 2.1. Server: refers to the static table only.
        #[test]
        fn a_section_comes_back_as_sent(
            fields in proptest::collection::vec(("[a-z][a-z-]{0,20}", proptest::collection::vec(any::<u8>(), 0..60)), 0..20),
        ) {
            let headers: Vec<Header> =
                fields.iter().map(|(name, value)| Header::new(name.as_bytes(), value)).collect();
            let section = encode_section(&headers).unwrap();
            prop_assert!(!is_too_large(&section, section_bytes(&headers)));
            prop_assert_eq!(is_too_large(&section, section_bytes(&headers).saturating_sub(1)), !headers.is_empty());
            prop_assert_eq!(decode_section(STREAM, &section, section_bytes(&headers)).unwrap(), headers);
        }

        #[test]
        fn what_is_decoded_is_never_larger_than_its_limit(
            section in proptest::collection::vec(any::<u8>(), 0..200),
            limit_bytes in 0u64..2000,
        ) {
            let section = [&[0, 0], section.as_slice()].concat();
            match decode_section(STREAM, &section, limit_bytes) {
                Ok(headers) => prop_assert!(section_bytes(&headers) <= limit_bytes),
                Err(error) if decode_section(STREAM, &section, 1 << 20).is_ok() => {
                    prop_assert_eq!((error.kind(), error.stream()), (Code::ExcessiveLoad, Some(STREAM)));
                }
                Err(_) => {}
            }
        }
    }
}

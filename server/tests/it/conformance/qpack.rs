//! Rules of QPACK (RFC 9204), broken over the wire.

use super::{DECODER, ENCODER, HEADERS, REQUEST, Wire, frame};
use http3::Code;

/// RFC 9204, 2.2.1, 2.2.3, 3.1, 4.1, 4.5. Client: sends a field section that cannot be decoded. Server:
/// `QPACK_DECOMPRESSION_FAILED`.
#[test]
fn a_field_section_that_cannot_be_decoded_closes_the_connection_9204_2_2() {
    let mut wire = Wire::new();
    let endless = [&[0, 0, 0xff], &[0x80; 9][..], &[2]].concat();
    let cases: [(&str, &[u8]); 14] = [
        ("no prefix (4.5.1)", &[]),
        ("half a prefix (4.5.1)", &[0]),
        ("an insertion that never came (2.2.1)", &[2, 0, 0x80]),
        ("a Required Insert Count that cannot be (4.5.1.1)", &[1, 0, 0xd1]),
        ("a negative base (4.5.1.2)", &[0, 0x80, 0xd1]),
        ("a dynamic line (2.2.3)", &[0, 0, 0x80]),
        ("a dynamic line past the base (2.2.3)", &[0, 0, 0x10]),
        ("a dynamic name (2.2.3)", &[0, 0, 0x40, 0]),
        ("a dynamic name past the base (2.2.3)", &[0, 0, 0x00, 0]),
        ("static line 99 (3.1)", &[0, 0, 0xff, 0x24]),
        ("static name 99 (3.1)", &[0, 0, 0x5f, 0x54, 0]),
        ("a string cut short (4.1.2)", &[0, 0, 0x51, 0x05, b'a']),
        ("the end of the Huffman code (4.1.2)", &[0, 0, 0x51, 0x84, 0xff, 0xff, 0xff, 0xff]),
        ("an integer of more than 64 bits (4.1.1)", &endless),
    ];
    for (name, section) in cases {
        let closed = wire.closes(REQUEST, &frame(HEADERS, section));
        assert_eq!(closed, Some(Code::QpackDecompressionFailed), "{name}");
    }
}

/// RFC 9204, 4.3.1. Client: sets a capacity above ours, which is 0. Server: `QPACK_ENCODER_STREAM_ERROR`.
/// RFC 9204, 3.2.2, 4.3.2 to 4.3.4. Client: inserts or duplicates an entry. Server: `QPACK_ENCODER_STREAM_ERROR`.
#[test]
fn an_instruction_for_a_dynamic_table_is_an_encoder_stream_error_9204_4_3() {
    let mut wire = Wire::new();
    let cases: [(&str, &[u8]); 6] = [
        ("a capacity of 1 (4.3.1)", &[0x21]),
        ("a capacity of 4096 (4.3.1)", &[0x3f, 0xe1, 0x1f]),
        ("an insertion with a static name (4.3.2)", &[0xc1, 1, b'a']),
        ("an insertion with static name 99 (3.1)", &[0xff, 0x24, 1, b'a']),
        ("an insertion with a literal name (4.3.3)", &[0x41, b'a', 1, b'b']),
        ("a duplicate (4.3.4)", &[0x00]),
    ];
    for (name, bytes) in cases {
        assert_eq!(wire.closes(ENCODER, bytes), Some(Code::QpackEncoderStream), "{name}");
    }
}

/// RFC 9204, 4.4.1, 4.4.3. Client: acknowledges sections or insertions. Server: `QPACK_DECODER_STREAM_ERROR`.
#[test]
fn an_acknowledgement_of_something_never_sent_is_a_decoder_stream_error_9204_4_4() {
    let mut wire = Wire::new();
    let cases = [
        ("a section (4.4.1)", [0x80]),
        ("an insertion (4.4.3)", [0x01]),
        ("an increment of 0 (4.4.3)", [0x00]),
    ];
    for (name, bytes) in cases {
        assert_eq!(wire.closes(DECODER, &bytes), Some(Code::QpackDecoderStream), "{name}");
    }
}

/// RFC 9204, 4.2. Client: opens them although we have no dynamic table. Server: taken.
/// RFC 9204, 4.4.2. Client: cancels a stream. Server: ignored.
#[test]
fn qpack_streams_without_meaning_for_a_server_are_taken_9204_4_2_and_4_4_2() {
    let mut wire = Wire::new();
    let mut client = wire.client(false);
    wire.say(&mut client, ENCODER, &[0x20], false);
    wire.say(&mut client, DECODER, &[0x44, 0x7f, 0x80, 0x01], false);
    wire.assert_answered(&mut client, 0);
}

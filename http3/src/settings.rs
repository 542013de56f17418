//! The SETTINGS frame (RFC 9114, 7.2.4).

use crate::Extension;
use crate::error::{Code, Error};
use crate::extensions::{CONNECTION_GROUP, NUM_PLACEHOLDERS};
use crate::frame::{self, varints};
use octets::Octets;
use std::collections::BTreeSet;

const QPACK_MAX_TABLE_CAPACITY: u64 = 0x01;
const MAX_FIELD_SECTION_SIZE: u64 = 0x06;
const QPACK_BLOCKED_STREAMS: u64 = 0x07;
const ENABLE_CONNECT_PROTOCOL: u64 = 0x08;
/// Settings of HTTP/2 that must not be sent in HTTP/3 (RFC 9114, 7.2.4.1 and 11.2.2).
const RESERVED: [u64; 5] = [0x00, 0x02, 0x03, 0x04, 0x05];
/// A setting without a meaning, which exercises the peer's duty to ignore it: 0x1f * N + 0x21
/// (RFC 9114, 7.2.4.1).
const GREASE: u64 = 0x1f * 1000 + 0x21;

const GROUP_MIN: u64 = 1 << 30;

/// The settings of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of dynamic table that the sender allows its peer (RFC 9204, 5).
    pub qpack_max_table_capacity: u64,
    /// Streams that may wait for the dynamic table (RFC 9204, 5).
    pub qpack_blocked_streams: u64,
    /// The largest field section that the sender accepts, in bytes counted as in RFC 9114, 4.2.2. `None`: no limit.
    pub max_field_section_size: Option<u64>,
    /// From a server: it supports extended CONNECT, which opens a stream for another protocol such as WebSocket (RFC 9220,
    /// 3).
    pub enable_connect_protocol: bool,
    /// The extensions that the sender supports, none by default; each is used only if both sides offer it.
    pub extensions: BTreeSet<Extension>,
    /// From a server: how many placeholders of the dependency tree a client may name, from 0 on. The schemes of the paper
    /// need at most 8.
    pub placeholders: u64,
    /// From a client: the name of the group of its connections that it wants ordered as one. Choose it at random and send
    /// it to one server only. A name below 2^30 is too easily guessed and is ignored.
    pub connection_group: Option<u64>,
    /// Identifier and value of all other settings, as they arrived.
    pub unknown: Vec<(u64, u64)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            qpack_max_table_capacity: 0,
            qpack_blocked_streams: 0,
            max_field_section_size: Some(64 * 1024),
            enable_connect_protocol: false,
            extensions: BTreeSet::new(),
            placeholders: 0,
            connection_group: None,
            unknown: Vec::new(),
        }
    }
}

impl Settings {
    /// A complete SETTINGS frame. It omits the QPACK settings, which means 0: [`crate::Session`] offers no dynamic table.
    pub(crate) fn to_frame(&self) -> Vec<u8> {
        let offered =
            Self { qpack_max_table_capacity: 0, qpack_blocked_streams: 0, ..self.clone() };
        let unknown = self.unknown.iter().copied();
        let all = offered.known().into_iter().chain(unknown).chain([(GREASE, 0)]);
        frame::whole(frame::SETTINGS, &pairs(all))
    }

    /// Identifier and value of each known setting with a non-default value.
    pub(crate) fn known(&self) -> Vec<(u64, u64)> {
        let above_0 = [
            (QPACK_MAX_TABLE_CAPACITY, self.qpack_max_table_capacity),
            (QPACK_BLOCKED_STREAMS, self.qpack_blocked_streams),
            (ENABLE_CONNECT_PROTOCOL, self.enable_connect_protocol.into()),
            (NUM_PLACEHOLDERS, self.placeholders),
        ];
        let size = self.max_field_section_size.map(|bytes| (MAX_FIELD_SECTION_SIZE, bytes));
        let extensions = self.extensions.iter().map(|it| (it.codepoint(), 1));
        let above_0 = above_0.into_iter().filter(|(_, value)| *value > 0);
        let group = self.connection_group.map(|it| (CONNECTION_GROUP, it));
        size.into_iter().chain(extensions).chain(above_0).chain(group).collect()
    }

    /// The payload of a SETTINGS frame with all known settings, to store for a later connection.
    pub fn to_bytes(&self) -> Vec<u8> {
        pairs(self.known())
    }

    /// Parses the payload of a SETTINGS frame, or the output of [`Self::to_bytes`].
    pub fn from_bytes(payload: &[u8]) -> Result<Self, Error> {
        let mut settings = Self { max_field_section_size: None, ..Self::default() };
        let mut seen = Vec::new();
        let mut rest = Octets::with_slice(payload);
        while rest.cap() > 0 {
            let (Ok(identifier), Ok(value)) = (rest.get_varint(), rest.get_varint()) else {
                return Code::Frame.fail("SETTINGS ends inside a setting (RFC 9114, 7.1)");
            };
            if seen.contains(&identifier) {
                return Code::Settings.fail("a setting occurs twice (RFC 9114, 7.2.4)");
            }
            seen.push(identifier);
            settings.set(identifier, value)?;
        }
        Ok(settings)
    }

    fn set(&mut self, identifier: u64, value: u64) -> Result<(), Error> {
        match identifier {
            QPACK_MAX_TABLE_CAPACITY => self.qpack_max_table_capacity = value,
            QPACK_BLOCKED_STREAMS => self.qpack_blocked_streams = value,
            MAX_FIELD_SECTION_SIZE => self.max_field_section_size = Some(value),
            ENABLE_CONNECT_PROTOCOL => self.enable_connect_protocol = yes_or_no(value)?,
            NUM_PLACEHOLDERS => self.placeholders = value,
            CONNECTION_GROUP => {
                self.connection_group = Some(value).filter(|it| *it >= GROUP_MIN);
            }
            _ if RESERVED.contains(&identifier) => {
                return Code::Settings.fail("a setting of HTTP/2 (RFC 9114, 7.2.4.1)");
            }
            _ => return self.set_unknown_or_extension(identifier, value),
        }
        Ok(())
    }

    /// Sets an extension as supported (1) or not (0), as in RFC 9220, 3 and RFC 9297, 2.1.1.
    fn set_unknown_or_extension(&mut self, identifier: u64, value: u64) -> Result<(), Error> {
        let Some(extension) = Extension::of(identifier) else {
            self.unknown.push((identifier, value));
            return Ok(());
        };
        if yes_or_no(value)? {
            self.extensions.insert(extension);
        }
        Ok(())
    }
}

fn yes_or_no(value: u64) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Code::Settings.fail("a setting of an extension is neither 0 nor 1 (RFC 9220, 3)"),
    }
}

fn pairs(settings: impl IntoIterator<Item = (u64, u64)>) -> Vec<u8> {
    varints(settings.into_iter().flat_map(|(identifier, value)| [identifier, value]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::put_varint;
    use proptest::prelude::*;

    fn code(payload: &[u8]) -> Code {
        Settings::from_bytes(payload).unwrap_err().kind()
    }

    #[test]
    fn what_is_absent_has_the_default_of_the_rfc_9114_7_2_4_1() {
        let settings = Settings::from_bytes(&[]).unwrap();
        assert_eq!(settings.max_field_section_size, None);
        assert_eq!((settings.qpack_max_table_capacity, settings.qpack_blocked_streams), (0, 0));
    }

    #[test]
    fn a_setting_that_occurs_twice_is_a_settings_error_9114_7_2_4() {
        assert_eq!(code(&[0x06, 1, 0x06, 1]), Code::Settings);
        assert_eq!(code(&[0x21, 1, 0x07, 1, 0x21, 2]), Code::Settings);
    }

    #[test]
    fn a_setting_of_http_2_is_a_settings_error_9114_7_2_4_1() {
        for identifier in RESERVED {
            assert_eq!(
                code(&[u8::try_from(identifier).unwrap(), 1]),
                Code::Settings,
                "{identifier}"
            );
        }
    }

    #[test]
    fn a_setting_cut_short_is_a_frame_error_9114_7_1() {
        assert_eq!(code(&[0x06]), Code::Frame);
        assert_eq!(code(&[0x06, 0x40]), Code::Frame);
        assert_eq!(code(&[0x40]), Code::Frame);
    }

    /// RFC 9204, 2.1. Server: refers to the static table only.
    #[test]
    fn the_dynamic_table_is_never_offered() {
        let wish = Settings {
            qpack_max_table_capacity: 4096,
            qpack_blocked_streams: 9,
            ..Settings::default()
        };
        let frame = wish.to_frame();
        assert_eq!(Settings::from_bytes(&frame[2..]).unwrap().qpack_max_table_capacity, 0);
    }

    #[test]
    fn a_group_that_is_easily_guessed_is_none() {
        let read = |group| {
            let sent = Settings { connection_group: Some(group), ..Settings::default() };
            let frame = sent.to_frame();
            Settings::from_bytes(&frame[payload_start(&frame)..]).unwrap().connection_group
        };
        assert_eq!(read(GROUP_MIN - 1), None);
        assert_eq!(read(GROUP_MIN), Some(GROUP_MIN));
    }

    #[test]
    fn an_extension_is_offered_with_1_and_nothing_else() {
        let setting = |value| {
            let mut payload = Vec::new();
            put_varint(&mut payload, Extension::TreeDraft22.codepoint());
            payload.push(value);
            Settings::from_bytes(&payload)
        };
        assert_eq!(setting(1).unwrap().extensions, [Extension::TreeDraft22].into());
        assert_eq!(setting(0).unwrap().extensions, [].into());
        assert_eq!(setting(0).unwrap().unknown, []);
        assert_eq!(setting(2).unwrap_err().kind(), Code::Settings);
    }

    /// RFC 9220, 3. Server: sends `SETTINGS_ENABLE_CONNECT_PROTOCOL` with 1 or not at all.
    /// RFC 9220, 3. Client: sends the setting with another value than 0 or 1. Server: `H3_SETTINGS_ERROR`.
    #[test]
    fn extended_connect_is_taken_or_not_9220_3() {
        let takes = |value| {
            let read = Settings::from_bytes(&[0x08, value]);
            read.map(|it| it.enable_connect_protocol).map_err(|it| it.kind())
        };
        assert_eq!([takes(0), takes(1), takes(2)], [Ok(false), Ok(true), Err(Code::Settings)]);
        assert!(!Settings::default().to_bytes().contains(&0x08));
    }

    proptest! {
        #[test]
        fn settings_come_back_as_sent(
            size in proptest::option::of(0u64..1 << 62),
            extensions in proptest::sample::subsequence(Extension::ALL.to_vec(), 0..=6),
            placeholders in 0u64..1 << 62,
            connection_group in proptest::option::of(GROUP_MIN..1 << 62),
            enable_connect_protocol in any::<bool>(),
            unknown in proptest::collection::btree_map(0x40u64..1 << 62, 0u64..1 << 62, 0..4),
        ) {
            let unknown: Vec<_> = unknown.into_iter().filter(|(identifier, _)| *identifier != GREASE).collect();
            let sent = Settings { max_field_section_size: size, enable_connect_protocol, extensions: extensions.into_iter().collect(), placeholders, connection_group, unknown, ..Settings::default() };
            let mut read = Settings::from_bytes(&sent.to_frame()[payload_start(&sent.to_frame())..]).unwrap();
            prop_assert_eq!(read.unknown.pop(), Some((GREASE, 0)));
            prop_assert_eq!(read, sent);
        }

        #[test]
        fn any_payload_is_read_or_refused(payload in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = Settings::from_bytes(&payload);
        }
    }

    fn payload_start(frame: &[u8]) -> usize {
        let mut octets = Octets::with_slice(frame);
        octets.get_varint().unwrap();
        octets.get_varint().unwrap();
        octets.off()
    }
}

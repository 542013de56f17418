//! Extensible priorities (RFC 9218): the `Priority` field and the `PRIORITY_UPDATE` frame.

use crate::error::{Code, Error};
use crate::frame::{self, put_varint};
use octets::Octets;
use schedulers::StreamId;
use sfv::{BareItem, ListEntry, Parser};

const URGENCY_DEFAULT: u8 = 3;
const URGENCY_MAX: u8 = 7;

/// What a `Priority` field says. Absent in a request: the default; absent in a response: no opinion
/// (RFC 9218, 5 and 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Priority {
    /// 0 (first) to 7 (last).
    pub urgency: Option<u8>,
    /// Whether the response is useful in parts.
    pub incremental: Option<bool>,
}

impl Priority {
    /// The urgency, 3 when absent.
    pub fn urgency_or_default(self) -> u8 {
        self.urgency.unwrap_or(URGENCY_DEFAULT)
    }

    /// Whether the response is useful in parts, false when absent.
    pub fn incremental_or_default(self) -> bool {
        self.incremental.unwrap_or(false)
    }
}

/// The priority of a response whose own `Priority` field says `response`: what it leaves out stays as the
/// client said it (RFC 9218, 8). Its example: a request with `u=5, i` and a response with `u=1` give
/// `u=1, i`.
pub fn merge(request: Priority, response: Priority) -> Priority {
    Priority {
        urgency: response.urgency.or(request.urgency),
        incremental: response.incremental.or(request.incremental),
    }
}

/// The field is not a dictionary of structured fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a Priority field: {0} (RFC 8941, 4.2): ignore the field")]
pub struct PriorityError(&'static str);

/// A response's `Priority` field: only what it has an opinion on, defaults included (RFC 9218, 8).
pub fn priority_delta(response: Priority) -> String {
    let urgency = response.urgency.map(|it| format!("u={it}"));
    let incremental = response.incremental.map(|it| if it { "i" } else { "i=?0" }.to_owned());
    urgency.into_iter().chain(incremental).collect::<Vec<_>>().join(", ")
}

/// Reads a `Priority` field value. Unknown keys, values out of range and of a wrong type are ignored
/// (RFC 9218, 4). The lines of a field that comes as several are to be joined with `, ` first.
pub fn parse_priority(field: &[u8]) -> Result<Priority, PriorityError> {
    let dictionary = Parser::parse_dictionary(field).map_err(PriorityError)?;
    let urgency = dictionary.get("u").and_then(bare).and_then(BareItem::as_int);
    Ok(Priority {
        urgency: urgency.and_then(|it| u8::try_from(it).ok()).filter(|it| *it <= URGENCY_MAX),
        incremental: dictionary.get("i").and_then(bare).and_then(BareItem::as_bool),
    })
}

pub(crate) fn bare(entry: &ListEntry) -> Option<&BareItem> {
    match entry {
        ListEntry::Item(item) => Some(&item.bare_item),
        ListEntry::InnerList(_) => None,
    }
}

/// The value of a `Priority` field, defaults left out: `u=2, i`, or nothing at all for the defaults.
pub fn priority_field(urgency: u8, incremental: bool) -> String {
    let urgency = (urgency != URGENCY_DEFAULT).then(|| format!("u={}", urgency.min(URGENCY_MAX)));
    let incremental = incremental.then(|| "i".to_owned());
    urgency.into_iter().chain(incremental).collect::<Vec<_>>().join(", ")
}

/// A whole `PRIORITY_UPDATE` frame about a request, for the client's control stream (RFC 9218, 7.2).
pub fn priority_update(stream: StreamId, urgency: u8, incremental: bool) -> Vec<u8> {
    let mut payload = Vec::new();
    put_varint(&mut payload, stream.0);
    payload.extend_from_slice(priority_field(urgency, incremental).as_bytes());
    frame::whole(frame::PRIORITY_UPDATE_REQUEST, &payload)
}

/// Reads the payload of a `PRIORITY_UPDATE` frame: the prioritized element's ID, its priority, and the field
/// value that says it.
pub(crate) fn parse_update(payload: &[u8]) -> Result<(u64, Priority, String), Error> {
    let mut octets = Octets::with_slice(payload);
    let Ok(id) = octets.get_varint() else {
        return Err(Error::connection(
            Code::Frame,
            "PRIORITY_UPDATE has no element ID (RFC 9114, 7.1)",
        ));
    };
    let field = &payload[octets.off()..];
    let Ok(priority) = parse_priority(field) else {
        return Err(Error::connection(
            Code::GeneralProtocol,
            "PRIORITY_UPDATE holds no structured field (RFC 9218, 7)",
        ));
    };
    Ok((id, priority, String::from_utf8_lossy(field).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(field: &str) -> (Option<u8>, Option<bool>) {
        let priority = parse_priority(field.as_bytes()).unwrap();
        (priority.urgency, priority.incremental)
    }

    #[test]
    fn urgency_and_incremental_are_read_9218_4() {
        assert_eq!(read("u=5, i"), (Some(5), Some(true)));
        assert_eq!(read("i,u=0"), (Some(0), Some(true)));
        assert_eq!(read("u=7;x=1, i=?0"), (Some(7), Some(false)));
        assert_eq!(read("u=1, u=2"), (Some(2), None));
        assert_eq!(read(""), (None, None));
    }

    #[test]
    fn what_is_unknown_out_of_range_or_of_a_wrong_type_is_ignored_9218_4() {
        for field in
            ["u=8", "u=-1", "u=666, r", "u=\"1\"", "u=1.0", "u=(1 2)", "u", "i=1", "i=yes", "x=4"]
        {
            assert_eq!(read(field), (None, None), "{field}");
        }
        assert_eq!(read("u=9, i, x=(1 2)"), (None, Some(true)));
    }

    #[test]
    fn what_is_no_dictionary_is_refused_8941_4_2() {
        for field in [&b"U=1"[..], b"u=", b"u=1,", b"u=1 i", b"=", b"u=\xff"] {
            assert!(parse_priority(field).is_err(), "{field:?}");
        }
    }

    #[test]
    fn defaults_are_left_out_of_the_field() {
        assert_eq!(priority_field(3, false), "");
        assert_eq!(priority_field(3, true), "i");
        assert_eq!(priority_field(2, false), "u=2");
        assert_eq!(priority_field(2, true), "u=2, i");
    }

    #[test]
    fn a_priority_update_is_type_length_id_and_field_9218_7_2() {
        assert_eq!(priority_update(StreamId(4), 1, true), b"\x80\x0f\x07\x00\x07\x04u=1, i");
    }

    #[test]
    fn a_response_changes_only_what_it_names_9218_8() {
        let merged = |request: &str, response: &str| {
            let of = |field: &str| parse_priority(field.as_bytes()).unwrap();
            let it = merge(of(request), of(response));
            priority_field(it.urgency_or_default(), it.incremental_or_default())
        };
        assert_eq!(merged("u=5, i", "u=1"), "u=1, i");
        assert_eq!(merged("u=5, i", ""), "u=5, i");
        assert_eq!(merged("u=5, i", "i=?0"), "u=5");
        assert_eq!(merged("", "i"), "i");
        assert_eq!(merged("u=5", "u=3"), "");
        assert_eq!(merged("u=5", "u=9, i=1"), "u=5");
    }

    proptest! {
        #[test]
        fn a_priority_update_comes_back_as_sent(id in 0u64..1 << 62, urgency in 0u8..8, incremental: bool) {
            let frame = priority_update(StreamId(id), urgency, incremental);
            let (read_id, priority, field) = parse_update(&frame[5..]).unwrap();
            prop_assert_eq!(field, priority_field(urgency, incremental));
            prop_assert_eq!(read_id, id);
            prop_assert_eq!(priority.urgency_or_default(), urgency);
            prop_assert_eq!(priority.incremental_or_default(), incremental);
        }

        #[test]
        fn any_field_is_read_or_refused(field in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(priority) = parse_priority(&field) {
                prop_assert!(priority.urgency_or_default() <= URGENCY_MAX);
            }
        }
    }
}

//! The `priority` field (RFC 9218).

use crate::dictionary::Dictionary;
use std::fmt;

/// The least urgent.
pub const URGENCY_MAX: u8 = 7;
/// The urgency of a request without one (RFC 9218, section 4.1).
pub const URGENCY_DEFAULT: u8 = 3;

/// The contents of a `priority` field. An absent member means the default in a request, and no opinion in a response
/// (RFC 9218, sections 5 and 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Priority {
    /// 0 (first) to 7 (last).
    pub urgency: Option<u8>,
    /// Whether the response is useful in parts.
    pub incremental: Option<bool>,
}

/// The field is not a dictionary of structured fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityError;

impl fmt::Display for PriorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a priority field (RFC 8941, 4.2): ignore the field")
    }
}

impl std::error::Error for PriorityError {}

impl Priority {
    /// Both members present.
    pub fn new(urgency: u8, incremental: bool) -> Self {
        Self { urgency: Some(urgency), incremental: Some(incremental) }
    }

    /// Parses a field value. Ignores unknown members and members with a wrong value (RFC 9218, section 4).
    ///
    /// If the field has several lines, join them with `, ` first.
    pub fn parse(field: &[u8]) -> Result<Self, PriorityError> {
        let members = Dictionary::parse(field).ok_or(PriorityError)?;
        Ok(Self { urgency: urgency(&members), incremental: members.boolean("i") })
    }

    /// The urgency, 3 when absent.
    pub fn urgency_or_default(self) -> u8 {
        self.urgency.unwrap_or(URGENCY_DEFAULT)
    }

    /// Whether the response is useful in parts; false if absent.
    pub fn incremental_or_default(self) -> bool {
        self.incremental.unwrap_or(false)
    }

    /// The client's priority, overridden by the members of the response's own field (RFC 9218, section 8): `u=5, i`
    /// overridden by `u=1` is `u=1, i`.
    #[must_use]
    pub fn overridden_by(self, response: Self) -> Self {
        Self {
            urgency: response.urgency.or(self.urgency),
            incremental: response.incremental.or(self.incremental),
        }
    }

    /// A request's field without default values: empty if both are the default.
    pub fn request_field(self) -> String {
        Self {
            urgency: self.urgency.filter(|&it| it != URGENCY_DEFAULT),
            incremental: self.incremental.filter(|&it| it),
        }
        .to_string()
    }
}

pub(crate) fn urgency(members: &Dictionary<'_>) -> Option<u8> {
    members.integer("u").and_then(|it| u8::try_from(it).ok()).filter(|&it| it <= URGENCY_MAX)
}

/// The field with every member that is present, as in a response: `u=3, i=?0`.
impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(urgency) = self.urgency {
            write!(f, "u={}", urgency.min(URGENCY_MAX))?;
        }
        let separator = if self.urgency.is_some() { ", " } else { "" };
        match self.incremental {
            Some(true) => write!(f, "{separator}i"),
            Some(false) => write!(f, "{separator}i=?0"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(field: &str) -> (Option<u8>, Option<bool>) {
        let priority = Priority::parse(field.as_bytes()).unwrap();
        (priority.urgency, priority.incremental)
    }

    #[test]
    fn urgency_and_incremental_are_read_9218_4() {
        assert_eq!(read("u=5, i"), (Some(5), Some(true)));
        assert_eq!(read("i,u=0"), (Some(0), Some(true)));
        assert_eq!(read("u=7;x=1, i=?0"), (Some(7), Some(false)));
        assert_eq!(read(""), (None, None));
        let silent = Priority::default();
        assert_eq!((silent.urgency_or_default(), silent.incremental_or_default()), (3, false));
    }

    #[test]
    fn the_last_of_several_members_counts_even_if_its_value_is_wrong_8941_3_2() {
        assert_eq!(read("u=1, u=2"), (Some(2), None));
        assert_eq!(read("u=1, u=9"), (None, None));
        assert_eq!(read("i, i=1"), (None, None));
    }

    /// RFC 9218, 4. Client: sends a `priority` field with unknown, wrong or malformed members. Server: ignored.
    #[test]
    fn unknown_members_and_wrong_values_are_ignored_9218_4() {
        for field in
            ["u=8", "u=-1", "u=666, r", "u=\"1\"", "u=1.0", "u=(1 2)", "u", "i=1", "i=yes", "x=4"]
        {
            assert_eq!(read(field), (None, None), "{field}");
        }
        assert_eq!(read("u=9, i, x=(1 2)"), (None, Some(true)));
    }

    #[test]
    fn a_malformed_field_is_rejected_whole_8941_4_2() {
        for field in
            [&b"U=1, u=0"[..], b"u=0, (", b"U=1", b"u=", b"u=1,", b"u=1 i", b"=", b"u=\xff"]
        {
            assert_eq!(Priority::parse(field), Err(PriorityError), "{field:?}");
        }
    }

    #[test]
    fn a_request_omits_defaults_and_a_response_does_not() {
        let of = |urgency, incremental| Priority { urgency, incremental };
        let fields = |it: Priority| (it.request_field(), it.to_string());
        let text = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(fields(of(Some(3), Some(false))), text("", "u=3, i=?0"));
        assert_eq!(fields(of(Some(2), Some(true))), text("u=2, i", "u=2, i"));
        assert_eq!(fields(of(None, Some(true))), text("i", "i"));
        assert_eq!(
            fields(of(Some(9), None)),
            text("u=7", "u=7"),
            "an urgency that is sent is 0 to 7"
        );
        assert_eq!(fields(of(None, None)), text("", ""));
    }

    #[test]
    fn a_response_changes_only_the_members_it_names_9218_8() {
        let overridden = |request: &str, response: &str| {
            let of = |field: &str| Priority::parse(field.as_bytes()).unwrap();
            of(request).overridden_by(of(response)).request_field()
        };
        assert_eq!(overridden("u=5, i", "u=1"), "u=1, i");
        assert_eq!(overridden("u=5, i", ""), "u=5, i");
        assert_eq!(overridden("u=5, i", "i=?0"), "u=5");
        assert_eq!(overridden("", "i"), "i");
        assert_eq!(overridden("u=5", "u=3"), "");
        assert_eq!(overridden("u=5", "u=9, i=1"), "u=5");
    }
}

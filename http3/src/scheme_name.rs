//! Scheme negotiation: the server announces its preferred scheme, for the connection (a frame) or for a page (a
//! response header field). Peers without the extension ignore both.

use crate::error::{Code, Error};

/// The response header field with the scheme that the server prefers for this page: `utmost-scheme: NAME`.
pub const SCHEME_FIELD: &str = "utmost-scheme";

/// The longest name of a scheme, with variant and parameters, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 64;

/// Parses the value of a [`SCHEME_FIELD`], with or without surrounding spaces. `None`: it is not a name and must be
/// ignored. The name may be unknown to us.
pub fn parse_scheme_field(value: &[u8]) -> Option<String> {
    name_of(value.trim_ascii())
}

pub(crate) fn parse_announcement(payload: &[u8]) -> Result<String, Error> {
    let reason = "an announcement without a valid scheme name (utmost)";
    name_of(payload).map_or_else(|| Code::Frame.fail(reason), Ok)
}

/// Parses letters, digits and the marks that names may contain: `p+`, `kway:4`, `firefox@quicker`.
fn name_of(bytes: &[u8]) -> Option<String> {
    let is_name = (1..=NAME_BYTES_MAX).contains(&bytes.len())
        && bytes.iter().all(|it| it.is_ascii_alphanumeric() || b"+-_.:@".contains(it));
    if is_name { String::from_utf8(bytes.to_vec()).ok() } else { None }
}

pub(crate) fn is_name(name: &str) -> bool {
    name_of(name.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_name_can_be_announced() {
        for scheme in schedulers::SCHEMES.iter().map(|scheme| scheme.name.clone()) {
            assert_eq!(parse_scheme_field(scheme.as_bytes()), Some(scheme));
        }
        for name in ["kway:4", "firefox@quicker", "random:18446744073709551615"] {
            assert_eq!(parse_scheme_field(format!(" {name}\t").as_bytes()).as_deref(), Some(name));
        }
    }

    #[test]
    fn an_invalid_name_is_ignored_in_a_field_and_a_frame_error_in_a_frame() {
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        for wrong in ["", "a b", "a,b", "\"fifo\"", "fifo;x", "é", long.as_str()] {
            assert_eq!(parse_scheme_field(wrong.as_bytes()), None, "{wrong}");
            assert_eq!(parse_announcement(wrong.as_bytes()).unwrap_err().kind(), Code::Frame);
        }
        assert!(is_name(&long[1..]));
    }
}

//! The state that a client keeps to resume a connection later, with requests in its first packets.

use crate::Verify;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http3::Settings;
use serde::{Deserialize, Serialize};

/// A TLS session, with the transport's and HTTP/3's limits that apply until the server sends new ones (RFC 9000,
/// 7.4.1; RFC 9114, 7.2.4.2). Keep it secret, and use it for one connection only: an observer could link a second one
/// to the first.
#[derive(Clone, PartialEq, Eq)]
pub struct SavedSession {
    host: String,
    /// Whether its certificate was checked then. A resumed server does not present it again.
    verified: bool,
    /// As the transport writes it.
    pub(crate) transport: Vec<u8>,
    pub(crate) settings: Settings,
}

/// The format of a saved session's JSON.
const FORMAT: &str = "utmost-session/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    host: String,
    verified: bool,
    transport: String,
    settings: String,
}

/// The text is not a saved session.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SessionError {
    #[error("{0}; delete it to begin a new session")]
    Json(#[from] serde_json::Error),
    #[error("format `{0}`, not {FORMAT}; delete it to begin a new session")]
    Format(String),
    #[error("`{0}` cannot be read; delete the file to begin a new session")]
    Bytes(&'static str),
}

impl SavedSession {
    pub(crate) fn new(host: &str, verify: &Verify, transport: &[u8], settings: &Settings) -> Self {
        Self {
            host: host.to_owned(),
            verified: *verify != Verify::Nobody,
            transport: transport.to_vec(),
            settings: settings.clone(),
        }
    }

    /// Reads the output of [`Self::to_json`].
    pub fn from_json(text: &str) -> Result<Self, SessionError> {
        let file: File = serde_json::from_str(text)?;
        if file.format != FORMAT {
            return Err(SessionError::Format(file.format));
        }
        let settings = decoded(&file.settings, "settings")?;
        let settings = Settings::from_bytes(&settings);
        Ok(Self {
            transport: decoded(&file.transport, "transport")?,
            settings: settings.map_err(|_| SessionError::Bytes("settings"))?,
            host: file.host,
            verified: file.verified,
        })
    }

    /// As JSON, `utmost-session/1`.
    pub fn to_json(&self) -> String {
        let file = File {
            format: FORMAT.to_owned(),
            host: self.host.clone(),
            verified: self.verified,
            transport: BASE64_STANDARD.encode(&self.transport),
            settings: BASE64_STANDARD.encode(self.settings.to_bytes()),
        };
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }

    /// Whether a client with this trust may resume it with the server of this name.
    pub(crate) fn suits(&self, host: &str, verify: &Verify) -> bool {
        self.host == host && (self.verified || *verify == Verify::Nobody)
    }
}

impl std::fmt::Debug for SavedSession {
    /// A secret stays out of logs.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SavedSession").field("host", &self.host).finish_non_exhaustive()
    }
}

fn decoded(text: &str, name: &'static str) -> Result<Vec<u8>, SessionError> {
    BASE64_STANDARD.decode(text).map_err(|_| SessionError::Bytes(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(verify: &Verify) -> SavedSession {
        let settings = Settings { placeholders: 8, ..Settings::default() };
        SavedSession::new("a.example", verify, &[1, 2, 3, 255], &settings)
    }

    #[test]
    fn a_session_comes_back_as_it_was_saved() {
        let before = saved(&Verify::System);
        assert_eq!(SavedSession::from_json(&before.to_json()).expect("a session"), before);
        assert_eq!(format!("{before:?}"), r#"SavedSession { host: "a.example", .. }"#);
    }

    #[test]
    fn a_session_of_an_unchecked_server_is_not_for_a_client_that_checks() {
        let (checked, unchecked) = (saved(&Verify::System), saved(&Verify::Nobody));
        assert!(checked.suits("a.example", &Verify::System));
        assert!(checked.suits("a.example", &Verify::Nobody));
        assert!(unchecked.suits("a.example", &Verify::Nobody));
        assert!(!unchecked.suits("a.example", &Verify::System));
        assert!(!checked.suits("b.example", &Verify::System));
    }

    #[test]
    fn a_text_that_is_not_a_session_is_rejected_with_its_place() {
        let message = |text: &str| SavedSession::from_json(text).expect_err("none").to_string();
        assert!(message("{").contains(" at line 1 "));
        let other = saved(&Verify::System).to_json().replace("session/1", "session/2");
        assert!(message(&other).starts_with("format `utmost-session/2`"));
        let broken = saved(&Verify::System).to_json().replace("AQID/w==", "*");
        assert!(message(&broken).starts_with("`transport` cannot be read"), "{broken}");
    }
}

//! Early data (0-RTT): requests that a returning client sends along with its first packet.
//!
//! Until the handshake is complete, such a request cannot be distinguished from one that an attacker recorded and sends again
//! (RFC 8446, 8; RFC 8470, 3). So early data is off by default, only requests with a safe method are answered, others must be
//! repeated (425), and a site sees in [`crate::site::Request::early`] which requests may be replays.
//!
//! A ticket that was issued under other limits must not be accepted for early data (RFC 9114, 7.2.4.2; RFC 9000, 7.4.1). The
//! key that opens tickets is derived from the limits, so that such a ticket cannot be opened.

use crate::Limits;
use boring::hash::{MessageDigest, hash};
use http3::Settings;
use ring::rand::{SecureRandom, SystemRandom};
use std::path::{Path, PathBuf};

/// The key that seals session tickets, so that several processes or runs accept each other's tickets. Anyone who has it can
/// read the early data of recorded connections, so it must be replaced often.
#[derive(Clone)]
pub struct TicketKey([u8; TicketKey::BYTES]);

/// A ticket key that cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TicketKeyError {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error(
        "{0}: {1} bytes, a ticket key has {key}; make one with `head -c {key} /dev/urandom`",
        key = TicketKey::BYTES
    )]
    Size(PathBuf, usize),
}

impl TicketKey {
    /// Bytes of a key.
    pub const BYTES: usize = 48;

    /// A key of these bytes, which must be random.
    pub fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// A key for this run only; `None`: the system has no randomness.
    pub fn random() -> Option<Self> {
        let mut bytes = [0; Self::BYTES];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads a file of exactly [`Self::BYTES`] bytes.
    pub fn load(path: &Path) -> Result<Self, TicketKeyError> {
        let bytes = named_files::read(path)
            .map_err(|it| TicketKeyError::Unreadable(path.to_owned(), it))?;
        let size = bytes.len();
        bytes.try_into().map(Self).map_err(|_| TicketKeyError::Size(path.to_owned(), size))
    }

    /// The key of tickets that are valid only under these settings and limits.
    pub(crate) fn under(
        &self,
        settings: &Settings,
        limits: &Limits,
        takes_early_data: bool,
    ) -> Result<[u8; Self::BYTES], boring::error::ErrorStack> {
        let Limits { streams, unidirectional_streams, receive_bytes, stream_receive_bytes, .. } =
            *limits;
        let limits = [streams, unidirectional_streams, receive_bytes, stream_receive_bytes];
        let mut text = self.0.to_vec();
        text.push(u8::from(takes_early_data));
        text.extend(limits.iter().flat_map(|it| it.to_be_bytes()));
        text.extend(settings.to_bytes());
        let digest = hash(MessageDigest::sha384(), &text)?;
        let mut key = [0; Self::BYTES];
        key.copy_from_slice(&digest);
        Ok(key)
    }
}

impl std::fmt::Debug for TicketKey {
    /// A secret stays out of logs.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TicketKey")
    }
}

/// Whether a request may be answered although it may be a replay: it asks the server to change nothing (RFC 8470, 4; RFC 9110,
/// 9.2.1).
pub fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use schedulers::find_scheme;

    /// RFC 9114, 7.2.4.2. Client: uses remembered settings in early data. Server: a ticket is valid only under the limits under
    /// which it was issued.
    #[test]
    fn a_ticket_is_good_under_the_limits_it_was_given_under_only() {
        let key = TicketKey::new([7; TicketKey::BYTES]);
        let base = Options::new(find_scheme("rr").expect("a scheme"));
        let under = |change: fn(&mut Options), settings: Settings| {
            let mut options = base.clone();
            change(&mut options);
            key.under(&settings, &options.limits, options.early_data).expect("a key")
        };
        let same = under(|_| (), Settings::default());
        assert_eq!(same, under(|it| it.limits.drain *= 2, Settings::default()));
        let smaller = Settings { placeholders: 3, ..Settings::default() };
        let others = [
            under(|it| it.limits.streams -= 1, Settings::default()),
            under(|it| it.limits.receive_bytes += 1, Settings::default()),
            under(|it| it.early_data = true, Settings::default()),
            under(|_| (), smaller),
        ];
        assert!(!others.contains(&same));
    }

    #[test]
    fn a_key_file_of_another_size_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("key");
        std::fs::write(&file, [1; 47]).expect("written");
        let error = TicketKey::load(&file).expect_err("too short").to_string();
        assert!(
            error.ends_with(
                "47 bytes, a ticket key has 48; make one with `head -c 48 /dev/urandom`"
            )
        );
        std::fs::write(&file, [1; 48]).expect("written");
        assert_eq!(format!("{:?}", TicketKey::load(&file).expect("a key")), "TicketKey");
    }
}

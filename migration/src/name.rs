//! Names of connections: 96 bits that are derived from TLS sessions.
//!
//! In the design of SMig (Mi, Qian, Wang, 2016, section 4.3), a client chooses names at random: 64 bits for the application and
//! 32 for the connection. An attacker who learns them could name other clients' connections. Here both ends compute both parts
//! from keys that only the two ends of a TLS session have (RFC 8446, 7.5). The first connection of an application provides its
//! key; each further one proves that its client also has that key.

use crate::Error;
use http3::{Role, Settings};
use ring::hmac;

/// The label under which both ends export a [`Secret`] from TLS, without a context.
pub const EXPORTER_LABEL: &str = "EXPORTER-utmost-migration";

/// The settings of the three parts of a name. `http3::Extension` has the table of our codepoints.
const SETTINGS: [u64; 3] = [0x2539_6348, 0x2539_6349, 0x2539_634a];

/// A key that only the two ends of one connection have.
#[derive(Debug, Clone)]
pub struct Secret(hmac::Key);

impl Secret {
    /// From the value that TLS exports under [`EXPORTER_LABEL`], once the handshake is complete.
    pub fn new(exported: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, exported))
    }

    fn tag(&self, purpose: &[u8], about: &[u8]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(purpose);
        context.update(about);
        let mut tag = [0; 32];
        tag.copy_from_slice(context.sign().as_ref());
        tag
    }
}

/// The name of a connection. Names of one application are ordered by their own part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The same for all connections of one client to one server; never 0.
    pub(crate) application: u64,
    /// One connection of the application.
    pub(crate) own: u32,
}

impl Name {
    /// The name of the first connection of an application.
    pub fn first(secret: &Secret) -> Self {
        Self::next(secret, secret)
    }

    /// The name of a connection with this `secret`, after a first one with the secret `first`.
    pub fn next(first: &Secret, secret: &Secret) -> Self {
        let proof = secret.tag(b"member", &[]);
        Self {
            application: u64::from_be_bytes(start(first.tag(b"application", &[]))).max(1),
            own: u32::from_be_bytes(start(first.tag(b"connection", &proof))),
        }
    }

    /// Whether both belong to one application.
    pub(crate) fn is_beside(self, other: Self) -> bool {
        self.application == other.application
    }

    pub(crate) fn from_bytes(bytes: [u8; 12]) -> Option<Self> {
        let (application, own) = bytes.split_at(8);
        let application = u64::from_be_bytes(application.try_into().ok()?);
        let own = u32::from_be_bytes(own.try_into().ok()?);
        (application > 0).then_some(Self { application, own })
    }

    pub(crate) fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.application.to_be_bytes());
        bytes[8..].copy_from_slice(&self.own.to_be_bytes());
        bytes
    }
}

fn start<const N: usize>(tag: [u8; 32]) -> [u8; N] {
    std::array::from_fn(|it| tag[it])
}

/// The settings in which one end offers the extension. It is used if both ends offer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// A server supports the extension: the three settings are 0.
    Understood,
    /// A client supports it, and names the connection.
    Named(Name),
}

impl Offer {
    /// Identifiers and values, to be appended to [`Settings::unknown`].
    pub fn settings(self) -> [(u64, u64); 3] {
        let parts = match self {
            Self::Understood => [0; 3],
            Self::Named(Name { application, own }) => {
                [application >> 32, application & u64::from(u32::MAX), u64::from(own)]
            }
        };
        std::array::from_fn(|it| (SETTINGS[it], parts[it]))
    }

    /// Reads the settings of an end in the role `from`. `None`: it does not support the extension, so nothing of it may be sent.
    pub fn read(settings: &Settings, from: Role) -> Result<Option<Self>, Error> {
        let parts = SETTINGS.map(|wanted| settings.unknown.iter().find(|(it, _)| *it == wanted));
        let parts = match parts.map(|part| part.map(|(_, value)| *value)) {
            [None, None, None] => return Ok(None),
            [Some(high), Some(low), Some(own)] => [high, low, own],
            _ => return Err(Error::Settings),
        };
        let [Ok(high), Ok(low), Ok(own)] = parts.map(u32::try_from) else {
            return Err(Error::Settings);
        };
        let application = u64::from(high) << 32 | u64::from(low);
        match (from, application, own) {
            (Role::Server, 0, 0) => Ok(Some(Self::Understood)),
            (Role::Client, 1.., _) => Ok(Some(Self::Named(Name { application, own }))),
            _ => Err(Error::Settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secret(byte: u8) -> Secret {
        Secret::new(&[byte; 32])
    }

    fn with(unknown: Vec<(u64, u64)>) -> Settings {
        Settings { unknown, ..Settings::default() }
    }

    #[test]
    fn connections_of_one_client_share_the_application_and_nothing_else() {
        let names = [2, 3].map(|it| Name::next(&secret(1), &secret(it)));
        let first = Name::first(&secret(1));
        assert!(names.iter().all(|it| it.is_beside(first) && it.own != first.own));
        assert_ne!(names[0].own, names[1].own);
        assert!(!Name::first(&secret(2)).is_beside(first));
    }

    #[test]
    fn a_name_travels_in_three_settings_of_32_bits() {
        let name = Name { application: 0x0102_0304_0506_0708, own: 0x090a_0b0c };
        let settings = Offer::Named(name).settings();
        assert_eq!(
            settings,
            [(0x2539_6348, 0x0102_0304), (0x2539_6349, 0x0506_0708), (0x2539_634a, 0x090a_0b0c)]
        );
        let read = Offer::read(&with(settings.into()), Role::Client);
        assert_eq!(read, Ok(Some(Offer::Named(name))));
        let server = with(Offer::Understood.settings().into());
        assert_eq!(Offer::read(&server, Role::Server), Ok(Some(Offer::Understood)));
    }

    #[test]
    fn a_peer_without_the_settings_does_not_have_the_extension() {
        assert_eq!(Offer::read(&Settings::default(), Role::Client), Ok(None));
        assert_eq!(Offer::read(&with(vec![(0x21, 7)]), Role::Server), Ok(None));
    }

    #[test]
    fn settings_that_name_no_connection_are_an_error() {
        let full = Offer::Named(Name::first(&secret(1))).settings();
        let too_large = vec![full[0], full[1], (full[2].0, 1 << 32)];
        for (wrong, from) in [
            (full[..2].to_vec(), Role::Client),
            (too_large, Role::Client),
            (full.to_vec(), Role::Server),
            (Offer::Understood.settings().into(), Role::Client),
        ] {
            assert_eq!(Offer::read(&with(wrong), from), Err(Error::Settings));
        }
    }

    proptest! {
        #[test]
        fn any_name_comes_back_from_bytes_and_settings(application in 1u64.., own: u32) {
            let name = Name { application, own };
            prop_assert_eq!(Name::from_bytes(name.to_bytes()), Some(name));
            let settings = with(Offer::Named(name).settings().into());
            prop_assert_eq!(Offer::read(&settings, Role::Client), Ok(Some(Offer::Named(name))));
        }
    }
}

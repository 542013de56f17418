//! `[load_balancer]`: the agreement of this server with its load balancer.

use serde::Deserialize;
use server::LoadBalancer;
use std::path::{Path, PathBuf};

/// The keys of `[load_balancer]`, with their names in QUIC-LB.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileLoadBalancer {
    /// The number of the configuration, from 0 to 6. Default: 0.
    #[serde(default)]
    config_id: u8,
    /// The server's ID: 1 to 7 bytes in hexadecimal, the same length on all servers.
    server_id: String,
    /// A file with the 16-byte key that all servers share.
    key: PathBuf,
}

/// A key with an unusable value, and why.
pub(super) type RouteMistake = (&'static str, String);

impl FileLoadBalancer {
    /// Reads the file with the key; a relative path counts from `folder`.
    pub(super) fn load(&self, folder: &Path) -> Result<LoadBalancer, RouteMistake> {
        let config_id = self.config_id;
        if config_id > LoadBalancer::CONFIG_ID_MAX {
            let most = LoadBalancer::CONFIG_ID_MAX;
            return Err(("config_id", format!("{config_id} must be from 0 to {most}")));
        }
        let server_id = bytes(&self.server_id).ok_or_else(|| {
            let most = LoadBalancer::SERVER_ID_BYTES;
            let cause = format!("\"{}\" must be 1 to {most} bytes in hexadecimal", self.server_id);
            ("server_id", format!("{cause}, such as \"0a1f\""))
        })?;
        let key = read_key(&folder.join(&self.key)).map_err(|cause| ("key", cause))?;
        Ok(LoadBalancer { config_id, server_id, key })
    }
}

fn read_key(path: &Path) -> Result<[u8; LoadBalancer::KEY_BYTES], String> {
    let bytes = named_files::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (path, size, wanted) = (path.display(), bytes.len(), LoadBalancer::KEY_BYTES);
    let make = format!("make one with `head -c {wanted} /dev/urandom`");
    bytes.try_into().map_err(|_| format!("{path}: {size} bytes, a key has {wanted}; {make}"))
}

/// The bytes of a server's ID.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let count = digits.len() / 2;
    let is_whole =
        digits.len().is_multiple_of(2) && digits.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_whole || count == 0 || count > LoadBalancer::SERVER_ID_BYTES {
        return None;
    }
    let number = u64::from_str_radix(digits, 16).ok()?.to_be_bytes();
    Some(number[number.len() - count..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<LoadBalancer, RouteMistake> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes) in [("key", 16), ("short", 15)] {
            std::fs::write(folder.path().join(name), vec![7; bytes]).expect("written");
        }
        let file: FileLoadBalancer = toml::from_str(text).expect("TOML");
        file.load(folder.path())
    }

    #[test]
    fn the_keys_are_those_of_a_load_balancer() {
        let balancer = load("config_id = 2\nserver_id = \"00ed79\"\nkey = \"key\"").expect("good");
        let expected = LoadBalancer { config_id: 2, server_id: vec![0, 0xed, 0x79], key: [7; 16] };
        assert_eq!(balancer, expected);
    }

    #[test]
    fn values_that_cannot_be_used_are_named_with_the_remedy() {
        for (text, key, part) in [
            ("config_id = 7\nserver_id = \"00\"\nkey = \"key\"", "config_id", "from 0 to 6"),
            ("server_id = \"0\"\nkey = \"key\"", "server_id", "1 to 7 bytes"),
            ("server_id = \"+1\"\nkey = \"key\"", "server_id", "1 to 7 bytes"),
            ("server_id = \"0011223344556677\"\nkey = \"key\"", "server_id", "1 to 7 bytes"),
            ("server_id = \"00\"\nkey = \"short\"", "key", "15 bytes, a key has 16"),
            ("server_id = \"00\"\nkey = \"none\"", "key", "No such file"),
        ] {
            let (place, cause) = load(text).expect_err("cannot be used");
            assert_eq!(place, key);
            assert!(cause.contains(part), "{cause}");
        }
    }
}

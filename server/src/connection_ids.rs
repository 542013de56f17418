//! Connection IDs.
//!
//! They are 16 random bytes. If a server has shards or is behind a load balancer, its IDs instead encode where their
//! packets belong, in a form that only the holder of a key can read: QUIC-LB (draft-ietf-quic-load-balancers-21, 5.4.1, a
//! single pass of AES-128). They have 17 bytes.

use boring::symm::{Cipher, Crypter, Mode};
use ring::rand::{SecureRandom, SystemRandom};

const RANDOM_BYTES: usize = 16;

/// Bytes that are encrypted: the server's ID, the number of the shard, and a nonce.
const BLOCK_BYTES: u8 = 16;

/// The agreement between servers and their load balancer.
#[derive(Clone, PartialEq, Eq)]
pub struct LoadBalancer {
    /// The number of the configuration, 0 to 6.
    pub config_id: u8,
    /// The ID of this server: 1 to [`Self::SERVER_ID_BYTES`] bytes, the same number for all servers.
    pub server_id: Vec<u8>,
    /// The key of all servers.
    pub key: [u8; Self::KEY_BYTES],
}

impl LoadBalancer {
    /// Bytes of a key.
    pub const KEY_BYTES: usize = 16;
    /// The maximum number of bytes of a server's ID. The rest is enough for a nonce that does not repeat.
    pub const SERVER_ID_BYTES: usize = 7;
    /// The largest number of a configuration. 7 marks IDs without routing information.
    pub const CONFIG_ID_MAX: u8 = 6;
}

impl std::fmt::Debug for LoadBalancer {
    /// A secret stays out of logs.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { config_id, server_id, .. } = self;
        write!(formatter, "LoadBalancer {{ config_id: {config_id}, server_id: {server_id:02x?} }}")
    }
}

/// Makes the IDs of one server, and reads them.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionIds {
    random: SystemRandom,
    /// The contents of IDs; `None`: random bytes only.
    routing: Option<LoadBalancer>,
}

impl ConnectionIds {
    /// IDs without routing information.
    pub(crate) fn random() -> Self {
        Self { random: SystemRandom::new(), routing: None }
    }

    /// IDs that name a shard, and the server if there is a load balancer. `None`: the system has no randomness.
    pub(crate) fn routed(load_balancer: Option<LoadBalancer>) -> Option<Self> {
        let random = SystemRandom::new();
        let mut key = [0; LoadBalancer::KEY_BYTES];
        random.fill(&mut key).ok()?;
        let alone = LoadBalancer { config_id: 0, server_id: Vec::new(), key };
        Some(Self { random, routing: Some(load_balancer.unwrap_or(alone)) })
    }

    /// The length of each ID, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        if self.routing.is_some() { 1 + usize::from(BLOCK_BYTES) } else { RANDOM_BYTES }
    }

    /// A new ID for a connection of this shard; `None`: the system has no randomness.
    pub(crate) fn new_id(&self, shard: u8) -> Option<Vec<u8>> {
        let mut id = vec![0; RANDOM_BYTES];
        self.random.fill(&mut id).ok()?;
        match &self.routing {
            Some(routing) => routing.name(shard, id),
            None => Some(id),
        }
    }

    /// The shard that an ID names; `None` if the ID is not one of this server's or names none.
    pub(crate) fn shard(&self, id: &[u8]) -> Option<u8> {
        self.routing.as_ref()?.shard(id)
    }
}

impl LoadBalancer {
    /// The ID with a shard's number, and a nonce from `random`.
    fn name(&self, shard: u8, random: Vec<u8>) -> Option<Vec<u8>> {
        let mut block = random;
        let place = self.server_id.len();
        block[..place].copy_from_slice(&self.server_id);
        block[place] = shard;
        let mut id = self.crypt(Mode::Encrypt, &block)?;
        id.insert(0, self.first_byte());
        Some(id)
    }

    fn shard(&self, id: &[u8]) -> Option<u8> {
        let (first, block) = id.split_first()?;
        if *first != self.first_byte() || block.len() != usize::from(BLOCK_BYTES) {
            return None;
        }
        let block = self.crypt(Mode::Decrypt, block)?;
        block.strip_prefix(&self.server_id[..])?.first().copied()
    }

    /// The number of the configuration, and the length of what follows.
    fn first_byte(&self) -> u8 {
        (self.config_id << 5) | BLOCK_BYTES
    }

    fn crypt(&self, mode: Mode, block: &[u8]) -> Option<Vec<u8>> {
        let mut crypter = Crypter::new(Cipher::aes_128_ecb(), mode, &self.key, None).ok()?;
        crypter.pad(false);
        // The library wants room for a second block.
        let mut out = vec![0; 2 * block.len()];
        let bytes = crypter.update(block, &mut out).ok()?;
        out.truncate(bytes);
        (bytes == block.len()).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The vector of QUIC-LB, appendix B.2: configuration 2, server ID `ed793a51d49b8f5f` and nonce `ee080dbf48c0d1e5`. A
    /// single pass encrypts the 16 bytes in the same way wherever the nonce begins: here, after 7 bytes and a shard.
    #[test]
    fn an_id_is_that_of_the_published_vector() {
        let key = 0x8f95_f092_4576_5f80_2569_34e5_0c66_207f_u128.to_be_bytes();
        let server_id = vec![0xed, 0x79, 0x3a, 0x51, 0xd4, 0x9b, 0x8f];
        let balancer = LoadBalancer { config_id: 2, server_id, key };
        let mut random = vec![0; 8];
        random.extend(0xee08_0dbf_48c0_d1e5_u64.to_be_bytes());
        let id = balancer.name(0x5f, random).expect("an ID");
        let (first, block) = id.split_first_chunk::<1>().expect("a byte");
        let block = u128::from_be_bytes(block.try_into().expect("16 bytes"));
        assert_eq!((first[0], block), (0x50, 0x4dd2_d05a_7b0d_e9b2_b990_7afb_5ecf_8cc3));
        assert_eq!(balancer.shard(&id), Some(0x5f));
    }

    #[test]
    fn ids_of_other_servers_name_no_shard() {
        let of = |server_id: &[u8], config_id| {
            let balancer = LoadBalancer { config_id, server_id: server_id.to_vec(), key: [7; 16] };
            ConnectionIds::routed(Some(balancer)).expect("randomness")
        };
        let id = of(b"a", 0).new_id(3).expect("an ID");
        assert_eq!(of(b"a", 0).shard(&id), Some(3));
        assert_eq!(of(b"b", 0).shard(&id), None);
        assert_eq!(of(b"a", 1).shard(&id), None);
        assert_eq!(of(b"a", 0).shard(&id[..16]), None);
        assert_eq!(ConnectionIds::random().shard(&id), None);
    }

    proptest! {
        #[test]
        fn an_id_names_its_shard_and_no_two_are_equal(shard: u8) {
            let ids = ConnectionIds::routed(None).expect("randomness");
            let (id, other) = (ids.new_id(shard), ids.new_id(shard));
            prop_assert_ne!(&id, &other);
            let id = id.expect("an ID");
            prop_assert_eq!(id.len(), ids.bytes());
            prop_assert_eq!(ids.shard(&id), Some(shard));
        }
    }
}

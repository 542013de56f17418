//! Destinations to which the system does not cut one buffer into datagrams.

use crate::limits::UNBATCHED_ADDRESSES;
use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;

/// The addresses whose batches failed. A device on the path to one address may lack what another has, and a party that
/// can choose an address must not slow down the others. When the set is full, the oldest address is tried again.
#[derive(Debug, Default)]
pub(super) struct Unbatched {
    addresses: BTreeSet<IpAddr>,
    oldest_first: VecDeque<IpAddr>,
}

impl Unbatched {
    /// Whether datagrams to `address` must be sent one by one.
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        !self.addresses.is_empty() && self.addresses.contains(&address)
    }

    /// Notes that a batch to `address` failed.
    pub(super) fn insert(&mut self, address: IpAddr) {
        if self.addresses.insert(address) {
            self.oldest_first.push_back(address);
        }
        if self.oldest_first.len() > UNBATCHED_ADDRESSES
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.addresses.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn one_failed_address_leaves_the_others_their_batches() {
        let mut unbatched = Unbatched::default();
        unbatched.insert(address(1));
        unbatched.insert(address(1));
        assert!(unbatched.contains(address(1)));
        assert!(!unbatched.contains(address(2)));
    }

    #[test]
    fn a_full_set_tries_its_oldest_address_again() {
        let mut unbatched = Unbatched::default();
        let count = u32::try_from(UNBATCHED_ADDRESSES).expect("small");
        for number in 0..=count {
            unbatched.insert(address(number));
        }
        assert!(!unbatched.contains(address(0)));
        assert!(unbatched.contains(address(1)) && unbatched.contains(address(count)));
    }
}

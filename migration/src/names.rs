//! The named connections of a server, grouped by application.

use crate::limits::MEMBERS_MAX;
use crate::{Error, Name, Secret};
use std::collections::BTreeMap;

/// The connections of a server by name, for all clients. The owner chooses `K`.
///
/// A connection is added only with proof that its name belongs to its client.
#[derive(Debug)]
pub struct Names<K> {
    applications: BTreeMap<u64, Application<K>>,
}

#[derive(Debug)]
struct Application<K> {
    /// The secret of its first connection, which may have ended.
    first: Secret,
    members: BTreeMap<Name, K>,
}

impl<K> Default for Names<K> {
    fn default() -> Self {
        Self { applications: BTreeMap::new() }
    }
}

impl<K> Names<K> {
    /// Adds a connection, if its name follows from its `secret` and the secret of its application's first
    /// connection. After an error, the owner uses it without the extension; perhaps all others of its application
    /// are over.
    pub fn join(&mut self, name: Name, secret: &Secret, connection: K) -> Result<(), Error> {
        let first = self.applications.get(&name.application).map_or(secret, |it| &it.first);
        if Name::next(first, secret) != name {
            return Err(Error::Forged);
        }
        let application = self
            .applications
            .entry(name.application)
            .or_insert_with(|| Application { first: secret.clone(), members: BTreeMap::new() });
        if application.members.contains_key(&name) {
            return Err(Error::Taken);
        }
        if application.members.len() >= MEMBERS_MAX {
            return Err(Error::Full);
        }
        application.members.insert(name, connection);
        Ok(())
    }

    /// Removes a connection that is over.
    pub fn leave(&mut self, name: Name) {
        let Some(application) = self.applications.get_mut(&name.application) else { return };
        application.members.remove(&name);
        if application.members.is_empty() {
            self.applications.remove(&name.application);
        }
    }

    /// The connection of this name.
    pub fn connection(&self, name: Name) -> Option<&K> {
        self.applications.get(&name.application)?.members.get(&name)
    }

    /// How many more connections the application of `name` may have.
    pub fn room(&self, name: Name) -> usize {
        let members = self.applications.get(&name.application).map_or(0, |it| it.members.len());
        MEMBERS_MAX.saturating_sub(members)
    }

    /// The destination that both ends choose: the smallest name besides `source` whose connection is idle.
    pub fn smallest_idle(&self, source: Name, is_idle: impl Fn(&K) -> bool) -> Option<Name> {
        let members = &self.applications.get(&source.application)?.members;
        let mut others = members.iter().filter(|(name, _)| **name != source);
        others.find(|(_, connection)| is_idle(connection)).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(byte: u8) -> Secret {
        Secret::new(&[byte; 32])
    }

    /// The name of connection `own` of a client whose first connection is `first`.
    fn name(first: u8, own: u8) -> Name {
        Name::next(&secret(first), &secret(own))
    }

    fn joined(first: u8, members: &[u8]) -> Names<u8> {
        let mut names = Names::default();
        for member in members {
            names.join(name(first, *member), &secret(*member), *member).unwrap();
        }
        names
    }

    #[test]
    fn another_client_can_neither_take_a_name_nor_join_an_application() {
        let mut names = joined(1, &[1, 2]);
        let attacker = secret(9);
        assert_eq!(names.join(name(1, 2), &attacker, 9), Err(Error::Forged), "a name it saw");
        assert_eq!(names.join(name(9, 2), &secret(2), 2), Err(Error::Forged), "a key it has not");
        let guessed = Name { application: name(1, 1).application, ..name(9, 9) };
        assert_eq!(names.join(guessed, &attacker, 9), Err(Error::Forged), "its own, inside");
        assert_eq!(names.join(name(9, 9), &attacker, 9), Ok(()), "its own, outside");
        assert_eq!(names.connection(name(1, 2)), Some(&2));
    }

    #[test]
    fn an_application_outlives_its_first_connection() {
        let mut names = joined(1, &[1, 2]);
        names.leave(name(1, 1));
        assert_eq!(names.join(name(1, 3), &secret(3), 3), Ok(()));
        names.leave(name(1, 2));
        names.leave(name(1, 3));
        assert_eq!(names.join(name(1, 4), &secret(4), 4), Err(Error::Forged), "it is gone");
    }

    #[test]
    fn the_smallest_idle_connection_is_picked() {
        let names = joined(1, &[1, 2, 3, 4]);
        let source = name(1, 1);
        let mut others = [2, 3, 4].map(|it| name(1, it));
        others.sort_unstable();
        assert_eq!(names.smallest_idle(source, |_| true), Some(others[0]));
        let busy = *names.connection(others[0]).unwrap();
        assert_eq!(names.smallest_idle(source, |it| *it != busy), Some(others[1]));
        assert_eq!(names.smallest_idle(source, |_| false), None);
        assert_eq!(names.smallest_idle(name(9, 9), |_| true), None, "not of another client");
    }

    #[test]
    fn an_application_has_eight_connections_at_most() {
        let mut names = joined(1, &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(names.join(name(1, 9), &secret(9), 9), Err(Error::Full));
        assert_eq!(names.join(name(1, 8), &secret(8), 8), Err(Error::Taken));
    }
}

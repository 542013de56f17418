//! Files that hold secrets.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Permissions of anyone but the owner.
const OTHERS: u32 = 0o077;

/// The same for a file that belongs to root: only a group gives a service access to it. `PostgreSQL` has the same
/// rule.
const OTHERS_OF_ROOT: u32 = 0o037;

/// A warning if users other than its owner can read a key's file. It is a warning, not an error:
/// container platforms hand out secrets that all users of the container can read.
pub fn open_to_others(key: &Path) -> Option<String> {
    let file = std::fs::metadata(key).ok()?;
    open_at(key, file.mode() & 0o777, file.uid())
}

fn open_at(key: &Path, mode: u32, owner: u32) -> Option<String> {
    let others = if owner == 0 { OTHERS_OF_ROOT } else { OTHERS };
    let path = key.display();
    (mode & others != 0).then(|| {
        format!("{path}: not only its owner can read this key (mode {mode:o}); chmod 600 {path}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_that_others_can_read_is_told_with_the_remedy() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let key = folder.path().join("key.pem");
        write(&key, "key").expect("written");
        for (mode, is_open) in [(0o600, false), (0o400, false), (0o604, true)] {
            set_permissions(&key, Permissions::from_mode(mode)).expect("changed");
            assert_eq!(open_to_others(&key).is_some(), is_open, "{mode:o}");
        }
        let path = key.display();
        let expected =
            format!("{path}: not only its owner can read this key (mode 604); chmod 600 {path}");
        assert_eq!(open_to_others(&key), Some(expected));
        assert_eq!(open_to_others(&folder.path().join("none")), None);
    }

    #[test]
    fn a_group_may_read_a_key_of_roots() {
        let is_open = |mode, owner| open_at(Path::new("key.pem"), mode, owner).is_some();
        let modes = [0o600, 0o640, 0o660, 0o644];
        assert_eq!(modes.map(|it| is_open(it, 0)), [false, false, true, true]);
        assert_eq!(modes.map(|it| is_open(it, 1000)), [false, true, true, true]);
    }
}

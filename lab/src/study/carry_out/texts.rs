//! The texts that the loads of a study share: each is kept once, because a large study has hundreds of thousands of loads.

use crate::study::RunRecord;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Kept texts.
#[derive(Default)]
pub(crate) struct Texts(Mutex<HashSet<Arc<str>>>);

impl Texts {
    /// The same record, whose URLs are kept ones and whose resources take no more room than they need.
    pub(crate) fn shared_by(&self, mut run: RunRecord) -> RunRecord {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in &mut run.resources {
            match kept.get(&resource.url) {
                Some(url) => resource.url = Arc::clone(url),
                None => {
                    kept.insert(Arc::clone(&resource.url));
                }
            }
        }
        run.resources.shrink_to_fit();
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::ResourceTimes;

    #[test]
    fn loads_share_the_urls_of_a_page() {
        let texts = Texts::default();
        let load = || {
            let (url, mut resources) = (Arc::from("/a.css"), Vec::with_capacity(64));
            resources.push(ResourceTimes {
                id: 1,
                url,
                requested_ms: 0.0,
                first_byte_ms: None,
                complete_ms: None,
                bytes: 10,
                pushed: false,
            });
            texts.shared_by(RunRecord { resources, ..RunRecord::default() })
        };
        let [one, other] = [load(), load()];
        assert!(Arc::ptr_eq(&one.resources[0].url, &other.resources[0].url));
        assert_eq!((one.resources.capacity(), &*one.resources[0].url), (1, "/a.css"));
    }
}

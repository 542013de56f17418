//! The resources that a client has from earlier requests: the diary of its connection, and rules about its request.

use std::collections::{HashSet, VecDeque};

/// The paths that were pushed or requested on one connection; the oldest are dropped first.
///
/// Source: Apache's `H2PushDiarySize`, 256 entries by default.
#[derive(Debug, Clone)]
pub struct Diary {
    capacity: usize,
    order: VecDeque<String>,
    known: HashSet<String>,
}

impl Diary {
    /// A diary of at most `capacity` paths.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, order: VecDeque::new(), known: HashSet::new() }
    }

    /// Records a path; false if it was already known.
    pub fn note(&mut self, path: &str) -> bool {
        if self.capacity == 0 || !self.known.insert(path.to_owned()) {
            return self.capacity == 0;
        }
        self.order.push_back(path.to_owned());
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    /// Whether the path is in it.
    pub fn contains(&self, path: &str) -> bool {
        self.known.contains(path)
    }
}

/// When a route pushes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PushWhen {
    /// On each request.
    #[default]
    Always,
    /// On a client's first visit: if the cookie of this name is absent. The response sets it (NGINX's example).
    CookieAbsent(String),
}

impl PushWhen {
    /// Whether to push with a request that has this `Cookie` field.
    pub fn allows(&self, cookie_field: Option<&str>) -> bool {
        match self {
            Self::Always => true,
            Self::CookieAbsent(name) => {
                let names = cookie_field
                    .unwrap_or_default()
                    .split(';')
                    .map(|it| it.split('=').next().unwrap_or_default());
                !names.map(str::trim).any(|it| it == name)
            }
        }
    }

    /// The `Set-Cookie` field of a response with pushes.
    pub fn set_cookie(&self) -> Option<String> {
        match self {
            Self::Always => None,
            Self::CookieAbsent(name) => {
                Some(format!("{name}=1; Path=/; Secure; HttpOnly; SameSite=Lax"))
            }
        }
    }
}

/// Whether a client revalidates its copy of the page, which implies that it also has the page's resources (*Rules of
/// Thumb*, rule 3).
pub fn revisits(if_none_match: Option<&str>, if_modified_since: Option<&str>) -> bool {
    if_none_match.is_some() || if_modified_since.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diary_forgets_the_oldest() {
        let mut diary = Diary::new(2);
        assert_eq!(
            ["/a", "/b", "/a", "/c"].map(|path| diary.note(path)),
            [true, true, false, true]
        );
        assert_eq!(["/a", "/b", "/c"].map(|path| diary.contains(path)), [false, true, true]);
    }

    #[test]
    fn a_diary_without_room_knows_nothing() {
        let mut diary = Diary::new(0);
        assert!(diary.note("/a") && diary.note("/a") && !diary.contains("/a"));
    }

    #[test]
    fn the_second_visit_is_not_pushed_to() {
        let first = PushWhen::CookieAbsent("session".into());
        let rows = [
            (None, true),
            (Some("a=b"), true),
            (Some("a=b; session=1"), false),
            (Some("xsession=1"), true),
        ];
        for (cookies, expected) in rows {
            assert_eq!(first.allows(cookies), expected, "{cookies:?}");
        }
        assert_eq!(
            first.set_cookie().as_deref(),
            Some("session=1; Path=/; Secure; HttpOnly; SameSite=Lax")
        );
    }

    #[test]
    fn a_conditional_request_is_a_revisit() {
        assert!(revisits(Some("\"1\""), None) && !revisits(None, None));
    }
}

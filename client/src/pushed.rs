//! The push cache of one connection: the server's promises, and their fate.
//!
//! It follows the rules that browsers had (NGINX, *Introducing HTTP/2 Server Push*): the HTTP cache has precedence, an entry is used
//! once, and it ends with its connection. Useless promises are rejected: for a resource that the page does not need, has already
//! requested, or has cached.

use http3::{Header, PushId, StreamId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Push {
    url: Option<String>,
    stream: Option<StreamId>,
    refused: bool,
    fields: Vec<Header>,
    /// Names of the request's fields that the response varies on.
    vary: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct PushCache {
    pushes: BTreeMap<PushId, Push>,
    by_url: BTreeMap<String, PushId>,
    used: BTreeSet<String>,
    refused: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its response will serve the resource. The stream, if it arrived before the promise.
    Keep(Option<StreamId>),
    Known,
    /// The push is cancelled, and its stream, if open, must be stopped.
    Refuse(Option<StreamId>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promised {
    /// The method is safe and has no body (RFC 9114, 4.6).
    pub(crate) is_safe: bool,
    pub(crate) authority: String,
    pub(crate) path: String,
    /// The entity tag that the promised response has.
    pub(crate) if_match: Option<String>,
    /// The entity tag of the copy that it validates.
    pub(crate) if_none_match: Option<String>,
    pub(crate) fields: Vec<Header>,
}

impl Promised {
    pub(crate) fn of(headers: &[Header]) -> Self {
        let has_body = http3::values(headers, "content-length").any(|it| it != b"0");
        let method = text(headers, ":method").unwrap_or_default();
        Self {
            is_safe: matches!(method.as_str(), "GET" | "HEAD") && !has_body,
            authority: text(headers, ":authority").unwrap_or_default(),
            path: text(headers, ":path").unwrap_or_default(),
            if_match: text(headers, "if-match"),
            if_none_match: text(headers, "if-none-match"),
            fields: headers.to_vec(),
        }
    }
}

/// The first value of a field; `None` if the field is missing or empty.
fn text(headers: &[Header], name: &str) -> Option<String> {
    let value = http3::values(headers, name).next()?;
    Some(String::from_utf8_lossy(value).into_owned()).filter(|it| !it.is_empty())
}

impl PushCache {
    /// The server promises `push` for `url`, in answer to a request with these fields. `None`: the promise is useless.
    pub(crate) fn promise(
        &mut self,
        push: PushId,
        url: Option<&str>,
        fields: Vec<Header>,
    ) -> Verdict {
        let entry = self.pushes.entry(push).or_default();
        if entry.refused || entry.url.is_some() {
            return Verdict::Known;
        }
        let Some(url) = url.filter(|url| !self.by_url.contains_key(*url)) else {
            entry.refused = true;
            self.refused += 1;
            return Verdict::Refuse(entry.stream);
        };
        entry.url = Some(url.to_owned());
        entry.fields = fields;
        self.by_url.insert(url.to_owned(), push);
        Verdict::Keep(entry.stream)
    }

    /// The stream of a push arrived: returns its URL, if it was promised. Fails if the push was rejected.
    pub(crate) fn stream(
        &mut self,
        push: PushId,
        stream: StreamId,
    ) -> Result<Option<&str>, Refused> {
        let entry = self.pushes.entry(push).or_default();
        entry.stream = Some(stream);
        if entry.refused { Err(Refused) } else { Ok(entry.url.as_deref()) }
    }

    pub(crate) fn on_head(&mut self, push: PushId, headers: &[Header]) {
        let lines = http3::values(headers, "vary").map(String::from_utf8_lossy);
        let names = lines.flat_map(|it| {
            it.split(',').map(|name| name.trim().to_lowercase()).collect::<Vec<_>>()
        });
        // The last head counts; a server may send any number.
        self.pushes.entry(push).or_default().vary = names.filter(|it| !it.is_empty()).collect();
    }

    /// Whether a pushed response also answers a request with these fields: it does not vary on a field in which the promise differs
    /// (RFC 9111, 4.1).
    pub(crate) fn answers(&self, push: PushId, own: &[Header]) -> bool {
        self.pushes.get(&push).is_none_or(|Push { fields, vary, .. }| {
            let is_same = |name: &str| http3::values(fields, name).eq(http3::values(own, name));
            vary.iter().all(|name| name != "*" && is_same(name))
        })
    }

    /// A promise that was kept has become useless.
    pub(crate) fn refuse(&mut self, push: PushId) {
        self.pushes.entry(push).or_default().refused = true;
        self.refused += 1;
    }

    /// The page needs the resource. Returns `true` if a promise, now used up, replaces the request.
    pub(crate) fn take(&mut self, url: &str) -> bool {
        self.by_url.contains_key(url) && self.used.insert(url.to_owned())
    }

    /// The server abandoned a push: returns the URL that must be requested after all.
    pub(crate) fn lost(&mut self, push: PushId) -> Option<String> {
        let url = self.pushes.get(&push)?.url.clone()?;
        self.by_url.remove(&url);
        self.used.remove(&url).then_some(url)
    }

    /// The client navigates to another page: drops used entries, and pushes without a stored stream. Returns the streams of the other
    /// entries.
    pub(crate) fn forget_used(
        &mut self,
        is_kept: impl Fn(StreamId) -> bool,
    ) -> Vec<(String, StreamId)> {
        let used = std::mem::take(&mut self.used);
        let pushes = &self.pushes;
        self.by_url.retain(|url, push| {
            let stream = pushes.get(push).and_then(|it| it.stream);
            !used.contains(url) && stream.is_none_or(&is_kept)
        });
        let left = self.by_url.iter();
        left.filter_map(|(url, push)| Some((url.clone(), pushes.get(push)?.stream?))).collect()
    }

    pub(crate) fn on_stream(&self, stream: StreamId) -> Option<PushId> {
        self.pushes.iter().find(|(_, it)| it.stream == Some(stream)).map(|(push, _)| *push)
    }

    /// The first push ID that has not been seen.
    pub(crate) fn end(&self) -> u64 {
        self.pushes.last_key_value().map_or(0, |(PushId(push), _)| push + 1)
    }

    /// The URL that a push delivers, and whether the page has needed it. `None`: no push delivers it.
    pub(crate) fn brings(&self, url: &str) -> Option<bool> {
        self.by_url.contains_key(url).then(|| self.used.contains(url))
    }

    /// The number of promises rejected since the last call.
    pub(crate) fn take_refused(&mut self) -> usize {
        std::mem::take(&mut self.refused)
    }
}

/// The push was refused before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: StreamId = StreamId(15);

    #[test]
    fn an_entry_is_used_once() {
        let mut cache = PushCache::default();
        assert_eq!(cache.promise(PushId(0), Some("/7"), Vec::new()), Verdict::Keep(None));
        assert_eq!([cache.take("/7"), cache.take("/7"), cache.take("/8")], [true, false, false]);
    }

    #[test]
    fn an_entry_that_no_page_used_is_there_for_the_next_page_and_a_used_one_is_not() {
        let mut cache = PushCache::default();
        for (push, url) in [(0, "/7"), (1, "/8")] {
            cache.promise(PushId(push), Some(url), Vec::new());
            assert_eq!(cache.stream(PushId(push), StreamId(15 + 4 * push)), Ok(Some(url)));
        }
        assert!(cache.take("/7"));
        assert_eq!(cache.forget_used(|_| true), [("/8".to_owned(), StreamId(19))]);
        assert_eq!([cache.take("/7"), cache.take("/8"), cache.take("/8")], [false, true, false]);
        assert_eq!(
            cache.promise(PushId(2), Some("/7"), Vec::new()),
            Verdict::Keep(None),
            "it may come again"
        );
        cache.promise(PushId(3), Some("/9"), Vec::new());
        assert_eq!(cache.stream(PushId(3), StreamId(27)), Ok(Some("/9")));
        assert_eq!(cache.forget_used(|it| it != StreamId(27)), []);
        assert_eq!(["/7", "/9"].map(|it| cache.take(it)), [true, false], "its bytes are gone");
    }

    #[test]
    fn a_stream_that_comes_before_its_promise_waits_for_it() {
        let mut cache = PushCache::default();
        assert_eq!(cache.stream(PushId(0), STREAM), Ok(None));
        assert_eq!(cache.promise(PushId(0), Some("/7"), Vec::new()), Verdict::Keep(Some(STREAM)));
    }

    #[test]
    fn a_useless_promise_is_refused_and_so_is_its_stream() {
        let mut cache = PushCache::default();
        assert_eq!(cache.promise(PushId(0), None, Vec::new()), Verdict::Refuse(None));
        assert_eq!(cache.stream(PushId(0), STREAM), Err(Refused));
        assert_eq!(cache.stream(PushId(1), StreamId(19)), Ok(None));
        assert_eq!(cache.promise(PushId(1), None, Vec::new()), Verdict::Refuse(Some(StreamId(19))));
        assert_eq!([cache.take_refused(), cache.take_refused()], [2, 0]);
    }

    #[test]
    fn a_resource_is_promised_once() {
        let mut cache = PushCache::default();
        assert_eq!(cache.promise(PushId(0), Some("/7"), Vec::new()), Verdict::Keep(None));
        assert_eq!(cache.promise(PushId(0), Some("/7"), Vec::new()), Verdict::Known);
        assert_eq!(cache.promise(PushId(1), Some("/7"), Vec::new()), Verdict::Refuse(None));
    }

    #[test]
    fn a_push_given_up_is_requested_only_if_the_page_waits_for_it() {
        let mut cache = PushCache::default();
        cache.promise(PushId(0), Some("/7"), Vec::new());
        cache.promise(PushId(1), Some("/8"), Vec::new());
        cache.take("/7");
        assert_eq!((cache.lost(PushId(0)), cache.lost(PushId(1))), (Some("/7".to_owned()), None));
        assert!(!cache.take("/8"), "it is requested when it is needed");
    }

    #[test]
    fn a_push_answers_only_requests_that_agree_in_what_its_response_varies_on() {
        let header = |name: &str, value: &str| Header::new(name.as_bytes(), value.as_bytes());
        let answers = |vary: &str, own: &[Header]| {
            let mut cache = PushCache::default();
            cache.promise(PushId(0), Some("/7"), vec![header("cookie", "a=1")]);
            cache.on_head(PushId(0), &[header("vary", vary)]);
            cache.answers(PushId(0), own)
        };
        let [same, other] = ["a=1", "a=2"].map(|it| vec![header("cookie", it)]);
        assert!(answers("Cookie", &same) && !answers("Cookie", &other) && !answers("cookie", &[]));
        assert!(answers("accept-language", &other), "neither has it");
        assert!(answers("", &other) && !answers("accept-language, *", &same));
        assert!(!answers("accept-language, cookie", &other));
    }

    #[test]
    fn only_get_and_head_without_a_body_are_safe() {
        let promised = |text: &str| {
            let fields = text.split(' ').filter_map(|it| it.split_once('='));
            let headers: Vec<Header> = fields
                .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
                .collect();
            Promised::of(&headers).is_safe
        };
        assert!(promised(":method=GET :path=/a"));
        assert!(!promised(":method=POST :path=/a"));
        assert!(!promised(":method=GET content-length=3"));
    }
}

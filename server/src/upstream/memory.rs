//! What a backend answered last, for promises and hints that cannot wait for its next answer.

use crate::pushes::may_be_sent;
use crate::site::{Foreseen, Request, Response};
use std::collections::{BTreeMap, VecDeque};

/// Resources that are remembered; the oldest are forgotten first.
const RESOURCES: usize = 4096;
/// What is longer is not remembered.
const KEY_BYTES: usize = 2048;
const FIELD_BYTES: usize = 4096;

/// By host and path.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What a client's request was answered with.
    known: Answers,
    /// What a promised request was answered with that must not be sent for one, whatever clients' own get.
    refused: Answers,
}

/// The latest.
#[derive(Debug, Default)]
struct Answers {
    known: BTreeMap<String, Foreseen>,
    order: VecDeque<String>,
}

impl Memory {
    /// The response to a request has come.
    pub(super) fn note(&mut self, request: &Request, response: &Response) {
        // A 304 says nothing new.
        if request.method != "GET" || response.status == 304 {
            return;
        }
        let foreseen = Foreseen::of(response);
        // That the backend is in trouble says nothing of the resource.
        if request.pushed && response.status < 500 && !may_be_sent(request, response) {
            self.refused.note(key(request), foreseen.clone().shortened());
        }
        self.known.note(key(request), foreseen);
    }

    /// What the response to a request was last. That of a promise that was taken back stays so.
    pub(super) fn recall(&self, request: &Request) -> Option<Foreseen> {
        let key = key(request);
        let refused = self.refused.known.get(&key).filter(|_| request.pushed);
        refused.or_else(|| self.known.known.get(&key)).cloned()
    }
}

impl Answers {
    fn note(&mut self, key: String, foreseen: Foreseen) {
        if key.len() > KEY_BYTES || foreseen.text_bytes() > FIELD_BYTES {
            return;
        }
        if self.known.insert(key.clone(), foreseen).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > RESOURCES
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

impl Foreseen {
    /// Without what may be long and is of no use for what is not promised: a long `Vary` field counts as one that
    /// varies on everything.
    fn shortened(self) -> Self {
        let vary = if self.vary.len() > FIELD_BYTES { "*".to_owned() } else { self.vary };
        Self { vary, etag: None, links: Vec::new(), ..self }
    }
}

fn key(request: &Request) -> String {
    format!("{}{}", request.authority, request.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str) -> Request {
        let fields = [(":method", "GET"), (":authority", "a"), (":path", path)];
        let header =
            |(name, value): (&str, &str)| http3::Header::new(name.as_bytes(), value.as_bytes());
        Request::from_headers(&fields.map(header))
    }

    fn response(fields: &[(&'static str, &str)]) -> Response {
        let headers = fields.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Response { headers: headers.collect(), ..Response::error(200) }
    }

    #[test]
    fn the_last_answer_counts() {
        let mut memory = Memory::default();
        assert_eq!(memory.recall(&request("/a")), None);
        memory.note(&request("/a"), &response(&[("vary", "Cookie"), ("etag", "\"1\"")]));
        memory.note(&request("/a"), &Response::error(304));
        let known = memory.recall(&request("/a")).expect("noted");
        assert_eq!((known.status, known.vary.as_str()), (200, "Cookie"));
        assert_eq!(known.etag.as_deref(), Some("\"1\""));
        assert_eq!(memory.recall(&request("/b")), None);
    }

    #[test]
    fn a_promise_that_was_taken_back_stays_so_whatever_clients_get() {
        let mut memory = Memory::default();
        let promised = Request { pushed: true, ..request("/a") };
        let status =
            |memory: &Memory, request: &Request| memory.recall(request).map(|it| it.status);
        memory.note(&promised, &Response::error(404));
        memory.note(&request("/a"), &response(&[]));
        assert_eq!(status(&memory, &promised), Some(404));
        assert_eq!(status(&memory, &request("/a")), Some(200));
        let varied = Request { pushed: true, ..request("/b") };
        memory.note(&varied, &response(&[("vary", &"x, ".repeat(FIELD_BYTES))]));
        memory.note(&request("/b"), &response(&[]));
        assert_eq!(memory.recall(&varied).map(|it| it.vary), Some("*".to_owned()));
        let troubled = Request { pushed: true, ..request("/c") };
        memory.note(&troubled, &Response::error(502));
        assert_eq!(status(&memory, &troubled), Some(502));
        memory.note(&request("/c"), &response(&[]));
        assert_eq!(status(&memory, &troubled), Some(200));
    }

    #[test]
    fn memory_is_bounded() {
        let mut memory = Memory::default();
        (0..2 * RESOURCES).for_each(|it| memory.note(&request(&format!("/{it}")), &response(&[])));
        memory.note(&request("/long"), &response(&[("link", &"x".repeat(FIELD_BYTES + 1))]));
        memory.note(&request(&"/x".repeat(KEY_BYTES)), &response(&[]));
        let Answers { known, order } = &memory.known;
        assert_eq!((known.len(), order.len()), (RESOURCES, RESOURCES));
        assert_eq!(memory.recall(&request("/long")), None);
    }
}

//! What a backend answered last, for promises and hints that cannot wait for its next answer.

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
    known: BTreeMap<String, Foreseen>,
    order: VecDeque<String>,
}

impl Memory {
    /// The response to a request has come.
    pub(super) fn note(&mut self, request: &Request, response: &Response) {
        let key = key(request);
        let foreseen = Foreseen::of(response);
        let fits = key.len() <= KEY_BYTES && foreseen.text_bytes() <= FIELD_BYTES;
        // A 304 says nothing new.
        if request.method != "GET" || response.status == 304 || !fits {
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

    /// What the response to a request was last.
    pub(super) fn recall(&self, request: &Request) -> Option<Foreseen> {
        self.known.get(&key(request)).cloned()
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
    fn memory_is_bounded() {
        let mut memory = Memory::default();
        (0..2 * RESOURCES).for_each(|it| memory.note(&request(&format!("/{it}")), &response(&[])));
        memory.note(&request("/long"), &response(&[("link", &"x".repeat(FIELD_BYTES + 1))]));
        memory.note(&request(&"/x".repeat(KEY_BYTES)), &response(&[]));
        assert_eq!((memory.known.len(), memory.order.len()), (RESOURCES, RESOURCES));
        assert_eq!(memory.recall(&request("/long")), None);
    }
}

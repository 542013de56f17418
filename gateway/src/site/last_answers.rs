//! The last answers of remote sources, for promises and hints that cannot wait for the next answer.

use crate::limits::{REMEMBERED_FIELD_BYTES, REMEMBERED_KEY_BYTES, REMEMBERED_RESOURCES};
use server::site::{Foreseen, Request, Response, may_be_sent};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Default)]
pub(super) struct LastAnswers {
    known: Answers,
    /// Answers to promised requests that must not be pushed, whatever clients' own requests get.
    refused: Answers,
}

/// The last answers; the oldest resources are dropped first.
#[derive(Debug, Default)]
struct Answers {
    known: BTreeMap<String, Foreseen>,
    order: VecDeque<String>,
}

impl LastAnswers {
    pub(super) fn note(&mut self, request: &Request, response: &Response) {
        if request.method != "GET" {
            return;
        }
        let mut foreseen = Foreseen::of(response);
        // One client's links never reach another client.
        let is_learned =
            foreseen.said().is_for_everyone() && request.field("authorization").is_none();
        // A 304 does not describe any other response.
        if response.status == 304 {
            if !is_learned {
                self.known.forget_links(&key(request));
            }
            return;
        }
        if response.status != 200 || !is_learned {
            foreseen.links.clear();
        }
        // A backend's error does not describe the resource.
        if request.pushed && response.status < 500 && !may_be_sent(request, response) {
            self.refused.note(key(request), shortened(foreseen.clone()));
        }
        self.known.note(key(request), foreseen);
    }

    /// The last answer to a request. A pushed request whose promise was cancelled keeps the answer that it got then.
    pub(super) fn recall(&self, request: &Request) -> Option<Foreseen> {
        let key = key(request);
        let refused = self.refused.known.get(&key).filter(|_| request.pushed);
        refused.or_else(|| self.known.known.get(&key)).cloned()
    }
}

impl Answers {
    fn forget_links(&mut self, key: &str) {
        if let Some(known) = self.known.get_mut(key) {
            known.links.clear();
        }
    }

    /// Stores an answer, unless it is too long.
    fn note(&mut self, key: String, foreseen: Foreseen) {
        if key.len() > REMEMBERED_KEY_BYTES || text_bytes(&foreseen) > REMEMBERED_FIELD_BYTES {
            return;
        }
        if self.known.insert(key.clone(), foreseen).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED_RESOURCES
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

fn text_bytes(known: &Foreseen) -> usize {
    let fields = [&known.etag, &known.cache_control].into_iter().flatten().map(String::len);
    let links = known.links.iter().map(String::len);
    known.vary.len() + fields.sum::<usize>() + links.sum::<usize>()
}

/// Removes the fields that only a promise needs. Long `Vary` and `Cache-Control` fields count as varying on
/// everything.
fn shortened(known: Foreseen) -> Foreseen {
    let short = Foreseen { etag: None, links: Vec::new(), ..known };
    if text_bytes(&short) <= REMEMBERED_FIELD_BYTES {
        return short;
    }
    Foreseen { vary: "*".to_owned(), cache_control: None, ..short }
}

fn key(request: &Request) -> String {
    format!("{}{}", request.authority, request.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::site::fields::fields;

    fn request(path: &str) -> Request {
        Request::get("a", path)
    }

    fn response(lines: &[(&'static str, &str)]) -> Response {
        let headers = fields(lines.iter().copied());
        Response { headers, ..Response::empty(200) }
    }

    #[test]
    fn the_last_answer_counts() {
        let mut answers = LastAnswers::default();
        assert_eq!(answers.recall(&request("/a")), None);
        answers.note(&request("/a"), &response(&[("vary", "Cookie"), ("etag", "\"1\"")]));
        answers.note(&request("/a"), &Response::empty(304));
        let known = answers.recall(&request("/a")).expect("noted");
        assert_eq!((known.status, known.vary.as_str()), (200, "Cookie"));
        assert_eq!(known.etag.as_deref(), Some("\"1\""));
        assert_eq!(answers.recall(&request("/b")), None);
    }

    #[test]
    fn a_promise_that_was_taken_back_stays_so_whatever_clients_get() {
        let mut answers = LastAnswers::default();
        let promised = Request { pushed: true, ..request("/a") };
        let status =
            |answers: &LastAnswers, request: &Request| answers.recall(request).map(|it| it.status);
        answers.note(&promised, &Response::empty(404));
        answers.note(&request("/a"), &response(&[]));
        assert_eq!(status(&answers, &promised), Some(404));
        assert_eq!(status(&answers, &request("/a")), Some(200));
        let varied = Request { pushed: true, ..request("/b") };
        answers.note(&varied, &response(&[("vary", &"x, ".repeat(REMEMBERED_FIELD_BYTES))]));
        answers.note(&request("/b"), &response(&[]));
        assert_eq!(answers.recall(&varied).map(|it| it.vary), Some("*".to_owned()));
        let troubled = Request { pushed: true, ..request("/c") };
        answers.note(&troubled, &Response::empty(502));
        assert_eq!(status(&answers, &troubled), Some(502));
        answers.note(&request("/c"), &response(&[]));
        assert_eq!(status(&answers, &troubled), Some(200));
    }

    #[test]
    fn links_are_learned_from_what_everyone_gets_and_forgotten_with_what_is_one_clients() {
        let link = ("link", "</a.css>; rel=preload");
        let plain = response(&[link, ("vary", "Accept-Encoding")]);
        let with = |fields: &[(&'static str, &str)]| response(&[&[link], fields].concat());
        let not_modified = |response: Response| Response { status: 304, ..response };
        for (then, links) in [
            (with(&[]), 1),
            (with(&[("cache-control", "private, no-store")]), 0),
            (with(&[("set-cookie", "u=alice")]), 0),
            (with(&[("vary", "Cookie")]), 0),
            (Response { status: 500, ..with(&[]) }, 0),
            (not_modified(response(&[])), 1),
            (not_modified(response(&[("cache-control", "private")])), 0),
        ] {
            let mut answers = LastAnswers::default();
            answers.note(&request("/a"), &plain);
            let said = format!("{} {:?}", then.status, then.headers);
            answers.note(&request("/a"), &then);
            let known = answers.recall(&request("/a")).expect("noted");
            assert_eq!(known.links.len(), links, "{said}");
        }
        let mut answers = LastAnswers::default();
        let fields = fields([("authorization", "Basic x")]);
        let authorized = Request { fields, ..request("/a") };
        answers.note(&authorized, &plain);
        assert_eq!(answers.recall(&request("/a")).map(|it| it.links.len()), Some(0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut answers = LastAnswers::default();
        (0..2 * REMEMBERED_RESOURCES)
            .for_each(|it| answers.note(&request(&format!("/{it}")), &response(&[])));
        answers.note(
            &request("/long"),
            &response(&[("link", &"x".repeat(REMEMBERED_FIELD_BYTES + 1))]),
        );
        answers.note(&request(&"/x".repeat(REMEMBERED_KEY_BYTES)), &response(&[]));
        let Answers { known, order } = &answers.known;
        assert_eq!((known.len(), order.len()), (REMEMBERED_RESOURCES, REMEMBERED_RESOURCES));
        assert_eq!(answers.recall(&request("/long")), None);
    }
}

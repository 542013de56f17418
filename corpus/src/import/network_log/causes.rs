//! Turns the initiator of each request in the log into a trigger.

use crate::import::derive::delay_ms;
use crate::page::{Event, PageResource, Trigger};
use captures::{Fetch, Initiator};
use schedulers::Kind;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const NOTE: &str = "causes: a Referer that names a stylesheet outweighs the initiator; of a script's call stack the \
     script that arrived last is the cause and the others are needed; a font or image that the parser \
     is said to have asked for outside the document's text waits for all stylesheets; a font without \
     initiator waits for the latest stylesheet, and what a script or the browser asked for after the \
     load event waits for that event; a delay is the recorded time since the cause, or 0";

/// Sets all triggers except byte offsets and delays after executions. Returns the number of resources
/// without a known initiator.
pub(super) fn set_causes(
    resources: &mut [PageResource],
    requests: &[Fetch],
    redirects: &BTreeMap<String, String>,
    load_ms: Option<f64>,
) -> usize {
    let causes = Causes {
        requests,
        kinds: resources.iter().map(|it| it.kind).collect(),
        ids: requests.iter().enumerate().map(|(id, it)| (it.url.as_str(), id)).collect(),
        redirects,
        load_ms,
        shared_places: shared_places(requests),
    };
    let mut unexplained = 0;
    for (id, it) in resources.iter_mut().enumerate().skip(1) {
        it.trigger = causes.cause(id).unwrap_or_else(|| {
            unexplained += 1;
            causes.after_all(id)
        });
    }
    unexplained
}

struct Causes<'a> {
    requests: &'a [Fetch],
    kinds: Vec<Kind>,
    ids: BTreeMap<&'a str, usize>,
    redirects: &'a BTreeMap<String, String>,
    load_ms: Option<f64>,
    /// Requests whose place in the document belongs to an earlier request: the parser stood there
    /// when a style was computed.
    shared_places: BTreeSet<usize>,
}

impl Causes<'_> {
    fn cause(&self, id: usize) -> Option<Trigger> {
        let request = &self.requests[id];
        if let Some(sheet) = self.before(&request.referer, id, &[Kind::Css]) {
            return Some(self.of_stylesheet(sheet, id));
        }
        let named: Vec<usize> =
            request.initiator_urls.iter().filter_map(|url| self.resolve(url, id)).collect();
        match request.initiator {
            Initiator::Script => self.of_scripts(&named, id),
            Initiator::Parser => self.of_parser(*named.first()?, id),
            Initiator::Browser if request.preload => Some(in_document(0)),
            Initiator::Browser => None,
            Initiator::Unknown => Some(self.guess(named.first().copied(), id)),
        }
    }

    /// A trigger after the scripts of the call stack; all had arrived, and the last one to arrive
    /// made the call.
    fn of_scripts(&self, named: &[usize], id: usize) -> Option<Trigger> {
        let scripts: BTreeSet<usize> =
            named.iter().copied().filter(|&it| self.kinds[it] == Kind::Js).collect();
        let Some(of) = self.latest(scripts.iter().copied()) else {
            return self.of_inline_script(*named.first()?, id);
        };
        if let Some(after_load_ms) = self.after_load_ms(id) {
            let needs = scripts.into_iter().collect();
            return Some(Trigger { needs, delay_ms: after_load_ms, ..plain(Event::Load, 0) });
        }
        let needs = scripts.into_iter().filter(|&it| it != of).collect();
        Some(Trigger { needs, ..plain(Event::Exec, of) })
    }

    /// A trigger after a script in a document's text, which runs when the parser has reached it or
    /// later.
    fn of_inline_script(&self, of: usize, id: usize) -> Option<Trigger> {
        if self.after_load_ms(id).is_some() {
            return Some(self.after_all(id));
        }
        match self.kinds[of] {
            Kind::Html => {
                Some(Trigger { delay_ms: self.since_arrival_ms(of, id), ..in_document(of) })
            }
            _ => self.of_parser(of, id),
        }
    }

    fn of_parser(&self, of: usize, id: usize) -> Option<Trigger> {
        let styled = matches!(self.kinds[id], Kind::Font | Kind::Image);
        let outside = self.requests[id].outside_text
            || self.shared_places.contains(&id)
            || self.requests[id].place.is_none() && self.places_are_recorded();
        match self.kinds[of] {
            Kind::Css => Some(self.of_stylesheet(of, id)),
            Kind::Js => self.of_scripts(&[of], id),
            Kind::Html if self.after_load_ms(id).is_some() => Some(self.after_all(id)),
            Kind::Html if of == 0 && styled && outside => Some(plain(Event::StyleApplied, 0)),
            Kind::Html => Some(in_document(of)),
            _ => None,
        }
    }

    fn of_stylesheet(&self, of: usize, id: usize) -> Trigger {
        if self.kinds[id] == Kind::Css {
            let delay_ms = self.since_arrival_ms(of, id);
            return Trigger { delay_ms, ..plain(Event::CssImport, of) };
        }
        plain(Event::CssApplied, of)
    }

    /// Guesses from the kind of the initiator, because the recording does not separate parser from
    /// script.
    fn guess(&self, named: Option<usize>, id: usize) -> Trigger {
        let frame = self.before(&self.requests[id].referer, id, &[Kind::Html]);
        let of = named.filter(|&it| it != 0).or(frame).unwrap_or(0);
        let guessed = match self.kinds[id] {
            Kind::Font if self.kinds[of] == Kind::Html => {
                self.latest_of(Kind::Css, id).map(|sheet| plain(Event::CssApplied, sheet))
            }
            Kind::Xhr if self.kinds[of] == Kind::Html => {
                let script = self.latest_of(Kind::Js, id);
                script.and_then(|script| self.of_scripts(&[script], id))
            }
            _ => None,
        };
        guessed.or_else(|| self.of_parser(of, id)).unwrap_or_else(|| self.after_all(id))
    }

    fn latest_of(&self, kind: Kind, id: usize) -> Option<usize> {
        let asked_ms = self.requests[id].requested_ms;
        let of_kind = (0..id).filter(|&it| self.kinds[it] == kind);
        self.latest(of_kind.filter(|&it| self.arrived_ms(it) <= asked_ms))
    }

    /// A trigger after the load event if it came before, otherwise after the document.
    fn after_all(&self, id: usize) -> Trigger {
        if let Some(delay_ms) = self.after_load_ms(id) {
            return Trigger { delay_ms, ..plain(Event::Load, 0) };
        }
        Trigger { delay_ms: self.since_arrival_ms(0, id), ..plain(Event::Complete, 0) }
    }

    /// Milliseconds since the load event, for a request after it.
    fn after_load_ms(&self, id: usize) -> Option<f64> {
        let asked_ms = self.requests[id].requested_ms;
        self.load_ms.filter(|&it| it <= asked_ms).map(|it| delay_ms(it, asked_ms))
    }

    fn arrived_ms(&self, id: usize) -> f64 {
        self.requests[id].finished_ms.unwrap_or(self.requests[id].requested_ms)
    }

    fn since_arrival_ms(&self, of: usize, id: usize) -> f64 {
        delay_ms(self.arrived_ms(of), self.requests[id].requested_ms)
    }

    fn latest(&self, ids: impl Iterator<Item = usize>) -> Option<usize> {
        ids.max_by(|&a, &b| self.arrived_ms(a).total_cmp(&self.arrived_ms(b)))
    }

    fn places_are_recorded(&self) -> bool {
        self.requests.iter().any(|it| it.place.is_some())
    }

    fn before(&self, url: &str, id: usize, kinds: &[Kind]) -> Option<usize> {
        self.resolve(url, id).filter(|&it| kinds.contains(&self.kinds[it]))
    }

    /// The resource of this URL, after any redirects, if it was requested before `id`.
    fn resolve(&self, url: &str, id: usize) -> Option<usize> {
        let mut url = url.split('#').next().unwrap_or_default();
        for _ in 0..20 {
            if let Some(&found) = self.ids.get(url) {
                return Some(found).filter(|&it| it < id);
            }
            url = self.redirects.get(url)?;
        }
        None
    }
}

/// A trigger in a document's text; the byte is set later.
fn in_document(of: usize) -> Trigger {
    Trigger { byte: Some(0), ..plain(Event::Bytes, of) }
}

fn plain(on: Event, of: usize) -> Trigger {
    Trigger { on, of, ..Trigger::default() }
}

/// Parser requests for which the log repeats the place of an earlier request with a known column.
fn shared_places(requests: &[Fetch]) -> BTreeSet<usize> {
    let mut taken = BTreeSet::new();
    let mut shared = BTreeSet::new();
    for (id, it) in requests.iter().enumerate() {
        let Some((line, column)) = it.place.filter(|&(_, column)| column > 0) else { continue };
        let parser = it.initiator == Initiator::Parser;
        if parser && !taken.insert((it.initiator_urls.first(), line, column)) {
            shared.insert(id);
        }
    }
    shared
}

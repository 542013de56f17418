//! The halves of a scheme whose script places responses.

use crate::Report;
use crate::limits::SENT_BYTES_MAX;
use crate::script::{Failure, Script};
use crate::values::{self, number, stream_number};
use rhai::{Dynamic, FuncArgs, Map};
use schedulers::{
    ClientHalf, ClientSignal, Declared, Element, Halves, Language, Place, Rank, Resource,
    SchemeFailure, ServerHalf, Signal, StreamId, Tree,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A scheme with a script, for all connections.
pub(crate) struct Scripted {
    script: Script,
    groups: Arc<Declared>,
    form: Language,
    /// The scheme's name and its file.
    name: String,
    file: String,
    report: Report,
    has_reported: AtomicBool,
}

impl Scripted {
    pub(crate) fn new(
        script: Script,
        groups: Arc<Declared>,
        form: Language,
        name: &str,
        file: &str,
        report: Report,
    ) -> Arc<Self> {
        let (name, file, has_reported) = (name.to_owned(), file.to_owned(), AtomicBool::new(false));
        Arc::new(Self { script, groups, form, name, file, report, has_reported })
    }

    pub(crate) fn halves(self: &Arc<Self>) -> Halves {
        let server = ScriptedServer {
            scheme: Arc::clone(self),
            this: Dynamic::from(Map::new()),
            open: BTreeSet::new(),
            failed: None,
            noted_in: SchemeFailure::default(),
        };
        if self.form == Language::None {
            return Halves::of_server("its file says that clients do not", server);
        }
        let (scheme, noted_in) = (Arc::clone(self), SchemeFailure::default());
        Halves::new(ScriptedClient { scheme, noted_in }, server)
    }

    /// Records a failure, and warns about the first one.
    fn tell(&self, noted_in: &SchemeFailure, function: &str, Failure { line, cause }: &Failure) {
        let at = line.map_or(String::new(), |line| format!(" in line {line}"));
        noted_in.note(&format!("`{function}`{at}: {cause}"));
        if self.has_reported.swap(true, Relaxed) {
            return;
        }
        let line = line.map_or(String::new(), |line| format!(" line {line}:"));
        let consequence = "on this connection the script is not called again, and responses that open from now on go last, \
                           in the order of their requests";
        (self.report)(&format!(
            "{}:{line} scheme `{}`, `{function}`: {cause}; {consequence}",
            self.file, self.name
        ));
    }
}

struct ScriptedServer {
    scheme: Arc<Scripted>,
    /// The script's memory of the connection.
    this: Dynamic,
    open: BTreeSet<StreamId>,
    /// After a failure, the number of responses opened since.
    failed: Option<u64>,
    noted_in: SchemeFailure,
}

impl ScriptedServer {
    /// Calls a function, if the script has it and has not failed, and applies its result.
    fn call(
        &mut self,
        tree: &mut Tree,
        function: &str,
        opened: Option<StreamId>,
        arguments: impl FuncArgs,
    ) {
        let Scripted { script, groups, .. } = &*self.scheme;
        if self.failed.is_some() || !script.has(function) {
            return;
        }
        let result = script.call(function, &mut self.this, arguments);
        let puts = result.and_then(|value| {
            let puts = values::puts(value, opened, groups.groups());
            puts.map_err(|cause| Failure { line: None, cause })
        });
        let puts = match puts {
            Ok(puts) => puts,
            Err(failure) => return self.fail(function, &failure),
        };
        for (element, place) in puts {
            match element {
                // A response that has closed in the meantime stays closed.
                Element::Stream(stream) if !self.open.contains(&stream) => {}
                Element::Stream(_) | Element::Root | Element::Placeholder(_) => {
                    tree.put(element, place);
                }
            }
        }
    }

    fn fail(&mut self, function: &str, failure: &Failure) {
        self.scheme.tell(&self.noted_in, function, failure);
        self.failed.get_or_insert(0);
    }

    /// Puts a stream last of all, after a failure.
    fn put_last(&mut self, tree: &mut Tree, stream: StreamId) {
        let opened = self.failed.get_or_insert(0);
        *opened += 1;
        let rank = Rank::sequence_in(u16::MAX, *opened);
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
    }
}

impl ServerHalf for ScriptedServer {
    fn setup(&mut self, tree: &mut Tree) {
        self.scheme.groups.set_up(tree);
        self.call(tree, "setup", None, ());
    }

    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        self.open.insert(stream);
        if self.failed.is_none() {
            self.call(tree, "opened", Some(stream), (stream_number(stream), *resource));
            if self.failed.is_none() && !tree.contains(Element::Stream(stream)) {
                let cause =
                    "returned no place for the stream; return one such as #{ rank: 1 }".to_owned();
                self.fail("opened", &Failure { line: None, cause });
            }
        }
        if self.failed.is_some() {
            self.put_last(tree, stream);
        }
    }

    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        let Some((stream, signal)) = ClientSignal::of_signal(signal) else { return };
        if let Some(signal) = values::signal_map(signal, self.scheme.form) {
            self.call(tree, "signalled", Some(stream), (stream_number(stream), signal));
        }
    }

    fn sent(&mut self, tree: &mut Tree, stream: StreamId, bytes: u64) {
        let arguments = (stream_number(stream), number(bytes.min(SENT_BYTES_MAX)));
        self.call(tree, "sent", Some(stream), arguments);
    }

    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.open.remove(&stream);
        self.call(tree, "closed", None, (stream_number(stream),));
    }

    fn note_failures_in(&mut self, failure: &SchemeFailure) {
        self.noted_in = failure.clone();
    }
}

/// The client half: it sends the result of `says`.
struct ScriptedClient {
    scheme: Arc<Scripted>,
    noted_in: SchemeFailure,
}

impl ClientHalf for ScriptedClient {
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        if !matches!(self.scheme.form, Language::Bucket | Language::Priority) {
            return Vec::new();
        }
        let result = self.scheme.script.call("says", &mut Dynamic::from(Map::new()), (*resource,));
        let signal = result
            .and_then(|it| values::signal(&it).map_err(|cause| Failure { line: None, cause }));
        match signal {
            Ok(signal) => vec![signal.signal_about(stream)],
            Err(failure) => {
                self.scheme.tell(&self.noted_in, "says", &failure);
                Vec::new()
            }
        }
    }

    fn note_failures_in(&mut self, failure: &SchemeFailure) {
        self.noted_in = failure.clone();
    }
}

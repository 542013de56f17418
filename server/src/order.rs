//! The order in which streams send: every call to the scheduler is made and logged here.
//!
//! The log shows why each packet was sent when it was, and can be replayed (`utmost:scheduler` events).

use qlog::streamer::QlogStreamer;
use schedulers::{Call, Scheduler, Scheme, StreamId, Value};
use std::net::IpAddr;

/// Chooses the stream that sends next: the connection's own scheduler, or an experiment's.
pub(crate) trait Picker: Send {
    fn call(&mut self, call: &Call);

    /// The stream that sends the next packet; `None`: none can, or another connection goes first.
    fn pick(&self) -> Option<StreamId>;

    /// Whether other connections take part in the order.
    fn is_shared(&self) -> bool {
        false
    }
}

/// Orders connections of one client as one.
pub(crate) trait Joint: Send + Sync {
    /// The picker of the connection `serial` of `client`, which wants to join the order with this number. `None`: there is
    /// no room for it.
    fn join(
        &self,
        serial: u64,
        client: IpAddr,
        number: u64,
        scheme: &Scheme,
    ) -> Option<Box<dyn Picker>>;
}

impl Picker for Scheduler {
    fn call(&mut self, call: &Call) {
        call.make(self);
    }

    fn pick(&self) -> Option<StreamId> {
        Self::pick(self)
    }
}

/// The order of a connection.
pub struct Order {
    picker: Box<dyn Picker>,
    scheme: String,
    /// The picker's calls about responses in progress, until it is settled who picks.
    history: Option<Vec<Call>>,
}

/// Where the calls are logged, if at all.
pub type Log<'a> = Option<&'a mut QlogStreamer>;

impl Order {
    /// The order of a connection on its own.
    pub fn new(scheme: &Scheme, log: Log<'_>) -> Self {
        let order = Self {
            picker: Box::new(Scheduler::new(scheme)),
            scheme: scheme.name.clone(),
            history: Some(Vec::new()),
        };
        log_call(&order.start(), log);
        order
    }

    /// The name of its scheme.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The stream that sends next; `None`: none can.
    pub fn pick(&self) -> Option<StreamId> {
        self.picker.pick()
    }

    pub(crate) fn picker(&self) -> &dyn Picker {
        self.picker.as_ref()
    }

    /// Tells the scheduler.
    pub fn call(&mut self, call: Call, log: Log<'_>) {
        self.picker.call(&call);
        log_call(&call, log);
        if let Some(history) = &mut self.history {
            match call {
                Call::Close(stream) => history.retain(|it| about(it) != Some(stream)),
                Call::Open(..) | Call::Signal(_) => history.push(call),
                _ => {}
            }
        }
    }

    /// Another scheduler picks from now on. It gets the earlier calls about responses in progress; the caller reports
    /// which of them are ready. Not after [`Self::settle`].
    pub(crate) fn pass_to(&mut self, picker: Box<dyn Picker>, scheme: &str, mut log: Log<'_>) {
        (self.picker, self.scheme) = (picker, scheme.to_owned());
        log_call(&self.start(), log.as_deref_mut());
        for call in self.history.iter().flatten() {
            self.picker.call(call);
            log_call(call, log.as_deref_mut());
        }
    }

    /// Orders by `scheme` from now on, while no response is in progress.
    pub fn adopt(&mut self, scheme: &Scheme, log: Log<'_>) {
        self.pass_to(Box::new(Scheduler::new(scheme)), &scheme.name, log);
    }

    /// From now on the scheduler changes only between pages.
    pub fn settle(&mut self) {
        self.history = None;
    }

    /// The call with which this scheduler began.
    fn start(&self) -> Call {
        Call::Start { scheme: self.scheme.clone(), in_group: self.picker.is_shared() }
    }
}

/// The stream that a call in the history is about.
fn about(call: &Call) -> Option<StreamId> {
    match call {
        Call::Open(stream, _) => Some(*stream),
        Call::Signal(signal) => signal.stream(),
        _ => None,
    }
}

fn log_call(call: &Call, log: Log<'_>) {
    http3::log::own(log, call.event(), || object(call.fields()));
}

fn object(fields: Vec<(&'static str, Value<'_>)>) -> serde_json::Value {
    fields.into_iter().map(|(name, value)| (name.to_owned(), json(value))).collect()
}

fn json(value: Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Flag(flag) => flag.into(),
        Value::Number(number) => number.into(),
        Value::Text(text) => text.into_owned().into(),
        Value::Fields(fields) => object(fields),
    }
}

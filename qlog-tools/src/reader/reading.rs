//! The state between records: headers begin traces, and events belong to one.

use std::collections::BTreeMap;

use super::clock::Clock;
use super::collect::Collector;
use super::damaged::{breaks_off, without_trailing_commas};
use super::event::Event;
use super::header::Header;
use super::http3::kept;
use super::in_order::{InOrder, Waiting};
use super::repetition::Repetition;
use super::trace_reading::TraceReading;
use super::{ReadOptions, Sink};
use crate::limits;
use crate::trace::{BAD_BODY, Container, Trace};

const BAD_RECORD: &str =
    "records that are not JSON, or neither a header nor an event, were left out";
const TOO_LONG: &str = "records longer than 4 MiB were left out";
const BAD_TIME: &str = "events whose time is negative or not a number were left out";
const COMMAS: &str = "commas before a closing bracket were removed";
const EARLY: &str =
    "events are earlier than one before them; they were read in the order of their times";
const NO_LENGTH: &str = "STREAM frames without a length were taken as empty";
const NO_HEADER: &str = "there is no header; times are taken as milliseconds";
const FULL: &str =
    "the file has more frames, streams or traces than the limits allow; the rest was not read";

/// In which order events are read.
enum Order {
    /// As logged, as long as that is the order of their times.
    AsLogged,
    /// One is earlier than one before it, so the log must be read again by time.
    Broken,
    ByTime(InOrder),
}

impl Default for Order {
    fn default() -> Self {
        Self::ByTime(InOrder::default())
    }
}

/// The traces of one file while it is read.
#[derive(Default)]
pub(super) struct Reading {
    options: ReadOptions,
    file: String,
    traces: Vec<TraceReading>,
    /// The trace that a header began, including its connections with their own IDs.
    current: Option<usize>,
    groups: BTreeMap<String, usize>,
    pub(super) records: u64,
    /// The record that is being read: one that waited for earlier events is not the last.
    record: u64,
    order: Order,
    repetition: Repetition,
    /// The same header as the last one, until what follows shows whether its log is another one.
    again: Option<Header>,
    /// The memory that all traces use.
    kept: usize,
    streams: usize,
    text_bytes: usize,
    /// Records that were left out before any trace.
    early: Vec<(&'static str, u64)>,
    /// Whether the last record is truncated JSON.
    breaks_off: bool,
    /// Whether the file is one document with its events inside.
    is_document: bool,
}

impl Sink for Reading {
    fn record(&mut self, bytes: &[u8]) {
        self.is_document = false;
        self.add(bytes);
    }

    fn contained_event(&mut self, bytes: &[u8]) {
        self.is_document = true;
        self.add(bytes);
    }

    fn too_long(&mut self) {
        self.let_in_all();
        self.records += 1;
        self.record = self.records;
        self.bad(TOO_LONG);
    }

    fn begin(&mut self, header: &Header) {
        self.let_in_all();
        self.start(header, true);
    }

    fn end(&mut self, header: &Header) {
        self.let_in_all();
        if let Some(place) = self.current {
            self.traces[place].set_header(header);
        }
    }

    fn is_full(&mut self) -> bool {
        if self.is_in_disorder() {
            return true;
        }
        let is_full = self.kept >= limits::KEPT
            || self.streams >= limits::STREAMS
            || self.traces.len() >= limits::TRACES;
        if is_full {
            self.leave_out(FULL);
        }
        is_full || self.has_too_much_text()
    }

    fn repair(&mut self, what: &'static str) {
        self.let_in_all();
        self.repair_at(self.records, what);
    }
}

impl Reading {
    pub(super) fn new(file: &str, options: ReadOptions) -> Self {
        Self { options, file: file.to_owned(), ..Self::default() }
    }

    /// The same for a log that can be read again: its events need not wait for earlier ones unless it proves to be in disorder.
    pub(super) fn as_logged(file: &str, options: ReadOptions) -> Self {
        Self { order: Order::AsLogged, ..Self::new(file, options) }
    }

    /// Whether the log must be read again, by time.
    pub(super) fn is_in_disorder(&self) -> bool {
        matches!(self.order, Order::Broken)
    }

    pub(super) fn has_too_much_text(&self) -> bool {
        self.text_bytes > limits::TEXTS_BYTES
    }

    /// Adds a record or an event of a document.
    fn add(&mut self, bytes: &[u8]) {
        self.records += 1;
        self.breaks_off = false;
        if !self.waits(bytes) {
            self.start_again();
            self.let_in_all();
            self.let_in(self.records, bytes);
        }
        while let Order::ByTime(order) = &mut self.order
            && let Some(event) = order.surplus()
        {
            self.let_in_waiting(event);
        }
    }

    /// Whether these bytes are an event that can wait for earlier ones, or one that was read already. Times that count from the event
    /// before show no order.
    fn waits(&mut self, bytes: &[u8]) -> bool {
        if !matches!(self.order, Order::ByTime(_)) {
            return false;
        }
        let clock = self.current.map(|place| &self.traces[place].header_clock);
        if clock.is_some_and(|it| it.counts_from_previous) {
            return false;
        }
        let event = if bytes.starts_with(b"[") {
            Event::array(bytes, self.fields())
        } else {
            Event::quick(bytes).or_else(|| Event::object(bytes))
        };
        let Some(event) = event else { return false };
        let is_netlog = self.current.is_some_and(|place| self.traces[place].is_netlog());
        if !is_netlog && self.repetition.has(event.time, self.records, bytes) {
            self.again = None;
            return true;
        }
        self.start_again();
        let Order::ByTime(order) = &self.order else { return false };
        if !event.time.is_finite() || !order.has_place(event.time) {
            return false;
        }
        if self.current.is_none() {
            self.start(&Header::default(), false);
        }
        let place = self.place(&event);
        let trace = &mut self.traces[place];
        if trace.is_earlier(event.time) && !trace.is_netlog() {
            trace.collector.trace.repair(EARLY, self.records);
        }
        if let Order::ByTime(order) = &mut self.order {
            order.add(event, place, self.records, bytes);
        }
        true
    }

    /// Reads the events that wait for earlier ones.
    pub(super) fn let_in_all(&mut self) {
        while let Order::ByTime(order) = &mut self.order
            && let Some(event) = order.earliest()
        {
            self.let_in_waiting(event);
        }
    }

    fn let_in_waiting(&mut self, waiting: Waiting) {
        let Waiting { record, trace, shape, bytes, .. } = waiting;
        self.record = record;
        // What cannot be read as it waited is read again, with repairs.
        if !self.event_of(trace, &shape.event(&bytes)) {
            self.let_in(record, &bytes);
        }
        if let Order::ByTime(order) = &mut self.order {
            order.reuse(bytes);
        }
    }

    fn let_in(&mut self, record: u64, bytes: &[u8]) {
        self.record = record;
        if self.is_document {
            self.document_event(bytes);
        } else {
            self.sequence_record(bytes);
        }
    }

    fn sequence_record(&mut self, bytes: &[u8]) {
        if self.parsed(bytes) {
            return;
        }
        if let Some(header) = Header::of_record(bytes) {
            self.sequence_header(header);
            return;
        }
        let event = Event::object(bytes);
        self.breaks_off = event.is_none() && breaks_off(bytes);
        self.bad(match event {
            Some(event) if self.time(&event).is_none() => BAD_TIME,
            Some(_) => BAD_BODY,
            None => BAD_RECORD,
        });
    }

    /// A header begins a trace. The same one again does so only if other events follow than before.
    fn sequence_header(&mut self, header: Header) {
        self.let_in_all();
        if !self.repetition.begin(&header) {
            self.start(&header, true);
        } else if matches!(self.order, Order::AsLogged) {
            self.order = Order::Broken;
        } else {
            self.again = Some(header);
        }
        if let Some(trace) = self.current_trace() {
            trace.counts.records += 1;
        }
    }

    /// The log that the same header began again is another one.
    fn start_again(&mut self) {
        if let Some(header) = self.again.take() {
            self.start(&header, true);
        }
    }

    fn document_event(&mut self, bytes: &[u8]) {
        if self.parsed(bytes) {
            return;
        }
        let without_commas = without_trailing_commas(bytes);
        if without_commas.len() < bytes.len() && self.parsed(&without_commas) {
            self.repair_at(self.record, COMMAS);
            return;
        }
        self.bad(BAD_BODY);
    }

    /// The columns of array events.
    fn fields(&self) -> &[String] {
        self.current.map_or(&[], |place| &self.traces[place].fields)
    }

    /// Whether these bytes are an event whose body can be read. A body that is not read the quick way has fields behind it.
    fn parsed(&mut self, bytes: &[u8]) -> bool {
        if bytes.starts_with(b"[") {
            return Event::array(bytes, self.fields()).is_some_and(|event| self.event(&event));
        }
        Event::quick(bytes).is_some_and(|event| self.event(&event))
            || Event::object(bytes).is_some_and(|event| self.event(&event))
    }

    fn start(&mut self, header: &Header, has_header: bool) {
        let trace = Trace { file: self.file.clone(), ..Trace::default() };
        let mut reading = TraceReading {
            collector: Collector::new(trace, self.options),
            clock: header.clock(),
            fields: header.event_fields(),
            has_header,
            ..TraceReading::default()
        };
        for (what, record) in self.early.drain(..) {
            leave_out_record(&mut reading.collector.trace, what, record);
        }
        reading.set_header(header);
        self.text_bytes += reading.collector.trace.text_bytes();
        self.current = Some(self.traces.len());
        match &mut self.order {
            Order::ByTime(order) => order.begin(),
            Order::AsLogged if reading.is_netlog() => self.order = Order::Broken,
            Order::AsLogged | Order::Broken => {}
        }
        self.groups.clear();
        self.traces.push(reading);
    }

    /// Whether the event could be read.
    fn event(&mut self, event: &Event<'_>) -> bool {
        if self.current.is_none() {
            self.start(&Header::default(), false);
        }
        let place = self.place(event);
        self.event_of(place, event)
    }

    /// The same for an event of the trace at `place`.
    fn event_of(&mut self, place: usize, event: &Event<'_>) -> bool {
        let record = self.record;
        let reading = &mut self.traces[place];
        if matches!(self.order, Order::AsLogged) && reading.is_earlier(event.time) {
            self.order = Order::Broken;
        }
        let (kept, streams) = (reading.collector.kept(), reading.collector.streams());
        let text_bytes = reading.collector.text_bytes;
        let was_read = reading.event(event, record);
        self.kept = (self.kept + reading.collector.kept()).saturating_sub(kept);
        self.streams = (self.streams + reading.collector.streams()).saturating_sub(streams);
        self.text_bytes += reading.collector.text_bytes - text_bytes;
        was_read
    }

    /// The trace of the event's connection.
    fn place(&mut self, event: &Event<'_>) -> usize {
        let base = self.current.unwrap_or_default();
        let Some(group) = event.group.as_deref() else { return base };
        if let Some(&place) = self.groups.get(group) {
            return place;
        }
        let group = kept(group);
        if let Some(&place) = self.groups.get(&group) {
            return place;
        }
        let place = self.traces.len();
        if place >= limits::TRACES {
            return base;
        }
        let like = &self.traces[base];
        let other = &like.collector.trace;
        let trace = Trace {
            file: other.file.clone(),
            header: other.header.clone(),
            vantage: other.vantage,
            connection: Some(group.to_ascii_lowercase()),
            repairs: other.repairs.clone(),
            ..Trace::default()
        };
        self.traces.push(TraceReading {
            collector: Collector::new(trace, self.options),
            header_clock: like.header_clock.clone(),
            flows_as_server: like.flows_as_server,
            clock: like.header_clock.clone(),
            fields: like.fields.clone(),
            has_header: like.has_header,
            header_trace: Some(base),
            first_record: 0,
            latest: 0.0,
        });
        self.text_bytes += self.traces[place].collector.trace.text_bytes();
        self.groups.insert(group, place);
        place
    }

    fn time(&self, event: &Event<'_>) -> Option<u64> {
        let clock =
            self.current.map_or_else(Clock::default, |place| self.traces[place].clock.clone());
        clock.clone().normalize(event.time).map(|(time_us, _)| time_us)
    }

    fn current_trace(&mut self) -> Option<&mut Trace> {
        self.current.map(|place| &mut self.traces[place].collector.trace)
    }

    fn bad(&mut self, what: &'static str) {
        let record = self.record;
        if let Some(trace) = self.current_trace() {
            leave_out_record(trace, what, record);
        } else if self.early.len() < 1000 {
            self.early.push((what, record));
        }
    }

    fn repair_at(&mut self, record: u64, what: &'static str) {
        if let Some(trace) = self.current_trace() {
            trace.repair(what, record);
        }
    }

    /// Records a part of the last record's connection that could not be read.
    pub(super) fn leave_out_of(&mut self, group: &str, what: &'static str) {
        let record = self.records;
        if let Some(&place) = self.groups.get(group) {
            self.traces[place].collector.trace.leave_out(what, record);
        }
    }

    /// Records a part of the file that is not in the traces.
    pub(super) fn leave_out(&mut self, what: &'static str) {
        self.let_in_all();
        let record = self.records;
        if let Some(trace) = self.current_trace() {
            trace.leave_out(what, record);
        }
    }

    /// The traces in the order of their first events, once [`Self::let_in_all`] was called; `None` if nothing was a header or an event.
    pub(super) fn finish(mut self, container: Container) -> Option<Vec<Trace>> {
        if self.breaks_off {
            self.repair(super::ENDS_EARLY);
            if let Some(trace) = self.current_trace() {
                trace.take_back(BAD_RECORD);
            }
        }
        if self.traces.iter().all(TraceReading::is_empty) {
            // Traces without any event: the first represents all.
            let mut first = self.traces.into_iter().next()?.collector.trace;
            first.header.container = container;
            return Some(vec![first]);
        }
        // Unreadable records belong to no connection, so all of the same header have their repairs.
        for place in 0..self.traces.len() {
            let Some(header) = self.traces[place].header_trace else { continue };
            for repair in self.traces[header].collector.trace.repairs.clone() {
                self.traces[place].collector.trace.merge_repair(repair);
            }
        }
        // The header's own trace is empty if all events have their own connections.
        self.traces.retain(|reading| !reading.is_empty());
        self.traces.sort_by_key(|reading| reading.first_record);
        let is_only = self.traces.len() == 1;
        let mut traces = Vec::with_capacity(self.traces.len());
        for (number, mut reading) in (1..).zip(self.traces) {
            let trace = &mut reading.collector.trace;
            if !reading.has_header {
                trace.repair(NO_HEADER, 0);
            }
            trace.repair_all(NO_LENGTH, trace.counts.frames_without_length, true);
            trace.repairs.extend(self.repetition.repair());
            let header = &mut trace.header;
            header.started_ms = reading.clock.origin_ms().or(header.started_ms);
            header.container = container;
            trace.number = (!is_only).then_some(number);
            traces.push(reading.collector.assemble(reading.flows_as_server));
        }
        Some(traces)
    }
}

/// Counts an unreadable record.
fn leave_out_record(trace: &mut Trace, what: &'static str, record: u64) {
    trace.counts.records += 1;
    trace.counts.bad_records += 1;
    trace.leave_out(what, record);
}

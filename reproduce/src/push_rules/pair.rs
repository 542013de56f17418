//! A page with and without a push: two loads and their difference, ours beside published beside model.

use super::published::Cell;
use super::setup::{self, FIRST_FLIGHT_BYTES, HANDSHAKE_BYTES};
use crate::Row;
use crate::bench::{Before, Case, PACKET_BYTES, Times};
use crate::model::{Load, Path, Window};
use crate::sketch::Sketch;

/// Two cases of one page, the second with more pushes.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) id: String,
    what: String,
    table: &'static str,
    sketch: Sketch,
    pub(super) path: Path,
    pushed: [&'static [&'static str]; 2],
    pub(super) cases: [Case; 2],
    model_ms: [f64; 2],
    published_ms: Option<[f64; 2]>,
    published_saved: Option<f64>,
    pub(super) shows_loads: bool,
    clock: Clock,
    pub(super) judge: Judge,
    note: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Clock {
    Request,
    /// From this many milliseconds before the client starts, for the steps before a handshake.
    Before(f64),
}

/// The conditions on a pair; `None` for a value that is only shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Judge {
    /// Loads within this share of the published value.
    pub(super) load: Option<f64>,
    /// The difference within this many points of the published one; and of the same sign beyond this dead band.
    pub(super) difference: Option<(f64, f64)>,
    /// Loads within this share of the model's.
    pub(super) load_of_model: Option<f64>,
    /// The difference within this many points of the model's.
    pub(super) difference_of_model: Option<f64>,
}

/// Compared in the same way with the published value and with a model of the same parameters: 5 %, 3 points, a dead band of 4
/// points.
pub(super) const ALIKE: Judge = Judge {
    load: Some(0.05),
    difference: Some((3.0, 4.0)),
    load_of_model: Some(0.05),
    difference_of_model: Some(3.0),
};

const LOADS: [(&str, &str); 2] = [("none", "without push"), ("push", "with push")];

impl Pair {
    /// A page whose document is pushed nothing with, then `pushed`, in an open window.
    pub(super) fn warm(
        id: String,
        sketch: Sketch,
        path: Path,
        pushed: [&'static [&'static str]; 2],
    ) -> Self {
        let cases = pushed.map(|it| setup::case(&sketch, path).pushing(it.iter().copied()));
        let pair = Self {
            id,
            what: String::new(),
            table: "",
            sketch,
            path,
            pushed,
            cases,
            model_ms: [0.0; 2],
            published_ms: None,
            published_saved: None,
            shows_loads: true,
            clock: Clock::Request,
            judge: Judge::default(),
            note: "",
        };
        let model_ms = pair.modelled(|load| load);
        Self { model_ms, ..pair }
    }

    pub(super) fn shown(self, table: &'static str, what: String) -> Self {
        Self { what, table, ..self }
    }

    /// The same on a connection whose window is `packets` large when the request arrives; the load is timed from
    /// `ahead_rtts` before the client starts.
    pub(super) fn cold(self, packets: usize, ahead_rtts: f64) -> Self {
        let ahead_ms = ahead_rtts * self.path.rtt_ms;
        let before_ms = ahead_ms + self.path.rtt_ms + self.handshake_ms();
        let model_ms = self.modelled(|load| Load { window: slow_start(packets), ..load });
        let model_ms = model_ms.map(|it| before_ms + it);
        let cases = self.cases.map(|it| Case { window_packets: packets, ..it });
        Self { cases, model_ms, clock: Clock::Before(ahead_ms), ..self }
    }

    /// The same for a returning client: its request is sent with its first packet. Until it has answered, it gets no more than
    /// RFC 9000, 8.1, allows, after the handshake's datagrams.
    pub(super) fn returning(self, packets: usize) -> Self {
        let before_ms = self.handshake_ms();
        let model_ms = self.modelled(|load| Load {
            window: slow_start(packets),
            first_flight_bytes: FIRST_FLIGHT_BYTES,
            ..load
        });
        let model_ms = model_ms.map(|it| before_ms + it);
        let cases = self.cases.map(|it| Case { returning: true, window_packets: packets, ..it });
        Self { cases, model_ms, clock: Clock::Before(0.0), ..self }
    }

    /// The same as the page after `before` on a connection that began with a window of `packets`. Its ID begins with `prefix`.
    pub(super) fn after(
        mut self,
        before: &Before,
        packets: usize,
        table: &'static str,
        prefix: &str,
    ) -> Self {
        for case in &mut self.cases {
            (case.before, case.window_packets) = (Some(before.clone()), packets);
        }
        Self { id: format!("{prefix}-{}", self.id), table, ..self }
    }

    pub(super) fn slow_start(self, packets: usize) -> Self {
        let model_ms = self.modelled(|load| Load { window: slow_start(packets), ..load });
        Self { model_ms, ..self }.judged(ALIKE)
    }

    fn handshake_ms(&self) -> f64 {
        HANDSHAKE_BYTES * 8000.0 / self.path.bits_per_s
    }

    /// The model's load times from the request for the document.
    fn modelled(&self, change: impl Fn(Load<'_>) -> Load<'_>) -> [f64; 2] {
        self.pushed.map(|paths| {
            let pushed: Vec<usize> = paths.iter().filter_map(|it| self.sketch.find(it)).collect();
            change(Load::new(&self.sketch, &pushed, self.path)).done_ms()
        })
    }

    /// Beside the published values; a printed dash means that there was no difference.
    pub(super) fn published(self, (none, push, saved): Cell) -> Self {
        let published_saved = Some(saved.unwrap_or(0.0));
        Self { published_ms: Some([none, push]), published_saved, ..self }
    }

    /// Beside a difference that was published without its loads, or was not published at all.
    pub(super) fn only_saved(self, published_saved: Option<f64>) -> Self {
        Self { published_saved, shows_loads: false, ..self }
    }

    pub(super) fn judged(self, judge: Judge) -> Self {
        Self { judge, ..self }
    }

    pub(super) fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    pub(super) fn time_ms(&self, times: &Times) -> f64 {
        match self.clock {
            Clock::Request => times.warm_ms(),
            Clock::Before(ahead_ms) => ahead_ms + times.last_ms(),
        }
    }

    pub(super) fn rows(&self, ours_ms: [f64; 2]) -> Vec<Row> {
        let loads = if self.shows_loads { 0..2 } else { 0..0 };
        let mut rows: Vec<Row> = loads.map(|it| self.load_row(it, ours_ms[it])).collect();
        rows.push(self.difference_row(ours_ms));
        rows
    }

    fn load_row(&self, which: usize, ours_ms: f64) -> Row {
        let (id, label) = LOADS[which];
        let metric = format!("load time, {}, {label}, in ms", self.what);
        let row = Row::shown(format!("{}-{id}", self.id), metric, Some(ours_ms));
        let mut row = row.in_table(self.table).model(self.model_ms[which]);
        if let Some(published_ms) = self.published_ms {
            row = row.published(published_ms[which]);
            row = self.judge.load.into_iter().fold(row, Row::within_share);
        }
        let share_of_model = self.judge.load_of_model.into_iter();
        share_of_model.fold(row, Row::within_share_of_model).because(self.note)
    }

    fn difference_row(&self, ours_ms: [f64; 2]) -> Row {
        let metric = format!("saved by push, {}, in percent", self.what);
        let ours = saved_percent(ours_ms);
        let model = saved_percent(self.model_ms);
        let row = Row::shown(format!("{}-saved", self.id), metric, Some(ours));
        let mut row = row.in_table(self.table).model(model);
        if let Some(published) = self.published_saved {
            row = row.published(published);
            if let Some((points, band)) = self.judge.difference {
                let what = format!("within {points} points, of its sign beyond {band} points");
                row = row.must(what, |ours| {
                    (ours - published).abs() <= points && sign(ours, band) == sign(published, band)
                });
            }
        }
        if let Some(points) = self.judge.difference_of_model {
            row = row.within_of_model(points, " points");
        }
        row.note(self.note)
    }
}

pub(super) fn saved_percent([none, push]: [f64; 2]) -> f64 {
    (1.0 - push / none) * 100.0
}

/// -1, 0 or 1: 0 within the dead band.
fn sign(percent: f64, band: f64) -> i8 {
    i8::from(percent > band) - i8::from(percent < -band)
}

fn slow_start(packets: usize) -> Window {
    Window::SlowStart(packets as f64 * PACKET_BYTES as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_dead_band_has_no_sign() {
        assert_eq!([-5.0, -4.0, 3.0, 4.1].map(|it| sign(it, 4.0)), [-1, 0, 0, 1]);
        assert_eq!(saved_percent([200.0, 150.0]).to_string(), "25");
    }
}

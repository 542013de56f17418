//! A page with and without a push: two loads and their difference, ours beside published beside model.

use super::bench::{Case, FIRST_FLIGHT_BYTES, HANDSHAKE_BYTES, Middle, PACKET_BYTES, Run, Runs};
use super::model::{self, Window};
use super::published::Cell;
use super::sketch::Sketch;
use crate::Row;

/// Two cases of one page, the second with more pushes.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) id: String,
    /// What is loaded, for readers.
    pub(super) what: String,
    pub(super) table: &'static str,
    pub(super) cases: [Case; 2],
    pub(super) model_ms: [f64; 2],
    pub(super) published_ms: Option<[f64; 2]>,
    pub(super) published_saved: Option<f64>,
    /// Loads are shown, too.
    pub(super) shows_loads: bool,
    pub(super) clock: Clock,
    pub(super) judge: Judge,
    pub(super) note: &'static str,
}

/// From when loads are timed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clock {
    /// From the request for the document.
    Request,
    /// From so long before the client starts: what goes before a handshake.
    Before(f64),
}

/// What must hold; none: it is shown only.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Judge {
    /// Loads within this share of what is published.
    pub(super) load: Option<f64>,
    /// The difference within so many points of what is published, and of its sign beyond a dead band of so many.
    pub(super) difference: Option<(f64, f64)>,
    /// Loads within this share of the model's.
    pub(super) load_of_model: Option<f64>,
    /// The difference within so many points of the model's.
    pub(super) difference_of_model: Option<f64>,
}

/// Against a model of the same parameters: 5 % and 3 points.
pub(super) const AS_MODEL: Judge = Judge {
    load: None,
    difference: None,
    load_of_model: Some(0.05),
    difference_of_model: Some(3.0),
};

/// Labels of a pair's two loads, as ID and for readers.
const LOADS: [(&str, &str); 2] = [("none", "without push"), ("push", "with push")];

impl Pair {
    /// A page whose document is pushed nothing with, then `pushed`, in an open window.
    pub(super) fn warm(
        id: String,
        (table, what): (&'static str, String),
        (sketch, path): (&Sketch, model::Path),
        pushed: [&[&str]; 2],
    ) -> Self {
        let cases = pushed.map(|it| Case::new(sketch, path).pushing(it));
        Self {
            id,
            what,
            table,
            cases,
            model_ms: pushed.map(|it| model_ms(sketch, path, it, Window::Open)),
            published_ms: None,
            published_saved: None,
            shows_loads: true,
            clock: Clock::Request,
            judge: Judge::default(),
            note: "",
        }
    }

    /// The same on a connection whose window is `packets` large when the request comes; the load is timed from
    /// `ahead_rtts` before the client starts.
    pub(super) fn cold(
        self,
        (sketch, path): (&Sketch, model::Path),
        pushed: [&[&str]; 2],
        (packets, ahead_rtts): (usize, f64),
    ) -> Self {
        let window = Window::SlowStart(packets as f64 * PACKET_BYTES);
        let ahead_ms = ahead_rtts * path.rtt_ms;
        let handshake_ms = path.rtt_ms + HANDSHAKE_BYTES * 8000.0 / path.bits_per_s;
        Self {
            cases: self.cases.map(|it| it.window(packets)),
            model_ms: pushed.map(|it| ahead_ms + handshake_ms + model_ms(sketch, path, it, window)),
            clock: Clock::Before(ahead_ms),
            ..self
        }
    }

    /// The same of a client that was there before: its request goes with its first packet, and until it has answered it gets
    /// no more than it may (RFC 9000, 8.1), behind the handshake's datagrams.
    pub(super) fn returning(
        self,
        (sketch, path): (&Sketch, model::Path),
        pushed: [&[&str]; 2],
        packets: usize,
    ) -> Self {
        let window = Window::SlowStart(packets as f64 * PACKET_BYTES);
        let handshake_ms = HANDSHAKE_BYTES * 8000.0 / path.bits_per_s;
        let model_ms = pushed.map(|it| {
            let pushed: Vec<usize> = it.iter().filter_map(|path| sketch.find(path)).collect();
            let first_flight_bytes = FIRST_FLIGHT_BYTES;
            let load = model::Load::new(sketch, &pushed, path);
            handshake_ms + model::Load { window, first_flight_bytes, ..load }.done_ms()
        });
        let cases = self.cases.map(|it| Case { returning: true, ..it.window(packets) });
        Self { cases, model_ms, clock: Clock::Before(0.0), ..self }
    }

    /// Beside what is published; a dash there is no difference.
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

    /// Both loads' medians.
    pub(super) fn middles(&self, runs: &[Runs]) -> [Middle; 2] {
        [runs[0].middle(|it| self.time(it)), runs[1].middle(|it| self.time(it))]
    }

    fn time(&self, run: &Run) -> f64 {
        match self.clock {
            Clock::Request => run.warm_ms(),
            Clock::Before(ahead_ms) => ahead_ms + run.last_ms(),
        }
    }

    /// Its loads and their difference.
    pub(super) fn rows(&self, ours: [Middle; 2]) -> Vec<Row> {
        let loads = if self.shows_loads { 0..2 } else { 0..0 };
        let mut rows: Vec<Row> = loads.map(|it| self.load_row(it, ours[it])).collect();
        rows.push(self.difference_row(ours));
        rows
    }

    fn load_row(&self, which: usize, ours: Middle) -> Row {
        let (id, label) = LOADS[which];
        let metric = format!("load time, {}, {label}, in ms", self.what);
        let row = Row::shown(format!("{}-{id}", self.id), metric, Some(ours.median_ms));
        let mut row = row.in_table(self.table).model(self.model_ms[which]);
        if let Some(published) = self.published_ms.map(|it| it[which]) {
            row = row.published(published);
            if let Some(share) = self.judge.load {
                row = row.must(format!("within {:.0} % of published", share * 100.0), |it| {
                    (it / published - 1.0).abs() <= share
                });
            }
        }
        if let Some(share) = self.judge.load_of_model {
            let model_ms = self.model_ms[which];
            row = row.must(format!("within {:.0} % of the model", share * 100.0), |it| {
                (it / model_ms - 1.0).abs() <= share
            });
        }
        row.because(self.note)
    }

    /// What push saves, in percent.
    fn difference_row(&self, ours: [Middle; 2]) -> Row {
        let metric = format!("saved by push, {}, in percent", self.what);
        let ours = saved_percent(ours.map(|it| it.median_ms));
        let model = saved_percent(self.model_ms);
        let row = Row::shown(format!("{}-saved", self.id), metric, Some(ours));
        let mut row = row.in_table(self.table).model(model);
        if let Some(published) = self.published_saved {
            row = row.published(published);
            if let Some((points, band)) = self.judge.difference {
                let what = format!(
                    "within {points} points of published, of its sign beyond {band} points"
                );
                row = row.must(what, |it| {
                    (it - published).abs() <= points && sign(it, band) == sign(published, band)
                });
            }
        }
        if let Some(points) = self.judge.difference_of_model {
            row = row.must(format!("within {points} points of the model"), |it| {
                (it - model).abs() <= points
            });
        }
        row.note(self.note)
    }
}

/// What the second load takes less than the first, in percent of the first.
pub(super) fn saved_percent([none, push]: [f64; 2]) -> f64 {
    (1.0 - push / none) * 100.0
}

/// -1, 0 or 1: 0 within the dead band.
fn sign(percent: f64, band: f64) -> i8 {
    i8::from(percent > band) - i8::from(percent < -band)
}

/// The model's load time from the request for the document.
pub(super) fn model_ms(sketch: &Sketch, path: model::Path, pushed: &[&str], window: Window) -> f64 {
    let pushed: Vec<usize> = pushed.iter().filter_map(|it| sketch.find(it)).collect();
    model::Load { window, ..model::Load::new(sketch, &pushed, path) }.done_ms()
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

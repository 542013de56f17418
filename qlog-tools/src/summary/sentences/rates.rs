//! The sentence about the rate of responses or uploads, and of the path.

use super::super::measures::{self, Flow, PathBasis};
use super::super::queue::reports_delays;
use super::super::words::{percent, rate_text};
use super::super::{Sentence, SentenceMoment, ms};
use super::Teller;
use crate::trace::Vantage;

/// Goodput excludes packet headers, so it is below the path's rate. If it exceeds the measured rate by this factor, the log's times
/// are too coarse to measure that.
const COARSE: f64 = 1.05;

impl Teller<'_> {
    pub(super) fn goodput(&self) -> Option<Sentence> {
        let about = "goodput";
        let Some(flow) = self.summary.flow else {
            let text = "The rate of responses is not known: the lengths of their frames would make it more than 10 Tbit/s, which no path carries.".to_owned();
            let is_impossible = measures::is_impossible(self.log);
            return is_impossible.then_some(Sentence { about, text, moment: None });
        };
        let what = if self.summary.is_upload { "Uploads went" } else { "Responses arrived" };
        let least = if self.log.not_read().is_some() { " or more" } else { "" };
        let text = format!(
            "{what} at {}{least} while some were open, {}.",
            rate_text(flow.goodput_bits_per_s),
            self.path(&flow)
        );
        let time_ms = self.log.timeline.transfers.first().map(|it| ms(it.requested_us));
        let moment = time_ms.map(|time_ms| SentenceMoment {
            is_server: self.log.vantage == Vantage::Server,
            ..self.moment(time_ms)
        });
        Some(Sentence { about, text, moment })
    }

    /// The rate that the path carried, beside the goodput.
    fn path(&self, flow: &Flow) -> String {
        let by = match flow.path_basis {
            Some(PathBasis::Arrivals) => "by arrivals",
            _ => "by acknowledgements",
        };
        let goodput = flow.goodput_bits_per_s;
        if let Some(path) = flow.path_bits_per_s {
            let (share, path) = (goodput / path, rate_text(path));
            if share > COARSE {
                return format!(
                    "more than the {path} that was measured when the path was busy ({by}): the log's times are too coarse to tell"
                );
            }
            let share = percent(share.min(1.0));
            return format!("{share} of the {path} that the path carried when it was busy ({by})");
        }
        let unknown = "what the path allowed is not known";
        let why = match (self.log.not_read(), self.sender.vantage) {
            (Some(lacks), _) => format!(": {lacks}"),
            (None, _) if flow.seen_bits_per_s.is_none() => String::new(),
            (None, Vantage::Server)
                if flow.path_basis == Some(PathBasis::Acknowledgements)
                    && !reports_delays(self.sender) =>
            {
                ": no ACK frame reports for how long it was held back".to_owned()
            }
            (None, Vantage::Server) => ": no packets had to wait for one another on it".to_owned(),
            (None, _) => ": only the sender's log shows whether it filled it".to_owned(),
        };
        match flow.seen_bits_per_s.filter(|seen| *seen > goodput) {
            Some(seen) => format!("{} at the busiest ({by}); {unknown}{why}", rate_text(seen)),
            None => format!("{unknown}{why}"),
        }
    }
}

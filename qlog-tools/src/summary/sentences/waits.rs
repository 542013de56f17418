//! The sentence about the longest wait behind a hole.

use super::super::words::ms_text;
use super::super::{Sentence, SentenceMoment, Summary};
use super::Teller;
use crate::short_texts::counted;
use crate::trace::Vantage;

impl Teller<'_> {
    pub(super) fn longest_wait(&self) -> Sentence {
        let about = "longest_wait";
        let Some(longest) = self.summary.longest_wait else {
            return Sentence { about, text: self.no_wait(), moment: None };
        };
        let stream = self.stream(longest.stream);
        let text = format!(
            "The longest wait behind a hole took {}: bytes of {stream} from {} on arrived at {} and waited for earlier ones{}.",
            ms_text(longest.wait_ms),
            longest.offset,
            ms_text(longest.arrived_ms + self.upload_shift_ms),
            self.still_waiting().map_or_else(String::new, |it| format!("; {it}"))
        );
        let moment = SentenceMoment {
            is_server: self.summary.is_upload,
            time_ms: longest.arrived_ms,
            stream: Some(longest.stream),
            packet: None,
        };
        Sentence { about, text, moment: Some(moment) }
    }

    /// That no bytes waited behind a hole, or why that is not known.
    fn no_wait(&self) -> String {
        let unknown = "How long bytes waited behind holes is";
        match (self.summary.knows_waits, self.log.vantage) {
            (true, _) => match self.still_waiting() {
                Some(waiting) => {
                    format!("No byte that had waited behind a hole was freed; {waiting}.")
                }
                None => {
                    "No byte that had arrived waited for an earlier one of its stream.".to_owned()
                }
            },
            (false, Vantage::Server) => {
                format!("{unknown} not in a server's log: name the client's with it.")
            }
            _ if self.summary.is_upload => {
                format!(
                    "{unknown} not in the log of the client that uploaded: name the server's with it."
                )
            }
            _ if let Some(lacks) = self.log.not_read() => format!("{unknown} not known: {lacks}."),
            _ if self.log.counts.tcp_pieces > 0 => {
                format!("{unknown} not known: TCP hands them over in order.")
            }
            _ if self.log.counts.packet_frames > 0 => {
                "No byte waited behind a hole: no packet carried a STREAM frame.".to_owned()
            }
            _ => format!("{unknown} not known: STREAM frames are not logged."),
        }
    }

    /// Says that holes were open when the log of a client ended. Bytes before the beginning of a log are not a hole.
    fn still_waiting(&self) -> Option<String> {
        let Summary { is_upload, .. } = self.summary;
        let streams = self.log.streams.iter();
        let count = streams.filter(|it| it.progress.readable_bytes() < it.bytes).count() as u64;
        (count > 0 && !is_upload && !self.log.lacks_beginning()).then(|| {
            let streams = counted(count, "stream");
            format!("bytes of {streams} still waited for earlier ones when the log ended")
        })
    }
}

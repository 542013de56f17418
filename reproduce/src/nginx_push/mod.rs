//! The measurements of NGINX's article on server push, on HTTP/3 and engine `stack`: its chart, each of its directives,
//! and early hints in place of pushes. Ours stand beside a model.

mod directives;
mod protocols;
mod round_trips;
mod setup;
mod think_time;

use crate::bench::Bench;
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use figures::paired_dots::{PairedDots, PairedDotsGroup};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "nginx-push",
    about: "Round trips with preload, push, early hints and 0-RTT; NGINX's directives",
    source: "Garrett, Introducing HTTP/2 Server Push with NGINX 1.13.9, 2018: configuration, chart of round trips",
    engine: "stack",
    conditions: "engine stack, 100 ms of round trip, no limit of the rate, cubic, an initial window of 10 packets; one load of each case",
    run,
};

const METHOD: &str = "The article's page (demo.html, style.css, two images that only the style sheet names) over quiche \
    in virtual time: 100 ms of round trip, no limit of bandwidth, CUBIC, an initial window of 10 packets. Times are in \
    round trips from the client's first packet. The article's chart is a picture and its text gives differences only; \
    the model counts handshake, requests and windows, and leaves out what packets and acknowledgements add. Early hints \
    against pushes: 20 Mbit/s, three resources of 20 KiB, times from the request, no limit of window. The rows `counted-*`, of \
    other protocols, are counted and not loaded.";

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let bench = Bench::new(setting.jobs, 1, 0.0)?;
    let (mut rows, groups) = round_trips::rows(&bench)?;
    rows.extend(protocols::rows());
    rows.extend(directives::rows(&bench)?);
    rows.extend(think_time::rows(&bench)?);
    let figure = figure(groups);
    Ok(Findings {
        method: METHOD.to_owned(),
        rows: rows.into_iter().map(|row| Row { id: plain(&row.id), ..row }).collect(),
        schemes: vec!["fifo".to_owned()],
        pages: setup::pages(),
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: "Round trips until the last image when requests go one after the other, divided by those with preload or \
                  push; with images that fit in a packet, and with the article's. Filled: ours. Hollow: the model, for the \
                  article's chart is a picture. The axis is logarithmic; higher is better."
            .to_owned(),
    })
}

/// A row's name of small letters, digits, `+` and hyphens, as all results name theirs.
fn plain(id: &str) -> String {
    let words = id.split(|it: char| !it.is_ascii_alphanumeric() && it != '+');
    words.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("-").to_lowercase()
}

fn figure(groups: Vec<PairedDotsGroup>) -> PairedDots {
    PairedDots {
        title: "What preload and push gain until the last image".to_owned(),
        theirs: "model",
        columns: vec!["small images".to_owned(), "40 KB and 173 KB".to_owned()],
        groups,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_row_is_named_in_small_letters_and_hyphens() {
        let names =
            ["1-RTT push images 40K+173K", "0.5 RTT, Link on the 200", "http2_push", "(none)"];
        let expected =
            ["1-rtt-push-images-40k+173k", "0-5-rtt-link-on-the-200", "http2-push", "none"];
        assert_eq!(names.map(super::plain), expected);
    }
}

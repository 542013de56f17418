//! The article on BBR and `tcp_notsent_lowat`, on HTTP/3 and engine `stack`: the cost of bytes that are committed too
//! early, in the server's send buffer and in the network's queue.

mod art_of_living;
mod blog;
mod queue;
mod throughput;

use crate::bench::Bench;
use crate::model::{Load, Path, Window};
use crate::sketch::Sketch;
use crate::{Experiment, Findings, ReproduceError, Setting};
use schedulers::Kind;
use server::CongestionControl;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "notsent-lowat",
    about: "What send buffers and bloated queues cost, under cubic and bbr2",
    source: "Meenan, Optimizing HTTP/2 prioritization with BBR and tcp_notsent_lowat, 2018: before and after, congestion windows",
    engine: "stack",
    conditions: "engine stack, 5 Mbit/s, 50 ms of round trip, a queue of 1 MB, packets paced, scheme dfifo; one load under each congestion control",
    run,
};

/// Loads of each case. Times differ by some milliseconds.
const RUNS: usize = 9;

/// "A 5Mbps cable connection"; the article does not give the round trip.
const BITS_PER_S: f64 = 5e6;
const RTT_MS: f64 = 50.0;
const BDP_BYTES: f64 = BITS_PER_S / 8000.0 * RTT_MS;

const CONTROLS: [CongestionControl; 3] =
    [CongestionControl::Cubic, CongestionControl::Reno, CongestionControl::Bbr2];

const METHOD: &str = "Two pages that stand for the article's blog (document, style sheets, scripts, 6 MB of images, and fonts that the \
    document does not name), over quiche in virtual time: 5 Mbit/s, 50 ms, an initial window of 10 packets, packets paced. The \
    article gives no sizes, but its times and its rate imply them: 1.1 MB for the first render, 2.8 MB for what is visible, 6.4 MB \
    committed before. The first page is made to fit these; the article's values judge it. The second page is of our own, \
    which was there before. The scheme is dfifo, which always knows what is most urgent; what differs is how many bytes are committed \
    below it. The buffer holds bytes that the scheduler has given away: 0 (late binding), 16 KiB (the article's \
    tcp_notsent_lowat), 1 and 5 MB (a TCP send buffer that grew). The queue is the link's: one bandwidth-delay product, or 1 MB. \
    The article used BBR before and after. The model is whole packets on such a link with a window of one bandwidth-delay product.";

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let bench = Bench::new(setting.jobs, setting.runs.unwrap_or(RUNS), 0.0)?;
    let mut rows = blog::rows(&bench)?;
    rows.extend(art_of_living::rows(&bench)?);
    let (queue_rows, figure) = queue::measure(&bench)?;
    rows.extend(queue_rows);
    rows.extend(throughput::rows(&bench)?);
    let articles = blog::articles().map(|it| it.sketch);
    let pages = articles.iter().chain(&art_of_living::sketches()).map(Sketch::page).collect();
    Ok(Findings {
        method: METHOD.to_owned(),
        rows,
        schemes: vec![blog::SCHEME.to_owned()],
        pages,
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: "The server's congestion window during a download of 40 MB over 5 Mbit/s and 50 ms with a queue of 1 MB: a \
                  saw-tooth under cubic, which fills the queue and loses packets; close to the bandwidth-delay product under \
                  bbr2."
            .to_owned(),
    })
}

/// According to the model, when each resource is complete if images are sent last, through a window that stays.
fn images_last_ms(sketch: &Sketch, path: Path, window_bytes: f64, buffer_bytes: u64) -> Vec<f64> {
    let load = Load {
        ranks: sketch.items.iter().map(|it| u8::from(it.kind == Kind::Image)).collect(),
        buffer_bytes: buffer_bytes as f64,
        window: Window::Fixed(window_bytes),
        ..Load::new(sketch, &[], path)
    };
    load.completions_ms()
}

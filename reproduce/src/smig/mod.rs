//! The paper on stream migration (`SMig`), on HTTP/3 and engine `stack`: small objects beside a large download, and the
//! bytes that still arrive after a cancel.
//!
//! The paper moves the large download to another connection, because it cannot reorder the contents of TCP's send
//! buffer. This module repeats that with our extension, and makes the comparison that the paper could not make: a
//! scheduler that commits nothing early, on one QUIC connection.

mod cancels;
mod costs;
mod moved;
mod sizes;
mod small_objects;
mod tail;

use crate::bench::Bench;
use crate::downloads::{Download, Downloads, network};
use crate::{CONTROLS, Experiment, Findings, ReproduceError, Setting};
use lab::network::Network;
use schedulers::Kind;
use server::{CongestionControl, Options};
use simulator::link::Queue;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "smig",
    about: "Small objects beside a large download, with and without migration, and bytes after a cancel",
    source: "Mi, Qian, Wang, SMig: Stream Migration Extension for HTTP/2, CoNEXT 2016, Figures 4 to 11 and Table 2",
    engine: "stack",
    conditions: "engine stack, 10 Mbit/s, 50 ms of round trip, a queue of 1 MB, bbr2, packets paced; one load of each case",
    run,
};

/// "Emulated 10Mbps link".
const BITS_PER_S: f64 = 10e6;
/// The paper's wired server is some 50 ms away.
const RTT_MS: f64 = 50.0;
const BDP_BYTES: f64 = BITS_PER_S / 8000.0 * RTT_MS;

/// 1 and 4 MiB: the sizes of the paper's default and large send buffers when they are full.
const DEFAULT_BUFFER_BYTES: u64 = 1 << 20;
const LARGE_BUFFER_BYTES: u64 = 4 << 20;

const KB: u64 = 1000;
const MB: u64 = 1000 * KB;

const TOLERANCE: f64 = 0.1;

const METHOD: &str = "One client on one connection, over quiche in virtual time: 10 Mbit/s, 50 ms, packets paced; objects of 10 KB, \
    one each second, 25 in all, beside a download of 50 MB, unless a row says otherwise. Every object is a script and the \
    download is of no known kind, so that a scheme that looks at kinds puts objects first. `FIFO` is the paper's server: fair \
    shares (rr) above a send buffer of 1 MiB (its default) or 4 MiB (its large one). The queue of the link holds 1 MB under bbr2 \
    and two bandwidth-delay products under cubic and reno. `lte` is the built-in network: 12 Mbit/s, 70 ms, a queue of one \
    bandwidth-delay product. The model adds a round trip, the object, and the buffer at the link's rate. \
    MigSW, MigSP and MigCP are the paper's migrations to an idle connection, with the FIFO at each connection: the server moves the \
    download as a whole or after 100 KB, or the client asks for it after 100 KB. All other rows have one connection. The paper's \
    servers ran Linux's CUBIC; the transport's is another one, so rows under reno stand beside it.";

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let bench = Bench::new(setting.jobs, 1, 0.0)?;
    let (mut rows, figure) = small_objects::measure(&bench)?;
    rows.extend(moved::rows(&bench)?);
    rows.extend(sizes::rows(&bench)?);
    rows.extend(costs::rows(&bench)?);
    rows.extend(tail::rows(&bench)?);
    rows.extend(cancels::rows(&bench)?);
    Ok(Findings {
        method: METHOD.to_owned(),
        rows,
        schemes: small_objects::SCHEMES.map(str::to_owned).to_vec(),
        pages: Vec::new(),
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: "How long objects of 10 KB take beside a download of 50 MB, by the bytes that are committed below the scheduler: \
                  10 Mbit/s, 50 ms, bbr2. The lines lie on one another: below a buffer the scheme no longer \
                  matters. Under fifo, which is not drawn, objects wait until the download is over."
            .to_owned(),
    })
}

/// The server's settings that decide how long an object takes.
#[derive(Debug, Clone)]
struct Server {
    scheme: String,
    control: CongestionControl,
    buffer_bytes: u64,
}

impl Server {
    fn new(scheme: &str, control: CongestionControl, buffer_bytes: u64) -> Self {
        Self { scheme: scheme.to_owned(), control, buffer_bytes }
    }

    fn downloads(
        &self,
        network: Network,
        requests: Vec<Download>,
    ) -> Result<Downloads, ReproduceError> {
        let scheme = crate::scheme(&self.scheme)?;
        let options = Options {
            congestion_control: self.control,
            send_buffer_bytes: self.buffer_bytes,
            ..Options::new(scheme)
        };
        Ok(Downloads::new(options, network, requests))
    }
}

/// The paper's link, with the queue that belongs to a congestion control.
fn link(control: CongestionControl, rtt_ms: f64) -> Network {
    let queue = match control {
        CongestionControl::Bbr2 => Queue::Bytes(MB),
        CongestionControl::Cubic | CongestionControl::Reno => Queue::Bytes(125 * KB),
    };
    network(control.name(), BITS_PER_S, rtt_ms, queue)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Wired,
    /// "A commercial LTE network".
    Lte,
}

impl Place {
    fn network(self, control: CongestionControl) -> Result<Network, ReproduceError> {
        match self {
            Self::Wired => Ok(link(control, RTT_MS)),
            Self::Lte => Network::find("lte").map_err(ReproduceError::unusable),
        }
    }

    fn prefix(self) -> &'static str {
        if self == Self::Lte { "lte-" } else { "" }
    }

    fn words(self) -> &'static str {
        if self == Self::Lte { ", lte" } else { "" }
    }
}

/// A download about which the server knows nothing.
fn large(bytes: u64) -> Download {
    Download::new(0.0, bytes, Kind::Other)
}

//! The article's chart by protocol, counted: round trips over HTTP, HTTPS and HTTP/2, with the connections that they open.
//!
//! Nothing is loaded here. A counter plays the requests of each way through, message by message. Over HTTP/1.1 a browser needs a
//! second connection for two images at once, and the article leaves open which image gets it: both cases are counted.

use super::round_trips::Way;
use crate::Row;

const TABLE: &str = "Round trips by protocol, counted";

#[derive(Debug, Clone, Copy)]
struct Protocol {
    name: &'static str,
    /// "Establishing a connection over HTTP takes 1 RTT; for HTTPS and HTTP/2, it takes 2 RTTs."
    setup: u32,
    multiplexes: bool,
    /// How many round trips preload saves on the images, by the article.
    preload_saves: u32,
}

const PROTOCOLS: [Protocol; 3] = [
    Protocol { name: "HTTP", setup: 1, multiplexes: false, preload_saves: 1 },
    Protocol { name: "HTTPS", setup: 2, multiplexes: false, preload_saves: 2 },
    Protocol { name: "HTTP2", setup: 2, multiplexes: true, preload_saves: 1 },
];

/// The connections of a load: when each can carry a request.
struct Connections {
    protocol: Protocol,
    free: Vec<u32>,
}

impl Connections {
    fn new(protocol: Protocol) -> Self {
        Self { protocol, free: vec![protocol.setup] }
    }

    /// Makes a request at `now` on this connection, which is opened if there is none; returns when the response is complete.
    fn ask(&mut self, connection: usize, now: u32) -> u32 {
        let connection = if self.protocol.multiplexes { 0 } else { connection };
        if connection == self.free.len() {
            self.free.push(now + self.protocol.setup);
        }
        let complete = now.max(self.free[connection]) + 1;
        if !self.protocol.multiplexes {
            self.free[connection] = complete;
        }
        complete
    }
}

/// Round trips until the document, the style sheet and the large image, which is requested on the first connection or on one that
/// is opened for it.
fn counted(protocol: Protocol, way: Way, connection: usize) -> [u32; 3] {
    let mut connections = Connections::new(protocol);
    let document = connections.ask(0, 0);
    let style = if way == Way::Push { document } else { connections.ask(0, document) };
    let image = match way {
        Way::Sequential => connections.ask(connection, style),
        Way::Preload => connections.ask(connection, document),
        Way::Push => document,
    };
    [document, style, image]
}

fn ways(protocol: Protocol) -> Vec<Way> {
    Way::ALL.into_iter().filter(|it| *it != Way::Push || protocol.multiplexes).collect()
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for protocol in PROTOCOLS {
        for way in ways(protocol) {
            let first = counted(protocol, way, 0);
            let opened = counted(protocol, way, 1);
            let counts = [
                ("document", first[0]),
                ("style", first[1]),
                ("image", first[2]),
                ("image on a connection of its own", opened[2]),
            ];
            let distinct = if protocol.multiplexes { &counts[..3] } else { &counts };
            rows.extend(distinct.iter().map(|(what, count)| {
                let id = format!("counted {} {} {what}", protocol.name, way.name());
                Row::shown(
                    id,
                    format!("round trips until the {what} is there"),
                    Some(f64::from(*count)),
                )
            }));
        }
        rows.push(most_saved(protocol));
    }
    let [.., http2] = PROTOCOLS;
    let [preloaded, pushed] =
        [Way::Preload, Way::Push].map(|way| f64::from(counted(http2, way, 0)[2]));
    let metric = "round trips that push saves on the image over HTTP/2, beyond preload";
    let further = Row::shown("counted HTTP2 push saves more", metric, Some(preloaded - pushed));
    rows.push(further.published(1.0).within(0.0).note(PUSH));
    rows.into_iter().map(|it| it.in_table(TABLE)).collect()
}

/// The saving of preload on the image if it took a new connection before and takes the open one afterwards: the most.
fn most_saved(protocol: Protocol) -> Row {
    let [before, after] = [(Way::Sequential, 1), (Way::Preload, 0)]
        .map(|(way, on)| f64::from(counted(protocol, way, on)[2]));
    let id = format!("counted {} preload saves", protocol.name);
    let metric =
        format!("round trips that preload saves on the image over {}, at most", protocol.name);
    let row = Row::shown(id, metric, Some(before - after));
    row.published(f64::from(protocol.preload_saves)).within(0.0).note(PRELOAD)
}

const PRELOAD: &str = "\"This unpredictable request ordering accounts for the 1-RTT speedup for HTTP and HTTP/2, and the 2-RTT \
    speedup for HTTPS.\" Counted, not loaded: a model.";
const PUSH: &str = "\"Server push improved on the preload-hints time by a further 1 RTT.\" Counted, not loaded: a model.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_message() {
        let all = PROTOCOLS.map(|protocol| {
            ways(protocol)
                .into_iter()
                .map(|way| [0, 1].map(|on| counted(protocol, way, on)[2]))
                .collect::<Vec<_>>()
        });
        // One after the other, with preload, and pushed; the image on the open connection, and on one of its own.
        assert_eq!(all[0], [[4, 5], [4, 4]], "HTTP");
        assert_eq!(all[1], [[5, 7], [5, 6]], "HTTPS");
        assert_eq!(all[2], [[5, 5], [4, 4], [3, 3]], "HTTP/2");
    }
}

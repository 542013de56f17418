//! The list of attacks.

use crate::files::File;
use crate::scripts::over_tcp::{Handshake, Http2, MakeScript, Repeating};
use crate::scripts::tunnels::{Talk, over_http_1, over_http_2};
use crate::scripts::{Script, floods, malformed, slow, wandering};

/// One attack.
pub struct Attack {
    /// Its name.
    pub name: &'static str,
    /// The attacker's script.
    pub text: &'static str,
    /// The close codes of HTTP/3 or HTTP/2 that the server may use; empty if it must not close the connection with one.
    pub(crate) codes: &'static [u64],
    pub(crate) way: Way,
}

/// The transport of an attack.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// Over QUIC, by a script that may load these files.
    Quic(fn(&[File]) -> Box<dyn Script>),
    /// Over TCP, with this number of connections.
    Tcp(usize, MakeScript),
    /// The same, with WebSockets that the backend treats in this way.
    Tunnels(usize, MakeScript, Talk),
}

impl Attack {
    /// Whether it is over TCP.
    pub fn is_over_tcp(&self) -> bool {
        matches!(self.way, Way::Tcp(..) | Way::Tunnels(..))
    }

    /// Whether the server's backend participates.
    pub fn needs_backend(&self) -> bool {
        matches!(self.way, Way::Tunnels(..))
    }
}

/// `ENHANCE_YOUR_CALM` (RFC 9113, 7).
const CALM: u64 = 0xb;

/// `FLOW_CONTROL_ERROR` (RFC 9113, 6.9.1), for a client that ignores windows.
const FLOW_CONTROL: u64 = 0x3;

/// `H3_EXCESSIVE_LOAD` (RFC 9114, 8.1).
const EXCESSIVE_LOAD: u64 = 0x107;

/// All attacks. The classes come from published vulnerabilities of HTTP/2 and HTTP/3 servers.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "unread-responses",
        text: "5 connections with 200 requests each, whose responses are never read",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|files| Box::new(slow::UnreadResponses(files.to_vec()))),
    },
    Attack {
        name: "slow-heads",
        text: "5 connections with 200 requests each, whose heads arrive one byte at a time",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|_| Box::new(slow::SlowHeads::default())),
    },
    Attack {
        name: "endless-uploads",
        text: "5 connections with 100 requests each, whose bodies never end",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|_| Box::new(slow::EndlessUploads)),
    },
    Attack {
        name: "first-packets",
        text: "2000 first packets per second, from clients that never answer",
        codes: &[],
        way: Way::Quic(|_| Box::new(floods::FirstPackets)),
    },
    Attack {
        name: "rapid-reset",
        text: "requests that are cancelled at once (CVE-2023-44487)",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|files| Box::new(floods::RapidReset(first(files)))),
    },
    Attack {
        name: "priority-updates",
        text: "a flood of PRIORITY_UPDATE frames",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|_| Box::new(floods::ControlFrames::priority_updates())),
    },
    Attack {
        name: "unknown-frames",
        text: "a flood of frames of unknown types on the control stream",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|_| Box::new(floods::ControlFrames::unknown())),
    },
    Attack {
        name: "large-heads",
        text: "requests whose heads grow 30 times when they are decoded",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|_| Box::new(floods::LargeHeads)),
    },
    Attack {
        name: "many-fields",
        text: "requests of 1400 fields of a byte",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|_| Box::new(floods::ManyFields(1400))),
    },
    Attack {
        name: "gaps",
        text: "250 connections that send 128 kB each, in bytes with gaps between them",
        codes: &[EXCESSIVE_LOAD],
        way: Way::Quic(|_| Box::new(floods::Gaps::default())),
    },
    Attack {
        name: "malformed",
        text: "connections that break a rule of RFC 9114 each, and expect its code",
        codes: malformed::CODES,
        way: Way::Quic(|_| Box::new(malformed::Malformed::default())),
    },
    Attack {
        name: "wandering",
        text: "downloads whose client's address changes every 300 ms",
        codes: &[],
        way: Way::Quic(|files| Box::new(wandering::Wandering(first(files)))),
    },
    Attack {
        name: "sent-on",
        text: "downloads of which an attacker forwards a datagram from another address every 100 ms",
        codes: &[],
        way: Way::Quic(|files| Box::new(wandering::SentOn(wandering::Wandering(first(files))))),
    },
    Attack {
        name: "tcp-garbage",
        text: "over TLS, bytes that are not a request, from 5 clients that reconnect",
        codes: &[],
        way: Way::Tcp(5, |_| Box::new(Repeating::garbage())),
    },
    Attack {
        name: "tcp-handshakes",
        text: "60 connections over TCP with the beginning of a TLS handshake",
        codes: &[],
        way: Way::Tcp(60, |_| Box::new(Repeating::handshake())),
    },
    Attack {
        name: "tcp-comebacks",
        text: "60 clients over TCP that leave after the TLS handshake and reconnect at once",
        codes: &[],
        way: Way::Tcp(60, |_| Box::new(Handshake)),
    },
    Attack {
        name: "tcp-heads",
        text: "60 connections of HTTP/1.1 whose heads arrive one byte at a time",
        codes: &[],
        way: Way::Tcp(60, |asked| Box::new(Repeating::head(asked))),
    },
    Attack {
        name: "tcp-bodies",
        text: "60 connections of HTTP/1.1 whose uploads stop",
        codes: &[],
        way: Way::Tcp(60, |asked| Box::new(Repeating::body(asked))),
    },
    Attack {
        name: "tcp-unread-responses",
        text: "60 connections of HTTP/2 with 100 requests each, whose responses are never read",
        codes: &[],
        way: Way::Tcp(60, |asked| Box::new(Http2::unread(asked))),
    },
    Attack {
        name: "h2-rapid-reset",
        text: "HTTP/2 requests that are cancelled at once (CVE-2023-44487)",
        codes: &[CALM],
        way: Way::Tcp(5, |asked| Box::new(Http2::resets(asked))),
    },
    Attack {
        name: "h2-continuations",
        text: "HTTP/2 heads that never end (CVE-2024-27316)",
        codes: &[CALM],
        way: Way::Tcp(5, |asked| Box::new(Http2::continuations(asked))),
    },
    Attack {
        name: "h2-many-fields",
        text: "HTTP/2 requests with 1001 additional fields",
        codes: &[CALM],
        way: Way::Tcp(5, |asked| Box::new(Http2::many_fields(asked))),
    },
    Attack {
        name: "h2-references",
        text: "150 connections of HTTP/2 with 100 requests each, of 1900 references of a byte to a field",
        codes: &[CALM],
        way: Way::Tcp(150, |asked| Box::new(Http2::references(asked, 1900))),
    },
    Attack {
        name: "h2-legal-references",
        text: "the same with 990 references, as many fields as a head may have",
        codes: &[CALM],
        way: Way::Tcp(150, |asked| Box::new(Http2::references(asked, 990))),
    },
    Attack {
        name: "h2-unfinished-heads",
        text: "150 connections of HTTP/2 with a head of 1900 references of a byte that does not end",
        codes: &[CALM],
        way: Way::Tcp(150, |asked| Box::new(Http2::unfinished(asked, 1900))),
    },
    Attack {
        name: "h2-large-heads",
        text: "20 connections of HTTP/2 whose heads, of 3900 fields, are too large",
        codes: &[CALM],
        way: Way::Tcp(20, |asked| Box::new(Http2::large_heads(asked, 3900))),
    },
    Attack {
        name: "tunnels-idle",
        text: "60 WebSockets over HTTP/1.1 that stay silent",
        codes: &[],
        way: Way::Tunnels(60, |asked| Box::new(over_http_1(asked, false)), Talk::Idle),
    },
    Attack {
        name: "tunnels-garbage",
        text: "20 WebSockets over HTTP/1.1 whose both ends send bytes that are not frames",
        codes: &[],
        way: Way::Tunnels(20, |asked| Box::new(over_http_1(asked, true)), Talk::Garbage),
    },
    Attack {
        name: "tunnels-unanswered",
        text: "60 WebSockets over HTTP/1.1 whose backend does not answer",
        codes: &[],
        way: Way::Tunnels(60, |asked| Box::new(over_http_1(asked, false)), Talk::Silence),
    },
    Attack {
        name: "h2-tunnels-idle",
        text: "5 connections of HTTP/2 with 100 WebSockets each that stay silent",
        codes: &[],
        way: Way::Tunnels(5, |asked| Box::new(over_http_2(asked, 100, false)), Talk::Idle),
    },
    Attack {
        name: "h2-tunnels-garbage",
        text: "5 connections of HTTP/2 with 4 WebSockets each whose both ends send bytes that are not frames",
        codes: &[FLOW_CONTROL],
        way: Way::Tunnels(5, |asked| Box::new(over_http_2(asked, 4, true)), Talk::Garbage),
    },
    Attack {
        name: "h2-tunnels-unanswered",
        text: "5 connections of HTTP/2 with 100 WebSockets each whose backend does not answer",
        codes: &[],
        way: Way::Tunnels(5, |asked| Box::new(over_http_2(asked, 100, false)), Talk::Silence),
    },
];

fn first(files: &[File]) -> String {
    files.first().map_or_else(|| "/".to_owned(), |it| it.path.clone())
}

/// The attack of this name.
pub fn find(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|it| it.name == name)
}

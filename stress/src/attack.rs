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

macro_rules! attacks {
    ($($name:literal: $text:literal, $codes:expr, $transport:ident($($script:tt)*);)*) => {
        /// All attacks. The classes come from published vulnerabilities of HTTP/2 and HTTP/3 servers.
        pub const ATTACKS: &[Attack] = &[$(Attack {
            name: $name,
            text: $text,
            codes: $codes,
            way: Way::$transport($($script)*),
        }),*];
    };
}

attacks! {
    "unread-responses": "5 connections with 200 requests each, whose responses are never read", &[EXCESSIVE_LOAD],
        Quic(|files| Box::new(slow::UnreadResponses(files.to_vec())));
    "slow-heads": "5 connections with 200 requests each, whose heads arrive one byte at a time", &[EXCESSIVE_LOAD],
        Quic(|_| Box::new(slow::SlowHeads::default()));
    "endless-uploads": "5 connections with 100 requests each, whose bodies never end", &[EXCESSIVE_LOAD],
        Quic(|_| Box::new(slow::EndlessUploads));
    "first-packets": "2000 first packets per second, from clients that never answer", &[],
        Quic(|_| Box::new(floods::FirstPackets));
    "rapid-reset": "requests that are cancelled at once (CVE-2023-44487)", &[EXCESSIVE_LOAD],
        Quic(|files| Box::new(floods::RapidReset(first(files))));
    "priority-updates": "a flood of PRIORITY_UPDATE frames", &[EXCESSIVE_LOAD],
        Quic(|_| Box::new(floods::ControlFrames::priority_updates()));
    "unknown-frames": "a flood of frames of unknown types on the control stream", &[EXCESSIVE_LOAD],
        Quic(|_| Box::new(floods::ControlFrames::unknown()));
    "large-heads": "requests whose heads grow 30 times when they are decoded", &[EXCESSIVE_LOAD],
        Quic(|_| Box::new(floods::LargeHeads));
    "many-fields": "requests of 1400 fields of a byte", &[EXCESSIVE_LOAD],
        Quic(|_| Box::new(floods::ManyFields(1400)));
    "gaps": "250 connections that send 128 kB each, in bytes with gaps between them", &[EXCESSIVE_LOAD],
        Quic(|_| Box::new(floods::Gaps::default()));
    "malformed": "connections that break a rule of RFC 9114 each, and expect its code", malformed::CODES,
        Quic(|_| Box::new(malformed::Malformed::default()));
    "wandering": "downloads whose client's address changes every 300 ms", &[],
        Quic(|files| Box::new(wandering::Wandering(first(files))));
    "sent-on": "downloads of which an attacker forwards a datagram from another address every 100 ms", &[],
        Quic(|files| Box::new(wandering::SentOn(wandering::Wandering(first(files)))));
    "tcp-garbage": "over TLS, bytes that are not a request, from 5 clients that reconnect", &[],
        Tcp(5, |_| Box::new(Repeating::garbage()));
    "tcp-handshakes": "60 connections over TCP with the beginning of a TLS handshake", &[],
        Tcp(60, |_| Box::new(Repeating::handshake()));
    "tcp-comebacks": "60 clients over TCP that leave after the TLS handshake and reconnect at once", &[],
        Tcp(60, |_| Box::new(Handshake));
    "tcp-heads": "60 connections of HTTP/1.1 whose heads arrive one byte at a time", &[],
        Tcp(60, |asked| Box::new(Repeating::head(asked)));
    "tcp-bodies": "60 connections of HTTP/1.1 whose uploads stop", &[],
        Tcp(60, |asked| Box::new(Repeating::body(asked)));
    "tcp-unread-responses": "60 connections of HTTP/2 with 100 requests each, whose responses are never read", &[],
        Tcp(60, |asked| Box::new(Http2::unread(asked)));
    "h2-rapid-reset": "HTTP/2 requests that are cancelled at once (CVE-2023-44487)", &[CALM],
        Tcp(5, |asked| Box::new(Http2::resets(asked)));
    "h2-continuations": "HTTP/2 heads that never end (CVE-2024-27316)", &[CALM],
        Tcp(5, |asked| Box::new(Http2::continuations(asked)));
    "h2-many-fields": "HTTP/2 requests with 1001 additional fields", &[CALM],
        Tcp(5, |asked| Box::new(Http2::many_fields(asked)));
    "h2-references": "150 connections of HTTP/2 with 100 requests each, of 1900 references of a byte to a field", &[CALM],
        Tcp(150, |asked| Box::new(Http2::references(asked, 1900)));
    "h2-legal-references": "the same with 990 references, as many fields as a head may have", &[CALM],
        Tcp(150, |asked| Box::new(Http2::references(asked, 990)));
    "h2-unfinished-heads": "150 connections of HTTP/2 with a head of 1900 references of a byte that does not end", &[CALM],
        Tcp(150, |asked| Box::new(Http2::unfinished(asked, 1900)));
    "h2-large-heads": "20 connections of HTTP/2 whose heads, of 3900 fields, are too large", &[CALM],
        Tcp(20, |asked| Box::new(Http2::large_heads(asked, 3900)));
    "tunnels-idle": "60 WebSockets over HTTP/1.1 that stay silent", &[],
        Tunnels(60, |asked| Box::new(over_http_1(asked, false)), Talk::Idle);
    "tunnels-garbage": "20 WebSockets over HTTP/1.1 whose both ends send bytes that are not frames", &[],
        Tunnels(20, |asked| Box::new(over_http_1(asked, true)), Talk::Garbage);
    "tunnels-unanswered": "60 WebSockets over HTTP/1.1 whose backend does not answer", &[],
        Tunnels(60, |asked| Box::new(over_http_1(asked, false)), Talk::Silence);
    "h2-tunnels-idle": "5 connections of HTTP/2 with 100 WebSockets each that stay silent", &[],
        Tunnels(5, |asked| Box::new(over_http_2(asked, 100, false)), Talk::Idle);
    "h2-tunnels-garbage": "5 connections of HTTP/2 with 4 WebSockets each whose both ends send bytes that are not frames", &[FLOW_CONTROL],
        Tunnels(5, |asked| Box::new(over_http_2(asked, 4, true)), Talk::Garbage);
    "h2-tunnels-unanswered": "5 connections of HTTP/2 with 100 WebSockets each whose backend does not answer", &[],
        Tunnels(5, |asked| Box::new(over_http_2(asked, 100, false)), Talk::Silence);
}

fn first(files: &[File]) -> String {
    files.first().map_or_else(|| "/".to_owned(), |it| it.path.clone())
}

/// The attack of this name.
pub fn find(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|it| it.name == name)
}

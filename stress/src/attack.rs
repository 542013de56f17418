//! The list of attacks.

use crate::files::File;
use crate::scripts::{Script, floods, malformed, slow, wandering};

/// One attack.
pub struct Attack {
    /// Its name.
    pub name: &'static str,
    /// What the attacker does.
    pub text: &'static str,
    /// The close codes of HTTP/3 that the server may answer with; none: it must not close the connection.
    pub(crate) codes: &'static [u64],
    /// The script; it may load these files.
    pub(crate) script: fn(&[File]) -> Box<dyn Script>,
}

/// `H3_EXCESSIVE_LOAD` (RFC 9114, 8.1).
const EXCESSIVE_LOAD: u64 = 0x107;

/// All attacks. The classes are those of published faults in HTTP/2 and HTTP/3 servers.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "unread-responses",
        text: "5 connections with 200 requests each, whose responses nobody reads",
        codes: &[EXCESSIVE_LOAD],
        script: |files| Box::new(slow::UnreadResponses(files.to_vec())),
    },
    Attack {
        name: "slow-heads",
        text: "5 connections with 200 requests each, whose heads come a byte at a time",
        codes: &[EXCESSIVE_LOAD],
        script: |_| Box::new(slow::SlowHeads::default()),
    },
    Attack {
        name: "endless-uploads",
        text: "5 connections with 100 requests each, whose bodies never end",
        codes: &[EXCESSIVE_LOAD],
        script: |_| Box::new(slow::EndlessUploads),
    },
    Attack {
        name: "first-packets",
        text: "2000 first packets a second, of clients that never answer",
        codes: &[],
        script: |_| Box::new(floods::FirstPackets),
    },
    Attack {
        name: "rapid-reset",
        text: "requests that are taken back at once (CVE-2023-44487)",
        codes: &[EXCESSIVE_LOAD],
        script: |files| Box::new(floods::RapidReset(first(files))),
    },
    Attack {
        name: "priority-updates",
        text: "a flood of PRIORITY_UPDATE frames",
        codes: &[EXCESSIVE_LOAD],
        script: |_| Box::new(floods::ControlFrames::priority_updates()),
    },
    Attack {
        name: "unknown-frames",
        text: "a flood of frames of no known type on the control stream",
        codes: &[EXCESSIVE_LOAD],
        script: |_| Box::new(floods::ControlFrames::unknown()),
    },
    Attack {
        name: "large-heads",
        text: "requests whose heads grow 30 times when they are decoded",
        codes: &[EXCESSIVE_LOAD],
        script: |_| Box::new(floods::LargeHeads),
    },
    Attack {
        name: "malformed",
        text: "connections that break a rule of RFC 9114 each, and expect its code",
        codes: malformed::CODES,
        script: |_| Box::new(malformed::Malformed::default()),
    },
    Attack {
        name: "wandering",
        text: "downloads whose client's address changes every 300 ms",
        codes: &[],
        script: |files| Box::new(wandering::Wandering(first(files))),
    },
];

fn first(files: &[File]) -> String {
    files.first().map_or_else(|| "/".to_owned(), |it| it.path.clone())
}

/// The attack of this name.
pub fn find(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|it| it.name == name)
}

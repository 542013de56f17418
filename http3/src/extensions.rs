//! Our extensions of HTTP/3 and their codepoints, in a single table.
//!
//! | frame type and setting | frame | payload | sent by |
//! |---|---|---|---|
//! | `0x25396340` | `TreeDraft20` | types, IDs, weight - 1 | client: control stream, or first on a request stream |
//! | `0x25396341` | `TreeZeroWeight` | types, IDs, weight | as above |
//! | `0x25396342` | `TreeDraft22` | types with X, IDs, weight - 1 | client: control stream |
//! | `0x25396343` | `BucketJanuary2019` | stream ID, byte | client: control stream |
//! | `0x25396344` | `BucketJune2019` | stream ID, byte | client: control stream |
//! | `0x25396345` | `SchemeAnnouncement` | a name, 1 to 64 bytes | server: control stream, once |
//! | `0x25396346` | no frame; the setting `NUM_PLACEHOLDERS` | | server |
//! | `0x25396347` | no frame; the setting `CONNECTION_GROUP` | | client |
//! | `0x25396348` to `0x2539634a` | no frame; three settings name a connection | | both |
//! | `0x2539634b` | MIGRATE of `utmost-migration`; no setting of its own | destination, flags, ID, offset | both: control stream |
//! | `0x2539634c` | a type of unidirectional stream: the continuation of a response | source, kind, ID, offset | server |
//!
//! A setting with the value 1 means that its sender understands the frame of the same number. A frame is used only if
//! both sides have sent that setting. Otherwise it is ignored as unknown (RFC 9114, 9), even on a request stream that
//! overtakes its client's settings.
//!
//! Why these numbers are safe: RFC 9114, 11.2 has no range for private use. Like RFC 9000, 22.1.2, it asks for random numbers away
//! from assigned ones. [`FIRST`] was chosen at random among four-byte varints. Up to [`LAST`] no number is `0x1f * N + 0x21`,
//! which is reserved for grease (7.2.8, 7.2.4.1), a frame or setting of HTTP/2 (11.2.1, 11.2.2), or known to be in use. A peer
//! that does not know them skips frames and settings. A number is never reused.

use std::collections::BTreeSet;

/// The first codepoint of ours.
const FIRST: u64 = 0x2539_6340;
/// The number of placeholders that a server allows (`SETTINGS_NUM_PLACEHOLDERS` of the drafts, which used 0x9).
pub(crate) const NUM_PLACEHOLDERS: u64 = FIRST + 6;
/// The group of connections that a client wants ordered together.
pub(crate) const CONNECTION_GROUP: u64 = FIRST + 7;
/// The last codepoint reserved for our extensions.
#[cfg(test)]
const LAST: u64 = FIRST + 15;

/// An extension of HTTP/3 that both ends of a connection may agree on.
///
/// The client sends the tree and the bucket byte on its control stream (the two forms of draft 20 also first on a
/// request stream). The server sends the announcement on its control stream. Elsewhere the frame is
/// `H3_FRAME_UNEXPECTED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extension {
    /// The `PRIORITY` frame of draft-ietf-quic-http-22: exclusive bit, control stream only.
    TreeDraft22,
    /// The `PRIORITY` frame of draft-ietf-quic-http-20: "current stream", no exclusive bit.
    TreeDraft20,
    /// The layout of draft 20, but its weight is the byte itself (0 to 255), not the byte plus one: the paper's `zeroweight`.
    TreeZeroWeight,
    /// Patrick Meenan's byte of January 2019: six bits of priority, two of concurrency. The frame is a
    /// stream ID and the byte.
    BucketJanuary2019,
    /// The byte of June 2019: seven bits of priority, one of concurrency. If both sides offer both revisions, January's is used,
    /// because a byte does not reveal its revision.
    BucketJune2019,
    /// The server's preferred scheme for the connection, by name. It is a name, not a number, because schemes have parameters and
    /// new ones must not need a registry. SETTINGS can only announce that it may follow.
    SchemeAnnouncement,
}

impl Extension {
    /// All extensions; among alternative forms, the preferred one first.
    pub const ALL: [Self; 6] = [
        Self::TreeDraft22,
        Self::TreeDraft20,
        Self::TreeZeroWeight,
        Self::BucketJanuary2019,
        Self::BucketJune2019,
        Self::SchemeAnnouncement,
    ];

    /// Its frame type, and the setting that announces it.
    pub fn codepoint(self) -> u64 {
        FIRST
            + match self {
                Self::TreeDraft20 => 0,
                Self::TreeZeroWeight => 1,
                Self::TreeDraft22 => 2,
                Self::BucketJanuary2019 => 3,
                Self::BucketJune2019 => 4,
                Self::SchemeAnnouncement => 5,
            }
    }

    /// The extension of a frame type or setting.
    pub(crate) fn of(codepoint: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.codepoint() == codepoint)
    }

    /// The longest payload its frame can have, in bytes.
    pub(crate) fn payload_bytes_max(self) -> u64 {
        match self {
            // Types, two IDs of eight bytes, weight.
            Self::TreeDraft20 | Self::TreeZeroWeight | Self::TreeDraft22 => 18,
            // An ID and the byte.
            Self::BucketJanuary2019 | Self::BucketJune2019 => 9,
            Self::SchemeAnnouncement => crate::scheme_name::NAME_BYTES_MAX as u64,
        }
    }
}

/// The extensions that a connection may use: those offered by both sides, with only one revision of the bucket byte.
pub(crate) fn agreed(
    ours: &BTreeSet<Extension>,
    theirs: &BTreeSet<Extension>,
) -> BTreeSet<Extension> {
    let mut both: BTreeSet<Extension> = ours.intersection(theirs).copied().collect();
    if both.contains(&Extension::BucketJanuary2019) {
        both.remove(&Extension::BucketJune2019);
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames and settings of other extensions: RFC 9218, 9220, 9297, 9412, METADATA, and the drafts of
    /// WebTransport and datagrams.
    const OTHERS: [u64; 11] = [
        0xf_0700,
        0xf_0701,
        0x33,
        0x41,
        0x4d44,
        0xff_d277,
        0x2b60_3742,
        0x14e9_cd29,
        0xc671_706a,
        0x0c,
        0x08,
    ];

    #[test]
    fn our_codepoints_are_varints_of_four_bytes_and_neither_grease_nor_anothers_9114_11_2() {
        for codepoint in FIRST..=LAST {
            assert!((1 << 14..1 << 30).contains(&codepoint));
            assert_ne!((codepoint - 0x21) % 0x1f, 0, "{codepoint:#x} is grease");
            assert!(!OTHERS.contains(&codepoint));
        }
    }

    #[test]
    fn each_extension_has_its_own_codepoint() {
        let table = Extension::ALL.map(|it| format!("{:#x} {it:?}", it.codepoint()));
        assert_eq!(
            table,
            [
                "0x25396342 TreeDraft22",
                "0x25396340 TreeDraft20",
                "0x25396341 TreeZeroWeight",
                "0x25396343 BucketJanuary2019",
                "0x25396344 BucketJune2019",
                "0x25396345 SchemeAnnouncement",
            ]
        );
        assert_eq!(NUM_PLACEHOLDERS, 0x2539_6346);
        assert_eq!(Extension::of(NUM_PLACEHOLDERS), None);
        assert!(Extension::ALL.into_iter().all(|it| Extension::of(it.codepoint()) == Some(it)));
    }

    #[test]
    fn what_both_offer_is_used_and_one_revision_of_the_bucket_byte() {
        let all: BTreeSet<_> = Extension::ALL.into();
        let june: BTreeSet<_> = [Extension::BucketJune2019, Extension::TreeDraft20].into();
        assert_eq!(agreed(&all, &june), june);
        assert!(agreed(&all, &BTreeSet::new()).is_empty());
        assert!(agreed(&all, &all).contains(&Extension::BucketJanuary2019));
        assert!(!agreed(&all, &all).contains(&Extension::BucketJune2019));
    }
}

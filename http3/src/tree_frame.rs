//! The `PRIORITY` frame of the dependency tree: draft-ietf-quic-http-20 and -22, and the paper's
//! `zeroweight` (the layout of draft 20 with weights from 0).
//!
//! ```text
//! draft 20   PT(2) DT(2) Empty(4)       [element ID (i)] [parent ID (i)] weight(8)
//! draft 22   PT(2) DT(2) X(1) Empty(3)   element ID (i)  [parent ID (i)] weight(8)
//! ```
//! 00 is a request stream, 01 a push, 10 a placeholder. 11 has no ID: as PT it means the frame's own stream (draft
//! 20; an error in draft 22), as DT the root. The drafts' codes have other names today: `HTTP_MALFORMED_FRAME` is
//! `H3_FRAME_ERROR`, `HTTP_LIMIT_EXCEEDED` is `H3_ID_ERROR`, `HTTP_WRONG_STREAM` and `HTTP_UNEXPECTED_FRAME` are
//! `H3_FRAME_UNEXPECTED`.

use crate::error::{Code, Error};
use crate::event::{PushDepend, TreeNode, WIRE_IDS_END};
use crate::frame::put_varint;
use crate::{Event, Extension, PushId, Signal, StreamId};
use octets::Octets;
use schedulers::Element;

/// The exclusive bit of draft 22.
const EXCLUSIVE: u8 = 0x08;

impl Extension {
    pub(crate) fn is_tree(self) -> bool {
        matches!(self, Self::TreeDraft20 | Self::TreeZeroWeight | Self::TreeDraft22)
    }
}

/// Which elements can exist: the first IDs that are too large.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    pub(crate) streams: u64,
    pub(crate) pushes: u64,
    pub(crate) placeholders: u64,
}

/// An element in a frame's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Request(u64),
    Push(u64),
    Placeholder(u64),
    /// The current stream, or the root.
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeFrame {
    element: Named,
    parent: Named,
    /// As in [`Signal::Depend`].
    weight: u16,
    exclusive: bool,
}

impl TreeFrame {
    /// A frame for the client's control stream. `None`: no form of the frame can express this, or it would be an
    /// error.
    pub(crate) fn of(signal: &Signal) -> Option<Self> {
        let Signal::Depend { element, parent, weight, exclusive } = *signal else { return None };
        let (element, parent) = (Named::of(element), Named::of(parent));
        let may = element != Named::Absent && element != parent && element.is_element();
        (may && parent.is_element()).then_some(Self { element, parent, weight, exclusive })
    }

    /// The largest placeholder that it names.
    pub(crate) fn placeholder(&self) -> Option<u64> {
        [self.element, self.parent].into_iter().filter_map(Named::placeholder).max()
    }

    /// The payload in this form. `None`: the form cannot express it.
    pub(crate) fn to_payload(self, form: Extension) -> Option<Vec<u8>> {
        let weight = match form {
            Extension::TreeZeroWeight => u8::try_from(self.weight).ok()?,
            _ => u8::try_from(self.weight.checked_sub(1)?).ok()?,
        };
        let exclusive = match (self.exclusive, form) {
            (true, Extension::TreeDraft22) => EXCLUSIVE,
            (true, _) => return None,
            (false, _) => 0,
        };
        let mut payload = vec![self.element.bits() << 6 | self.parent.bits() << 4 | exclusive];
        for id in [self.element.id(), self.parent.id()].into_iter().flatten() {
            put_varint(&mut payload, id);
        }
        payload.push(weight);
        Some(payload)
    }

    /// Parses a payload. Ignores bits that must be zero, as the drafts allow.
    pub(crate) fn parse(form: Extension, payload: &[u8]) -> Result<Self, Error> {
        let mut octets = Octets::with_slice(payload);
        let Some(frame) = Self::read(form, &mut octets).filter(|_| octets.cap() == 0) else {
            return Code::Frame.fail("PRIORITY has a different length than its types require");
        };
        if frame.element == frame.parent && frame.element != Named::Absent {
            return Code::Frame.fail("PRIORITY puts an element below itself (RFC 7540, 5.3.1)");
        }
        Ok(frame)
    }

    fn read(form: Extension, octets: &mut Octets<'_>) -> Option<Self> {
        let types = octets.get_u8().ok()?;
        let element = Named::read(types >> 6, octets)?;
        let parent = Named::read(types >> 4 & 0b11, octets)?;
        let byte = u16::from(octets.get_u8().ok()?);
        let weight = if form == Extension::TreeZeroWeight { byte } else { byte + 1 };
        let exclusive = form == Extension::TreeDraft22 && types & EXCLUSIVE != 0;
        Some(Self { element, parent, weight, exclusive })
    }

    /// Its meaning on the control stream.
    pub(crate) fn on_control(&self, reach: Reach) -> Result<Event, Error> {
        if self.element == Named::Absent {
            return Code::Frame
                .fail("PRIORITY of the current stream, or of the root, on the control stream");
        }
        self.event(self.element.locate(reach)?, reach)
    }

    /// Its meaning at the beginning of a request stream (draft 20).
    pub(crate) fn on_request(&self, stream: StreamId, reach: Reach) -> Result<Event, Error> {
        match (self.element, self.parent) {
            (Named::Absent, Named::Request(parent)) if parent >= stream.0 => {
                Code::Frame.fail("PRIORITY puts a request below a later one or itself")
            }
            (Named::Absent, _) => self.event(TreeNode::Element(Element::Stream(stream)), reach),
            _ => Code::Frame.fail("PRIORITY of an element other than its own stream"),
        }
    }

    /// [`Event::Priority`], or [`Event::PushDepend`] if it names a push.
    fn event(&self, element: TreeNode, reach: Reach) -> Result<Event, Error> {
        let parent = self.parent.locate(reach)?;
        let Self { weight, exclusive, .. } = *self;
        let said = PushDepend { element, parent, weight, exclusive };
        Ok(said.signal(|_| None).map_or(Event::PushDepend(said), Event::Priority))
    }
}

impl Named {
    fn of(element: Element) -> Self {
        match element {
            Element::Root => Self::Absent,
            Element::Placeholder(id) => Self::Placeholder(id),
            Element::Stream(StreamId(id)) if id >= WIRE_IDS_END => Self::Push(id - WIRE_IDS_END),
            Element::Stream(StreamId(id)) => Self::Request(id),
        }
    }

    fn bits(self) -> u8 {
        match self {
            Self::Request(_) => 0b00,
            Self::Push(_) => 0b01,
            Self::Placeholder(_) => 0b10,
            Self::Absent => 0b11,
        }
    }

    fn id(self) -> Option<u64> {
        match self {
            Self::Request(id) | Self::Push(id) | Self::Placeholder(id) => Some(id),
            Self::Absent => None,
        }
    }

    /// Whether it can be in the tree: a stream must carry a request.
    fn is_element(self) -> bool {
        !matches!(self, Self::Request(id) if !id.is_multiple_of(4))
    }

    fn placeholder(self) -> Option<u64> {
        if let Self::Placeholder(id) = self { Some(id) } else { None }
    }

    fn read(bits: u8, octets: &mut Octets<'_>) -> Option<Self> {
        Some(match bits {
            0b00 => Self::Request(octets.get_varint().ok()?),
            0b01 => Self::Push(octets.get_varint().ok()?),
            0b10 => Self::Placeholder(octets.get_varint().ok()?),
            _ => Self::Absent,
        })
    }

    fn locate(self, reach: Reach) -> Result<TreeNode, Error> {
        match self {
            Self::Request(_) if !self.is_element() => {
                Code::Frame.fail("PRIORITY names a stream that does not carry a request")
            }
            Self::Request(id) if id >= reach.streams => Code::Id
                .fail("PRIORITY names a request beyond the stream limit (draft-ietf-quic-http-22)"),
            Self::Push(id) if id >= reach.pushes => Code::Id
                .fail("PRIORITY names a push that was never promised (draft-ietf-quic-http-22)"),
            Self::Placeholder(id) if id >= reach.placeholders => Code::Id.fail(
                "PRIORITY names a placeholder beyond those announced (draft-ietf-quic-http-22)",
            ),
            Self::Request(id) => Ok(TreeNode::Element(Element::Stream(StreamId(id)))),
            Self::Placeholder(id) => Ok(TreeNode::Element(Element::Placeholder(id))),
            Self::Absent => Ok(TreeNode::Element(Element::Root)),
            Self::Push(id) => Ok(TreeNode::Push(PushId(id))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMS: [Extension; 3] =
        [Extension::TreeDraft20, Extension::TreeZeroWeight, Extension::TreeDraft22];
    const ALL: Reach = Reach { streams: 1 << 62, pushes: 1 << 62, placeholders: 1 << 62 };

    fn depend(element: Element, parent: Element, weight: u16, exclusive: bool) -> Signal {
        Signal::Depend { element, parent, weight, exclusive }
    }

    fn stream(id: u64) -> Element {
        Element::Stream(StreamId(id))
    }

    /// A number of the vectors' JSON, which has one member a line.
    fn number(object: &str, key: &str) -> Option<u64> {
        let after = object.split(&format!("\"{key}\": ")).nth(1)?;
        after.split([',', '\n']).next()?.trim().parse().ok()
    }

    fn named(object: &str, kind: &str, id: &str) -> Named {
        let id = number(object, id);
        match number(object, kind).unwrap() {
            0 => Named::Request(id.unwrap()),
            1 => Named::Push(id.unwrap()),
            2 => Named::Placeholder(id.unwrap()),
            _ => Named::Absent,
        }
    }

    #[test]
    fn frames_of_draft_20_are_byte_for_byte_those_of_the_papers_implementation() {
        let Some(path) = fixtures::path("vectors/priority-frames-draft20.json") else { return };
        let text = std::fs::read_to_string(path).unwrap();
        let mut frames = 0;
        for object in text.split("\"variant\": ").skip(1) {
            let form = if object.starts_with("\"zeroweight\"") {
                Extension::TreeZeroWeight
            } else {
                assert!(object.starts_with("\"default\""));
                Extension::TreeDraft20
            };
            let hex = object.split("\"frame_hex\": \"").nth(1).unwrap().split('"').next().unwrap();
            let bytes: Vec<u8> = (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect();
            let frame = TreeFrame {
                element: named(object, "prioritized_type", "prioritized_id"),
                parent: named(object, "dependency_type", "dependency_id"),
                weight: u16::try_from(number(object, "weight").unwrap()).unwrap(),
                exclusive: false,
            };
            let payload = frame.to_payload(form).unwrap();
            assert_eq!(crate::frame::whole(0x02, &payload), bytes, "{object}");
            assert_eq!(TreeFrame::parse(form, &payload), Ok(frame));
            frames += 1;
        }
        assert_eq!(frames, 24);
    }

    #[test]
    fn a_frame_is_types_ids_and_weight() {
        let frame = TreeFrame::of(&depend(stream(8), Element::Placeholder(1), 32, false)).unwrap();
        assert_eq!(frame.to_payload(Extension::TreeDraft20), Some(vec![0x20, 8, 1, 31]));
        assert_eq!(frame.to_payload(Extension::TreeZeroWeight), Some(vec![0x20, 8, 1, 32]));
        let first = TreeFrame { element: Named::Absent, ..frame };
        assert_eq!(first.to_payload(Extension::TreeDraft20), Some(vec![0xe0, 1, 31]));
        let exclusive = TreeFrame::of(&depend(stream(8), Element::Root, 256, true)).unwrap();
        assert_eq!(exclusive.to_payload(Extension::TreeDraft22), Some(vec![0x38, 8, 255]));
        assert_eq!(exclusive.to_payload(Extension::TreeDraft20), None);
    }

    #[test]
    fn what_a_form_cannot_say_is_not_said() {
        assert_eq!(TreeFrame::of(&depend(Element::Root, stream(4), 16, false)), None);
        assert_eq!(TreeFrame::of(&depend(stream(4), stream(4), 16, false)), None);
        assert_eq!(TreeFrame::of(&depend(stream(4), stream(3), 16, false)), None);
        let payload = |weight, form| {
            TreeFrame::of(&depend(stream(0), Element::Root, weight, false))?.to_payload(form)
        };
        assert_eq!(payload(0, Extension::TreeDraft22), None);
        assert_eq!(payload(257, Extension::TreeDraft20), None);
        assert_eq!(payload(256, Extension::TreeZeroWeight), None);
        assert_eq!(payload(0, Extension::TreeZeroWeight), Some(vec![0x30, 0, 0]));
    }

    #[test]
    fn a_frame_of_another_length_is_a_frame_error() {
        for payload in [&[][..], &[0xf0], &[0xe0, 1], &[0xf0, 1, 2], &[0x00, 8, 0x40, 16]] {
            for form in FORMS {
                assert_eq!(TreeFrame::parse(form, payload).unwrap_err().kind(), Code::Frame);
            }
        }
    }

    #[test]
    fn an_element_below_itself_is_a_frame_error_7540_5_3_1() {
        for payload in [[0x00, 8, 8, 15], [0xa0, 1, 1, 15]] {
            assert_eq!(
                TreeFrame::parse(Extension::TreeDraft22, &payload).unwrap_err().kind(),
                Code::Frame
            );
        }
        assert!(TreeFrame::parse(Extension::TreeDraft22, &[0x20, 8, 8, 15]).is_ok());
    }

    #[test]
    fn a_push_is_a_node_like_any_other() {
        // PT and DT name pushes: push 1 below stream 8, and stream 8 below push 1.
        let read = |payload: &[u8; 4]| {
            TreeFrame::parse(Extension::TreeDraft22, payload).unwrap().on_control(ALL).unwrap()
        };
        let (push, request) = (TreeNode::Push(PushId(1)), TreeNode::Element(stream(8)));
        let said = |element, parent| {
            Event::PushDepend(PushDepend { element, parent, weight: 16, exclusive: false })
        };
        assert_eq!(read(&[0x40, 1, 8, 15]), said(push, request));
        assert_eq!(read(&[0x10, 8, 1, 15]), said(request, push));
    }

    #[test]
    fn empty_bits_are_not_looked_at_and_x_is_one_only_in_draft_22() {
        let read =
            |form, first| TreeFrame::parse(form, &[first, 8, 15]).unwrap().on_control(ALL).unwrap();
        let said = |exclusive| Event::Priority(depend(stream(8), Element::Root, 16, exclusive));
        assert_eq!(read(Extension::TreeDraft20, 0x3f), said(false));
        assert_eq!(read(Extension::TreeDraft22, 0x37), said(false));
        assert_eq!(read(Extension::TreeDraft22, 0x3f), said(true));
    }

    fn element() -> impl Strategy<Value = Element> {
        prop_oneof![
            (0u64..1 << 60).prop_map(|index| stream(4 * index)),
            (0u64..1 << 62).prop_map(Element::Placeholder),
        ]
    }

    proptest! {
        #[test]
        fn a_signal_comes_back_as_sent(
            node in element(),
            parent in prop_oneof![element(), Just(Element::Root)],
            weight in 0u16..=256,
            exclusive: bool,
        ) {
            let signal = depend(node, parent, weight, exclusive);
            prop_assume!(node != parent);
            let frame = TreeFrame::of(&signal).unwrap();
            let mut said = 0;
            for form in FORMS {
                let Some(payload) = frame.to_payload(form) else { continue };
                let read = TreeFrame::parse(form, &payload).unwrap();
                prop_assert_eq!(read.on_control(ALL), Ok(Event::Priority(signal)));
                said += 1;
            }
            prop_assert!(said > 0 || (exclusive && weight == 0));
        }

        #[test]
        fn any_payload_is_read_or_refused(payload in proptest::collection::vec(any::<u8>(), 0..20)) {
            for form in FORMS {
                if let Ok(frame) = TreeFrame::parse(form, &payload) {
                    let _ = frame.on_control(ALL);
                    let _ = frame.on_request(StreamId(4), Reach { streams: 8, pushes: 0, placeholders: 2 });
                }
            }
        }
    }
}

//! The resources that figures show.

use std::collections::BTreeMap;

use schedulers::Kind;

use crate::timeline::Timeline;
use crate::trace::Trace;

/// One resource of a page, for naming and colouring in figures. Figures use request order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageResource {
    /// Its URL, as in the timelines' transfers.
    pub url: String,
    /// Its kind.
    pub kind: Kind,
    /// Whether it belongs to the ATF set.
    pub above_fold: bool,
    /// Its body bytes, when known.
    pub body_bytes: Option<u64>,
    /// In figures of logs, the streams that carried it, for its name and look; empty in figures of
    /// pages.
    pub streams: Vec<u64>,
}

impl PageResource {
    /// The resources of all logs, without duplicate URLs, in the order of their requests.
    pub fn of_logs<'a>(
        traces: impl IntoIterator<Item = &'a Trace>,
        is_above_fold: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let mut resources: Vec<Self> = Vec::new();
        let mut known = BTreeMap::new();
        let transfers =
            traces.into_iter().flat_map(|it| it.timeline.transfers.iter().zip(&it.details));
        for (transfer, details) in transfers {
            let place = *known.entry(&transfer.url).or_insert(resources.len());
            if place == resources.len() {
                resources.push(Self {
                    url: transfer.url.clone(),
                    kind: kind(details.content_type.as_deref(), &transfer.url),
                    above_fold: is_above_fold(&transfer.url),
                    body_bytes: transfer.body_bytes_or_stream(),
                    streams: Vec::new(),
                });
            }
            let streams = &mut resources[place].streams;
            if !streams.contains(&transfer.stream) {
                streams.push(transfer.stream);
            }
        }
        resources
    }
}

/// For each stream of a timeline, the index of its resource in `resources`; `None` if not listed.
pub fn places_of_streams(
    resources: &[PageResource],
    timeline: &Timeline,
) -> BTreeMap<u64, Option<usize>> {
    // Of two with the same URL, the first counts.
    let places = resources.iter().enumerate().rev().map(|(place, it)| (&*it.url, place));
    let places: BTreeMap<&str, usize> = places.collect();
    let streams = timeline.transfers.iter();
    streams.map(|it| (it.stream, places.get(&*it.url).copied())).collect()
}

/// Extensions of paths, by their contents.
const ENDINGS: [(Kind, &[&str]); 7] = [
    (Kind::Html, &["html", "htm"]),
    (Kind::Css, &["css"]),
    (Kind::Js, &["js", "mjs", "cjs"]),
    (Kind::Font, &["woff2", "woff", "ttf", "otf"]),
    (Kind::Image, &["jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "ico"]),
    (Kind::Media, &["mp4", "webm", "mp3"]),
    (Kind::Xhr, &["json"]),
];

/// The kind by the media type, otherwise by the extension of the path.
fn kind(content_type: Option<&str>, url: &str) -> Kind {
    if let Some(mime) = content_type {
        return Kind::of_mime(mime);
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, ending)) = name.rsplit_once('.') else { return Kind::default() };
    let kind = ENDINGS.iter().find(|(_, endings)| endings.contains(&ending));
    kind.map(|it| it.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::name_requests_apart;
    use crate::timeline::Transfer;
    use crate::trace::TransferDetails;

    #[test]
    fn the_kind_is_that_of_the_media_type_or_else_of_the_ending() {
        assert_eq!(kind(Some("text/css"), "/a.js"), Kind::Css);
        assert_eq!(kind(None, "https://h.test/v1.2/a.mjs?x=.css"), Kind::Js);
        assert_eq!(kind(None, "/v1.2/a"), Kind::Other);
    }

    #[test]
    fn both_ends_call_a_stream_the_same_whatever_order_they_saw() {
        let end = |streams: [u64; 3]| {
            let mut trace = Trace::default();
            let transfer =
                |stream| Transfer { stream, url: "/x".to_owned(), ..Transfer::default() };
            trace.timeline.transfers = streams.map(transfer).into();
            trace.details = vec![TransferDetails::default(); 3];
            name_requests_apart(&mut trace);
            trace
        };
        let (client, server) = (end([0, 4, 8]), end([8, 0, 4]));
        let drawn = PageResource::of_logs([&client, &server], |_| false);
        let names: Vec<(&str, &[u64])> = drawn.iter().map(|it| (&*it.url, &*it.streams)).collect();
        assert_eq!(names, [("/x", &[0][..]), ("/x #2", &[4]), ("/x #3", &[8])]);
    }
}

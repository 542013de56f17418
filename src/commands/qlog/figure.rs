//! Figures of traces: whose resources they show, and where they go.

use super::set::AtfSet;
use crate::failure::Failure;
use qlog_tools::figures::PageResource;
use qlog_tools::figures::png::Rasterizer;
use qlog_tools::timeline::Transfer;
use qlog_tools::trace::Trace;
use schedulers::Kind;
use std::path::Path;

/// Pixels for each unit of a figure.
const PNG_SCALE: f32 = 2.0;

/// The resources of all traces, each URL once, in the order of their requests.
pub(crate) fn resources(traces: &[&Trace], set: Option<&AtfSet>) -> Vec<PageResource> {
    let mut resources: Vec<PageResource> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    for trace in traces {
        for (transfer, details) in trace.timeline.transfers.iter().zip(&trace.details) {
            let place = *known.entry(&transfer.url).or_insert(resources.len());
            if let Some(resource) = resources.get_mut(place) {
                if !resource.streams.contains(&transfer.stream) {
                    resource.streams.push(transfer.stream);
                }
            } else {
                resources.push(PageResource {
                    url: transfer.url.clone(),
                    kind: kind(details.content_type.as_deref(), &transfer.url),
                    above_fold: set.is_some_and(|set| set.contains(&transfer.url)),
                    body_bytes: transfer.body_bytes_or_stream(),
                    streams: vec![transfer.stream],
                });
            }
        }
    }
    resources
}

/// Gives further requests for the same URL names of their own, so that each has its own look. They count by stream:
/// the two ends of a connection may have seen them in different orders.
pub(crate) fn name_apart(trace: &mut Trace) {
    let mut seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    let mut transfers: Vec<&mut Transfer> = trace.timeline.transfers.iter_mut().collect();
    transfers.sort_by_key(|transfer| transfer.stream);
    for transfer in transfers {
        let times = seen.entry(transfer.url.clone()).or_default();
        *times += 1;
        if *times > 1 {
            transfer.url = format!("{} #{times}", transfer.url);
        }
    }
}

/// By the media type, or else by the ending of the path.
fn kind(content_type: Option<&str>, url: &str) -> Kind {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let ending = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|it| it.1);
    let mime = match (content_type, ending) {
        (Some(mime), _) => mime,
        (None, Some("html" | "htm")) => "text/html",
        (None, Some("css")) => "text/css",
        (None, Some("js" | "mjs")) => "text/javascript",
        (None, Some("woff2" | "woff" | "ttf" | "otf")) => "font/woff2",
        (None, Some("jpg" | "jpeg" | "png" | "gif" | "webp" | "avif" | "svg" | "ico")) => {
            "image/png"
        }
        (None, Some("mp4" | "webm" | "mp3")) => "video/mp4",
        (None, Some("json")) => "application/json",
        (None, _) => "application/octet-stream",
    };
    Kind::of_mime(mime)
}

/// Writes an SVG, or a PNG of it, as the file's ending says.
pub(crate) fn write(file: &Path, svg: &str) -> Result<(), Failure> {
    let ending = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let bytes = match &*ending {
        "svg" => svg.as_bytes().to_vec(),
        "png" => {
            let rasterizer = Rasterizer::new().map_err(Failure::elsewhere)?;
            rasterizer.png(svg, PNG_SCALE).map_err(Failure::elsewhere)?
        }
        _ => {
            let reason = "--out takes a file that ends with .svg or .png";
            return Err(Failure::BadInput(format!("{}: {reason}", file.display())));
        }
    };
    std::fs::write(file, bytes)
        .map_err(|error| Failure::BadInput(format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::trace::TransferDetails;

    #[test]
    fn both_ends_call_a_stream_the_same_whatever_order_they_saw() {
        let end = |streams: [u64; 3]| {
            let mut trace = Trace::default();
            let transfer =
                |stream| Transfer { stream, url: "/x".to_owned(), ..Transfer::default() };
            trace.timeline.transfers = streams.map(transfer).into();
            trace.details = vec![TransferDetails::default(); 3];
            name_apart(&mut trace);
            trace
        };
        let (client, server) = (end([0, 4, 8]), end([8, 0, 4]));
        let drawn = resources(&[&client, &server], None);
        let names: Vec<(&str, &[u64])> = drawn.iter().map(|it| (&*it.url, &*it.streams)).collect();
        assert_eq!(names, [("/x", &[0][..]), ("/x #2", &[4]), ("/x #3", &[8])]);
    }
}

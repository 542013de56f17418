//! Fetches all URLs at once over one connection, with priorities.

use std::path::Path;

use h3i::actions::h3::{Action, StreamEvent, StreamEventType, WaitType, send_headers_frame};
use h3i::client::sync_client::connect;
use h3i::frame::H3iFrame;
use h3i::quiche::h3::{Header, NameValue, frame::Frame};

use crate::{AnyError, CONTROL, Options, close, open_control};

/// Each body goes to a file named by its URL's last segment.
pub(crate) fn fetch(options: &Options) -> Result<(), AnyError> {
    let later: Vec<&str> = options.all("--then").collect();
    let urls: Vec<&str> = options.urls.iter().map(String::as_str).chain(later.clone()).collect();
    let summary = connect(options.config()?, actions(options, later.len(), &urls)?, None)
        .map_err(|error| format!("{error:?}"))?;
    if let Some(error) = summary.conn_close_details.peer_error() {
        return Err(format!("the server closed with {:#x}", error.error_code).into());
    }
    for (url, stream) in urls.iter().zip((0..).step_by(4)) {
        let mut frames = summary.stream_map.stream(stream).into_iter();
        let status = frames.find_map(|it| status(&it)).unwrap_or_default();
        if status != b"200" {
            return Err(format!("{url}: status {}", String::from_utf8_lossy(&status)).into());
        }
        let body: Vec<u8> = frames.flat_map(data).collect();
        std::fs::write(Path::new(options.get("--out")?).join(file_name(url)), body)?;
    }
    Ok(())
}

/// The requests, in their order; later ones go when some body is complete: all but the last request's wait
/// for the first one's end, which is the first to be complete in every plan of this folder.
fn actions(options: &Options, later: usize, urls: &[&str]) -> Result<Vec<Action>, AnyError> {
    let mut actions: Vec<Action> = open_control().into();
    for update in options.all("--update") {
        actions.push(priority_update(update)?);
    }
    let first = urls.len() - later;
    let request =
        |(place, url): (usize, &&str)| send_headers_frame(4 * place as u64, true, headers(url));
    actions.extend(urls.iter().enumerate().take(first).map(request));
    let updates: Vec<Action> =
        options.all("--then-update").map(priority_update).collect::<Result<_, _>>()?;
    if later > 0 || !updates.is_empty() {
        actions.push(finished(0));
        actions.extend(updates);
        actions.extend(urls.iter().enumerate().skip(first).map(request));
    }
    actions.extend((0..urls.len()).map(|place| finished(4 * place as u64)));
    actions.push(close());
    Ok(actions)
}

/// `STREAM#PRIORITY`.
fn priority_update(update: &str) -> Result<Action, AnyError> {
    let (stream, priority) = update.split_once('#').ok_or("an update is STREAM#PRIORITY")?;
    Ok(Action::SendFrame {
        stream_id: CONTROL,
        fin_stream: false,
        frame: Frame::PriorityUpdateRequest {
            prioritized_element_id: stream.parse()?,
            priority_field_value: priority.as_bytes().to_vec(),
        },
        expected_result: Default::default(),
    })
}

fn finished(stream_id: u64) -> Action {
    let event_type = StreamEventType::Finished;
    Action::Wait { wait_type: WaitType::StreamEvent(StreamEvent { stream_id, event_type }) }
}

/// A URL's fragment is the request's `priority` header.
fn headers(url: &str) -> Vec<Header> {
    let (url, priority) = url.split_once('#').map_or((url, None), |(url, it)| (url, Some(it)));
    let rest = url.strip_prefix("https://").unwrap_or(url);
    let (authority, _) = rest.split_once('/').unwrap_or((rest, ""));
    let path = &rest[authority.len()..];
    let mut headers = vec![
        Header::new(b":method", b"GET"),
        Header::new(b":scheme", b"https"),
        Header::new(b":authority", authority.as_bytes()),
        Header::new(b":path", path.as_bytes()),
    ];
    headers.extend(priority.map(|it| Header::new(b"priority", it.as_bytes())));
    headers
}

fn file_name(url: &str) -> &str {
    let path = url.split('#').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or("body")
}

fn status(frame: &H3iFrame) -> Option<Vec<u8>> {
    let H3iFrame::Headers(headers) = frame else { return None };
    let status = headers.headers().iter().find(|it| it.name() == b":status")?;
    Some(status.value().to_vec())
}

fn data(frame: H3iFrame) -> Vec<u8> {
    match frame {
        H3iFrame::QuicheH3(Frame::Data { payload }) => payload,
        _ => Vec::new(),
    }
}

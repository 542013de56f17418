//! The calls that our server made to its scheduler, as it logs them (`utmost:scheduler`). A
//! scheduler is a pure function of its calls, so they can be made again and must give the same.

use schedulers::{Kind, Resource, Signal, StreamId, UnknownElement};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::tolerant::Whole;

/// One call, in the order of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulerCall {
    /// When, on the log's clock.
    pub time_us: u64,
    /// Which call.
    pub op: SchedulerOp,
    /// The scheme that orders from now on.
    pub scheme: Option<OrderingScheme>,
    /// Its stream; absent where the call is about none (a placeholder's signal, an idle pick).
    pub stream: Option<u64>,
    /// The bytes that were sent.
    pub bytes: Option<u64>,
    /// The resource that was opened, as its JSON text.
    pub resource: Option<String>,
    /// The signal that came, as its JSON text.
    pub signal: Option<String>,
}

/// Who orders.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OrderingScheme {
    /// The scheme, with what followed its name.
    pub name: String,
    /// Whether its scheduler orders other connections of the client, too.
    #[serde(default)]
    pub in_group: bool,
}

/// The scheduler's verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchedulerOp {
    /// A scheduler was made, and orders from now on (`utmost:scheme`).
    Scheme,
    /// A response came to be.
    Opened,
    /// A signal came.
    Signalled,
    /// A stream can send.
    Ready,
    /// A stream cannot send.
    Blocked,
    /// A stream was chosen.
    Picked,
    /// Bytes of a stream went.
    Sent,
    /// A stream ended.
    Closed,
}

#[derive(Deserialize)]
struct Body<'a> {
    op: SchedulerOp,
    stream: Option<Whole>,
    bytes: Option<Whole>,
    #[serde(borrow)]
    resource: Option<&'a RawValue>,
    #[serde(borrow)]
    signal: Option<&'a RawValue>,
}

impl SchedulerCall {
    pub(super) fn read(time_us: u64, data: &[u8]) -> serde_json::Result<Self> {
        let body: Body<'_> = serde_json::from_slice(data)?;
        let text = |raw: &RawValue| raw.get().to_owned();
        Ok(Self {
            time_us,
            op: body.op,
            scheme: None,
            stream: body.stream.map(|stream| stream.0),
            bytes: body.bytes.map(|bytes| bytes.0),
            resource: body.resource.map(text),
            signal: body.signal.map(text),
        })
    }

    /// A call that made a scheduler.
    pub(super) fn read_scheme(time_us: u64, data: &[u8]) -> serde_json::Result<Self> {
        Ok(Self {
            time_us,
            op: SchedulerOp::Scheme,
            scheme: Some(serde_json::from_slice(data)?),
            stream: None,
            bytes: None,
            resource: None,
            signal: None,
        })
    }

    /// The resource that was opened; one of which the log says nothing is the default.
    pub fn read_resource(&self) -> Result<Resource, String> {
        let text = self.resource.as_deref().unwrap_or("{}");
        let logged: LoggedResource =
            serde_json::from_str(text).map_err(|error| format!("resource: {error}"))?;
        Ok(logged.into())
    }

    /// The signal that came.
    pub fn read_signal(&self) -> Result<Signal, String> {
        let text = self.signal.as_deref().ok_or("a signal that says nothing")?;
        let logged = serde_json::from_str(text).map_err(|error| format!("signal: {error}"))?;
        let stream = || self.stream.map(StreamId).ok_or("a signal about no stream");
        Ok(match logged {
            LoggedSignal::Extensible { urgency, incremental } => {
                Signal::Extensible { stream: stream()?, urgency, incremental }
            }
            LoggedSignal::Bucket { bucket } => Signal::Bucket { stream: stream()?, byte: bucket },
            LoggedSignal::Depend { element, parent, weight, exclusive } => {
                let node = |text: &str| text.parse().map_err(|it: UnknownElement| it.to_string());
                Signal::Depend {
                    element: node(&element)?,
                    parent: node(&parent)?,
                    weight,
                    exclusive,
                }
            }
        })
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "as in the log")]
struct LoggedResource {
    id: Option<usize>,
    kind: String,
    main: bool,
    in_head: bool,
    critical: bool,
    above_fold: bool,
    after_first_image: bool,
    #[serde(rename = "async")]
    asynchronous: bool,
    defer: bool,
    preload: bool,
    urgency: Option<u8>,
    incremental: Option<bool>,
    body_bytes: Option<u64>,
}

impl From<LoggedResource> for Resource {
    fn from(logged: LoggedResource) -> Self {
        Self {
            id: logged.id,
            kind: Kind::of_name(&logged.kind).unwrap_or_default(),
            main: logged.main,
            in_head: logged.in_head,
            critical: logged.critical,
            above_fold: logged.above_fold,
            after_first_image: logged.after_first_image,
            asynchronous: logged.asynchronous,
            deferred: logged.defer,
            preload: logged.preload,
            browser: logged.urgency.zip(logged.incremental),
            body_bytes: logged.body_bytes,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LoggedSignal {
    Extensible { urgency: u8, incremental: bool },
    Depend { element: String, parent: String, weight: u16, exclusive: bool },
    Bucket { bucket: u8 },
}

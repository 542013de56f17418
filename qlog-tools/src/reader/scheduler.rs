//! The calls that our server made to its scheduler, as it logs them (`utmost:scheduler`). A
//! scheduler is a pure function of its calls, so they can be made again and must give the same.

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
    /// The name of the scheme that started.
    pub scheme: Option<String>,
    /// Its stream; absent where the call is about none (a placeholder's signal, an idle pick).
    pub stream: Option<u64>,
    /// The bytes that were sent.
    pub bytes: Option<u64>,
    /// The resource that was opened, as its JSON text.
    pub resource: Option<String>,
    /// The signal that came, as its JSON text.
    pub signal: Option<String>,
}

/// The scheduler's verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchedulerOp {
    /// The scheduler was made, for a scheme.
    Started,
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
    scheme: Option<String>,
    stream: Option<Whole>,
    bytes: Option<Whole>,
    #[serde(borrow)]
    resource: Option<&'a RawValue>,
    #[serde(borrow)]
    signal: Option<&'a RawValue>,
}

impl SchedulerCall {
    pub(super) fn read(time_us: u64, data: &str) -> serde_json::Result<Self> {
        let body: Body<'_> = serde_json::from_str(data)?;
        let text = |raw: &RawValue| raw.get().to_owned();
        Ok(Self {
            time_us,
            op: body.op,
            scheme: body.scheme,
            stream: body.stream.map(|stream| stream.0),
            bytes: body.bytes.map(|bytes| bytes.0),
            resource: body.resource.map(text),
            signal: body.signal.map(text),
        })
    }
}

//! Every limit of a recording: waiting times, memory, and the effort of the search for causes.

use corpus::page::Spread;
use std::time::Duration;

/// The interval at which a browser is polled.
pub(crate) const STEP: Duration = Duration::from_millis(50);
/// A browser that takes longer to start has failed.
pub(crate) const START_MAX: Duration = Duration::from_secs(60);
/// How long a new window of a browser takes to be ready for its user.
pub(crate) const WINDOW_OPENS: Duration = Duration::from_millis(500);
/// The deadline of a load.
pub(crate) const LOAD_MAX: Duration = Duration::from_secs(60);
/// The deadline for the arrival of a trace.
pub(crate) const TRACE_MAX: Duration = Duration::from_secs(30);
/// Largest trace, in bytes of JSON.
pub(crate) const TRACE_BYTES_MAX: usize = 512 << 20;
/// The most events that are kept for a load; later ones are dropped.
pub(crate) const LOG_EVENTS_MAX: usize = 1_000_000;
/// The most pictures that are kept for a load: four per second for two minutes.
pub(crate) const PICTURES_MAX: usize = 480;
/// The most body bytes of a mirror, which is held in memory.
pub(crate) const MIRROR_BYTES_MAX: usize = 512 << 20;
/// Largest document, in bytes.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 16 << 20;
/// The largest file that is compressed; larger ones are sent unchanged.
pub(crate) const COMPRESSED_BYTES_MAX: u64 = 16 << 20;
/// The most settings under which a page can be recorded.
pub const SETTINGS_MAX: usize = 8;
/// The fewest settings: with fewer, causes and coincidences look the same.
pub const SETTINGS_MIN: usize = 3;
/// Most prerequisites of a discovery.
pub(crate) const NEEDS_MAX: usize = 4;
/// Resources that are tried as the cause of one with an unknown initiator.
pub(crate) const TRIED_MAX: usize = 60;
/// The largest median and 90th percentile of the errors with which a page may be kept, in
/// milliseconds.
pub const ERROR_MAX: Spread = Spread { p50: 50.0, p90: 150.0, max: f64::INFINITY };

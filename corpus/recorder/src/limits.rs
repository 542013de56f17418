//! Every limit of a recording: times to wait, bytes to hold, and how far the search for causes goes.

use corpus::page::Spread;
use std::time::Duration;

/// How often a browser is looked at.
pub(crate) const STEP: Duration = Duration::from_millis(50);
/// A browser that takes longer to start has failed.
pub(crate) const START_MAX: Duration = Duration::from_secs(60);
/// How long a new window of a browser takes to be ready for its user.
pub(crate) const WINDOW_OPENS: Duration = Duration::from_millis(500);
/// A load that takes longer is cut off.
pub(crate) const LOAD_MAX: Duration = Duration::from_secs(60);
/// A trace that takes longer to come is lost.
pub(crate) const TRACE_MAX: Duration = Duration::from_secs(30);
/// Largest trace, in bytes of JSON.
pub(crate) const TRACE_BYTES_MAX: usize = 512 << 20;
/// Most events of a load that are kept; later ones are dropped.
pub(crate) const LOG_EVENTS_MAX: usize = 1_000_000;
/// Most pictures of a load that are kept: four a second for two minutes.
pub(crate) const PICTURES_MAX: usize = 480;
/// Most body bytes of a mirror, which is held in memory.
pub(crate) const MIRROR_BYTES_MAX: usize = 512 << 20;
/// Largest document, in bytes.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 16 << 20;
/// Largest file that is compressed; larger ones are sent as they are.
pub(crate) const COMPRESSED_BYTES_MAX: u64 = 16 << 20;

/// Most settings that a page can be recorded under.
pub const SETTINGS_MAX: usize = 8;
/// Fewest settings: with less, causes and coincidences look the same.
pub const SETTINGS_MIN: usize = 3;

/// Most prerequisites of a discovery.
pub(crate) const NEEDS_MAX: usize = 4;
/// Resources that are tried as the cause of one whose initiator is not known.
pub(crate) const TRIED_MAX: usize = 60;

/// Largest median and 90th percentile of the errors with which a page may be kept, in milliseconds.
pub const ERROR_MAX: Spread = Spread { p50: 50.0, p90: 150.0, max: f64::INFINITY };

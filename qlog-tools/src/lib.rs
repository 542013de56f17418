//! From the qlog of any QUIC stack, or a timeline in memory, to metrics, figures and reports.
//!
//! Everything is computed from one type, [`timeline::Timeline`]: what arrived when. It is read
//! from a log by [`reader`], or filled in memory by whoever saw the frames.

pub mod byte_index;
pub mod figures;
pub mod reader;
pub mod replay;
pub mod report;
pub mod timeline;

//! From the qlog of any QUIC stack, or a timeline in memory, to metrics, figures and reports.

pub mod timeline;

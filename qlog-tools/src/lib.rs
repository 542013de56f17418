//! Turns the qlog of any QUIC stack, or a timeline in memory, into metrics, findings and series of
//! numbers.
//!
//! Everything is computed from one type, [`timeline::Timeline`]: what arrived when. [`reader`] reads
//! it from a log, together with the log's other contents ([`trace::Trace`]); code that observes frames
//! can fill it in memory.

pub mod alignment;
pub mod assembly;
pub mod causes;
pub mod clock_shift;
pub mod closing;
pub mod convert;
pub mod csv_cell;
pub mod distribution;
pub mod event_list;
pub mod filled;
mod flow_control;
pub mod head_of_line;
pub mod labels;
pub mod limits;
pub mod link_facts;
pub mod lint;
pub mod loss_recovery;
pub mod metrics;
pub mod naming;
pub mod number_ranges;
pub mod pacing;
pub mod packed_frames;
pub mod packet;
pub mod packet_curves;
pub mod packetization;
pub mod page_resources;
pub mod pairing;
mod progress;
pub mod pushed;
pub mod reader;
mod repeated;
pub mod replay;
pub mod restraints;
pub mod saturating_cast;
pub mod series;
pub mod short_texts;
pub mod stream_table;
pub mod summary;
pub mod tail;
pub mod timeline;
pub mod trace;
pub mod varint;
pub mod views;

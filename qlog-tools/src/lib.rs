//! From the qlog of any QUIC stack, or a timeline in memory, to metrics, figures and reports.
//!
//! Everything is computed from one type, [`timeline::Timeline`]: what arrived when. It is read
//! from a log by [`reader`], which also says what else the log holds ([`trace::Trace`]), or filled
//! in memory by whoever saw the frames.

pub mod alignment;
pub mod assembly;
pub mod causes;
pub mod convert;
mod credit;
pub mod csv_cell;
pub mod event_list;
pub mod figures;
pub mod head_of_line;
pub mod labels;
mod limits;
pub mod link_facts;
pub mod lint;
pub mod metrics;
pub mod naming;
pub mod number_ranges;
pub mod number_texts;
pub mod packed_frames;
pub mod packet;
pub mod page_resources;
pub mod pairing;
pub mod palette;
mod progress;
pub mod pushed;
pub mod reader;
pub mod replay;
pub mod report;
pub mod restraints;
pub mod series;
pub mod short_texts;
pub mod speedups;
pub mod stream_table;
pub mod tail;
mod templates;
pub mod timeline;
pub mod trace;
mod varint;
pub mod viewer;
pub mod views;
mod whole;

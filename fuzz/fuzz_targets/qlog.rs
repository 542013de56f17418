//! A log from anywhere gives traces or an error; what is added up while reading is what the frames
//! say; no delay is negative; and what is converted can be read again.
//! Input: the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qlog_tools::byte_index::{byte_index, byte_index_of_trace};
use qlog_tools::convert::{Conversion, Target, convert};
use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::reader::{Detail, ReadOptions, read_traces};

fuzz_target!(|data: &[u8]| {
    let options = |detail| ReadOptions { detail, vantage: None };
    let Ok(traces) = read_traces("fuzz", data, options(Detail::Full)) else { return };
    for trace in &traces {
        let all = byte_index(&trace.timeline, |_| true);
        assert_eq!(all.is_ok(), byte_index_of_trace(trace, |_| true).is_ok());
        let frames = &trace.timeline.frames;
        let hol = HeadOfLine::new(Arrivals { frames, packets: &[], sent: None });
        assert!(hol.intra.bytes_ms >= 0.0 && hol.inter.bytes_ms >= 0.0);
    }
    for target in [Target::Current, Target::V03] {
        let mut converted = Vec::new();
        let conversion = Conversion { target, anonymise: true, ..Conversion::default() };
        if convert("fuzz", data, &mut converted, &conversion).is_ok() {
            assert!(read_traces("again", &converted[..], options(Detail::Summary)).is_ok());
        }
    }
});

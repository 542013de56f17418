//! The properties that the fuzzers check, of each reader and of everything derived from a log.
//!
//! | target | what it reads | seeds |
//! |---|---|---|
//! | `sequence` | JSON text sequences and JSON a line (draft 02 and later) | `sequence` |
//! | `document` | documents with all events inside (draft 00, 01 and 02, qlog 0.3) | `document` |
//! | `netlog` | Chromium's netlog | `netlog` |
//! | `compressed` | any of these in gzip or zstd | `compressed` |
//! | `har`, `devtools` | recordings of browsers | `har`, `devtools` |
//! | `convert` | any log, to write it in another format or in part | `sequence`, `document`, `netlog` |
//! | `lint` | any log, to judge its order | `sequence`, `document`, `netlog` |
//! | `views` | any log, for its figures and the report | `sequence`, `document`, `netlog` |
//!
//! The input is the file. Seeds have at most 3.3 kB, and most less than one, so that an input takes below a millisecond; `words.dict`
//! has the words that the readers recognize. In the folder of the crate, for each target with the folders of its seeds:
//!
//! ```sh
//! mkdir -p out/sequence
//! cargo +nightly fuzz run -s none sequence out/sequence seeds/sequence -- -max_total_time=600 -max_len=4096 -dict=words.dict
//! ```

mod made;
mod read;

pub use made::{convert, judge, show};
pub use read::{browser, log};

//! Any bytes may stand in the files of a site and in an access log: what is made of them is a graph that can be read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use push::scan::{Files, scan};
use push::{AccessLog, Graph};

/// A site of one document and one stylesheet with these contents.
struct Site<'a>(&'a [u8]);

impl Files for Site<'_> {
    fn bytes(&self, path: &str) -> Option<u64> {
        matches!(path, "/" | "/a.css" | "/b/c.png").then_some(self.0.len() as u64)
    }

    fn read(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        self.bytes(path)?;
        Some(self.0[..self.0.len().min(most)].to_vec())
    }
}

fuzz_target!(|data: &[u8]| {
    let found = scan(&Site(data), "localhost", "/").expect("the document is there");
    let text = serde_json::to_string(&found.graph).expect("JSON");
    Graph::from_json(&text).expect("what was written is read");
    let mut log = AccessLog::new("/", Some("localhost"));
    data.split(|it| *it == b'\n').for_each(|it| log.line(it));
    let (learner, document_bytes, counts) = log.finish();
    assert!(counts.unreadable <= counts.lines);
    let learned = learner.graph("localhost", "/", document_bytes);
    Graph::from_json(&serde_json::to_string(&learned).expect("JSON")).expect("what was learned is read");
});

//! Reading ahead: one call of the system brings a file's bytes for some fifty packets.

use crate::limits::{READ_AHEAD_BYTES, READ_AHEAD_PAGES, READ_AHEAD_PAGES_EACH};
use crate::site::Body;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The pages that a connection may have. All connections share one supply; without a page, a packet's bytes are read when
/// it is made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    /// Pages in use at the server.
    all: Arc<AtomicUsize>,
    /// Pages in use on this connection.
    own: Arc<AtomicUsize>,
}

/// Bytes of a body that were read ahead.
#[derive(Debug)]
pub(crate) struct Page {
    start: u64,
    bytes: Vec<u8>,
    pages: Pages,
}

impl Pages {
    /// The pages of another connection.
    pub(crate) fn of_connection(&self) -> Self {
        Self { all: Arc::clone(&self.all), own: Arc::default() }
    }

    /// An empty page, if one is left.
    pub(crate) fn take(&self) -> Option<Page> {
        let is_left = self.all.load(Ordering::Relaxed) < READ_AHEAD_PAGES
            && self.own.load(Ordering::Relaxed) < READ_AHEAD_PAGES_EACH;
        is_left.then(|| {
            self.all.fetch_add(1, Ordering::Relaxed);
            self.own.fetch_add(1, Ordering::Relaxed);
            Page { start: 0, bytes: Vec::new(), pages: self.clone() }
        })
    }
}

impl Page {
    /// Fills `buffer` from `offset` of `body` on.
    pub(crate) fn read(&mut self, body: &Body, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let here = self.start..self.start + self.bytes.len() as u64;
        if !here.contains(&offset) || here.end - offset < buffer.len() as u64 {
            let left = usize::try_from(body.bytes() - offset).unwrap_or(usize::MAX);
            self.start = offset;
            self.bytes.resize(left.min(READ_AHEAD_BYTES).max(buffer.len()), 0);
            let read = body.read_at(offset, &mut self.bytes);
            if read.is_err() {
                self.bytes.clear();
            }
            read?;
        }
        let from = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        buffer.copy_from_slice(&self.bytes[from..from + buffer.len()]);
        Ok(())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.pages.all.fetch_sub(1, Ordering::Relaxed);
        self.pages.own.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::{DirectorySite, Request, Site};
    use std::fs::File;
    use std::io::Write;

    /// A file that is too large to be kept in memory, and how a site sends it.
    fn file(bytes: usize) -> (File, Body) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("large");
        let contents: Vec<u8> = (0..=250).cycle().take(bytes).collect();
        std::fs::write(&path, contents).expect("room");
        let site = DirectorySite::open(folder.path()).expect("a site");
        let body = site.respond(&Request::get("page.test", "/large")).body;
        assert!(body.is_on_disk());
        (File::options().write(true).open(path).expect("a handle"), body)
    }

    #[test]
    fn a_page_reads_what_the_body_has_at_any_offset() {
        let (_, body) = file(150_000);
        let mut page = Pages::default().take().expect("the first");
        for offset in [0, 1347, 65_000, 65_536, 148_653, 3] {
            let (mut ahead, mut exact) = ([0; 1347], [0; 1347]);
            page.read(&body, offset, &mut ahead).expect("in range");
            body.read_at(offset, &mut exact).expect("in range");
            assert_eq!(ahead, exact, "at {offset}");
        }
    }

    #[test]
    fn one_read_serves_the_packets_of_a_page() {
        let (mut file, body) = file(100_000);
        let mut page = Pages::default().take().expect("the first");
        let mut packet = [0; 1000];
        page.read(&body, 0, &mut packet).expect("in range");
        file.write_all(&vec![255; 100_000]).expect("room");
        page.read(&body, 64_000, &mut packet).expect("in range");
        assert_ne!(packet, [255; 1000], "these bytes were there before the file changed");
        page.read(&body, 65_000, &mut packet).expect("in range");
        assert_eq!(packet, [255; 1000], "they were not");
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let (file, body) = file(100_000);
        let mut page = Pages::default().take().expect("the first");
        file.set_len(50_000).expect("a file");
        assert!(page.read(&body, 0, &mut [0; 1000]).is_err());
        assert!(page.read(&body, 0, &mut [0; 1000]).is_err(), "nothing half read remains");
    }

    #[test]
    fn pages_come_back_and_one_connection_leaves_some_to_the_others() {
        let server = Pages::default();
        let (one, other) = (server.of_connection(), server.of_connection());
        let mut pages: Vec<Page> = (0..100).map_while(|_| one.take()).collect();
        assert_eq!(pages.len(), READ_AHEAD_PAGES_EACH);
        assert!(other.take().is_some());
        pages.pop();
        assert!(one.take().is_some());
        let all: Vec<_> = (0..1000).map_while(|_| server.of_connection().take()).collect();
        assert_eq!(pages.len() + all.len(), READ_AHEAD_PAGES);
        assert!(other.take().is_none());
    }
}

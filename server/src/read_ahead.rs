//! Bytes of bodies that packets share with the transport: from memory, and from files, which are read for many packets
//! at once.

use crate::limits::{READ_AHEAD_BYTES, READ_AHEAD_PAGES, READ_AHEAD_PAGES_EACH, SPARE_PAGES};
use crate::site::Body;
use bytes::Bytes;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory for what is read ahead. A page stays in use until the last packet with some of it is acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    /// Pages in use at the server.
    all: Arc<AtomicUsize>,
    /// Pages in use on this connection.
    own: Arc<AtomicUsize>,
    /// Memory of pages that are no longer in use.
    spare: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// The fewest bytes that justify a call of the transport if more are wanted.
pub(crate) const WORTH_A_CALL_BYTES: usize = 4 << 10;

/// Bytes of a body, from its byte `start` on.
#[derive(Debug, Default)]
pub(crate) struct Page {
    start: u64,
    bytes: Bytes,
}

/// Bytes that were read from a file.
struct Read {
    bytes: Vec<u8>,
    pages: Pages,
}

impl Pages {
    /// The pages of another connection.
    pub(crate) fn of_connection(&self) -> Self {
        Self { own: Arc::default(), ..self.clone() }
    }

    pub(crate) fn lend<T>(&self, bytes: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let mut spare = self.spare.lock().pop().unwrap_or_default();
        if spare.len() < bytes {
            spare.resize(bytes, 0);
        }
        let outcome = work(&mut spare[..bytes]);
        self.put_back(spare);
        outcome
    }

    fn put_back(&self, memory: Vec<u8>) {
        let mut spare = self.spare.lock();
        if spare.len() < SPARE_PAGES {
            spare.push(memory);
        }
    }

    /// Memory for a page, if one is left.
    fn take(&self) -> Option<Read> {
        let is_left = self.all.load(Ordering::Relaxed) < READ_AHEAD_PAGES
            && self.own.load(Ordering::Relaxed) < READ_AHEAD_PAGES_EACH;
        is_left.then(|| {
            self.all.fetch_add(1, Ordering::Relaxed);
            self.own.fetch_add(1, Ordering::Relaxed);
            Read { bytes: self.spare.lock().pop().unwrap_or_default(), pages: self.clone() }
        })
    }
}

impl Page {
    /// `bytes` of `body` from `offset` on, or fewer where the page ends, if they are in memory or can be read ahead. The
    /// last bytes of a file cannot, because nothing follows them.
    pub(crate) fn share(
        &mut self,
        body: &Body,
        offset: u64,
        bytes: usize,
        pages: &Pages,
    ) -> io::Result<Option<Bytes>> {
        if let Some(part) = self.part(offset, bytes) {
            return Ok(Some(part));
        }
        *self = Self::default();
        let left = usize::try_from(body.bytes() - offset).unwrap_or(usize::MAX);
        if let Some(whole) = body.shared() {
            *self = Self { start: 0, bytes: whole };
        } else if left > bytes
            && body.is_on_disk()
            && let Some(mut read) = pages.take()
        {
            read.bytes.resize(left.min(READ_AHEAD_BYTES).max(bytes), 0);
            body.read_at(offset, &mut read.bytes)?;
            *self = Self { start: offset, bytes: Bytes::from_owner(read) };
        }
        Ok(self.part(offset, bytes))
    }

    fn part(&self, offset: u64, bytes: usize) -> Option<Bytes> {
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        let left = self.bytes.len().checked_sub(from)?;
        (left >= bytes.min(WORTH_A_CALL_BYTES))
            .then(|| self.bytes.slice(from..from + left.min(bytes)))
    }
}

impl AsRef<[u8]> for Read {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Read {
    fn drop(&mut self) {
        self.pages.all.fetch_sub(1, Ordering::Relaxed);
        self.pages.own.fetch_sub(1, Ordering::Relaxed);
        self.pages.put_back(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileLimits;
    use crate::site::contents::Budget;
    use std::fs::File;
    use std::io::Write;

    /// A file that is too large to be kept in memory, and how a site sends it.
    fn file(bytes: usize) -> (File, Body) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("large");
        let contents: Vec<u8> = (0..=250).cycle().take(bytes).collect();
        std::fs::write(&path, contents).expect("room");
        let files = Arc::new(Budget::new(FileLimits { small_bytes: 0, ..FileLimits::default() }));
        let (contents, version) = files.open(&path).expect("a file");
        let body = Body::File(Arc::new(contents), version.bytes);
        assert!(body.is_on_disk());
        (File::options().write(true).open(path).expect("a handle"), body)
    }

    /// The part of the body that a page shares.
    fn share(
        page: &mut Page,
        body: &Body,
        offset: u64,
        bytes: usize,
        pages: &Pages,
    ) -> Option<Bytes> {
        page.share(body, offset, bytes, pages).expect("in range")
    }

    #[test]
    fn a_page_shares_what_the_body_has_at_any_offset() {
        let (_, body) = file(150_000);
        let (mut page, pages) = (Page::default(), Pages::default());
        for offset in [0, 1347, 65_000, 65_536, 148_652, 3] {
            let mut exact = [0; 1347];
            body.read_at(offset, &mut exact).expect("in range");
            let shared = share(&mut page, &body, offset, 1347, &pages).expect("room");
            assert_eq!(shared, exact[..], "at {offset}");
        }
        share(&mut page, &body, 148_000, 1347, &pages).expect("room");
        let last = share(&mut page, &body, 149_999, 1, &pages).expect("in the page");
        assert_eq!(last.len(), 1);
        assert_eq!(share(&mut Page::default(), &body, 149_999, 1, &pages), None, "nothing ahead");
    }

    #[test]
    fn one_read_serves_the_packets_of_a_page() {
        let (mut file, body) = file(100_000);
        let (mut page, pages) = (Page::default(), Pages::default());
        share(&mut page, &body, 0, 1000, &pages).expect("room");
        file.write_all(&vec![255; 100_000]).expect("room");
        let packet = share(&mut page, &body, 64_000, 1000, &pages).expect("room");
        assert_ne!(packet, [255; 1000][..], "these bytes were there before the file changed");
        let cut = page.share(&body, 65_000, 1000, &pages);
        assert!(cut.is_err(), "they were not, and what was written anew is not sent");
    }

    #[test]
    fn a_body_in_memory_is_shared_without_a_page() {
        let body = Body::Bytes(Arc::from(vec![7; 1000]));
        let pages = Pages::default();
        let part = share(&mut Page::default(), &body, 990, 10, &pages).expect("in memory");
        assert_eq!(part, [7; 10][..]);
        assert_eq!(pages.all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let (file, body) = file(100_000);
        let (mut page, pages) = (Page::default(), Pages::default());
        file.set_len(50_000).expect("a file");
        assert!(page.share(&body, 0, 1000, &pages).is_err());
        assert!(page.share(&body, 0, 1000, &pages).is_err(), "nothing half read remains");
        assert_eq!(pages.all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_page_is_in_use_until_the_last_packet_with_some_of_it_is_gone() {
        let (_, body) = file(200_000);
        let (mut page, pages) = (Page::default(), Pages::default());
        let packet = share(&mut page, &body, 0, 1000, &pages);
        let other = share(&mut page, &body, 100_000, 1000, &pages);
        assert_eq!(pages.all.load(Ordering::Relaxed), 2);
        drop(packet);
        assert_eq!(pages.all.load(Ordering::Relaxed), 1);
        drop((page, other));
        assert_eq!(pages.all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn pages_come_back_and_one_connection_leaves_some_to_the_others() {
        let server = Pages::default();
        let (one, other) = (server.of_connection(), server.of_connection());
        let mut pages: Vec<Read> = (0..1000).map_while(|_| one.take()).collect();
        assert_eq!(pages.len(), READ_AHEAD_PAGES_EACH);
        assert!(other.take().is_some());
        pages.pop();
        assert!(one.take().is_some());
        let all: Vec<_> = (0..10_000).map_while(|_| server.of_connection().take()).collect();
        assert_eq!(pages.len() + all.len(), READ_AHEAD_PAGES);
        assert!(other.take().is_none());
    }
}

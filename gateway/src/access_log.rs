//! A log of responses, one line each, written by a separate thread. A slow disk loses lines, but never delays a response.

mod line;

use crate::limits::ACCESS_LOG_LINES;
pub use line::Format;
use parking_lot::Mutex;
use server::{Answered, Event, Observer};
use std::fs::OpenOptions;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::{Duration, SystemTime};

/// Only the owner may read clients' addresses and paths.
const MODE: u32 = 0o600;

/// The observer that passes responses to the thread.
pub struct AccessLog {
    lines: SyncSender<Arc<Answered>>,
    lost: Arc<AtomicU64>,
}

/// The thread that writes.
pub struct Writing {
    /// Disconnected once the thread has ended.
    ended: Receiver<()>,
    reopen: Reopen,
}

/// Makes the thread close its file and continue in a new one at the same path, after the old one was moved away.
#[derive(Clone)]
pub struct Reopen {
    path: PathBuf,
    /// The new file, until the thread takes it.
    opened: Arc<Mutex<Option<Output>>>,
}

impl Reopen {
    /// Reopens the path for the next line. If that fails, lines continue to go to the old file.
    pub fn reopen(&self) -> io::Result<()> {
        let file = open(&self.path)?;
        *self.opened.lock() = Some(file);
        Ok(())
    }

    fn take(&self) -> Option<Output> {
        self.opened.lock().take()
    }
}

impl AccessLog {
    /// Begins to append to a file; `-` is the standard output. `report` gets a line for each failure.
    pub fn start(
        path: &Path,
        format: Format,
        report: impl Fn(&str) + Send + 'static,
    ) -> io::Result<(Self, Writing)> {
        let (lines, coming) = sync_channel(ACCESS_LOG_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let reopen = Reopen { path: path.to_owned(), opened: Arc::default() };
        let mut writer = Writer {
            file: open(path)?,
            format,
            lost: Arc::clone(&lost),
            reopen: reopen.clone(),
            is_broken: false,
            report: Box::new(report),
        };
        let builder = std::thread::Builder::new().name("access log".to_owned());
        let (end, ended) = channel();
        builder.spawn(move || {
            writer.run(&coming);
            drop(end);
        })?;
        Ok((Self { lines, lost }, Writing { ended, reopen }))
    }
}

impl Observer for AccessLog {
    fn notice(&self, event: &Event) {
        let Event::Answered(answered) = event else { return };
        if self.lines.try_send(Arc::clone(answered)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Writing {
    /// A handle that makes the thread reopen its file.
    pub fn reopener(&self) -> Reopen {
        self.reopen.clone()
    }

    /// Waits until everything is written, at most `patience`, because a pipe may have no reader. Call it after dropping the
    /// [`AccessLog`]. Returns whether everything is written.
    pub fn finish(self, patience: Duration) -> bool {
        matches!(self.ended.recv_timeout(patience), Err(RecvTimeoutError::Disconnected))
    }
}

type Output = BufWriter<Box<dyn Write + Send>>;

fn open(path: &Path) -> io::Result<Output> {
    if path == Path::new("-") {
        return Ok(BufWriter::new(Box::new(io::stdout())));
    }
    let file = OpenOptions::new().append(true).create(true).mode(MODE).open(path)?;
    Ok(BufWriter::new(Box::new(file)))
}

struct Writer {
    file: Output,
    format: Format,
    lost: Arc<AtomicU64>,
    reopen: Reopen,
    /// The last line could not be written, and the operator has been notified.
    is_broken: bool,
    report: Box<dyn Fn(&str) + Send>,
}

impl Writer {
    /// Writes until nobody sends any more.
    fn run(&mut self, coming: &Receiver<Arc<Answered>>) {
        while let Ok(first) = coming.recv() {
            let mut result = self.write(&first);
            while let Ok(next) = coming.try_recv() {
                result = result.and_then(|()| self.write(&next));
            }
            let result = result.and_then(|()| self.file.flush());
            self.tell(result);
        }
    }

    fn write(&mut self, answered: &Answered) -> io::Result<()> {
        if let Some(file) = self.reopen.take() {
            let old = std::mem::replace(&mut self.file, file);
            old.into_inner().map_err(IntoInnerError::into_error)?;
        }
        self.file.write_all(self.format.line(answered, now()).as_bytes())
    }

    /// Notifies the operator that lines are missing.
    fn tell(&mut self, result: io::Result<()>) {
        let path = self.reopen.path.display();
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            (self.report)(&format!(
                "{path}: {lost} lines are missing, because they arrived faster than they could be written"
            ));
        }
        let was_broken = std::mem::replace(&mut self.is_broken, result.is_err());
        if let Err(error) = result
            && !was_broken
        {
            (self.report)(&format!("{path}: lines are missing: {error}"));
            // Writing the buffered lines would fail again.
            self.reopen.reopen().ok();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a line says when its response ended")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::line::tests::answered;
    use super::*;

    /// More than any test takes.
    const PATIENCE: Duration = Duration::from_secs(60);
    use std::os::unix::fs::PermissionsExt;

    fn event(path: &str) -> Event {
        Event::Answered(Arc::new(Answered { path: path.to_owned(), ..answered() }))
    }

    fn paths(file: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(file).expect("a log");
        let path = |line: &str| line.split(' ').nth(6).unwrap_or_default().to_owned();
        text.lines().map(path).collect()
    }

    #[test]
    fn lines_are_appended_and_only_the_owner_reads_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("access.log");
        for path in ["/a", "/b"] {
            let (log, writing) = AccessLog::start(&file, Format::Combined, |_| {}).expect("a log");
            log.notice(&event(path));
            drop(log);
            assert!(writing.finish(PATIENCE));
        }
        assert_eq!(paths(&file), ["/a", "/b"]);
        let mode = std::fs::metadata(&file).expect("a log").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn after_a_rotation_lines_go_to_a_new_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, old) = (folder.path().join("access.log"), folder.path().join("access.log.1"));
        std::fs::write(&file, "").expect("a file");
        let (log, writing) = AccessLog::start(&file, Format::Combined, |_| {}).expect("a log");
        std::fs::rename(&file, &old).expect("moved");
        writing.reopener().reopen().expect("it opens");
        log.notice(&event("/new"));
        drop(log);
        assert!(writing.finish(PATIENCE));
        assert_eq!((paths(&old).len(), paths(&file)), (0, vec!["/new".to_owned()]));
    }

    #[test]
    fn a_log_that_cannot_be_opened_again_goes_on_in_the_old_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, old) = (folder.path().join("access.log"), folder.path().join("access.log.1"));
        let (log, writing) = AccessLog::start(&file, Format::Combined, |_| {}).expect("a log");
        std::fs::rename(&file, &old).expect("moved");
        std::fs::create_dir(&file).expect("a folder in its place");
        assert!(writing.reopener().reopen().is_err());
        log.notice(&event("/kept"));
        drop(log);
        assert!(writing.finish(PATIENCE));
        assert_eq!(paths(&old), ["/kept"]);
    }

    #[test]
    fn a_log_that_nobody_reads_does_not_hold_up_the_end() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
        let (log, writing) =
            AccessLog::start(Path::new(&path), Format::Json, |_| ()).expect("it opens");
        // A pipe holds 64 kB, and a line has some 200 bytes.
        for _ in 0..2_000 {
            log.notice(&event("/"));
        }
        drop(log);
        assert!(!writing.finish(Duration::from_millis(50)));
        drop(reader);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_a_broken_disk_is_told_once() {
        let (lines, coming) = sync_channel(ACCESS_LOG_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let log = AccessLog { lines, lost: Arc::clone(&lost) };
        for _ in 0..ACCESS_LOG_LINES + 2 {
            log.notice(&event("/"));
        }
        drop(log);
        let said = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&said);
        let report = move |line: &str| listener.lock().push(line.to_owned());
        let path = PathBuf::from("/dev/full");
        let file = open(&path).expect("it opens, and is full");
        let reopen = Reopen { path, opened: Arc::default() };
        let report = Box::new(report);
        let format = Format::Json;
        let mut writer = Writer { file, format, lost, reopen, is_broken: false, report };
        writer.run(&coming);
        writer.tell(Err(io::Error::other("again")));
        let expected = [
            "/dev/full: 2 lines are missing, because they arrived faster than they could be written",
            "/dev/full: lines are missing: No space left on device (os error 28)",
        ];
        assert_eq!(*said.lock(), expected);
    }
}

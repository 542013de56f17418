//! The qlogs of a server: one file per connection, in a folder of limited size.

use crate::Options;
use crate::limits::{QLOG_UNPROVEN_BYTES, QlogLimits};
use http3::log::{VantagePointType, begin_over_tcp};
use parking_lot::Mutex;
use qlog::streamer::QlogStreamer;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The suffix of the names of all these files.
const ENDING: &str = "_server.sqlog";
/// Nobody else may read the addresses and paths of clients.
const MODE: u32 = 0o600;

/// A folder of logs. Servers that log into the same one share it.
#[derive(Debug, Clone)]
pub struct QlogFolder(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// The logs' description of themselves.
    title: String,
    limits: QlogLimits,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    files: u64,
    bytes: u64,
    /// A connection has no log, and no further one gets any: the operator received a message.
    is_full: bool,
}

/// The log of one connection. Its file is created when the client is known to be real: spoofed addresses must not fill the
/// folder.
pub(crate) struct QlogFile(Arc<Mutex<Log>>);

struct Log {
    folder: Arc<Folder>,
    path: PathBuf,
    /// The record that is being written. A record ends with its only line feed.
    record: Vec<u8>,
    /// Records that wait for the file.
    waiting: Vec<u8>,
    file: Option<BufWriter<File>>,
    bytes: u64,
    has_ended: bool,
}

impl QlogFolder {
    /// The folder of a server, with its earlier logs. `None`: the server does not log.
    pub(crate) fn of_options(options: &Options) -> Option<Self> {
        let title = format!("utmost server, scheme {}", options.scheme.name);
        let path = options.qlog_dir.as_deref()?;
        Some(Self::of(path, title, options.limits.qlog))
    }

    fn of(path: &Path, title: String, limits: QlogLimits) -> Self {
        let mut used = Used::default();
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with(ENDING) {
                used.files += 1;
                used.bytes += entry.metadata().map_or(0, |it| it.len());
            }
        }
        Self(Arc::new(Folder { path: path.to_owned(), title, limits, used: Mutex::new(used) }))
    }

    pub(crate) fn begin(&self, quic: &mut connection::Quic, id: &[u8]) -> QlogFile {
        let mut name = String::new();
        for byte in id {
            // Writing to a String does not fail.
            write!(name, "{byte:02x}").ok();
        }
        let log = self.log(&name);
        quic.set_qlog(log.writer(), self.0.title.clone(), name);
        log
    }

    /// Begins the log of a connection over TCP, whose client is real. `None`: there is no room for it.
    pub fn begin_over_tcp(&self, name: &str, start: Instant) -> Option<QlogStreamer> {
        let file = self.log(name);
        let created = file.0.lock().create();
        if let Err(refusal) = created {
            // Only the first that can report it gets the line.
            self.0.used.lock().is_full &= refusal.is_none();
            return None;
        }
        let (side, writer) = (VantagePointType::Server, file.writer());
        Some(begin_over_tcp(&self.0.title, side, start, writer))
    }

    /// A log for the connection with this name. Nothing is written before [`QlogFile::confirm`].
    fn log(&self, name: &str) -> QlogFile {
        QlogFile(Arc::new(Mutex::new(Log {
            path: self.0.path.join(format!("{name}{ENDING}")),
            folder: Arc::clone(&self.0),
            record: Vec::new(),
            waiting: Vec::new(),
            file: None,
            bytes: 0,
            has_ended: false,
        })))
    }
}

impl Folder {
    fn has_room(&self, used: &Used) -> bool {
        used.files < self.limits.files && used.bytes < self.limits.folder_bytes
    }

    fn refusal(&self) -> String {
        let QlogLimits { files, folder_bytes, .. } = self.limits;
        format!(
            "{}: further connections are not logged, because {files} logs or {} MiB exist; move old logs away and restart",
            self.path.display(),
            folder_bytes >> 20,
        )
    }
}

impl QlogFile {
    /// The destination of the transport's log.
    fn writer(&self) -> Box<dyn Write + Send + Sync> {
        Box::new(Self(Arc::clone(&self.0)))
    }

    /// The client is real: the file is created. `Err`: there is no room for it, with a line that states so, once for the
    /// folder.
    pub(crate) fn confirm(self) -> Result<(), Option<String>> {
        self.0.lock().create()
    }
}

impl Write for QlogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock();
        if !log.has_ended {
            log.record.extend_from_slice(bytes);
            if bytes.ends_with(b"\n") {
                log.commit()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Log {
    fn create(&mut self) -> Result<(), Option<String>> {
        let folder = Arc::clone(&self.folder);
        let mut used = folder.used.lock();
        if used.is_full || !folder.has_room(&used) {
            self.end();
            let is_first = !std::mem::replace(&mut used.is_full, true);
            return Err(is_first.then(|| folder.refusal()));
        }
        used.files += 1;
        // A log that cannot be written must not stop the connection.
        if self.open().is_err() {
            self.end();
        }
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(MODE).open(&self.path)?;
        let mut file = BufWriter::new(file);
        file.write_all(&std::mem::take(&mut self.waiting))?;
        self.file = Some(file);
        Ok(())
    }

    /// Writes a whole record, or a statement that there is no room for it.
    fn commit(&mut self) -> io::Result<()> {
        let mut record = std::mem::take(&mut self.record);
        let limits = self.folder.limits;
        let bytes = record.len() as u64;
        let is_too_long = self.bytes + bytes > limits.file_bytes;
        let full = {
            let mut used = self.folder.used.lock();
            used.bytes += bytes;
            is_too_long || used.bytes > limits.folder_bytes
        };
        if full {
            record = last_record(&record, limits.file_bytes);
        }
        self.bytes += bytes;
        match &mut self.file {
            Some(file) => file.write_all(&record)?,
            None if self.waiting.len() + record.len() <= QLOG_UNPROVEN_BYTES => {
                self.waiting.extend_from_slice(&record);
            }
            None => self.end(),
        }
        if full {
            self.end();
        }
        record.clear();
        self.record = record;
        Ok(())
    }

    fn end(&mut self) {
        self.has_ended = true;
        self.record = Vec::new();
        self.waiting = Vec::new();
        if let Some(mut file) = self.file.take() {
            file.flush().ok();
        }
    }
}

/// The last record of a full log, at the time of the one that it replaces.
fn last_record(replaced: &[u8], file_bytes: u64) -> Vec<u8> {
    let text = String::from_utf8_lossy(replaced);
    let time = text.split_once("\"time\":").and_then(|(_, rest)| rest.split([',', '}']).next());
    let time = time.and_then(|it| it.trim().parse::<f64>().ok()).unwrap_or(0.0);
    let said = format!(
        "the log ends here: it has reached {} MiB, or its folder is full",
        file_bytes >> 20
    );
    let event = serde_json::json!({
        "time": time, "name": "loglevel:warning", "data": { "message": said }
    });
    format!("\x1e{event}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    const RECORD: &[u8] = b"\x1e{\"time\":1.5,\"name\":\"a:b\",\"data\":{}}\n";

    fn folder(limits: QlogLimits) -> (TempDir, QlogFolder) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let logs = QlogFolder::of(folder.path(), String::new(), limits);
        (folder, logs)
    }

    fn files(folder: &TempDir) -> usize {
        std::fs::read_dir(folder.path()).expect("a folder").count()
    }

    /// Writes a record in pieces, as quiche does.
    fn write(writer: &mut dyn Write) {
        for piece in RECORD.chunks(7) {
            writer.write_all(piece).expect("written");
        }
    }

    #[test]
    fn a_log_has_no_file_before_its_client_is_real_and_then_everything_from_the_start() {
        let (at, logs) = folder(QlogLimits::default());
        let (spoofed, real) = (logs.log("1"), logs.log("2"));
        let mut writer = real.writer();
        write(&mut *spoofed.writer());
        write(&mut *writer);
        drop(spoofed);
        assert_eq!(files(&at), 0);
        assert_eq!(real.confirm(), Ok(()));
        write(&mut *writer);
        drop(writer);
        let path = at.path().join("2_server.sqlog");
        assert_eq!(std::fs::read(&path).expect("a log"), RECORD.repeat(2));
        let mode = std::fs::metadata(path).expect("a log").permissions().mode();
        assert_eq!((files(&at), mode & 0o777), (1, 0o600));
    }

    #[test]
    fn what_an_unproven_client_has_logged_is_limited() {
        let (at, logs) = folder(QlogLimits::default());
        let log = logs.log("1");
        let mut writer = log.writer();
        for _ in 0..=QLOG_UNPROVEN_BYTES / RECORD.len() {
            write(&mut *writer);
        }
        assert_eq!(log.0.lock().waiting.capacity(), 0);
        drop((log, writer));
        assert_eq!(files(&at), 0);
    }

    #[test]
    fn a_log_ends_with_a_whole_record_that_says_so() {
        let limits = QlogLimits { file_bytes: 2 * RECORD.len() as u64, ..QlogLimits::default() };
        let (at, logs) = folder(limits);
        let log = logs.log("1");
        let mut writer = log.writer();
        assert_eq!(log.confirm(), Ok(()));
        for _ in 0..5 {
            write(&mut *writer);
        }
        drop(writer);
        let text = std::fs::read_to_string(at.path().join("1_server.sqlog")).expect("a log");
        let lines: Vec<&str> = text.lines().collect();
        let last: serde_json::Value = serde_json::from_str(&lines[2][1..]).expect("JSON");
        assert_eq!(
            (lines.len(), &last["time"], &last["name"]),
            (3, &1.5.into(), &"loglevel:warning".into())
        );
    }

    #[test]
    fn a_full_folder_gets_no_more_logs_and_that_is_told_once() {
        let limits = QlogLimits { files: 2, ..QlogLimits::default() };
        let (at, logs) = folder(limits);
        let told: Vec<_> = (0..4).map(|it| logs.log(&it.to_string()).confirm()).collect();
        let is_told =
            told.iter().map(|it| it.as_ref().map_err(Option::is_some)).collect::<Vec<_>>();
        assert_eq!(is_told, [Ok(&()), Ok(&()), Err(true), Err(false)]);
        assert_eq!(files(&at), 2);
        let line = told[2].as_ref().err().and_then(Option::as_ref);
        assert!(line.is_some_and(|it| it.contains("because 2 logs or")));
        let later = QlogFolder::of(at.path(), String::new(), limits);
        assert!(later.log("4").confirm().is_err(), "logs from earlier count");
    }
}

//! Opens files that a user names: pages, recordings, logs, networks, schemes, configurations, keys.
//!
//! It rejects named pipes, which would wait for a writer, and devices such as `/dev/zero`, which have
//! no end.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most bytes of a file that is read at once.
pub const BYTES_MAX: u64 = 16 << 20;

/// Files that the shell has opened, as in `<(zcat a.har.gz)`: such a pipe has a writer.
const OPENED: [&str; 3] = ["/dev/fd", "/dev/stdin", "/proc/self/fd"];

/// Opens a file or folder. Errors are the system's, or state that it is a pipe, a socket or a device.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    let is_open = OPENED.iter().any(|it| path.starts_with(it));
    if kind.is_file() || kind.is_dir() || is_open {
        return File::open(path);
    }
    let cause =
        "is a pipe, a socket or a device; name a file, or give its bytes through `<(cat ...)`";
    Err(io::Error::new(ErrorKind::InvalidInput, cause))
}

/// The bytes of a file of at most [`BYTES_MAX`]. Errors are the system's, or state that the file is
/// larger.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        let cause = format!("larger than {BYTES_MAX} bytes; name another file");
        return Err(io::Error::new(ErrorKind::FileTooLarge, cause));
    }
    Ok(bytes)
}

/// The same for UTF-8 text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let cause = "not UTF-8; save it in this encoding";
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_without_a_writer_and_a_device_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("a.har");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|it| it.success()), "mkfifo is there");
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            let error = open(path).expect_err("not a file");
            assert_eq!(
                error.to_string(),
                "is a pipe, a socket or a device; name a file, or give its bytes through `<(cat ...)`"
            );
        }
    }

    #[test]
    fn a_file_beyond_the_limit_and_one_that_is_no_text_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.toml");
        std::fs::write(&file, [0xff]).expect("a file");
        assert_eq!(read(&file).expect("bytes"), [0xff]);
        let error = read_text(&file).expect_err("no text");
        assert_eq!(error.to_string(), "not UTF-8; save it in this encoding");
        File::create(&file).and_then(|it| it.set_len(BYTES_MAX + 1)).expect("a sparse file");
        let error = read(&file).expect_err("too large");
        assert_eq!(error.to_string(), "larger than 16777216 bytes; name another file");
    }
}

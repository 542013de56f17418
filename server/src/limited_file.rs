//! Files that the operator names and that are read at once. They have a limit, because a device such as `/dev/zero` has no end.

use crate::limits::NAMED_FILE_BYTES;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The bytes of a file, of at most 16 MiB. Errors are the system's, or say that the file is larger.
pub fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(NAMED_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > NAMED_FILE_BYTES {
        let cause = format!("larger than {NAMED_FILE_BYTES} bytes; name another file");
        return Err(io::Error::new(ErrorKind::FileTooLarge, cause));
    }
    Ok(bytes)
}

/// The same of a text in UTF-8.
pub fn read_limited_text(path: &Path) -> io::Result<String> {
    let not_utf8 =
        |_| io::Error::new(ErrorKind::InvalidData, "not UTF-8; save it in this encoding");
    String::from_utf8(read_limited(path)?).map_err(not_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = read_limited(Path::new("/dev/zero")).expect_err("no end");
        assert_eq!(error.to_string(), "larger than 16777216 bytes; name another file");
    }
}

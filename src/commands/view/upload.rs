//! Files dropped on the page.

use crate::limits::{UPLOAD_BYTES_MAX, UPLOAD_NAME_CHARACTERS_MAX};
use ::serve::Failure;
use std::io::Read;

/// The type that the page's script sends.
pub(super) const MIME: &str = "application/x-qlog";

/// Reads a dropped file: what to call it, and its bytes.
pub(super) fn take(body: &mut dyn Read, name: &str) -> Result<(String, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    body.take(UPLOAD_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(Failure::elsewhere)?;
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().take(UPLOAD_NAME_CHARACTERS_MAX).collect();
    if bytes.len() as u64 > UPLOAD_BYTES_MAX {
        let mebibytes = UPLOAD_BYTES_MAX >> 20;
        return Err(Failure::BadInput(format!(
            "{name}: over {mebibytes} MiB; put it into the directory instead"
        )));
    }
    Ok((format!("dropped: {name}"), bytes))
}

#[cfg(test)]
mod tests {
    use super::take;

    #[test]
    fn of_a_dropped_file_only_the_last_part_of_its_name_counts() {
        let (name, bytes) = take(&mut &b"x"[..], "C:\\logs\\..\\a.qlog").expect("small");
        assert_eq!((&*name, &bytes[..]), ("dropped: a.qlog", &b"x"[..]));
    }
}

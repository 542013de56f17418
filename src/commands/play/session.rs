//! The file of `--session`.

use ::client::{EarlyData, SavedSession};
use ::serve::Failure;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The session in the file; `None` without a file.
pub(super) fn load(file: &Path) -> Result<Option<SavedSession>, Failure> {
    let text = match named_files::read_text(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(named(file, &error)),
    };
    SavedSession::from_json(&text).map(Some).map_err(|error| named(file, &error))
}

/// Stores the session, readable only by its owner. Deletes a used session (RFC 8446, C.4).
pub(super) fn store(file: &Path, session: Option<&SavedSession>) -> Result<(), Failure> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(named(file, &error)),
        _ => {}
    }
    let Some(session) = session else { return Ok(()) };
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let written = opened.and_then(|mut it| it.write_all(session.to_json().as_bytes()));
    written.map_err(|error| named(file, &error))
}

/// The outcome of early data, in words.
pub(super) fn said(early_data: EarlyData) -> Option<&'static str> {
    match early_data {
        EarlyData::Unsent => None,
        EarlyData::Sent => Some("early data was sent, and no answer came"),
        EarlyData::Accepted => Some("the server accepted early data"),
        EarlyData::Rejected => Some("the server rejected early data; the requests were sent again"),
    }
}

fn named(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::BadInput(format!("{}: {error}", file.display()))
}

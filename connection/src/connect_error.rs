//! Why a connection could not be made.

use std::path::PathBuf;

/// Why a connection could not even be attempted.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ConnectError {
    #[error("{0}: holds no certificates in PEM form")]
    Authorities(PathBuf),
    #[error("{0}: {1}")]
    Log(PathBuf, #[source] std::io::Error),
    #[error("transport: {0}")]
    Transport(#[from] quiche::Error),
    #[error("the saved session cannot be used ({0}); delete it to begin a new one")]
    Session(quiche::Error),
    #[error("no randomness from the system")]
    Random,
}

//! Why a study cannot be carried out.

use crate::FileError;
use crate::browsing::BrowsingError;
use crate::network::NetworkError;
use crate::stack::StackError;
use crate::wire::WireError;
use figures::png::PngError;
use server::TlsError;

/// Why a study could not be carried out.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages and types say it")]
pub enum StudyError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Browsing(#[from] BrowsingError),
    #[error(transparent)]
    Stack(#[from] StackError),
    #[error(transparent)]
    Identity(#[from] TlsError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("{0}")]
    Impossible(String),
    #[error("{0}; what is done is kept: the same command continues from there")]
    Record(FileError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("figure: {0}")]
    Figure(#[from] PngError),
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl StudyError {
    /// Whether the request is wrong, not the environment.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Network(_) | Self::Impossible(_) => true,
            Self::Record(error) | Self::File(error) => error.is_bad_content(),
            _ => false,
        }
    }
}

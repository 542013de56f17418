//! A client's options.

use crate::profile::HoldBack;
use crate::signalling::{Says, Signalling};
use crate::{Cancels, CookieJar, HttpCache, HttpVersion, SavedSession};
use connection::experiments::SendOrder;
use connection::{ClientConfig, ConnectError, Verify};
use corpus::Page;
use schedulers::Scheme;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a client runs.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The version of HTTP. TCP offers no pushes, migration, early data or cancels.
    pub http: HttpVersion,
    /// The connection, except for settings that follow from the other options: HTTP/3's, and the streams of pushes.
    pub transport: ClientConfig,
    /// The scheme whose client half decides the signals. `None`: the scheme the server announces, if any. The client
    /// sends no signals under a scheme that [no client can signal](schedulers::Language::None).
    pub scheme: Option<Scheme>,
    /// How much of the signals the client sends.
    pub says: Says,
    /// Which requests wait although their resources are discovered.
    pub hold_back: Option<HoldBack>,
    /// The most promised pushes that may be outstanding; 0 disables pushes.
    pub pushes: u64,
    /// The pages to load after the first, on the same connection.
    pub then: Vec<NextPage>,
    /// The HTTP cache that earlier visits left.
    pub cache: HttpCache,
    /// Whether the request for the document describes the cache (`Cache-Digest`).
    pub cache_digest: bool,
    /// The cookies that earlier visits left.
    pub cookies: CookieJar,
    /// Whether responses may move to other connections. `None`: the extension is off.
    pub migration: Option<Migrating>,
    /// A session of an earlier connection. Where the server allows it, requests travel in the first packets. All are
    /// `GET`, which may be replayed (RFC 8470).
    pub session: Option<SavedSession>,
    /// Data is delivered in this order. `None`: in each stream's own order, as it arrives.
    pub delivery_order: Option<SendOrder>,
    /// When the user abandons the first page.
    pub cancels: Cancels,
    /// Where to write the connection's qlog.
    pub qlog_file: Option<PathBuf>,
    /// Whether to keep the bodies.
    pub keep_bodies: bool,
}

/// A navigation from a loaded page to another.
#[derive(Debug, Clone)]
pub struct NextPage {
    /// The page.
    pub page: Arc<Page>,
    /// How long the user reads the preceding page after it is loaded.
    pub think: Duration,
}

/// How a client uses stream migration ([`migration`](connection::Destinations)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Migrating {
    /// Whether it keeps an idle connection ready, so that a response does not wait for a handshake.
    pub keeps_spare: bool,
    /// The client asks to move each response after this many of its bytes. `None`: only the server moves responses.
    pub ask_after_bytes: Option<u64>,
}

impl Options {
    /// The connection's options. Every push has its own stream.
    pub(crate) fn client_config(&self) -> ClientConfig {
        let mut config = self.transport.clone();
        let pushes = usize::try_from(self.pushes).unwrap_or(usize::MAX);
        config.unidirectional_streams += self.pushes;
        config.limits.unidirectional_streams =
            config.limits.unidirectional_streams.saturating_add(pushes);
        config.settings = Signalling::settings(self.scheme.as_ref(), self.says);
        config.migration = self.migration.is_some();
        config
    }
    /// The name that the server's certificate must cover.
    pub(crate) fn server_name(&self, page: &Page) -> String {
        let host = page.origins.first().filter(|_| self.transport.verify == Verify::Nobody);
        host.map_or("localhost", |it| it.host.as_str()).to_owned()
    }

    /// The file for the log, if requested.
    pub(crate) fn create_log(&self) -> Result<Option<LogWriter>, ConnectError> {
        let Some(path) = &self.qlog_file else { return Ok(None) };
        let file = File::create(path).map_err(|source| ConnectError::Log(path.clone(), source))?;
        Ok(Some(Box::new(BufWriter::new(file))))
    }
}

pub(crate) type LogWriter = Box<dyn Write + Send + Sync>;

pub(crate) fn log_title(page: &Page) -> String {
    format!("utmost client, page {}", page.name)
}

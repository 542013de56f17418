//! The limits of the command line.

use std::time::Duration;

/// Most visits of `play`.
pub(crate) const VISITS_MAX: i64 = 100;
/// Most pages of a connection.
pub(crate) const PAGES_MAX: usize = 100;
/// Most problems that `play` names.
pub(crate) const PROBLEMS_MAX: usize = 10;
/// The most pages of a site that `find` groups by template.
pub(crate) const SITE_PAGES_MAX: usize = 1000;
/// The most sitemaps that an index may name.
pub(crate) const SITEMAPS_MAX: usize = 50;
/// The largest sitemap that `find` reads.
pub(crate) const SITEMAP_BYTES_MAX: u64 = 10 << 20;
/// Longest line of an access log.
pub(crate) const LOG_LINE_BYTES_MAX: u64 = 64 * 1024;
/// The most reports that `view` builds at once, and dropped files that it reads at once; it rejects
/// further files.
pub(crate) const VIEW_THREADS: usize = 4;
/// The most connections of `view` at once; further ones wait.
pub(crate) const VIEW_CONNECTIONS: usize = 64;
/// Deadlines of `view`: for a request's head, a dropped file, and a connection with its answer.
pub(crate) const VIEW_HEAD: Duration = Duration::from_secs(10);
pub(crate) const VIEW_UPLOAD: Duration = Duration::from_secs(60);
pub(crate) const VIEW_CONNECTION: Duration = Duration::from_secs(600);
/// The pause before the next attempt to accept a connection when descriptors have run out.
pub(crate) const VIEW_PAUSE: Duration = Duration::from_millis(100);
/// The most logs side by side on a page of `view`.
pub(crate) const VIEW_OPEN_MAX: usize = 8;
/// The most logs that `view` summarizes for one request of its list.
pub(crate) const VIEW_ROWS_MAX: usize = 20;
/// The depth of folders below the one that `view` shows.
pub(crate) const VIEW_DEPTH_MAX: usize = 4;
/// Files that `view` lists.
pub(crate) const VIEW_FILES_MAX: usize = 5000;
/// The most files dropped on a page of `view`, and their bytes.
pub(crate) const DROPPED_MAX: usize = 16;
pub(crate) const DROPPED_BYTES_MAX: usize = 512 << 20;
/// The most bytes of a dropped file; a larger one must be opened from the directory.
pub(crate) const UPLOAD_BYTES_MAX: usize = 256 << 20;
/// Characters of its name.
pub(crate) const UPLOAD_NAME_CHARACTERS_MAX: usize = 120;
/// The most bytes of a page file dropped on the workbench, and of a question.
pub(crate) const PAGE_UPLOAD_BYTES_MAX: usize = 64 << 20;
pub(crate) const QUESTION_BYTES_MAX: usize = 1 << 20;
/// The most orders of a question, and body bytes of its page.
pub(crate) const WORKBENCH_ROWS_MAX: usize = 16;
pub(crate) const WORKBENCH_BODY_BYTES_MAX: u64 = 64 << 20;
/// The most loads that the workbench keeps, from several questions.
pub(crate) const WORKBENCH_KEPT_MAX: usize = 64;
/// The most resources of a page for which the workbench searches orders.
pub(crate) const WORKBENCH_SEARCH_MAX: usize = 200;
/// The most loads that a study may plan that is opened by dropping it on a page of `view`.
pub(crate) const DROPPED_LOADS_MAX: usize = 1_000_000;
/// How long the loads of a question may take, and the recording of a page.
pub(crate) const WORKBENCH_LOADS: Duration = Duration::from_secs(20);
pub(crate) const WORKBENCH_RECORDING: Duration = Duration::from_secs(300);
/// Streams of a connection that a page shows; a longer waterfall cannot be read.
pub(crate) const REPORT_STREAMS_MAX: usize = 10_000;
/// The most trees in one figure; more are unreadable.
pub(crate) const TREES_MAX: usize = 100;

//! Web pages as data: the page format, its checks, its importers, and the bundled pages.

pub mod page;

pub use page::{Page, PageResource};

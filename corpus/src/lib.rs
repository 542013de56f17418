//! Web pages as data: the page format, its checks, its importers, and the bundled pages.

pub mod bundled;
pub mod check;
pub mod discovery;
pub mod facts;
pub mod generate;
pub mod import;
pub mod kind;
pub mod limits;
pub mod page;
pub mod query;
pub mod read;
pub mod sets;
pub mod site;
pub mod size;
pub mod stats;
pub mod weights;

pub use bundled::{bundled, bundled_names, bundled_text};
pub use check::{Problem, check};
pub use import::sha256_hex;
pub use page::{Page, PageResource};
pub use query::Query;
pub use read::PageError;
pub use sets::{PageSet, kept_pages, page, pages};
pub use stats::{Stats, stats};

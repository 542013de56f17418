//! Self-contained reports: pages about logs and studies, and a log's figures as single pictures.

pub mod comparison;
mod limits;
pub mod pictures;
mod templates;
pub mod viewer;
pub mod workbench;

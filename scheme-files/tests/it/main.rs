//! Scheme files: the examples give the orders of their twins, faults are named, and scripts are bounded.

mod examples;
mod faults;
#[path = "../../../schedulers/tests/scenarios/mod.rs"]
mod scenarios;
mod scripts;

use scheme_files::{Report, SchemeFile, SchemeFileError};
use std::sync::{Arc, Mutex};

/// What a scheme reported while it ran.
#[derive(Clone, Default)]
struct Reported(Arc<Mutex<Vec<String>>>);

impl Reported {
    fn report(&self) -> Report {
        let lines = Arc::clone(&self.0);
        Arc::new(move |line| lines.lock().expect("not poisoned").push(line.to_owned()))
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").clone()
    }
}

/// The scheme in `text`, which reports nothing.
fn parse(text: &str) -> Result<SchemeFile, SchemeFileError> {
    scheme_files::parse(text, "my.toml", Arc::new(|line| panic!("{line}")))
}

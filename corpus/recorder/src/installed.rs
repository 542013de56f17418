//! Browsers that are installed on this machine.

use crate::error::RecordError;
use std::path::{Path, PathBuf};
use std::process::Command;

schedulers::named! {
    /// A browser that this crate can drive. Its name is what it calls itself.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Kind {
        /// Chromium or Chrome, through the `DevTools` protocol.
        #[default]
        Chromium = "Chromium",
        /// Firefox, by `WebDriver` `BiDi`.
        Firefox = "Firefox",
    }
}

struct Search {
    /// The variable that names its program.
    variable: &'static str,
    /// Names of its program; the first one in the path is used.
    programs: &'static [&'static str],
    /// A part of its program's answer to `--version`.
    answer: &'static str,
    package: &'static str,
}

const CHROMIUM: Search = Search {
    variable: "UTMOST_CHROMIUM",
    programs: &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    answer: "Chrom",
    package: "chromium",
};

const FIREFOX: Search = Search {
    variable: "UTMOST_FIREFOX",
    programs: &["firefox", "firefox-esr"],
    answer: "Firefox",
    package: "firefox or firefox-esr",
};

impl Kind {
    /// The variable that names its program.
    pub fn variable(self) -> &'static str {
        self.search().variable
    }

    /// Its program: the one that the variable names, or one in the path.
    pub fn program(self) -> Option<PathBuf> {
        let Search { variable, programs, .. } = self.search();
        if let Some(named) = std::env::var_os(variable) {
            return Some(PathBuf::from(named));
        }
        let folders = std::env::var_os("PATH")?;
        let mut places = std::env::split_paths(&folders)
            .flat_map(|folder| programs.iter().map(move |program| folder.join(program)));
        places.find(|it| it.is_file())
    }

    /// The name and version of its program: `Chromium 156.0.7842.0`.
    pub fn version(self) -> Result<String, RecordError> {
        self.version_of(&self.found_program()?)
    }

    /// Its program, after checking that its answer is this browser's. Another program would never
    /// answer later requests.
    pub(crate) fn tried_program(self) -> Result<PathBuf, RecordError> {
        let program = self.found_program()?;
        self.version_of(&program)?;
        Ok(program)
    }

    fn found_program(self) -> Result<PathBuf, RecordError> {
        self.program().ok_or_else(|| {
            let remedy = self.search().remedy();
            RecordError::Browser(format!("no {} found; {remedy}", self.name()))
        })
    }

    fn version_of(self, path: &Path) -> Result<String, RecordError> {
        let output = Command::new(path)
            .arg("--version")
            .output()
            .map_err(|error| self.unusable(path, &error.to_string()))?;
        let says = String::from_utf8_lossy(&output.stdout);
        let name = self.name();
        if output.status.success() && self.is_named_by(&says) {
            let words = says.split_whitespace();
            return Ok(words.take_while(|it| *it != "built").collect::<Vec<_>>().join(" "));
        }
        let cause = format!("is not {name}, according to its answer to --version");
        Err(self.unusable(path, &cause))
    }

    fn unusable(self, path: &Path, cause: &str) -> RecordError {
        let (path, remedy) = (path.display(), self.search().remedy());
        RecordError::Browser(format!("{path}: {cause}; {remedy}"))
    }

    pub(crate) fn is_named_by(self, version: &str) -> bool {
        version.contains(self.search().answer)
    }

    fn search(self) -> &'static Search {
        match self {
            Self::Chromium => &CHROMIUM,
            Self::Firefox => &FIREFOX,
        }
    }
}

impl Search {
    fn remedy(&self) -> String {
        format!("install the package {}, or name its program in {}", self.package, self.variable)
    }
}

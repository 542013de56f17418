//! The logs that can be opened: logs in the directory, and logs dropped on the page.

use crate::commands::qlog::report::too_large;
use crate::limits::{DROPPED_BYTES_MAX, DROPPED_MAX, VIEW_DEPTH_MAX, VIEW_FILES_MAX};
use crate::log_names::{Called, called};
use ::serve::Failure;
use qlog_tools::reader::{Detail, ReadOptions, Trace, read_file_traces, read_traces};
use report::viewer::ListedFile;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

pub(super) struct Library {
    /// `None`: there are only dropped logs.
    directory: Option<PathBuf>,
    dropped: BTreeMap<String, Vec<u8>>,
}

impl Library {
    pub(super) fn open(directory: Option<&Path>) -> Result<Self, Failure> {
        let Some(directory) = directory else {
            return Ok(Self { directory: None, dropped: BTreeMap::new() });
        };
        let opened = directory.canonicalize().and_then(|it| std::fs::read_dir(&it).map(|_| it));
        let directory = opened
            .map_err(|error| Failure::of_file(directory, format!("{error}; name a directory")))?;
        Ok(Self { directory: Some(directory), dropped: BTreeMap::new() })
    }

    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The files in the directory and below it, by name, and the dropped files.
    pub(super) fn files(&self) -> Vec<ListedFile> {
        let mut files = Vec::new();
        if let Some(directory) = &self.directory {
            Self::find(directory, directory, 0, &mut files);
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let dropped = self.dropped.iter();
        files.extend(
            dropped
                .map(|(name, bytes)| ListedFile { name: name.clone(), bytes: bytes.len() as u64 }),
        );
        files
    }

    fn find(directory: &Path, folder: &Path, depth: usize, files: &mut Vec<ListedFile>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if files.len() >= VIEW_FILES_MAX {
                return;
            }
            if kind.is_dir() && depth < VIEW_DEPTH_MAX {
                Self::find(directory, &path, depth + 1, files);
            }
            // Its contents decide its type.
            let is_listed = kind.is_file() && matches!(called(&path), Called::Qlog | Called::Json);
            let name = path.strip_prefix(directory).ok().and_then(Path::to_str);
            if let (true, Some(name)) = (is_listed, name) {
                let bytes = entry.metadata().map_or(0, |it| it.len());
                files.push(ListedFile { name: name.to_owned(), bytes });
            }
        }
    }

    pub(super) fn read(&self, names: &[String], detail: Detail) -> Result<Vec<Trace>, Failure> {
        let options = ReadOptions { detail, vantage: None };
        let mut traces = Vec::new();
        for name in names {
            let read = match self.dropped.get(name) {
                Some(bytes) => read_traces(name, &bytes[..], options),
                None => read_file_traces(&self.path(name)?, options),
            };
            let mut read = read.map_err(Failure::bad_input)?;
            if let Some(reason) = read.iter().find_map(too_large) {
                return Err(Failure::BadInput(reason));
            }
            for trace in &mut read {
                trace.file.clone_from(name);
            }
            traces.extend(read);
        }
        Ok(traces)
    }

    pub(super) fn add(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Failure> {
        if self.dropped.len() >= DROPPED_MAX && !self.dropped.contains_key(name) {
            return Err(Failure::BadInput(format!("{DROPPED_MAX} dropped files at most")));
        }
        let held: usize = self.dropped.values().map(Vec::len).sum();
        if held + bytes.len() > DROPPED_BYTES_MAX {
            let mebibytes = DROPPED_BYTES_MAX >> 20;
            return Err(Failure::BadInput(format!("{mebibytes} MiB of dropped files at most")));
        }
        let summary = ReadOptions { detail: Detail::Summary, vantage: None };
        read_traces(name, &bytes[..], summary).map_err(Failure::bad_input)?;
        self.dropped.insert(name.to_owned(), bytes);
        Ok(())
    }

    /// The file of a name: always inside the directory, even if links lead outside.
    fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        let relative = Path::new(name);
        let is_below = relative.components().all(|it| matches!(it, Component::Normal(_)));
        let directory = self.directory.as_ref().filter(|_| is_below);
        let path = directory.and_then(|directory| {
            let path = directory.join(relative).canonicalize().ok()?;
            (path.starts_with(directory) && path.is_file()).then_some(path)
        });
        path.ok_or_else(|| Failure::BadInput(format!("{name}: no file of this directory")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_directory() {
        let folder = tempfile::tempdir().expect("a directory");
        let outside = tempfile::tempdir().expect("a directory");
        std::fs::write(outside.path().join("secret.qlog"), "x").expect("written");
        std::fs::create_dir(folder.path().join("sub")).expect("made");
        std::fs::write(folder.path().join("sub/a.qlog"), "x").expect("written");
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).expect("linked");
        let library = Library::open(Some(folder.path())).expect("open");
        assert!(library.path("sub/a.qlog").is_ok());
        let absolute = outside.path().join("secret.qlog").display().to_string();
        for name in ["../x", "sub/../../x", "link/secret.qlog", &absolute, "", ".", "sub"] {
            assert!(library.path(name).is_err(), "{name}");
        }
        let names: Vec<String> = library.files().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["sub/a.qlog"]);
    }
}

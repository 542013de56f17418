//! Packages that contain web pages, fetched by their ordinary clients into a cache folder.

use crate::error::{RecordError, refused};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// The variable that names the cache folder.
pub const CACHE_VARIABLE: &str = "UTMOST_CACHE";

/// A package of a registry, and a page in it: `npm:NAME@VERSION/PATH`, `deb:NAME/PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The registry's kind.
    pub kind: PackageKind,
    /// The package's name.
    pub name: String,
    /// Its version; optional for a Debian package.
    pub version: Option<String>,
    /// The page's path, with a leading slash.
    pub entry: String,
}

/// The client that fetches a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageKind {
    /// `npm pack`.
    Npm,
    /// `apt-get download`.
    Deb,
}

impl PackageKind {
    fn separator(self) -> char {
        if self == Self::Npm { '@' } else { '=' }
    }
}

/// A package on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Its files.
    pub root: PathBuf,
    /// SHA-256 of its archive, in hex.
    pub sha256: String,
    /// Name and version of the archive.
    pub archive: String,
}

impl FromStr for Package {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let form = "not a package; write npm:NAME@VERSION/PATH or deb:NAME[=VERSION]/PATH";
        Self::parsed(text).ok_or_else(|| refused(text, form))
    }
}

/// The cache folder: [`CACHE_VARIABLE`], or `utmost` among the user's caches.
pub fn cache() -> PathBuf {
    folder_in(CACHE_VARIABLE)
        .or_else(|| folder_in("XDG_CACHE_HOME").map(|it| it.join("utmost")))
        .or_else(|| folder_in("HOME").map(|it| it.join(".cache/utmost")))
        .unwrap_or_else(|| std::env::temp_dir().join("utmost"))
}

fn folder_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

impl Package {
    fn parsed(text: &str) -> Option<Self> {
        let (kind, rest) = match text.split_once(':')? {
            ("npm", rest) => (PackageKind::Npm, rest),
            ("deb", rest) => (PackageKind::Deb, rest),
            _ => return None,
        };
        // A scope belongs to the name: @scope/name@1.0.0/path.
        let scope = if rest.starts_with('@') { rest.find('/')? + 1 } else { 0 };
        let slash = scope + rest[scope..].find('/')?;
        let (package, entry) = rest.split_at(slash);
        let (name, version) = match package[scope..].split_once(kind.separator()) {
            Some((name, version)) => (&package[..scope + name.len()], Some(version.to_owned())),
            None => (package, None),
        };
        let has_version = kind == PackageKind::Deb || version.is_some();
        let is_sound = has_version && is_plain(name) && version.as_deref().is_none_or(is_plain);
        is_sound.then(|| Self { kind, name: name.to_owned(), version, entry: entry.to_owned() })
    }

    /// Fetches and unpacks the package, unless it is in the cache. npm and apt verify it against
    /// their registries.
    pub fn fetch(&self, cache: &Path) -> Result<Fetched, RecordError> {
        let version = self.version.as_deref().unwrap_or("any");
        let folder = cache.join(format!("{}-{version}", self.name.replace(['/', '@'], "_")));
        let root = folder.join("files");
        let archive = match archive_in(&folder) {
            Some(archive) if root.is_dir() => archive,
            _ => {
                std::fs::create_dir_all(&root).map_err(|error| RecordError::at(&root, error))?;
                self.download(&folder)?;
                let archive = archive_in(&folder)
                    .ok_or_else(|| refused(&self.name, "its client fetched no archive"))?;
                self.unpack(&archive, &root)?;
                archive
            }
        };
        let bytes = std::fs::read(&archive).map_err(|error| RecordError::at(&archive, error))?;
        let name = archive.file_stem().map(|it| it.to_string_lossy().into_owned());
        let inner = root.join("package");
        Ok(Fetched {
            sha256: corpus::sha256_hex(&bytes),
            archive: name.unwrap_or_default(),
            root: if inner.is_dir() && self.kind == PackageKind::Npm { inner } else { root },
        })
    }

    fn download(&self, folder: &Path) -> Result<(), RecordError> {
        let (program, arguments) = match self.kind {
            PackageKind::Npm => ("npm", &["pack", "--silent", "--ignore-scripts"][..]),
            PackageKind::Deb => ("apt-get", &["-q", "download"][..]),
        };
        let version = self.version.as_ref().map(|it| format!("{}{it}", self.kind.separator()));
        let package = format!("{}{}", self.name, version.unwrap_or_default());
        run(Command::new(program).args(arguments).arg(package).current_dir(folder))
    }

    fn unpack(&self, archive: &Path, root: &Path) -> Result<(), RecordError> {
        match self.kind {
            PackageKind::Npm => {
                let mut tar = Command::new("tar");
                tar.args(["--extract", "--gzip", "--no-same-owner", "--file"]).arg(archive);
                run(tar.arg("--directory").arg(root))
            }
            PackageKind::Deb => run(Command::new("dpkg-deb").arg("-x").arg(archive).arg(root)),
        }
    }
}

fn archive_in(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?;
    let mut archives: Vec<PathBuf> = files
        .filter_map(|it| Some(it.ok()?.path()))
        .filter(|it| it.extension().is_some_and(|it| it == "tgz" || it == "deb"))
        .collect();
    archives.sort();
    archives.pop()
}

/// Whether a name or version is safe on a command line.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|it| it.is_ascii_alphanumeric() || b"@/._+~:-".contains(&it))
        && !word.contains("..")
        && !word.starts_with('-')
}

fn run(command: &mut Command) -> Result<(), RecordError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| refused(&program, &format!("{error}; it is needed to fetch packages")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or_default();
    Err(refused(&program, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Option<String>, String) {
        let package: Package = text.parse().expect("a package");
        (package.name, package.version, package.entry)
    }

    #[test]
    fn a_package_is_a_registry_a_name_a_version_and_a_path() {
        let version = |it: &str| Some(it.to_owned());
        let scoped = parsed("npm:@a/b-c@2.0.4/pages/x.html");
        assert_eq!(scoped, ("@a/b-c".into(), version("2.0.4"), "/pages/x.html".into()));
        assert_eq!(parsed("npm:a@7.0.12/dist/"), ("a".into(), version("7.0.12"), "/dist/".into()));
        assert_eq!(parsed("deb:a-doc/usr/x.html"), ("a-doc".into(), None, "/usr/x.html".into()));
        let exact = parsed("deb:a-doc=6.0+dfsg-1/usr/x.html");
        assert_eq!(exact, ("a-doc".into(), version("6.0+dfsg-1"), "/usr/x.html".into()));
    }

    #[test]
    fn anything_but_a_package_is_rejected_in_one_line() {
        for text in
            ["npm:a/dist/", "npm:a@1.0", "gem:a@1/x", "a", "npm:-x@1/y", "npm:../a@1/y", "npm:@a"]
        {
            let error = text.parse::<Package>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("{text}: not a package")), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
    }
}

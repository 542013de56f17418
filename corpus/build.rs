//! Lists `pages/*.json`, so that a page is bundled by being there.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=pages");
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("pages");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect::<Result<_, _>>()?;
    files.retain(|it| it.extension().is_some_and(|it| it == "json"));
    // By name: with its extension, `page-large` would come before `page`.
    files.sort_by(|one, other| one.file_stem().cmp(&other.file_stem()));
    let mut list = String::from("&[\n");
    for file in &files {
        let name = file.file_stem().ok_or("a page without a name")?.to_string_lossy();
        writeln!(list, "    ({name:?}, include_str!({:?})),", file.display().to_string())?;
    }
    list.push_str("]\n");
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("pages.rs"), list)?;
    Ok(())
}

//! Figures as files.

use crate::values::writable;
use ::serve::Failure;
use figures::png::{PngError, Rasterizer};
use lab::study::folder::{PNG_SCALE, write_figures};
use std::path::Path;

/// Rejects a figure's file that has another ending, or cannot be written.
pub(crate) fn can_be_written(file: &Path) -> Result<(), Failure> {
    ending(file)?;
    writable(file, "-o")
}

/// Writes a figure as SVG or PNG, by the file's extension.
pub(crate) fn write(file: &Path, svg: &str) -> Result<(), Failure> {
    let bytes = match ending(file)? {
        Ending::Svg => svg.as_bytes().to_vec(),
        Ending::Png => {
            let rasterizer = Rasterizer::new().map_err(Failure::elsewhere)?;
            rasterizer.png(svg, PNG_SCALE).map_err(Failure::elsewhere)?
        }
    };
    std::fs::write(file, bytes).map_err(|error| Failure::of_file(file, error))
}

enum Ending {
    Svg,
    Png,
}

fn ending(file: &Path) -> Result<Ending, Failure> {
    match &*file.extension().unwrap_or_default().to_string_lossy().to_lowercase() {
        "svg" => Ok(Ending::Svg),
        "png" => Ok(Ending::Png),
        _ => Err(Failure::of_file(file, "--out takes a file that ends with .svg or .png")),
    }
}

/// Writes figures into a folder, each as `NAME.svg` and `NAME.png`. Without a font on the machine, it writes no PNG files
/// and prints a note.
pub(crate) fn write_all(
    folder: &Path,
    named: impl IntoIterator<Item = (String, String)>,
) -> Result<(), Failure> {
    without_png(write_figures(folder, named).map_err(Failure::elsewhere)?.as_ref());
    Ok(())
}

pub(crate) fn without_png(missing: Option<&PngError>) {
    if let Some(error) = missing {
        eprintln!("utmost: no PNG files: {error}");
    }
}

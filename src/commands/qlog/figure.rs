//! Where figures go.

use crate::failure::Failure;
use qlog_tools::figures::png::Rasterizer;
use std::path::Path;

/// Pixels for each unit of a figure.
pub(crate) const PNG_SCALE: f32 = 2.0;

/// Writes an SVG, or a PNG of it, as the file's ending says.
pub(crate) fn write(file: &Path, svg: &str) -> Result<(), Failure> {
    let ending = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let bytes = match &*ending {
        "svg" => svg.as_bytes().to_vec(),
        "png" => {
            let rasterizer = Rasterizer::new().map_err(Failure::elsewhere)?;
            rasterizer.png(svg, PNG_SCALE).map_err(Failure::elsewhere)?
        }
        _ => {
            let reason = "--out takes a file that ends with .svg or .png";
            return Err(Failure::BadInput(format!("{}: {reason}", file.display())));
        }
    };
    std::fs::write(file, bytes)
        .map_err(|error| Failure::BadInput(format!("{}: {error}", file.display())))
}

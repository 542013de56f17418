//! A reproduction as files: `NAME.json`, `NAME.md`, `NAME.svg` and `NAME.manifest.json`.

use super::{Findings, Reproduction, Row};
use lab::{FileError, write_file};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// Writes `reproduction` into `folder`, which is made where it is missing.
pub fn write(reproduction: &Reproduction, folder: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(folder).map_err(FileError::at(folder))?;
    let files = [
        ("json", json(reproduction)),
        ("md", reproduction.markdown()),
        ("svg", reproduction.found.svg.clone()),
        ("manifest.json", json(&reproduction.provenance)),
    ];
    for (extension, text) in files {
        write_file(&folder.join(format!("{}.{extension}", reproduction.name)), text)?;
    }
    Ok(())
}

fn json(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("its keys are texts") + "\n"
}

impl Reproduction {
    /// For readers: the table, then the figure.
    pub fn markdown(&self) -> String {
        let Findings { method, rows, caption, .. } = &self.found;
        let judged = rows.iter().filter(|it| it.tolerance.is_some()).count();
        let within = rows.iter().filter(|it| it.tolerance.is_some() && it.within).count();
        let mut text = format!(
            "# {}\n\n{}.\n\n{}\n\n{within} of {judged} within their tolerances; the other rows are shown for \
             comparison. Made by `utmost reproduce {}`.\n\n",
            self.name, self.source, method, self.name
        );
        let has_model = rows.iter().any(|it| it.model.is_some());
        let (model, align) = if has_model { (" model |", "---:|") } else { ("", "") };
        let heading = format!(
            "| | what | ours | published |{model} tolerance | within | note |\n|---|---|---:|---:|{align}---|---|---|\n"
        );
        let mut table = None;
        for (place, row) in rows.iter().enumerate() {
            if place == 0 || row.table != table {
                table = row.table;
                text += &table.map_or_else(String::new, |it| format!("\n## {it}\n\n"));
                text += &heading;
            }
            text += &row.markdown(has_model);
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "\n![{}]({}.svg)\n\n{}\n", self.name, self.name, caption);
        text
    }
}

impl Row {
    fn markdown(&self, has_model: bool) -> String {
        let model = if has_model { format!(" {} |", number(self.model)) } else { String::new() };
        let within = match (&self.tolerance, self.within) {
            (None, _) => "",
            (Some(_), true) => "yes",
            (Some(_), false) => "**no**",
        };
        format!(
            "| {} | {} | {} | {} |{model} {} | {within} | {} |\n",
            self.id,
            self.metric,
            self.ours.map(|it| self.text_from(it, decimals(it))).unwrap_or_default(),
            number(self.published),
            self.tolerance.as_deref().unwrap_or_default(),
            self.note.replace('|', "\\|")
        )
    }
}

fn number(value: Option<f64>) -> String {
    value.map(|it| format!("{it:.0$}", decimals(it))).unwrap_or_default()
}

fn decimals(value: f64) -> usize {
    if value.abs() >= 100.0 { 0 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_outside_its_tolerance_stands_out() {
        let row = Row::shown("a", "speedup", Some(1.5)).published(2.8).at_least(2.3).note("x | y");
        assert_eq!(
            row.markdown(false),
            "| a | speedup | 1.50 | 2.80 | at least 2.3 | **no** | x \\| y |\n"
        );
        let shown = Row::shown("b", "speedup", None);
        assert_eq!(shown.markdown(false), "| b | speedup |  |  |  |  |  |\n");
        assert_eq!(shown.model(3.0).markdown(true), "| b | speedup |  |  | 3.00 |  |  |  |\n");
    }
}

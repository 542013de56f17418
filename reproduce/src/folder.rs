//! A reproduction as files: `NAME.json`, `NAME.md`, `NAME.svg` and `NAME.manifest.json`.

use super::{Findings, Kind, Reproduction, Row, Table, as_published, headline, kinds};
use lab::{FileError, write_file};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// Writes `reproduction` into `folder`, which is created if it is missing.
pub fn write(reproduction: &Reproduction, folder: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(folder).map_err(FileError::at(folder))?;
    let files = [
        ("json", json(reproduction)),
        ("md", reproduction.markdown()),
        ("svg", reproduction.found.svg.clone()),
        ("manifest.json", json(&Manifest::of(reproduction))),
    ];
    for (extension, text) in files {
        write_file(&folder.join(format!("{}.{extension}", reproduction.name)), text)?;
    }
    Ok(())
}

/// The format of `NAME.manifest.json`. Manifests that were kept before it had one do not name it.
const MANIFEST_FORMAT: &str = "utmost-reproduction-manifest/1";

#[derive(Serialize)]
struct Manifest<'a> {
    format: &'static str,
    #[serde(flatten)]
    provenance: &'a Value,
}

impl<'a> Manifest<'a> {
    fn of(reproduction: &'a Reproduction) -> Self {
        Self { format: MANIFEST_FORMAT, provenance: &reproduction.provenance }
    }
}

fn json(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("its keys are texts") + "\n"
}

impl Reproduction {
    /// For readers: the published matrix if there is one, the rows, then the figure.
    pub fn markdown(&self) -> String {
        let Findings { method, rows, caption, .. } = &self.found;
        let headline = headline(rows);
        let mut text = format!(
            "# {}\n\n{}.\n\n{}\n\nConditions that hold: {headline}; the other rows are shown for comparison. \
             Made by `utmost-workshop reproduce {}`.\n\n",
            self.name, self.source, method, self.name
        );
        let columns = Columns {
            interval: rows.iter().any(|it| it.interval.is_some()),
            model: rows.iter().any(|it| it.model.is_some()),
            kinds: kinds(rows),
        };
        text.extend(as_published(rows).iter().map(Table::markdown));
        let mut table = None;
        for (place, row) in rows.iter().enumerate() {
            if place == 0 || row.table != table {
                table = row.table;
                text += &table.map_or_else(String::new, |it| format!("\n## {it}\n\n"));
                text += &columns.heading();
            }
            text += &columns.row(row);
        }
        text.extend(self.found.tables.iter().map(Table::markdown));
        // Writing to a string cannot fail.
        let _ = write!(text, "\n![{}]({}.svg)\n\n{}\n", self.name, self.name, caption);
        text
    }
}

struct Columns {
    interval: bool,
    model: bool,
    kinds: Vec<Kind>,
}

impl Columns {
    fn heading(&self) -> String {
        let interval = if self.interval { " 95 % |" } else { "" };
        let model = if self.model { " model |" } else { "" };
        let kinds =
            self.kinds.iter().fold(String::new(), |text, (name, _)| text + " " + *name + " |");
        let align = "---:|".repeat(usize::from(self.interval) + usize::from(self.model));
        let lines = "---|".repeat(self.kinds.len());
        format!(
            "| | what | ours |{interval} published |{model}{kinds} note |\n|---|---|---:|---:|{align}{lines}---|\n"
        )
    }

    fn row(&self, row: &Row) -> String {
        let model = if self.model { format!(" {} |", number(row.model)) } else { String::new() };
        let interval = row.interval_text().unwrap_or_default();
        let interval = if self.interval { format!(" {interval} |") } else { String::new() };
        let verdicts = self.kinds.iter().map(|(_, of)| match of(&row.verdicts) {
            None => " |".to_owned(),
            Some(it) => format!(" {}: {} |", it.word("**no**"), it.condition),
        });
        format!(
            "| {} | {} | {} |{interval} {} |{model}{} {} |\n",
            row.id,
            row.metric,
            row.ours.map(|it| row.text_from(it, decimals(it))).unwrap_or_default(),
            number(row.published),
            verdicts.collect::<String>(),
            row.told().replace('|', "\\|")
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
    use super::super::row::kinds;
    use super::*;

    #[test]
    fn a_manifest_names_its_format_before_what_it_says() {
        let provenance = serde_json::json!({"utmost": "0.1.0"});
        let manifest = Manifest { format: MANIFEST_FORMAT, provenance: &provenance };
        let expected =
            "{\n  \"format\": \"utmost-reproduction-manifest/1\",\n  \"utmost\": \"0.1.0\"\n}\n";
        assert_eq!(json(&manifest), expected);
    }

    #[test]
    fn a_row_that_fails_a_condition_stands_out() {
        let row = Row::shown("a", "speedup", Some(1.5)).published(2.8).at_least(2.3).note("x | y");
        let shown = Row::shown("b", "speedup", None);
        let columns = |model, rows: &[Row]| Columns { interval: false, model, kinds: kinds(rows) };
        let both = columns(false, &[row.clone(), shown.clone()]);
        assert_eq!(
            both.row(&row),
            "| a | speedup | 1.50 | 2.80 | **no**: at least 2.3 | x \\| y |\n"
        );
        assert_eq!(both.row(&shown), "| b | speedup |  |  | |  |\n");
        let interval = Columns { interval: true, ..columns(false, &[]) };
        let estimated = shown.clone().interval(Some([1.0, 2.0]));
        assert_eq!(interval.row(&estimated), "| b | speedup |  | 1.00 to 2.00 |  |  |\n");
        let modelled = shown.model(3.0);
        let alone = columns(true, std::slice::from_ref(&modelled));
        assert_eq!(alone.row(&modelled), "| b | speedup |  |  | 3.00 |  |\n");
    }
}

//! The dimensions that a study can vary, and their names in files, tables and figures.

use crate::study::plan::setting::{DIMENSIONS, Setting, Settings};
use push::Policy;
use serde_json::Value;
use std::collections::BTreeSet;

/// One dimension that a study can vary.
#[derive(Debug)]
pub struct Dimension {
    /// Its key in JSON and its column in CSV files.
    pub column: &'static str,
    /// The key of its values in a manifest.
    pub(crate) list: &'static str,
    /// The flag that sets them.
    pub flag: &'static str,
    /// The help of its flag; empty if flags without a list set its values.
    pub help: &'static str,
    /// Its name in a sentence.
    pub name: &'static str,
    /// The unit in a sentence.
    pub(crate) unit: &'static str,
    /// The files that always have the column. Other files have it if its values are informative.
    pub(crate) always_in: &'static [File],
    /// Null if it has no value.
    pub(crate) value: fn(&Setting) -> Value,
    /// The default value, which is not shown.
    pub(crate) usual: &'static str,
    /// Converts a CSV value for a table.
    pub(crate) label: fn(&str) -> String,
    /// Converts a CSV value for a figure.
    pub(crate) mark: fn(&str) -> String,
    pub(crate) copy: fn(&mut Setting, &Setting),
    /// Whether a study lists values for it.
    pub(crate) is_listed: fn(&Settings) -> bool,
    /// Adds a value in the syntax of its flag; false if it is already listed.
    pub(crate) add: fn(&mut Settings, &str) -> Result<bool, String>,
    pub(crate) clear: fn(&mut Settings),
    /// Whether it applies in a setting.
    pub(crate) applies: fn(&Setting) -> bool,
    /// Its numeric axes in figures, one for each unit of its values. Empty if they are names.
    pub axes: &'static [Axis],
}

/// The axis of a dimension whose values are numbers.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// Its quantity, with the unit: `send buffer, kB`.
    pub title: &'static str,
    /// A setting's position on it, in that unit; `None` if the setting does not have the dimension, or has it in another
    /// unit.
    pub at: fn(&Setting) -> Option<f64>,
}

/// The columns of dimensions that are treated in their own way.
pub(crate) const NETWORK: &str = "network";
pub(crate) const SEND_BUFFER: &str = "send_buffer_bytes";
pub(crate) const CONTROL: &str = "cc";
pub(crate) const PUSH: &str = "push";
pub(crate) const GATE: &str = "gate";
pub(crate) const HINTS: &str = "hints";
pub(crate) const SIGNALS: &str = "signals";

/// A dimension without a unit, whose values are printed as in CSV files.
pub(crate) const PLAIN: Dimension = Dimension {
    column: "",
    list: "",
    flag: "",
    help: "",
    name: "",
    unit: "",
    always_in: &[],
    value: |_| Value::Null,
    usual: "",
    label: str::to_owned,
    mark: str::to_owned,
    copy: |_, _| {},
    is_listed: |_| true,
    add: |_, _| Ok(true),
    clear: |_| {},
    applies: |_| true,
    axes: &[],
};

/// A kind of file with a row for each load or for many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum File {
    Runs,
    Summary,
}

impl Dimension {
    /// Rejects a value that its flag does not accept.
    pub fn check(&self, value: &str) -> Result<String, String> {
        (self.add)(&mut Settings::default(), value)?;
        Ok(value.to_owned())
    }

    /// A value for CSV files; empty for the default.
    pub fn cell(&self, setting: &Setting) -> String {
        match (self.value)(setting) {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// A value in a table; empty for the default.
    pub fn label(&self, setting: &Setting) -> String {
        self.told(setting, self.label)
    }

    /// A value in a figure; empty for the default.
    pub(crate) fn mark(&self, setting: &Setting) -> String {
        self.told(setting, self.mark)
    }

    fn told(&self, setting: &Setting, words: fn(&str) -> String) -> String {
        let cell = self.cell(setting);
        if cell.is_empty() { cell } else { words(&cell) }
    }

    /// A value in a file name: `rate-5000000`, `loss-0-01`. Only letters, digits and `-`, which are safe on every system and
    /// in LaTeX.
    pub(crate) fn file_part(&self, setting: &Setting) -> String {
        let words = format!("{}-{}", self.column.replace('_', "-"), self.cell(setting));
        words.to_ascii_lowercase().replace(|it: char| !it.is_ascii_alphanumeric(), "-")
    }

    /// `send buffer 14000 bytes`.
    pub(crate) fn words(&self, setting: &Setting) -> String {
        format!("{} {}{}", self.name, self.cell(setting), self.unit)
    }

    /// `send buffer 0, 14000 bytes`: its values in `settings`.
    pub(crate) fn all_words(&self, settings: &[&Setting]) -> String {
        let mut values: Vec<String> = Vec::new();
        for value in settings.iter().map(|setting| self.cell(setting)) {
            if !values.contains(&value) && !value.is_empty() {
                values.push(value);
            }
        }
        format!("{} {}{}", self.name, values.join(", "), self.unit)
    }

    fn is_in(&self, file: File, settings: &[&Setting]) -> bool {
        self.always_in.contains(&file) || settings.iter().any(|it| !(self.value)(it).is_null())
    }
}

/// The dimensions that get columns in `file` if its rows have `settings`.
pub(crate) fn columns(file: File, settings: &[&Setting]) -> Vec<&'static Dimension> {
    DIMENSIONS.iter().filter(|it| it.is_in(file, settings)).collect()
}

/// The dimensions in which `settings` differ.
pub fn varied<'a>(settings: impl Iterator<Item = &'a Setting>) -> Vec<&'static Dimension> {
    let settings: BTreeSet<&Setting> = settings.collect();
    let Some(first) = settings.first() else { return Vec::new() };
    let varied = DIMENSIONS.iter().filter(|dimension| {
        let value = (dimension.value)(first);
        settings.iter().any(|it| (dimension.value)(it) != value)
    });
    varied.collect()
}

/// The dimensions to name for `settings`: always network and send buffer, others if they have more than the default.
pub(crate) fn notable(settings: &[&Setting]) -> Vec<&'static Dimension> {
    let notable = DIMENSIONS.iter().filter(|dimension| {
        let unsaid = ["", dimension.usual];
        dimension.always_in.contains(&File::Summary)
            || settings.iter().any(|it| !unsaid.contains(&&*dimension.cell(it)))
    });
    notable.collect()
}

pub(crate) fn push_label(policy: &str) -> String {
    if policy == Policy::NoOpt.name() { "no push" } else { policy }.to_owned()
}

pub(crate) fn cross_label(traffic: &str) -> String {
    if traffic == "none" { "alone" } else { traffic }.to_owned()
}

pub(crate) fn migration_label(migration: &str) -> String {
    if migration == "none" { "no migration" } else { migration }.to_owned()
}

/// `HTTP/2`.
pub(crate) fn http_label(version: &str) -> String {
    format!("HTTP/{version}")
}

pub(crate) fn hints_label(hints: &str) -> String {
    if hints == "none" { "no hints" } else { hints }.to_owned()
}

/// `after 300k`.
pub(crate) fn warm_up_label(bytes: &str) -> String {
    match bytes.parse() {
        Ok(0) => "cold".to_owned(),
        Ok(bytes) => format!("after {}", corpus::size::text(bytes)),
        Err(_) => bytes.to_owned(),
    }
}

/// `5 Mbit/s`.
pub(crate) fn rate_label(bits_per_s: &str) -> String {
    match bits_per_s.parse() {
        Ok(rate @ 1e6..) => format!("{} Mbit/s", rate / 1e6),
        Ok(rate) => format!("{} kbit/s", rate / 1e3),
        Err(_) => bits_per_s.to_owned(),
    }
}

/// `1 % loss`.
pub(crate) fn loss_label(share: &str) -> String {
    share.parse().map_or_else(|_| share.to_owned(), |it| format!("{} % loss", percent(it)))
}

/// A share as a percentage. A share has at most six decimals, so its percentage has four.
pub(crate) fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// `280 kB`, with a no-break space, so that headings are not divided there.
pub(crate) fn buffer_mark(bytes: &str) -> String {
    let in_kilobytes = bytes.strip_suffix("000").map(|it| format!("{it}\u{a0}kB"));
    in_kilobytes.unwrap_or_else(|| format!("{bytes}\u{a0}B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_place_on_an_axis_and_names_do_not() {
        let setting = Setting { send_buffer_bytes: 280_000, ..Setting::default() };
        let at = |column: &str| {
            let dimension = DIMENSIONS.iter().find(|it| it.column == column).expect("a dimension");
            dimension.axes.first().map(|it| (it.title, (it.at)(&setting)))
        };
        assert_eq!(at("send_buffer_bytes"), Some(("send buffer, kB", Some(280.0))));
        assert_eq!(at("warm_up_bytes"), Some(("warm-up, kB", None)));
        assert_eq!((at("network"), at("cc")), (None, None));
    }
}

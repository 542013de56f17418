//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

/// The value of a label, which can be any text.
pub(super) fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

/// A text that grows by lines. Labels have values of our own, in which nothing needs to be escaped, or values from
/// [`escaped`].
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) text: String,
    /// The metric that is being written.
    name: &'static str,
}

impl Text {
    /// Begins a metric.
    pub(super) fn head(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        // Writing to a String does not fail.
        writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}").unwrap_or_default();
    }

    /// A value of the most recently begun metric.
    pub(super) fn value(&mut self, labels: &str, value: impl Display) {
        self.line("", labels, value);
    }

    pub(super) fn counter(&mut self, name: &'static str, help: &str, value: u64) {
        self.head(name, "counter", help);
        self.value("", value);
    }

    /// A histogram of times. Each of `classes` counts the times above the previous bound.
    pub(super) fn histogram(
        &mut self,
        labels: &str,
        bounds_ms: &[u64],
        classes: &[u64],
        sum_us: u64,
    ) {
        let mut count = 0;
        let bounds = bounds_ms.iter().map(|ms| (*ms as f64 / 1e3).to_string());
        for (bound, class) in bounds.chain(["+Inf".to_owned()]).zip(classes) {
            count += class;
            self.line("_bucket", &format!("{labels},le=\"{bound}\""), count);
        }
        self.line("_sum", labels, sum_us as f64 / 1e6);
        self.line("_count", labels, count);
    }

    fn line(&mut self, ending: &str, labels: &str, value: impl Display) {
        let name = self.name;
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        writeln!(self.text, "{name}{ending}{labels} {value}").unwrap_or_default();
    }
}

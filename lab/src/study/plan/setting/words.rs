//! How files, tables, figures and sentences name a setting.

use super::{DIMENSIONS, Setting};
use crate::study::Dimension;
use crate::study::plan::dimension::{File, columns};
use serde::{Serialize, Serializer};

impl Setting {
    /// The setting for a row that covers many loads: network and send buffer, and the other varied dimensions.
    pub(crate) fn told(&self, varied: &[&Dimension]) -> Self {
        let mut setting = Self::default();
        for dimension in DIMENSIONS {
            let is_varied = varied.iter().any(|it| it.column == dimension.column);
            if is_varied || dimension.always_in.contains(&File::Summary) {
                (dimension.copy)(&mut setting, self);
            }
        }
        setting
    }

    /// `network cable, send buffer 14000 bytes`: these `dimensions` in a sentence.
    pub(crate) fn words(&self, dimensions: &[&Dimension]) -> String {
        let said = dimensions.iter().filter(|it| !it.cell(self).is_empty());
        let words: Vec<String> = said.map(|it| it.words(self)).collect();
        words.join(", ")
    }

    /// The row of many loads, in a sentence.
    pub fn sentence(&self) -> String {
        self.words(&columns(File::Summary, &[self]))
    }

    /// `cable 14K`: these `dimensions` in a figure.
    pub(crate) fn marks(&self, dimensions: &[&Dimension]) -> String {
        let marks = dimensions.iter().map(|it| it.mark(self));
        marks.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// `14000 cubic`: these `dimensions` in a table.
    pub fn labels(&self, dimensions: &[&Dimension]) -> String {
        let labels = dimensions.iter().map(|it| it.label(self));
        labels.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn keys<S: Serializer>(&self, file: File, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = columns(file, &[self]);
        serializer.collect_map(columns.iter().map(|it| (it.column, (it.value)(self))))
    }

    /// The keys of a load's record.
    pub(crate) fn keys_of_run<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys(File::Runs, serializer)
    }
}

/// The keys of a row for many loads.
impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys(File::Summary, serializer)
    }
}

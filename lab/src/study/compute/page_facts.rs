//! The facts of a study's pages: columns beside its results.

use corpus::Page;
use corpus::facts::NUMBERS;
use qlog_tools::saturating_cast::to_u64;
use serde::{Serialize, Serializer};
use serde_json::json;

/// A page of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageFacts {
    /// Its name.
    pub page: String,
    /// The site or template to which it belongs.
    pub site: String,
    /// The values of [`NUMBERS`], each a key with its name.
    #[serde(flatten, serialize_with = "by_name")]
    pub numbers: [f64; NUMBERS.len()],
}

impl PageFacts {
    /// The facts of a checked page.
    pub fn of(page: &Page) -> Self {
        Self {
            page: page.name.clone(),
            site: page.site().to_owned(),
            numbers: NUMBERS.each_ref().map(|it| (it.of)(page)),
        }
    }
}

/// Serializes numbers by name. Counts are written without a decimal point, as in CSV files.
fn by_name<S: Serializer>(
    numbers: &[f64; NUMBERS.len()],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(NUMBERS.iter().zip(numbers).map(|(fact, number)| {
        (fact.name, if number.fract() == 0.0 { json!(to_u64(*number)) } else { json!(number) })
    }))
}

//! `utmost schemes`: lists the schemes.

use crate::failure::Failure;
use crate::output;
use lab::Contender;
use schedulers::{Needs, REGISTRY, Scheme};
use serde_json::{Value, json};

/// List all schemes: name, what it does, source, parameters, placeholders
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  utmost schemes --json")]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.json {
        let rows: Vec<Value> = REGISTRY.iter().map(scheme_json).chain(brackets_json()).collect();
        return output::json(&json!({"schemes": rows, "guard": GUARD}));
    }
    let schemes = REGISTRY.iter().map(|it| {
        vec![
            it.name.clone(),
            it.placeholders.to_string(),
            if it.needs == Needs::Nothing { "yes" } else { "-" }.to_owned(),
            short(it.parameters),
            it.about.to_owned(),
        ]
    });
    let brackets = Contender::BRACKETS.iter().map(|it| {
        let cells = [it.name(), "-", "-", "(bracket)", it.about()];
        cells.map(str::to_owned).into()
    });
    let headings = ["scheme", "placeholders", "in all", "parameters", "what it does"];
    output::line(&output::table(&headings, &[2, 3, 4], schemes.chain(brackets)).to_string())?;
    output::line(
        "Sources: --json. Any scheme may be followed by @guard:PACKETS, against starvation. Brackets are not schemes: they are \
         the best or the worst order that a page allows, for `compare` only.",
    )
}

/// The suffix that any scheme can have.
const GUARD: &str = "@guard:PACKETS (20): one in PACKETS packets goes to the ready response that has waited longest";

fn scheme_json(scheme: &Scheme) -> Value {
    json!({
        "name": scheme.name,
        "about": scheme.about,
        "source": scheme.source,
        "parameters": scheme.parameters,
        "placeholders": scheme.placeholders,
        "revision": scheme.revision,
        "in_all": scheme.needs == Needs::Nothing,
        "bracket": false,
    })
}

fn brackets_json() -> impl Iterator<Item = Value> {
    Contender::BRACKETS.iter().map(|it| {
        json!({
            "name": it.name(),
            "about": it.about(),
            "source": "docs/bounds.md",
            "parameters": "",
            "placeholders": 0,
            "revision": it.revision(),
            "in_all": false,
            "bracket": true,
        })
    })
}

/// The names of parameters and variants, separated by commas. The JSON says what they do.
fn short(parameters: &str) -> String {
    let is_name = |word: &&str| {
        let is_parameter = word.len() > 1 || *word == "N";
        word.starts_with('@') || (is_parameter && word.chars().all(|it| it.is_ascii_uppercase()))
    };
    let words = parameters.split([' ', ',', ':', '(', ')']);
    words.filter(is_name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_and_variant_is_named() {
        let named = REGISTRY.iter().filter(|it| !it.parameters.is_empty());
        let named = named.map(|it| format!("{}: {}", it.name, short(it.parameters)));
        assert_eq!(
            named.collect::<Vec<_>>(),
            [
                "firefox: @quicker",
                "p+: @quicker",
                "s+: @quicker",
                "rfc9218: @quiche, @h2o, @nghttp3, @quicgo",
                "weighted-incremental: ALPHA, RHO",
                "mixed: PERCENT",
                "kway: N",
                "random: SEED",
                "tree: @draft20",
            ]
        );
    }
}

//! `utmost schemes`: lists the schemes, or checks one from a file.

mod check;

use crate::output;
use ::serve::Failure;
use lab::Contender;
use schedulers::{Language, Needs, REGISTRY};
use serde_json::{Value, json};
use std::path::PathBuf;

/// List all schemes, or check one from a file
///
/// For each scheme, the list gives name, effect, source, parameters, placeholders, and how clients signal it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost schemes --json\n  \
utmost schemes --check examples/schemes/dfifo.toml")]
pub(crate) struct Arguments {
    /// Check the scheme in this file against the rules for all schemes
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.check {
        return check::run(file, arguments.json);
    }
    let all = REGISTRY.iter().cloned().map(Contender::from).chain(Contender::BRACKETS);
    if arguments.json {
        let rows: Vec<Value> = all.map(|it| contender_json(&it)).collect();
        return output::json_of("utmost-schemes/1", &json!({"schemes": rows, "guard": GUARD}));
    }
    let rows = all.map(|contender| {
        let cells = match contender.scheme() {
            None => ["-", "no", "-", "(bracket)"].map(str::to_owned),
            Some(scheme) => [
                scheme.placeholders.to_string(),
                scheme.signals.to_string(),
                if scheme.needs == Needs::Nothing { "yes" } else { "-" }.to_owned(),
                short(scheme.parameters),
            ],
        };
        let name = [contender.name().to_owned()].into_iter();
        name.chain(cells).chain([contender.about().to_owned()]).collect()
    });
    let headings =
        ["scheme", "placeholders", "signalled by", "in all", "parameters", "what it does"];
    output::line(&output::table(&headings, &[2, 3, 4, 5], rows).to_string())?;
    output::line(
        "Sources: --json. Any scheme may be followed by @guard:PACKETS, against starvation. Brackets are not schemes: they are \
         the best or the worst order that a page allows, for `compare` only.",
    )
}

const GUARD: &str = "@guard:PACKETS (20): one in PACKETS packets goes to the ready response that has waited longest";

fn contender_json(contender: &Contender) -> Value {
    let scheme = contender.scheme();
    json!({
        "name": contender.name(),
        "about": contender.about(),
        "source": scheme.map_or("docs/bounds.md", |it| &*it.source),
        "parameters": scheme.map_or("", |it| it.parameters),
        "placeholders": scheme.map_or(0, |it| it.placeholders),
        "signals": scheme.map_or(Language::None, |it| it.signals).to_string(),
        "revision": contender.revision(),
        "in_all": scheme.is_some_and(|it| it.needs == Needs::Nothing),
        "bracket": scheme.is_none(),
    })
}

/// The names of parameters and variants, separated by commas. The JSON explains them.
fn short(parameters: &str) -> String {
    let words = parameters.split([' ', ',', ':', '(', ')']);
    let names = words.filter(|word| {
        let is_parameter = word.len() > 1 || *word == "N";
        word.starts_with('@') || (is_parameter && word.chars().all(|it| it.is_ascii_uppercase()))
    });
    names.collect::<Vec<_>>().join(", ")
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
                "dfifo: @quicker",
                "firefox: @quicker",
                "p+: @quicker",
                "s+: @quicker",
                "bucket: @quicker",
                "bucket-html: @quicker",
                "zeroweight: @quicker",
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

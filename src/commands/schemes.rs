//! `utmost schemes`: what there is to choose from.

use crate::failure::Failure;
use crate::output;
use lab::Contender;
use schedulers::{REGISTRY, Scheme};
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
            short(it.parameters).to_owned(),
            it.about.to_owned(),
        ]
    });
    let brackets = Contender::BRACKETS.iter().map(|it| {
        let about = it.about().to_owned();
        vec![it.name().to_owned(), "-".to_owned(), "(bracket)".to_owned(), about]
    });
    let headings = ["scheme", "placeholders", "parameters", "what it does"];
    output::line(&output::table(&headings, &[2, 3], schemes.chain(brackets)).to_string())?;
    output::line(
        "Sources: --json. Any scheme may be followed by @guard:PACKETS, against starvation. A bracket is no scheme: \
         the best or the worst order that a page allows, for `compare` only.",
    )
}

/// What may follow any scheme.
const GUARD: &str =
    "@guard:PACKETS (20): one packet in so many goes to the ready response that has waited longest";

fn scheme_json(scheme: &Scheme) -> Value {
    json!({
        "name": scheme.name,
        "about": scheme.about,
        "source": scheme.source,
        "parameters": scheme.parameters,
        "placeholders": scheme.placeholders,
        "revision": scheme.revision,
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
            "bracket": true,
        })
    })
}

/// What a parameter is called; what it does, the JSON says.
fn short(parameters: &str) -> &str {
    parameters.split([',', ':']).next().unwrap_or_default()
}

//! `utmost schemes`: what there is to choose from.

use crate::failure::Failure;
use crate::output;
use schedulers::REGISTRY;
use serde_json::json;

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
        let rows = REGISTRY.iter().map(|it| {
            json!({
                "name": it.name,
                "about": it.about,
                "source": it.source,
                "parameters": it.parameters,
                "placeholders": it.placeholders,
                "revision": it.revision,
            })
        });
        return output::json(&json!({"schemes": rows.collect::<Vec<_>>()}));
    }
    let rows = REGISTRY.iter().map(|it| {
        vec![
            it.name.clone(),
            it.placeholders.to_string(),
            short(it.parameters).to_owned(),
            it.about.to_owned(),
        ]
    });
    output::line(
        &output::table(&["scheme", "placeholders", "parameters", "what it does"], &[2, 3], rows)
            .to_string(),
    )?;
    output::line("Sources: --json. Any name may be followed by @guard:PACKETS, against starvation.")
}

/// What a parameter is called; what it does, the JSON says.
fn short(parameters: &str) -> &str {
    parameters.split([',', ':']).next().unwrap_or_default()
}

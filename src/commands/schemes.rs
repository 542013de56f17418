//! `utmost schemes`: what there is to choose from.

use crate::failure::Failure;
use crate::output;
use schedulers::SCHEMES;
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
        let rows = SCHEMES.iter().map(|it| {
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
    let rows = SCHEMES.iter().map(|it| {
        vec![
            it.name.clone(),
            it.placeholders.to_string(),
            it.about.to_owned(),
            it.source.to_owned(),
        ]
    });
    output::line(
        &output::table(&["scheme", "placeholders", "what it does", "source"], &[2, 3], rows)
            .to_string(),
    )
}

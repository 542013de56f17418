//! An HTTP/3 client and server on h3 and quinn, as small as interoperation needs them.
//!
//! ```text
//! h3-quinn-peer serve --listen ADDR --root DIR --cert FILE --key FILE [--streams N]
//! h3-quinn-peer fetch --connect ADDR --ca FILE --out DIR [--feature NAME] URL...
//! ```

mod client;
mod server;

use std::collections::HashMap;
use std::error::Error;

/// Whatever goes wrong ends the program, so nothing needs to tell errors apart.
type AnyError = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args().skip(1);
    let subcommand = arguments.next().unwrap_or_default();
    let (options, urls) = parse(arguments)?;
    match subcommand.as_str() {
        "serve" => server::serve(&options).await,
        "fetch" => client::fetch(&options, urls).await,
        _ => Err("usage: h3-quinn-peer serve|fetch ...".into()),
    }
}

/// `--name value` pairs first, URLs after them.
fn parse(arguments: impl Iterator<Item = String>) -> Result<(Options, Vec<String>), AnyError> {
    let mut arguments = arguments.peekable();
    let mut options = HashMap::new();
    while let Some(name) = arguments.next_if(|it| it.starts_with("--")) {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        options.insert(name, value);
    }
    Ok((Options(options), arguments.collect()))
}

/// The options of the command line.
pub(crate) struct Options(HashMap<String, String>);

impl Options {
    /// The value of an option that must be there.
    pub(crate) fn get(&self, name: &str) -> Result<&str, AnyError> {
        let value = self.0.get(name).ok_or(format!("{name} is missing"))?;
        Ok(value)
    }
}

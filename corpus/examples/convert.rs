//! Makes the bundled pages that come from recordings:
//! `cargo run -p utmost-corpus --example convert -- RECORDINGS corpus/pages`.

use corpus::import::{Label, import};
use std::path::Path;
use std::process::ExitCode;

/// (page, file, what it is, licence).
const PAGES: [(&str, &str, &str, &str); 4] = [
    (
        "agency-index",
        "package-pages/agency-local_index_html.json.gz",
        "npm startbootstrap-agency 7.0.12, index.html, with its external references (bootstrap 5.2.3, \
         fontawesome-free 6.3.0, fontsource montserrat and roboto-slab) on the same host; one load in \
         Chromium 156 over HTTP/3",
        "MIT (startbootstrap-agency, bootstrap), CC-BY-4.0 and MIT and OFL-1.1 (fontawesome-free), \
         OFL-1.1 and Apache-2.0 (fonts); only sizes and relations are kept",
    ),
    (
        "fomantic-homepage",
        "package-pages/fomantic-ui_examples_homepage_html.json.gz",
        "npm fomantic-ui 2.9.4, examples/homepage.html; one load in Chromium 156 over HTTP/3",
        "MIT",
    ),
    (
        "gentelella-index",
        "package-pages/gentelella-rtl-1-4-0_public_index_html.json.gz",
        "npm gentelella-rtl 1.4.0, public/index.html; one load in Chromium 156 over HTTP/3",
        "MIT",
    ),
    (
        "lighthouse-intercom",
        "lighthouse_intercom.cdp.json.gz",
        "lighthouse_intercom.cdp.json: a DevTools network log of a public help page among the test \
         data of Lighthouse; hosts and resources renamed",
        "Apache-2.0",
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [recordings, pages] = arguments.as_slice() else {
        eprintln!("usage: convert RECORDINGS PAGES");
        return ExitCode::from(2);
    };
    for (name, file, from, licence) in PAGES {
        let label =
            Label { name: name.into(), from: from.into(), licence: licence.into(), sha256: None };
        let target = Path::new(pages).join(format!("{name}.json"));
        let imported = match import(&Path::new(recordings).join(file), Some(label)) {
            Ok(imported) => imported,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        };
        if let Err(error) = std::fs::write(&target, imported.page.to_text()) {
            eprintln!("{}: {error}", target.display());
            return ExitCode::from(3);
        }
        println!("{}", target.display());
        for note in imported.notes {
            println!("  {note}");
        }
    }
    ExitCode::SUCCESS
}

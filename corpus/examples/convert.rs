//! Makes the bundled pages that come from recordings or the generator:
//! `cargo run -p utmost-corpus --example convert -- RECORDINGS corpus/pages`. With `web` for RECORDINGS only those of the set `web`,
//! which are made from bundled pages.

use corpus::Page;
use corpus::generate::{Profile, Shape, generate, web_pages};
use corpus::import::{Addresses, Label, import};
use std::path::Path;
use std::process::ExitCode;

/// (page, file, what it is, licence) of pages recorded from packages.
const RECORDED: [(&str, &str, &str, &str); 3] = [
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
];

/// (page, file) of recordings of public sites, one page a site. Left out: those with fewer than 10
/// resources or hardly more, a second page of a site, and one whose picture is cut into 360 tiles, none
/// of which could be a hero.
const IMPORTED: [(&str, &str); 25] = [
    ("chrome-har-bing", "chrome-har_bing.com.cdp.json.gz"),
    ("chrome-har-calibreapp", "chrome-har_www.calibreapp.com.signin.cdp.json.gz"),
    ("chrome-har-early-hints", "chrome-har_early-hints.cdp.json.gz"),
    ("chrome-har-ilmessaggero", "chrome-har_ilmessaggero.it-h2push.cdp.json.gz"),
    ("chrome-har-izettle", "chrome-har_www.izettle.com.cdp.json.gz"),
    ("chrome-har-vercel", "chrome-har_www.vercel.com.cdp.json.gz"),
    ("lighthouse-cerealshack", "lighthouse_cerealshack.cdp.json.gz"),
    ("lighthouse-cnn", "lighthouse_cnn.cdp.json.gz"),
    ("lighthouse-intercom", "lighthouse_intercom.cdp.json.gz"),
    ("lighthouse-paulirish", "lighthouse_paulirish.cdp.json.gz"),
    ("lighthouse-pwarocks", "lighthouse_pwarocks.cdp.json.gz"),
    ("lighthouse-reddit", "lighthouse_reddit.cdp.json.gz"),
    ("lighthouse-squoosh", "lighthouse_squoosh.cdp.json.gz"),
    ("lighthouse-wikipedia", "lighthouse_wikipedia-mobile.cdp.json.gz"),
    ("pagexray-aftonbladet", "pagexray_aftonbladet.se.har.gz"),
    ("pagexray-case-sensitive", "pagexray_case-sensitive-protocol.har.gz"),
    ("pagexray-etat", "pagexray_www.etat.lu.har.gz"),
    ("pagexray-expressen", "pagexray_expressen.har.gz"),
    ("pagexray-mousel", "pagexray_mousel.lu.har.gz"),
    ("pagexray-mytoys", "pagexray_mytoys.de.har.gz"),
    ("perfcascade-bbc", "perfcascade_www.bbc.co.uk.160529_8V_7R3.har.gz"),
    ("perfcascade-enorm", "perfcascade_chrome_enorm-magazin.de.har.gz"),
    ("perfcascade-filamentgroup", "perfcascade_browsertime_h2_filamentgroup.com.har.gz"),
    ("perfcascade-github", "perfcascade_chrome_github.com_home.har.gz"),
    ("perfcascade-nghttp2", "perfcascade_chrome_h2_www.nghttp2.org.har.gz"),
];

/// Generated pages at the ends of the paper's range.
const GENERATED: [(&str, Shape); 2] = [
    (
        "generated-small",
        Shape { resources: Some(10), bytes: Some(29_000), depth: 2, ..paper_shape(1) },
    ),
    (
        "generated-large",
        Shape {
            resources: Some(214),
            bytes: Some(7_400_000),
            depth: 5,
            late_share: 0.3,
            ..paper_shape(2)
        },
    ),
];

const fn paper_shape(seed: u64) -> Shape {
    Shape { profile: Profile::Paper2019, ..Shape::new(seed) }
}

/// The project that a recording is from, and its licence.
fn project_of(file: &str) -> (&'static str, &'static str) {
    match file.split('_').next() {
        Some("chrome-har") => ("chrome-har (sitespeed.io)", "MIT"),
        Some("lighthouse") => ("Lighthouse (Google)", "Apache-2.0"),
        Some("pagexray") => ("PageXray (sitespeed.io)", "MIT"),
        _ => ("PerfCascade", "MIT"),
    }
}

fn labels() -> Vec<(&'static str, Label)> {
    let label = |name: &str, from: &str, licence: &str| Label {
        name: name.into(),
        from: from.into(),
        licence: licence.into(),
        sha256: None,
        addresses: Addresses::default(),
        // The bundled pages are the first loads of their recordings.
        load: Some(1),
        site: None,
    };
    let recorded =
        RECORDED.iter().map(|&(name, file, from, licence)| (file, label(name, from, licence)));
    let imported = IMPORTED.iter().map(|&(name, file)| {
        let (project, licence) = project_of(file);
        let own = file.trim_end_matches(".gz");
        let from = format!(
            "{own}: a load of a public page among the test data of {project}; hosts and resources renamed"
        );
        (file, label(name, &from, licence))
    });
    recorded.chain(imported).collect()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [recordings, pages] = arguments.as_slice() else {
        eprintln!("usage: convert RECORDINGS PAGES");
        return ExitCode::from(2);
    };
    if recordings == "web" {
        return write_web(Path::new(pages));
    }
    for (file, label) in labels() {
        let target = Path::new(pages).join(format!("{}.json", label.name));
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
    for (name, shape) in GENERATED {
        let target = Path::new(pages).join(format!("{name}.json"));
        let page = generate(&shape).map(|page| Page { name: name.to_owned(), ..page });
        let written = page
            .map_err(|error| error.to_string())
            .and_then(|page| std::fs::write(&target, page.to_text()).map_err(|it| it.to_string()));
        if let Err(error) = written {
            eprintln!("{}: {error}", target.display());
            return ExitCode::from(3);
        }
        println!("{}", target.display());
    }
    write_web(Path::new(pages))
}

fn write_web(folder: &Path) -> ExitCode {
    for page in web_pages() {
        let target = folder.join(format!("{}.json", page.name));
        if let Err(error) = std::fs::write(&target, page.to_text()) {
            eprintln!("{}: {error}", target.display());
            return ExitCode::from(3);
        }
        println!("{}", target.display());
    }
    ExitCode::SUCCESS
}

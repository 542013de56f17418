//! Parsers for the flag values that commands share, beside [`serve::values`].

use crate::output;
use ::client::{HttpVersion, Verify};
use ::corpus::Page;
use ::serve::Failure;
use figures::{FigureStyle, PaperWidth};
use lab::network::Network;
use lab::{Contender, DeliveryOrder};
use schedulers::{Catalogue, SCHEMES, Scheme, SchemeError, paper_schemes};
pub(crate) use serve::values::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
pub(crate) use terminal::{at_least_one, cores};
use url::Url;

/// The pages that `read` finds for each argument, without duplicate names.
pub(crate) fn each_page(
    arguments: &[String],
    read: impl Fn(&str) -> Result<Vec<Page>, Failure>,
) -> Result<Vec<Arc<Page>>, Failure> {
    let mut pages: Vec<(&str, Arc<Page>)> = Vec::new();
    for argument in arguments {
        for page in read(argument)? {
            let before = pages.iter().find(|it| it.1.name == page.name);
            if let Some((before, _)) = before {
                let remedy = if before == argument {
                    "name each once".to_owned()
                } else {
                    format!(
                        "{before} has the same name: name one of them, or give one of two files another name (of a page file, \
                         the key `name` counts)"
                    )
                };
                return Err(Failure::BadInput(format!(
                    "{argument}: a second page named `{}`; {remedy}",
                    page.name
                )));
            }
            pages.push((argument, Arc::new(page)));
        }
    }
    Ok(pages.into_iter().map(|it| it.1).collect())
}

/// The networks of these names and files, in order, without duplicates.
pub(crate) fn networks(names: &[String]) -> Result<Vec<Network>, Failure> {
    let mut networks: Vec<Network> = Vec::new();
    for name in names {
        let network = Network::find(name.trim()).map_err(Failure::bad_input)?;
        if networks.iter().any(|before| before.name == network.name) {
            let name = &network.name;
            return Err(Failure::BadInput(format!(
                "network `{name}` occurs twice; name each once"
            )));
        }
        networks.push(network);
    }
    Ok(networks)
}

/// `paper`, `all`, or names separated by commas, without duplicates, in the order given; `flag` holds the list.
pub(crate) fn schemes(
    flag: &str,
    list: &str,
    catalogue: &Catalogue,
) -> Result<Vec<Scheme>, Failure> {
    listed(flag, list, |name| catalogue.find(name), |it| &it.name)
}

/// Why a name is not a scheme. Brackets are not schemes.
pub(crate) fn no_scheme(error: SchemeError) -> Failure {
    match error {
        SchemeError::Unknown { name, .. }
            if Contender::BRACKETS.iter().any(|it| it.name() == name) =>
        {
            let what = "is a bracket, the best or the worst order of a page: for `compare` only";
            Failure::BadInput(format!("`{name}` {what}"))
        }
        error => Failure::bad_input(error),
    }
}

/// Like [`schemes`], with the brackets `oracle` and `anti-oracle`.
pub(crate) fn contenders(
    flag: &str,
    list: &str,
    catalogue: &Catalogue,
) -> Result<Vec<Contender>, Failure> {
    listed(flag, list, |name| Contender::find_in(catalogue, name), Contender::name)
}

pub(crate) fn own_names(catalogue: &Catalogue) -> String {
    catalogue.own().iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(",")
}

/// Rejects an answer if one of these schemes failed during the computation, because some of its orders are then wrong.
pub(crate) fn none_failed<'a>(
    schemes: impl IntoIterator<Item = &'a Scheme>,
) -> Result<(), Failure> {
    let mut failed =
        schemes.into_iter().filter_map(|it| Some((it.base_name(), it.failure.cause()?)));
    failed.next().map_or(Ok(()), |(name, cause)| {
        let remedy = "correct its script, or leave it out";
        Err(Failure::Elsewhere(format!(
            "scheme {name} failed, so its order is not known: {cause}; {remedy}"
        )))
    })
}

/// Prints a note about schemes of `--scheme-file` that do not run.
pub(crate) fn note_unused<'a>(
    catalogue: &Catalogue,
    flag: &str,
    running: impl Iterator<Item = &'a str>,
) {
    let running: BTreeSet<&str> =
        running.map(|name| name.split([':', '@']).next().unwrap_or_default()).collect();
    for Scheme { name, .. } in catalogue.own() {
        if !running.contains(&**name) {
            output::note(&format!(
                "note: --scheme-file: scheme {name} does not run, because {flag} does not name it"
            ));
        }
    }
}

fn listed<T: From<Scheme>>(
    flag: &str,
    list: &str,
    find: impl Fn(&str) -> Result<T, SchemeError>,
    name_of: fn(&T) -> &str,
) -> Result<Vec<T>, Failure> {
    let mut all: Vec<T> = Vec::new();
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    for (place, name) in names.iter().enumerate() {
        if name.is_empty() {
            let remedy = "a scheme has a name: `utmost schemes` lists them";
            return Err(Failure::BadInput(format!("{flag}: {remedy}")));
        }
        if names[..place].contains(name) {
            return Err(Failure::BadInput(format!(
                "{flag}: `{name}` occurs twice; name each once"
            )));
        }
        let found = match *name {
            "paper" => paper_schemes().iter().cloned().map(T::from).collect(),
            "all" => SCHEMES.iter().cloned().map(T::from).collect(),
            name => vec![find(name).map_err(no_scheme)?],
        };
        for it in found {
            if !all.iter().any(|known| name_of(known) == name_of(&it)) {
                all.push(it);
            }
        }
    }
    Ok(all)
}

/// Parses an https URL without a user name.
pub(crate) fn server_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok();
    let url = url.filter(|it| it.scheme() == "https" && it.username().is_empty());
    url.ok_or_else(|| format!("`{text}` is not an https URL: use https://HOST[:PORT]/PATH"))
}

/// No page is as `--pages` asks.
pub(crate) fn no_page() -> Failure {
    let remedy = "`utmost corpus stats` shows the facts of pages";
    Failure::BadInput(format!("--pages: no page is like this; {remedy}"))
}

/// Whether a client keeps a second connection ready, to which responses can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spare {
    Idle,
    New,
    Expected,
}

pub(crate) const MIGRATE: Choices<Spare> = &[
    ("idle", "To a connection that the client opens at once and keeps idle", Spare::Idle),
    ("new", "To a connection that the client opens when a response moves", Spare::New),
    (
        "expected",
        "Like idle if a response moved in an earlier visit, otherwise like new",
        Spare::Expected,
    ),
];

pub(crate) const DELIVERY_ORDERS: Choices<DeliveryOrder> = &[
    ("stream", "The bytes of each stream in their order, as in QUIC", DeliveryOrder::Stream),
    (
        "connection",
        "All bytes in the order in which the server first sent them, as over TCP: a late byte holds back everything that was sent after it, on any stream",
        DeliveryOrder::Connection,
    ),
];

pub(crate) const HTTP_VERSIONS: Choices<HttpVersion> = &[
    ("1.1", "HTTP/1.1 over TLS and the system's TCP, six connections per host", HttpVersion::Http1),
    ("2", "HTTP/2 over TLS and the system's TCP, one connection", HttpVersion::Http2),
    ("3", "HTTP/3 over QUIC, one connection", HttpVersion::Http3),
];

/// The certificates that a client trusts.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    /// Trust the certificate authorities in this file (PEM)
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long)]
    insecure: bool,
}

impl From<&Trust> for Verify {
    fn from(trust: &Trust) -> Self {
        match &trust.ca {
            Some(file) => Self::Authorities(file.clone()),
            None if trust.insecure => Self::Nobody,
            None => Self::System,
        }
    }
}

/// The readers of a study's figures.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Figures {
    /// The readers of the figures. The report's own figures are always for a screen [default: screen]
    #[arg(long, value_parser = choice(FIGURE_STYLES), requires = "out", hide_short_help = true)]
    figure_style: Option<FigureStyle>,
    /// The printed width of figures for a paper [default: column]
    #[arg(long, value_parser = choice(PAPER_WIDTHS), requires = "figure_style", hide_short_help = true)]
    figure_width: Option<PaperWidth>,
}

const FIGURE_STYLES: Choices<FigureStyle> = &[
    ("screen", "SVG and PNG, with titles and conditions in the figure", FigureStyle::Screen),
    (
        "paper",
        "PDF and SVG of the printed size with text of 7 to 8 points, and the caption as a file for LaTeX",
        FigureStyle::Paper(PaperWidth::Column),
    ),
];

const PAPER_WIDTHS: Choices<PaperWidth> = &[
    ("column", "240 points (3.33 inches): one of two columns", PaperWidth::Column),
    ("page", "504 points (7 inches): both columns", PaperWidth::Page),
];

impl Figures {
    pub(crate) fn style(self) -> FigureStyle {
        match self.figure_style.unwrap_or_default() {
            FigureStyle::Screen => FigureStyle::Screen,
            FigureStyle::Paper(_) => FigureStyle::Paper(self.figure_width.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_schemes_holds_each_once_and_refuses_unknown_and_repeated_names() {
        let known = |list| schemes("--schemes", list, &Catalogue::default());
        let names: Vec<String> =
            known("fifo,paper").expect("known").into_iter().map(|it| it.name).collect();
        assert_eq!(
            names.join(" "),
            "fifo rr wrr dfifo firefox p+ s+ spdyrr bucket bucket-html zeroweight"
        );
        assert!(known("fifo,nosuch").is_err());
        assert!(known("fifo,rr, fifo").is_err(), "a name that stands twice is a slip");
    }

    #[test]
    fn a_server_is_named_by_an_https_url() {
        let url = |text: &str| server_url(text).map(|it| it.to_string()).ok();
        assert_eq!(url("https://a.test").as_deref(), Some("https://a.test/"));
        assert_eq!(url("https://[::1]:4433?q").as_deref(), Some("https://[::1]:4433/?q"));
        for wrong in ["http://a.test/", "a.test", "https://", "https://a:b/", "https://u@a/"] {
            assert_eq!(url(wrong), None, "{wrong}");
        }
    }
}

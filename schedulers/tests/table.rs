//! `docs/schemes.md` is the registry; `UTMOST_BLESS=1` writes it anew.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

use schedulers::{Needs, REGISTRY, Scheme};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The text below the table.
const TAIL: &str = include_str!("schemes_tail.md");

const HEAD: &str = "# The schemes

A scheme decides in which order the server sends the bytes of a connection's responses. Every name may end in `@guard` or
`@guard:PACKETS`. Every 20th packet (or the given number) then goes to the ready response that has waited longest (RFC 9218,
section 10). `all` stands for the schemes that run by their plain name.

<!-- Made from the registry: UTMOST_BLESS=1 cargo test -p utmost-schedulers --test table -->
| scheme | what it does | parameters and variants | placeholders | signalled by | in `all` | source |
|---|---|---|---|---|---|---|
";

fn row(scheme: &Scheme) -> String {
    let mut row = String::new();
    let in_all = match scheme.needs {
        Needs::Nothing => "yes",
        Needs::Parameter => "no: needs a parameter",
        Needs::Page => "no: needs a page",
    };
    let Scheme { name, about, parameters, placeholders, signals, source, .. } = scheme;
    let facts = format!("{parameters} | {placeholders} | {signals} | {in_all} | {source}");
    writeln!(row, "| `{name}` | {about} | {facts} |").unwrap();
    row
}

#[test]
fn the_table_of_schemes_is_current() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/schemes.md");
    let rows: String = REGISTRY.iter().map(row).collect();
    let table = HEAD.to_owned() + &rows + TAIL;
    if std::env::var_os("UTMOST_BLESS").is_some() {
        std::fs::write(&path, table).unwrap();
    } else {
        let intact = std::fs::read_to_string(&path).unwrap();
        assert!(intact == table, "docs/schemes.md is out of date: run with UTMOST_BLESS=1");
    }
}

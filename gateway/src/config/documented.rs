//! Generates `docs/reference/configuration.md` from the keys' doc comments; `UTMOST_BLESS=1`
//! rewrites it.

use super::limits::{ConfigLimits, ConfigUpstreamLimits};
use std::path::Path;

const HEAD: &str = "<!-- Made from the code: UTMOST_BLESS=1 cargo test -p utmost-gateway --lib document -->

# Keys of the server's configuration

`utmost serve --config FILE` reads this TOML file. [Configure a site](../serve-site.md) explains it with examples. A relative path counts from
the file's own folder. An unknown key is a mistake. `utmost serve --check` lists all mistakes.
";

/// A table of the file, and the struct that has its keys.
struct Table {
    heading: &'static str,
    about: &'static str,
    source: &'static str,
    name: &'static str,
}

const TABLES: [Table; 5] = [
    Table {
        heading: "`[site]`",
        about: "What to serve: exactly one of `root`, `page`, `pages` and `upstream`.",
        source: include_str!("file.rs"),
        name: "FileSite",
    },
    Table {
        heading: "`[[route]]`",
        about: "Rules for some paths. The first matching route applies.",
        source: include_str!("file.rs"),
        name: "FileRoute",
    },
    Table {
        heading: "`[route.resource.\"PATH\"]`",
        about: "A directive for one resource.",
        source: include_str!("file.rs"),
        name: "FileDirective",
    },
    Table {
        heading: "`[migration]`",
        about: "Which responses [move to another connection](../serve-migration.md). `size` and `blocking` are tables with `beside`, the \
                least number of other responses in progress.",
        source: include_str!("../../../migration/src/policy.rs"),
        name: "Policy",
    },
    Table {
        heading: "`[load_balancer]`",
        about: "Connection IDs that a [load balancer](../serve-operate.md#cores-and-load-balancers) can read (QUIC-LB).",
        source: include_str!("balancer.rs"),
        name: "FileLoadBalancer",
    },
];

/// The rows of a struct's fields: key, kind of value, default, meaning.
fn rows(Table { source, name, .. }: &Table) -> String {
    let begin = format!("struct {name} {{\n");
    let (_, rest) = source.split_once(&begin).expect("the struct");
    let (fields, _) = rest.split_once("\n}\n").expect("its end");
    let (mut help, mut rows) = (Vec::new(), String::new());
    for line in fields.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            help.push(text);
        } else if let Some((key, kind)) = field(line) {
            rows.push_str(&row(key, kind, &help.join(" ")));
            help.clear();
        }
    }
    rows
}

fn field(line: &str) -> Option<(&str, &str)> {
    let line =
        line.strip_prefix("pub(super) ").or_else(|| line.strip_prefix("pub ")).unwrap_or(line);
    let (name, kind) = line.strip_suffix(',')?.split_once(": ")?;
    name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_').then_some((name, kind))
}

fn row(key: &str, kind: &str, help: &str) -> String {
    assert!(!help.is_empty(), "{key} has no doc comment");
    let (help, default) = help.split_once(" Default: ").unwrap_or((help, ""));
    let default = match (default.trim_end_matches('.'), kind) {
        ("", "bool") => "`false`",
        ("", "String" | "PathBuf") => "required",
        ("", _) => "none",
        (default, _) => default,
    };
    format!("| `{key}` | {} | {default} | {} |\n", value(kind), help.trim_end_matches('.'))
}

/// The kind of value that a type accepts in a file.
fn value(kind: &str) -> &str {
    match kind.trim_start_matches("Option<").trim_end_matches('>') {
        "PathBuf" => "path",
        "Address" => "URL",
        "bool" => "`true`, `false`",
        "SignalUse" => "`obey`, `ignore`, `override`",
        "u8" | "u16" | "u64" => "number",
        "EarlyHints" | "Vec<String" | "Vec<PathBuf" | "CacheEvidence" => "list",
        "String" | "Policy" | "Gate" | "Metadata" => "text",
        _ => "table",
    }
}

fn document() -> String {
    let tables = TABLES.iter().map(|table| {
        let Table { heading, about, .. } = table;
        let head = "| key | value | default | meaning |\n|---|---|---|---|\n";
        format!("\n## {heading}\n\n{about}\n\n{head}{}", rows(table))
    });
    let about =
        "\n## `[limits]`\n\nWhole numbers from 1. Times are in seconds, sizes in bytes.\n\n";
    let head = "| key | default | it limits |\n|---|---|---|\n";
    let (limits, upstream) = (ConfigLimits::rows(), ConfigUpstreamLimits::rows());
    let limits = format!("{about}{head}{limits}\n## `[limits.upstream]`\n\n{head}{upstream}");
    std::iter::once(HEAD.to_owned()).chain(tables).chain([limits]).collect()
}

#[test]
fn the_document_lists_every_key_with_its_default() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/configuration.md");
    if std::env::var_os("UTMOST_BLESS").is_some() {
        std::fs::write(file, document()).expect("written");
    } else {
        let intact = std::fs::read_to_string(file).unwrap_or_default();
        assert!(
            intact == document(),
            "docs/reference/configuration.md is out of date: UTMOST_BLESS=1"
        );
    }
}

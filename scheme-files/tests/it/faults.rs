//! A file that is not a scheme: the message names the line, the cause and the remedy.

use crate::parse;

const HEAD: &str = "[scheme]\nname = \"my\"\nabout = \"mine\"\n";

fn message(text: &str) -> String {
    parse(text)
        .map_or_else(|error| error.to_string(), |it| format!("no fault in {}", it.scheme.name))
}

fn with_head(rest: &str) -> String {
    message(&format!("{HEAD}{rest}"))
}

#[test]
fn a_fault_names_its_line_its_cause_and_its_remedy() {
    let table = [
        ("[[place]]\nrankk = 1", "my.toml: line 5: unknown field `rankk`, expected one of `when`"),
        (
            "[[place]]\nwhen = { kind = \"csss\" }",
            "my.toml: line 5: `csss` is not a kind; near it: css; use one of html,",
        ),
        (
            "[[place]]\nwhen = { in_haed = true }",
            "my.toml: line 5: `in_haed` is not a fact; near it: in_head; use one of kind,",
        ),
        ("[[place]]\nwhen = { main = 1 }", "my.toml: line 5: `main` must be true or false"),
        ("[[place]]\nwhen = {}", "my.toml: line 5: `when` names no fact: remove it"),
        ("[[place]]\nwhen = []", "my.toml: line 5: `when` is an empty list: remove it"),
        ("[[place]]\nwhen = \"css\"", "my.toml: line 5: `when` must be a table of facts"),
        ("[[place]]\n[[place]]", "my.toml: line 5: an earlier [[place]] has no `when`"),
        ("[[place]]\nrank = -1", "my.toml: line 5: rank -1 must be from 0 (first) to 65534"),
        ("[[place]]\nweight = 0", "my.toml: line 5: weight 0 must be from 1 to 256"),
        (
            "[[place]]\nshare = \"fifo\"",
            "my.toml: line 5: unknown variant `fifo`, expected one of `shared`",
        ),
        (
            "[[group]]\nname = \"LEADERS\"\n[[place]]\nparent = \"LEADER\"",
            "my.toml: line 7: no [[group]] is named `LEADER`; near it: LEADERS; add it",
        ),
        (
            "[[group]]\nname = \"a\"\nparent = \"b\"\n[[group]]\nname = \"b\"\nparent = \"a\"\n[[place]]",
            "my.toml: line 6: group `b` must precede the groups below it in the file; no group is below itself",
        ),
        (
            "[[group]]\nname = \"a\"\nparent = \"a\"\n[[place]]",
            "my.toml: line 6: group `a` must precede",
        ),
        (
            "[[group]]\nname = \"a\"\n[[group]]\nname = \"a\"\n[[place]]",
            "my.toml: line 7: a second group named `a`",
        ),
        ("", "my.toml: line 2: the file places nothing: add [[place]] tables, or a `script`"),
        (
            "[[place]]\nsays = { urgency = 1 }",
            "my.toml: line 5: `says` needs `signals` in [scheme]",
        ),
    ];
    for (rest, expected) in table {
        let message = with_head(rest);
        assert!(message.starts_with(expected), "{rest}\n{message}\n{expected}");
    }
}

#[test]
fn a_name_is_plain_and_not_taken() {
    let named = |name: &str, more: &str| {
        message(&format!("[scheme]\nname = \"{name}\"\nabout = \"mine\"\n{more}[[place]]"))
    };
    assert_eq!(named("my", ""), "no fault in my");
    assert_eq!(
        named("fifo", ""),
        "my.toml: line 2: `fifo` is a built-in scheme: choose another name, or write replaces_built_in = true"
    );
    assert_eq!(named("fifo", "replaces_built_in = true\n"), "no fault in fifo");
    assert_eq!(
        named("all", ""),
        "my.toml: line 2: `all` denotes other schemes; choose another name"
    );
    for wrong in ["", "a b", "a@b", "kway:4", "a,b", &"a".repeat(41)] {
        assert!(named(wrong, "").contains("must have 1 to 40 letters"), "{wrong}");
    }
    assert_eq!(
        named("my", "twin = \"dfif\"\n"),
        "my.toml: line 4: twin: no scheme is named `dfif`; near it: fifo, dfifo, fifo"
            .replace("fifo, dfifo, fifo", "dfifo, fifo")
    );
}

/// Clients of HTTP/2's tree know weights and chains, but no ranks.
#[test]
fn places_that_clients_cannot_signal_in_the_chosen_form_are_refused() {
    let tree = |rest: &str| with_head(&format!("signals = \"tree\"\n{rest}"));
    assert!(
        tree("[[place]]\nrank = 1").contains("line 5: tree frames cannot give a rank to responses")
    );
    assert!(
        tree("[[group]]\nname = \"a\"\nrank = 1\n[[place]]").contains("cannot give a group a rank")
    );
    assert!(
        tree("[[place]]\nwhen = { main = true }\nshare = \"sequential\"")
            .contains("line 5: tree frames cannot put a sequence beside nodes that share")
    );
    let groups: Vec<String> = (0..17)
        .map(|it| {
            format!(
                "[[group]]
name = \"g{it}\"
"
            )
        })
        .collect();
    let groups = groups.concat();
    assert!(
        tree(&format!("{groups}[[place]]")).contains("clients cannot make more than 16 groups")
    );
    let bucket = |rest: &str| with_head(&format!("signals = \"bucket\"\n{rest}"));
    assert!(
        bucket("[[place]]").contains("line 5: this place needs `says`, as in { priority = 0 to 63")
    );
    assert!(
        bucket("[[place]]\nsays = { priority = 64, concurrency = 1 }")
            .contains("line 6: `says`: priority 64 must be from 0 to 63")
    );
    let same = "says = { priority = 1, concurrency = 1 }\n";
    let two = format!("[[place]]\nwhen = {{ main = true }}\n{same}[[place]]\nrank = 1\n{same}");
    assert!(
        bucket(&two).contains("line 8: this place `says` the same as [[place]] 1, but differs")
    );
}

#[test]
fn a_long_file_is_not_read() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "#".repeat(10 << 20)).expect("written");
    let error = scheme_files::read(file.path(), std::sync::Arc::new(|_| {})).expect_err("too long");
    assert!(
        error.to_string().ends_with("the file is longer than 262144 bytes; a scheme is shorter")
    );
    let binary = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(binary.path(), [0xff, 0xfe, 0]).expect("written");
    let error = scheme_files::read(binary.path(), std::sync::Arc::new(|_| {})).expect_err("bytes");
    assert!(error.to_string().contains("UTF-8"), "{error}");
}

/// Deep nesting ends in a message.
#[test]
fn a_file_of_brackets_is_refused() {
    let deep = format!("x = {}", "[".repeat(200_000));
    assert!(message(&deep).starts_with("my.toml: line 1: "));
}

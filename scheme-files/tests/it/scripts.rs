//! Scripts: what they may do, and what happens when they fail.

use crate::{Reported, parse};
use schedulers::{Kind, Resource, Scheduler, Scheme, StreamId};

fn scripted(script: &str) -> String {
    format!(
        "[scheme]
name = \"my\"
about = \"mine\"
script = '''
{script}
'''
"
    )
}

/// Runs ten responses, of which each is sent for two packets; the order of packets, and what was reported.
fn run(script: &str) -> (String, Vec<String>) {
    let reported = Reported::default();
    let file = scheme_files::parse(&scripted(script), "my.toml", reported.report());
    let order = order(&file.unwrap_or_else(|error| panic!("{error}")).scheme);
    (order, reported.lines())
}

fn order(scheme: &Scheme) -> String {
    let mut scheduler = Scheduler::new(scheme);
    let mut left = [2; 10];
    for (id, kind) in (0..).zip(Kind::ALL.into_iter().chain([Kind::Html, Kind::Css])) {
        scheduler.open(StreamId(id), &Resource { kind, ..Resource::default() });
        scheduler.set_ready(StreamId(id), true);
    }
    let mut order = String::new();
    while let Some(StreamId(stream)) = scheduler.pick() {
        scheduler.sent(StreamId(stream), 1400);
        order += &stream.to_string();
        let left = &mut left[usize::try_from(stream).expect("small")];
        *left -= 1;
        if *left == 0 {
            scheduler.close(StreamId(stream));
        }
    }
    order
}

/// After a failure, responses are sent one after another, in the order of their requests, and one warning
/// reports this.
const IN_ORDER: &str = "00112233445566778899";

fn fails_with(script: &str, cause: &str) {
    let (order, reported) = run(script);
    assert_eq!(order, IN_ORDER, "{script}");
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains(cause), "{}", reported[0]);
    assert!(reported[0].contains("responses that open from now on go last"), "{}", reported[0]);
}

#[test]
fn a_script_places_responses_by_their_facts() {
    let newest_first = "fn opened(stream, resource) { #{ order: -stream } }";
    assert_eq!(run(newest_first).0, "99887766554433221100");
    let images = "fn opened(stream, resource) { #{ rank: if resource.kind == \"image\" { 0 } else { 1 }, order: stream } }";
    assert_eq!(run(images).0, "44001122335566778899");
}

#[test]
fn a_script_remembers_and_moves_others() {
    let yields = "fn setup() { this.first = #{}; }
        fn opened(stream, resource) { #{ order: stream } }
        fn sent(stream, bytes) { put(stream, #{ order: stream + 100 }) }";
    assert_eq!(run(yields).0, "01234567890123456789");
}

#[test]
fn an_endless_loop_ends() {
    fails_with(
        "fn opened(stream, resource) { loop {} }",
        "my.toml: scheme `my`, `opened`: Too many operations",
    );
    fails_with(
        "fn opened(stream, resource) { let x = 0; while true { x += 1; } }",
        "Too many operations",
    );
}

#[test]
fn endless_recursion_ends() {
    fails_with(
        "fn opened(stream, resource) { again(1) }\nfn again(x) { again(x + 1) }",
        "Stack overflow",
    );
}

#[test]
fn texts_lists_and_maps_stay_small() {
    let doubling = "fn opened(stream, resource) { let x = \"abcdefgh\"; loop { x += x; } }";
    fails_with(doubling, "Length of string too large");
    fails_with(
        "fn opened(stream, resource) { let x = [1, 2]; loop { x += x; } }",
        "Size of array/BLOB too large",
    );
    fails_with(
        "fn opened(stream, resource) { let x = \"\"; x.pad(1000000000, \"y\"); #{} }",
        "Length of string too large",
    );
    // Also over many calls.
    let hoarder = "fn setup() { this.all = []; }
        fn opened(stream, resource) { for i in 0..1000 { this.all.push(i); } #{ order: stream } }";
    let (_, reported) = run(hoarder);
    assert!(reported[0].contains("Size of array/BLOB too large"), "{reported:?}");
}

#[test]
fn a_script_that_fails_later_leaves_the_others_where_they_are() {
    let script =
        "fn opened(stream, resource) { if stream == 5 { throw \"no\" } #{ order: -stream } }";
    let (order, reported) = run(script);
    assert_eq!(order, "44332211005566778899");
    assert!(
        reported[0].starts_with("my.toml: line 5: scheme `my`, `opened`: Runtime error: no;"),
        "{}",
        reported[0]
    );
}

#[test]
fn results_that_are_not_places_are_named() {
    fails_with("fn opened(stream, resource) { }", "`opened`: returned no place for the stream");
    fails_with("fn opened(stream, resource) { 7 }", "`opened`: returned no place for the stream");
    fails_with(
        "fn opened(stream, resource) { #{ rnak: 7 } }",
        "a place has no `rnak`; near it: rank",
    );
    fails_with(
        "fn opened(stream, resource) { #{ rank: 65535 } }",
        "rank 65535 must be from 0 to 65534",
    );
    fails_with("fn opened(stream, resource) { #{ parent: \"x\" } }", "no [[group]] is named `x`");
    fails_with("fn opened(stream, resource) { #{ order: 1.5 } }", "order must be a whole number");
    fails_with("fn opened(stream, resource) { resource.knid }", "knid");
    fails_with("fn opened(stream, resource) { [1] }", "`opened`: returned no place for the stream");
    fails_with("fn opened(stream, resource) { #{ rank: this.level } }", "level");
}

#[test]
fn a_failure_of_sent_is_told_once_and_the_places_stay() {
    let script = "fn opened(stream, resource) { #{ order: -stream } }\nfn sent(stream, bytes) { throw \"no\" }";
    let (order, reported) = run(script);
    assert_eq!(order, "99887766554433221100");
    assert_eq!(reported.len(), 1);
}

#[test]
fn a_script_reaches_nothing_but_its_connection() {
    for (script, cause) in [
        ("import \"x\" as y; fn opened(stream, resource) { #{} }", "import"),
        ("fn opened(stream, resource) { eval(\"1\") }", "eval"),
        ("fn opened(stream, resource) { print(1); #{} }", "print"),
    ] {
        let message = parse(&scripted(script)).expect_err("refused").to_string();
        assert!(message.starts_with("my.toml: line 5: ") && message.contains(cause), "{message}");
    }
    fails_with("fn opened(stream, resource) { sleep(1); #{} }", "Function not found: sleep");
    fails_with("fn opened(stream, resource) { timestamp(); #{} }", "timestamp");
}

#[test]
fn the_functions_of_a_script_are_checked() {
    let message = |script: &str| parse(&scripted(script)).expect_err("refused").to_string();
    assert_eq!(
        message("fn opene(stream) {}"),
        "my.toml: line 4: the script needs `fn opened(stream, resource)`"
    );
    assert!(
        message("fn opened(stream) {}")
            .contains("`opened` must take other parameters: `fn opened(stream, resource)`")
    );
    assert!(
        message("fn opened(stream, resource) {\n  let = 1;\n}").starts_with("my.toml: line 6: ")
    );
    assert!(
        message("const X = 1; fn opened(stream, resource) {}")
            .contains("a script consists of functions")
    );
    let both = format!("{}[[place]]\n", scripted("fn opened(stream, resource) {}"));
    assert!(parse(&both).expect_err("refused").to_string().contains("remove one of them"));
}

/// Escapes hide the lines of a script; the line is then the key's.
#[test]
fn a_script_on_one_line_is_named_by_that_line() {
    let text = "[scheme]\nname = \"my\"\nabout = \"mine\"\nscript = \"fn opened(stream, resource) {\\n let = 1;}\"";
    let message = parse(text).expect_err("refused").to_string();
    assert!(message.starts_with("my.toml: line 4: "), "{message}");
}

/// One connection's state never reaches another.
#[test]
fn connections_do_not_share_what_a_script_remembers() {
    let counting = "fn setup() { this.count = 0; }
        fn opened(stream, resource) { this.count += 1; #{ order: this.count } }";
    let scheme = parse(&scripted(counting)).expect("a scheme").scheme;
    assert_eq!(order(&scheme), IN_ORDER);
    assert_eq!(order(&scheme), IN_ORDER);
}

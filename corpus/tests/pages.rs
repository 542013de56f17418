//! What a page must be: the checks and the JSON Schema, side by side.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use corpus::page::SourceKind;
use corpus::{Page, bundled, bundled_names, bundled_text, page};
use serde_json::{Value, json};

const SMALL: &str = include_str!("data/small.json");

fn small() -> Value {
    serde_json::from_str(SMALL).unwrap()
}

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../schemas/page.json");
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

/// The error of a page, `small` with `value` at `pointer` (a new key is added to its object).
fn refusal(pointer: &str, value: Value) -> String {
    let changed = changed(pointer, value);
    Page::parse(&changed.to_string(), "small.json").unwrap_err().to_string()
}

fn changed(pointer: &str, value: Value) -> Value {
    let mut page = small();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match page.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        object => object[key] = value,
    }
    page
}

/// (pointer, wrong value, the error, whether the schema can detect it).
type Wrong = (&'static str, Value, &'static str, bool);

fn wrong_values() -> Vec<Wrong> {
    [wrong_identities(), wrong_roles_and_sizes(), wrong_triggers(), wrong_needs_and_keys()].concat()
}

fn wrong_identities() -> Vec<Wrong> {
    vec![
        (
            "/format",
            json!("utmost-page/2"),
            "format: is \"utmost-page/2\"; only \"utmost-page/1\" is understood",
            true,
        ),
        ("/name", json!("Small page"), "name: is \"Small page\"", true),
        ("/commit_ms", json!(-1.0), "commit_ms: is not between 0 and", true),
        ("/viewport", json!([1366, 0]), "viewport: has no area", true),
        ("/source/sha256", json!("abc"), "source.sha256: is not 64 hexadecimal digits", true),
        ("/origins", json!([]), "origins: is empty", true),
        ("/resources", json!([]), "resources: is empty", true),
        ("/resources/1/id", json!(2), "resources[1].id: is 2; it must be the index, 1", false),
        (
            "/resources/1/url",
            json!("a.css"),
            "resources[1].url: must be a path that begins with a slash",
            true,
        ),
        ("/resources/1/url", json!("/a b"), "resources[1].url: must be a path", true),
        ("/resources/1/url", json!("/a`b"), "resources[1].url: must be a path", true),
        ("/resources/1/url", json!("/a?b=<c>"), "resources[1].url: must be a path", true),
        ("/resources/1/url", json!("/a?b=\"c\""), "resources[1].url: must be a path", true),
        (
            "/resources/1/url",
            json!("/b.js"),
            "resources[2].url: \"/b.js\" is the URL of resources[1] too",
            false,
        ),
        (
            "/resources/1/origin",
            json!(1),
            "resources[1].origin: is 1, but the page has 1 origins",
            false,
        ),
        (
            "/resources/1/status",
            json!(100),
            "resources[1].status: is 100; use a final status",
            true,
        ),
        ("/resources/1/mime", json!("text/css\r\nx: y"), "resources[1].mime: holds bytes", true),
        (
            "/resources/1/kind",
            json!("js"),
            "resources[1].kind: is js, but the MIME type \"text/css\" means css",
            false,
        ),
    ]
}

fn wrong_roles_and_sizes() -> Vec<Wrong> {
    vec![
        (
            "/resources/1/script",
            json!("sync"),
            "resources[1].script: is for js, but the kind is css",
            true,
        ),
        ("/resources/1/hero", json!(true), "resources[1].hero: is for images", true),
        (
            "/resources/1/main",
            json!(true),
            "resources[1].main: must be true for the document",
            true,
        ),
        (
            "/resources/0/main",
            json!(false),
            "resources[0].main: must be true for the document",
            true,
        ),
        ("/resources/0/trigger/on", json!("load"), "resources[0].trigger.on: must be nav", true),
        (
            "/resources/1/trigger",
            json!({"on": "nav"}),
            "resources[1].trigger.on: must be nav",
            true,
        ),
        (
            "/resources/1/wait_ms",
            json!(-1),
            "resources[1].wait_ms: is -1; use milliseconds from 0",
            true,
        ),
        ("/resources/1/exec_ms", json!(1e12), "resources[1].exec_ms: is 1000000000000", true),
        (
            "/resources/1/browser",
            json!({"urgency": 8}),
            "resources[1].browser.urgency: is more than 7",
            true,
        ),
        (
            "/resources/3/chunks/0/bytes",
            json!(299),
            "resources[3].chunks: hold 699 bytes together, but `bytes` is 700",
            false,
        ),
        (
            "/resources/3/chunks/0/at_ms",
            json!(9),
            "resources[3].chunks[1].at_ms: is 5, before the previous chunk",
            false,
        ),
    ]
}

fn wrong_triggers() -> Vec<Wrong> {
    vec![
        (
            "/resources/3/trigger/of",
            json!(77),
            "resources[3].trigger.of: is 77, but the page has the resources 0 to 3",
            false,
        ),
        (
            "/resources/3/trigger/of",
            json!(2),
            "resources[3].trigger.of: is 2, of kind js, but its event is one of css",
            false,
        ),
        (
            "/resources/3/trigger/on",
            json!("timer"),
            "resources[3].trigger.of: is 1, of kind css, but its event is one of js",
            false,
        ),
        (
            "/resources/3/trigger/on",
            json!("dcl"),
            "resources[3].trigger.of: must be 0 or absent",
            true,
        ),
        (
            "/resources/3/trigger/byte",
            json!(1),
            "resources[3].trigger.byte: is only for `bytes`",
            true,
        ),
        ("/resources/3/trigger/on", json!("bytes"), "resources[3].trigger.byte: is missing", true),
        (
            "/resources/1/trigger/byte",
            json!(5001),
            "resources[1].trigger.byte: is 5001, but resource 0 has 5000 decoded bytes",
            false,
        ),
    ]
}

fn wrong_needs_and_keys() -> Vec<Wrong> {
    vec![
        (
            "/resources/3/trigger/needs",
            json!([4]),
            "resources[3].trigger.needs[0]: is 4, but the page",
            false,
        ),
        (
            "/resources/3/trigger/needs",
            json!([2, 2]),
            "resources[3].trigger.needs[1]: is 2, which is listed before",
            true,
        ),
        (
            "/resources/3/trigger/delay_ms",
            json!(1e9),
            "resources[3].trigger.delay_ms: is more than",
            true,
        ),
        (
            "/resources/2/trigger/needs",
            json!([3]),
            "resources[2].trigger: waits for itself (resource 2 for 3 for 2)",
            false,
        ),
        (
            "/resources/2/trigger",
            json!({"on": "dcl"}),
            "waits for itself (resource 2 for 2)",
            false,
        ),
        (
            "/resources/1/trigger",
            json!({"on": "style_applied"}),
            "waits for itself (resource 1 for 1)",
            false,
        ),
        ("/resources/1/bytes", json!(2_000_000_001), "more than fits in memory", true),
        ("/resources/1/colour", json!("red"), "unknown field `colour`", true),
        ("/resources/1/trigger/colour", json!("red"), "unknown field `colour`", true),
    ]
}

#[test]
fn a_sound_page_is_accepted_by_parser_and_schema() {
    Page::parse(SMALL, "small.json").unwrap();
    assert!(schema().is_valid(&small()));
}

#[test]
fn what_is_wrong_is_refused_with_its_place_in_one_line() {
    for (pointer, value, expected, _) in wrong_values() {
        let error = refusal(pointer, value.clone());
        assert!(error.starts_with("small.json:"), "{error}");
        assert!(error.contains(expected), "{pointer} = {value}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_key_with_a_line_break_makes_no_second_line() {
    let text = SMALL.replacen("\"viewport\"", "\"view\\nport\"", 1);
    let error = Page::parse(&text, "small.json").unwrap_err().to_string();
    assert!(error.contains("unknown field `view\\nport`"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn the_schema_refuses_what_it_can_see_of_it() {
    let schema = schema();
    for (pointer, value, _, seen) in wrong_values() {
        assert_eq!(schema.is_valid(&changed(pointer, value.clone())), !seen, "{pointer} = {value}");
    }
}

#[test]
fn an_error_in_the_text_names_line_and_column() {
    let error = Page::parse("{\n  \"format\": 7\n}", "a.json").unwrap_err().to_string();
    assert_eq!(error, "a.json:2:13: invalid type: integer `7`, expected a string");
    let error = Page::parse("", "a.json").unwrap_err().to_string();
    assert_eq!(error, "a.json:1:0: EOF while parsing a value");
}

#[test]
fn a_page_larger_than_memory_is_one_line_of_error() {
    let mut page = small();
    for id in 0..4 {
        page["resources"][id]["bytes"] = json!(600_000_000);
        page["resources"][id]["chunks"] = json!([]);
    }
    let error = Page::parse(&page.to_string(), "large.json").unwrap_err().to_string();
    assert_eq!(
        error,
        "large.json: resources: hold 2400000000 body bytes together, more than fits in memory; \
         at most 2000000000 are allowed: make the largest smaller"
    );
}

#[test]
fn too_many_resources_are_refused() {
    let mut page = small();
    let resource = page["resources"][3].clone();
    page["resources"].as_array_mut().unwrap().extend(std::iter::repeat_n(resource, 10_000));
    let error = Page::parse(&page.to_string(), "many.json").unwrap_err().to_string();
    assert!(
        error.starts_with("many.json: resources: has 10004 entries; a page may have at most 10000")
    );
}

#[test]
fn a_circle_through_the_order_of_evaluation_is_found() {
    let mut page = small();
    page["resources"][1]["eval_order"] = json!(2);
    page["resources"][2]["eval_order"] = json!(1);
    page["resources"][2]["trigger"] = json!({"on": "complete", "of": 3});
    page["resources"][3]["trigger"] = json!({"on": "css_applied", "of": 1});
    let error = Page::parse(&page.to_string(), "small.json").unwrap_err().to_string();
    assert!(error.contains("waits for itself (resource 2 for 3 for 1 for 2)"), "{error}");
}

#[test]
fn a_chain_of_ten_thousand_is_not_a_circle() {
    let mut page = small();
    let resources = page["resources"].as_array_mut().unwrap();
    resources.truncate(1);
    for id in 1..10_000 {
        resources
            .push(json!({"id": id, "url": format!("/{id}"), "kind": "image", "mime": "image/png",
            "bytes": 1, "trigger": {"on": "complete", "of": id - 1}}));
    }
    let page = Page::parse(&page.to_string(), "chain.json").unwrap();
    assert_eq!(corpus::discovery::depth(&page), 9999);
}

#[test]
fn a_page_is_written_as_it_is_read() {
    let page = Page::parse(SMALL, "small.json").unwrap();
    let again = Page::parse(&page.to_text(), "again.json").unwrap();
    assert_eq!(again, page);
    assert_eq!(page.to_text().lines().filter(|it| it.contains("\"trigger\"")).count(), 4);
}

#[test]
fn every_bundled_page_is_sound_and_fits_the_schema() {
    let schema = schema();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/pages")).unwrap();
    assert_eq!(bundled_names().len(), files.count());
    assert!(bundled_names().is_sorted());
    for name in bundled_names() {
        let text = bundled_text(name).unwrap();
        let parsed = Page::parse(text, name).unwrap();
        assert_eq!(parsed.name, name);
        assert_eq!(bundled(name), Some(&parsed));
        let errors: Vec<String> = schema
            .iter_errors(&serde_json::from_str(text).unwrap())
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert!(parsed.resources.iter().any(|it| it.above_fold));
    }
}

#[test]
fn the_bundle_spans_what_the_papers_corpus_spans() {
    let pages: Vec<&Page> = bundled_names().into_iter().filter_map(bundled).collect();
    let stats = corpus::stats(pages.iter().copied());
    assert!(stats.resources.min <= 10 && stats.resources.max >= 214, "{:?}", stats.resources);
    assert!(stats.bytes.min <= 29_000 && stats.bytes.max >= 7_400_000, "{:?}", stats.bytes);
    let by = stats.by_source;
    assert!(by.imported >= 20 && by.hand >= 4 && by.recorded >= 3, "{by:?}");
    assert_eq!(by.generated, 2 + 50);
}

#[test]
fn imported_pages_name_their_recording_and_nobody_elses_resources() {
    let imported = bundled_names().into_iter().filter_map(bundled);
    let imported = imported.filter(|it| it.source.kind == SourceKind::Imported);
    let mut recordings = std::collections::BTreeSet::new();
    for page in imported {
        assert!(recordings.insert(page.source.from.clone()), "{}", page.name);
        assert!(["MIT", "Apache-2.0"].contains(&page.source.licence.as_str()));
        assert!(page.source.sha256.is_some() && page.source.assumptions.len() >= 6);
        assert!(page.resources.len() >= 10, "{}", page.name);
        for (id, it) in page.resources.iter().enumerate().skip(1) {
            assert!(it.url.starts_with(&format!("/r/{id}.")), "{}: {}", page.name, it.url);
        }
        for (id, it) in page.origins.iter().enumerate() {
            assert_eq!(it.host, format!("host-{id}.test"));
        }
    }
}

#[test]
fn generated_pages_are_what_their_command_makes() {
    use corpus::generate::{Profile, Shape, generate};
    let paper = Shape { profile: Profile::Paper2019, ..Shape::new(1) };
    let small = Shape { resources: Some(10), bytes: Some(29_000), depth: 2, ..paper };
    let large = Shape {
        seed: 2,
        resources: Some(214),
        bytes: Some(7_400_000),
        depth: 5,
        late_share: 0.3,
        ..paper
    };
    for (name, shape) in [("generated-small", small), ("generated-large", large)] {
        let page = Page { name: name.to_owned(), ..generate(&shape).unwrap() };
        assert_eq!(bundled_text(name), Some(page.to_text().as_str()));
    }
}

#[test]
fn the_pages_of_the_set_web_are_what_the_generator_grows() {
    let pages = corpus::generate::web_pages();
    let names: Vec<&str> = pages.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, corpus::PageSet::find("web").unwrap().names());
    for page in &pages {
        assert_eq!(bundled_text(&page.name), Some(page.to_text().as_str()), "{}", page.name);
    }
}

/// Web Almanac 2024, "Page Weight", desktop: requests at five percentiles, and the bytes of the median page. Levels are spread
/// evenly, so that percentiles of the set deviate by rounding and by half a step between levels only.
#[test]
fn the_pages_of_the_set_web_have_the_webs_median_and_percentiles_within_5_percent() {
    let set = corpus::PageSet::find("web").unwrap();
    let stats = corpus::stats(set.pages());
    let of_set = stats.distributions[0].resources;
    let found = [of_set.p10, of_set.p25, of_set.p50, of_set.p75, of_set.p90].map(Option::unwrap);
    for (found, published) in found.into_iter().zip([24.0, 42.0, 71.0, 115.0, 176.0]) {
        assert!(
            (found as f64 / published - 1.0).abs() <= 0.05,
            "{found} resources for {published}"
        );
    }
    assert!((stats.resources.median / 71.0 - 1.0).abs() <= 0.05, "{:?}", stats.resources);
    assert!((stats.bytes.median / 2_652_000.0 - 1.0).abs() <= 0.05, "{:?}", stats.bytes);
    let sites: std::collections::BTreeSet<&str> = set.pages().into_iter().map(Page::site).collect();
    assert_eq!((stats.pages, sites.len(), bundled_names().len()), (50, 25, 111));
}

#[test]
fn a_name_is_a_bundled_page_and_a_path_is_a_file() {
    assert_eq!(page("davies-meenan").unwrap().resources.len(), 9);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/small.json");
    assert_eq!(page(path).unwrap().name, "small");
    let unknown = page("davies").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "no bundled page is named \"davies\", but davies-meenan, davies-meenan-public; \
         `utmost corpus list` names all; a path needs a slash or ends in .json"
    );
    let far = page("x").unwrap_err().to_string();
    assert!(far.starts_with("no bundled page is named \"x\"; `utmost corpus list`"), "{far}");
    let absent = page("absent.json").unwrap_err().to_string();
    assert!(absent.starts_with("absent.json: "), "{absent}");
}

#[test]
fn a_file_that_is_too_large_is_not_read_to_its_end() {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    file.as_file().set_len(1 << 40).unwrap();
    let error = page(file.path().to_str().unwrap()).unwrap_err().to_string();
    assert!(
        error.ends_with("is larger than 16777216 bytes, the most that a page may take"),
        "{error}"
    );
}

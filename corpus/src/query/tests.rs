use super::*;
use crate::{PageSet, bundled, bundled_names};
use proptest::prelude::*;

fn has(query: &str, page: &str) -> bool {
    Query::parse(query).unwrap().matches(bundled(page).unwrap())
}

fn error(query: &str) -> String {
    Query::parse(query).unwrap_err().to_string()
}

#[test]
fn a_page_is_asked_for_its_numbers_words_and_texts() {
    // The page of Davies and Meenan was made by hand: 9 resources, 1,580,000 bytes, 5 above the fold.
    for (query, expected) in [
        ("all", true),
        ("hand", true),
        ("recorded", false),
        ("resources = 9", true),
        ("resources>9", false),
        ("resources>=9", true),
        ("resources!=9", false),
        ("body_bytes = 1580k", true),
        ("body_bytes < 1Mi", false),
        ("atf_resources<=5", true),
        ("depth < 3", true),
        ("atf_share > 0.16", true),
        ("late_share > 0", false),
        ("name = davies-*", true),
        ("name != davies-meenan", false),
        ("site = davies-meenan", true),
    ] {
        assert_eq!(has(query, "davies-meenan"), expected, "{query}");
    }
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    assert!(has("hand or recorded and resources > 40", "davies-meenan"));
    assert!(!has("(hand or recorded) and resources > 40", "davies-meenan"));
    assert!(has("not recorded and hand", "davies-meenan"));
    assert!(!has("not (recorded or hand)", "davies-meenan"));
}

#[test]
fn every_bundled_page_has_one_source_and_templates_share_a_site() {
    let count = |query: &str| {
        let query = Query::parse(query).unwrap();
        let pages = PageSet::find("first-60").unwrap().pages();
        pages.into_iter().filter(|it| query.matches(it)).count()
    };
    let sources = ["recorded", "imported", "generated", "hand"].map(count);
    assert_eq!(sources, [29, 25, 2, 4]);
    assert_eq!(count("site = gentelella"), 4);
    assert!(!bundled_names().is_empty());
}

#[test]
fn a_wrong_query_is_told_the_column_and_what_would_be_right() {
    for (query, expected) in [
        ("", "column 1: the end: expected a fact, `not` or `(`"),
        ("recorded and", "column 13: the end: expected a fact, `not` or `(`"),
        ("recorded hand", "column 10: `hand`: expected `and`, `or` or the end"),
        ("resources 40", "column 11: `40`: expected =, !=, <, <=, > or >="),
        ("resources => 40", "column 11: `=>`: expected =, !=, <, <=, > or >="),
        ("resources > many", "column 13: unit `many`: use k, M, Ki, Mi or leave it out"),
        ("(hand", "column 6: the end: expected `)`"),
        ("(hand hero)", "column 7: `hero`: expected `and`, `or` or `)`"),
        ("name < a", "column 6: `<`: expected = or !="),
        (
            "é and",
            "column 1: `é`: expected a fact; there are all, recorded, imported, generated, hand, hero, third_party, \
          resources, body_bytes, hosts, depth, atf_resources, atf_share, heroes, late_share, html_share, css_share, \
          js_share, font_share, image_share, name, site",
        ),
    ] {
        assert_eq!(error(query), expected, "{query}");
    }
}

#[test]
fn deep_and_long_queries_are_refused() {
    let deep = |levels: usize| format!("{}all{}", "(".repeat(levels), ")".repeat(levels));
    assert!(Query::parse(&deep(32)).is_ok());
    assert_eq!(error(&deep(33)), "column 33: `(`: more than 32 levels deep; use fewer");
    assert!(error(&"not ".repeat(33)).contains("more than 32 levels deep"));
    assert_eq!(
        error(&" ".repeat(4097)),
        "column 1: a query has at most 4096 bytes; use a shorter one"
    );
}

proptest! {
    #[test]
    fn any_text_is_a_query_or_an_error_within_it(
        text in "(not|and|or|all|resources|name|<|=|!|\\(|\\)|9k|é| ){0,20}"
    ) {
        if let Err(error) = Query::parse(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column));
        }
    }
}

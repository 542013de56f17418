//! Header fields that the operator sets, and early hints for responses that are ready at once.

use crate::peers::{Peer, World, options};
use gateway::site::{DirectorySite, Pushing, Rule, RuledSite};
use server::site::fields::fields;
use server::site::{Body, Request, Response, Site};

const STYLE: &str = "</a.css>; rel=preload; as=style";

fn headers(path: &str, lines: &[(&str, &str)]) -> Rule {
    let headers = Some(fields(lines.iter().copied()));
    Rule { path: path.to_owned(), headers, ..Rule::default() }
}

/// The heads of the responses to a GET.
fn heads(site: RuledSite, path: &str) -> Vec<String> {
    let mut world = World::of(options("fifo"), site);
    let mut peer = Peer::new(&world, 1);
    peer.takes_any_body = true;
    world.run_ms(20, &mut [&mut peer]);
    peer.get(0, path);
    world.run_ms(50, &mut [&mut peer]);
    assert_eq!(peer.closed_with(), None);
    // They depend on when the file was written.
    let is_time = |it: &&str| it.starts_with("etag") || it.starts_with("last-modified");
    let plain = |it: &String| it.split_inclusive('\n').filter(|it| !is_time(it)).collect();
    peer.heads.iter().map(plain).collect()
}

fn directory(rules: Vec<Rule>, path: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("index.html"), "<p>").expect("written");
    let root = DirectorySite::open(folder.path()).expect("a directory");
    heads(RuledSite::new(root, rules), path)
}

#[test]
fn a_file_and_an_error_have_the_fields_of_the_first_route_that_sets_some() {
    let rules = || {
        vec![
            Rule::pushing("/*", Pushing::default()),
            headers("/*", &[("x-frame-options", "DENY"), ("content-type", "text/plain")]),
            headers("/", &[("x-late", "1")]),
        ]
    };
    let expected = ":status: 200\nserver: utmost\ncontent-length: 3\naccept-ranges: bytes\nvary: accept-encoding\nx-frame-options: DENY\n\
                    content-type: text/plain\n";
    assert_eq!(directory(rules(), "/"), [format!("{expected}cache-control: no-cache\n")]);
    let expected = expected.replace("200", "404").replace("length: 3", "length: 0");
    let expected = expected.replace("accept-ranges: bytes\nvary: accept-encoding\n", "");
    assert_eq!(directory(rules(), "/gone"), [expected]);
}

/// A response with its own fields.
struct Own;

impl Site for Own {
    fn respond(&self, _: &Request) -> Response {
        let own = [("x-mine", "1"), ("set-cookie", "a=1"), ("vary", "accept"), ("etag", "\"1\"")];
        let headers = fields(own);
        Response { headers, body: Body::Bytes(b"x".as_slice().into()), ..Response::empty(200) }
    }
}

#[test]
fn a_field_takes_the_place_of_the_own_one_but_cookies_links_and_vary_are_added() {
    let set = [("x-mine", "2"), ("x-mine", "3"), ("set-cookie", "b=2"), ("vary", "cookie")];
    let site = RuledSite::new(Own, vec![headers("/*", &set)]);
    let response = site.respond(&Request::get("a", "/"));
    let expected = fields([
        ("set-cookie", "a=1"),
        ("vary", "accept"),
        ("etag", "\"1\""),
        ("x-mine", "2"),
        ("x-mine", "3"),
        ("set-cookie", "b=2"),
        ("vary", "cookie"),
    ]);
    assert!(response.headers.iter().eq(&expected), "{:?}", response.headers);
}

#[test]
fn a_304_has_the_fields_that_do_not_describe_a_body() {
    let site =
        RuledSite::new(Own, vec![headers("/*", &[("content-language", "en"), ("x-mine", "2")])]);
    let mut request = Request::get("a", "/");
    let count = |request: &Request, name: &str| site.respond(request).fields(name).count();
    assert_eq!((count(&request, "content-language"), count(&request, "x-mine")), (1, 1));
    request.fields = fields([("if-none-match", "\"1\"")]);
    assert_eq!(site.respond(&request).status, 304);
    assert_eq!((count(&request, "content-language"), count(&request, "x-mine")), (0, 1));
}

/// What a route says of freshness and links counts as if the response had said it.
#[test]
fn set_fields_count_where_the_server_reads_the_response() {
    let push = Pushing {
        push_preload: true,
        cache_control: Some("max-age=9".into()),
        ..Pushing::default()
    };
    let rules = vec![
        Rule {
            pushing: Some(push),
            ..headers("/", &[("link", STYLE), ("cache-control", "max-age=5")])
        },
        headers("/a.css", &[("vary", "cookie")]),
    ];
    let site = RuledSite::new(Own, rules);
    let response = site.respond(&Request::get("a", "/"));
    assert_eq!(response.fields("cache-control").collect::<Vec<_>>(), ["max-age=5"]);
    assert_eq!(site.respond(&Request::get("a", "/a.css")).fields("vary").count(), 2);
}

#[test]
fn a_file_is_hinted_at_before_it_only_where_the_operator_asks() {
    let pushing = |asks| Pushing {
        links: vec![STYLE.to_owned()],
        early_hints: vec!["</b.js>; rel=preload; as=script".to_owned()],
        hints_for_files: asks,
        ..Pushing::default()
    };
    let document = ":status: 200\nserver: utmost\ncontent-length: 3\ncontent-type: text/html; charset=utf-8\naccept-ranges: bytes\n\
                    vary: accept-encoding\nlink: </a.css>; rel=preload; as=style\ncache-control: no-cache\n";
    assert_eq!(directory(vec![Rule::pushing("/", pushing(false))], "/"), [document]);
    let hints = ":status: 103\nlink: </b.js>; rel=preload; as=script\nlink: </a.css>; rel=preload; as=style\n";
    assert_eq!(directory(vec![Rule::pushing("/", pushing(true))], "/"), [hints, document]);
    let link = Rule {
        pushing: Some(Pushing { hints_for_files: true, ..Pushing::default() }),
        ..headers("/", &[("link", STYLE)])
    };
    let hints = ":status: 103\nlink: </a.css>; rel=preload; as=style\n";
    assert_eq!(directory(vec![link], "/"), [hints, document]);
}

//! Exports for other servers: their contents. `export_servers.rs` runs the servers themselves.
//!
//! The expected texts are the files of `exports`; `UTMOST_BLESS=1` writes them anew.

use corpus::page::Script;
use gateway::Config;
use lab::export::{Advice, Document, Line, NamedBy, Nothing, SERVERS, Server, of_policy};
use schedulers::{Kind, Priority, Resource};
use std::path::Path;

fn line(path: &str, kind: Kind, (urgency, incremental): (u8, bool), later_ms: f64) -> Line {
    Line {
        host: "shop.example".to_owned(),
        is_elsewhere: false,
        path: path.to_owned(),
        url: path.to_owned(),
        resource: Resource { kind, ..Resource::default() },
        script: None,
        named_by: NamedBy::Document,
        priority: Priority::new(urgency, incremental),
        later_ms: Some(later_ms),
    }
}

/// A page with a hero, a script that can wait, and paths that no configuration can express
/// literally.
pub(crate) fn advice() -> Advice {
    let preload =
        |path: &str, destination: &str| format!("<{path}>; rel=preload; as={destination}");
    Advice {
        found: vec![
            "home on 3g: with priorities for 5 resources, RFC 9218 is 1.250 times as fast."
                .to_owned(),
        ],
        lines: vec![
            line("/hero.jpg?w=800", Kind::Image, (1, false), -1590.2),
            line("/late.js", Kind::Js, (5, false), 230.0),
            line("/img.php?id=1", Kind::Image, (7, false), 0.0),
            line("/photo.jpg", Kind::Image, (2, false), 0.0),
            line("/a\"b;}.css\n", Kind::Css, (1, false), -3.0),
            line("/top.css", Kind::Css, (0, true), -2.0),
            line("/Photo.JPG", Kind::Image, (6, false), 1.0),
        ],
        documents: vec![Document {
            host: "shop.example".to_owned(),
            path: "/".to_owned(),
            links: vec![preload("/font.woff2", "font") + "; crossorigin"],
            early_hints: vec![preload("/top.css", "style")],
        }],
        sent: vec![("shop.example".to_owned(), "/img.php?id=hero".to_owned())],
        ..Advice::default()
    }
}

fn named(name: &str) -> Server {
    name.parse().expect("a server")
}

#[test]
fn each_server_gets_the_text_that_its_file_shows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/exports");
    for server in SERVERS {
        let (file, text) = (folder.join(server.name), server.export(&advice()));
        if std::env::var_os("UTMOST_BLESS").is_some() {
            std::fs::write(&file, &text).expect("written");
        }
        let expected = std::fs::read_to_string(&file).expect("an expected text");
        assert_eq!(text, expected, "{}", file.display());
    }
}

/// The elements of HTML that an export has.
fn elements(lines: Vec<Line>) -> Vec<String> {
    let text = named("nginx").export(&Advice { lines, ..Advice::default() });
    text.lines().filter_map(|it| it.strip_prefix("#   ")).map(str::to_owned).collect()
}

#[test]
fn an_element_keeps_how_its_script_is_run() {
    let script = |how| Line { script: Some(how), ..line("/a.js", Kind::Js, (0, false), -1.0) };
    assert_eq!(
        elements(vec![script(Script::Module)]),
        ["<script src=\"/a.js\" type=\"module\" fetchpriority=\"high\"></script>"]
    );
    assert_eq!(
        elements(vec![script(Script::Async)]),
        ["<script src=\"/a.js\" async fetchpriority=\"high\"></script>"]
    );
    assert_eq!(
        elements(vec![script(Script::Defer)]),
        ["<script src=\"/a.js\" defer fetchpriority=\"high\"></script>"]
    );
}

fn elsewhere() -> Line {
    Line {
        host: "cdn.other.net".to_owned(),
        is_elsewhere: true,
        url: "https://cdn.other.net:8443/images/a.jpg?w=800&h=600".to_owned(),
        ..line("/images/a.jpg?w=800&h=600", Kind::Image, (0, false), -1.0)
    }
}

#[test]
fn an_element_names_its_resource_as_the_page_does_with_query_and_port() {
    let own = line("/hero.jpg?w=800", Kind::Image, (0, false), -1.0);
    let quoting = line("/a.jpg?\"><script>", Kind::Image, (0, false), -1.0);
    assert_eq!(
        elements(vec![own, elsewhere(), quoting]),
        [
            "<img src=\"/hero.jpg?w=800\" fetchpriority=\"high\">",
            "<img src=\"https://cdn.other.net:8443/images/a.jpg?w=800&amp;h=600\" fetchpriority=\"high\">",
        ]
    );
}

#[test]
fn a_server_gets_no_line_for_a_host_of_another_site() {
    let own = line("/top.css", Kind::Css, (0, false), -2.0);
    for server in SERVERS {
        let both = Advice { lines: vec![elsewhere(), own.clone()], ..Advice::default() };
        let text = server.export(&both);
        let configured = text.lines().filter(|it| !it.starts_with('#'));
        assert!(configured.clone().any(|it| it.contains("/top")), "{text}");
        assert!(configured.clone().all(|it| !it.contains("a.jpg")), "{text}");
        let said = "# Left out: 1 line for cdn.other.net, because the server of this site does not answer for that host.\n";
        assert!(text.contains(said), "{text}");
        let alone = Advice { lines: vec![elsewhere(), elsewhere()], ..Advice::default() };
        let text = server.export(&alone);
        assert!(text.lines().all(|it| it.is_empty() || it.starts_with('#')), "{text}");
        assert!(text.contains("Left out: 2 lines for cdn.other.net,"), "{text}");
        assert!(text.contains("<img src=\"https://cdn.other.net:8443/"), "{text}");
    }
}

#[test]
fn what_a_style_sheet_names_has_no_element_but_a_preload_that_says_so() {
    let background = |urgency| Line {
        named_by: NamedBy::Stylesheet("/css/all.css".to_owned()),
        ..line("/hero.jpg", Kind::Image, (urgency, false), -1.0)
    };
    assert_eq!(
        elements(vec![background(0)]),
        [
            "<link rel=\"preload\" as=\"image\" href=\"/hero.jpg\" fetchpriority=\"high\"> (for the style sheet /css/all.css, \
          which names it)"
        ]
    );
    assert!(elements(vec![background(7)]).is_empty(), "nothing lowers it");
}

#[test]
fn where_nothing_gains_an_export_is_a_comment() {
    let found = vec!["home on 3g: nothing is better than what you have.".to_owned()];
    for server in SERVERS {
        let text = server.export(&Advice { found: found.clone(), ..Advice::default() });
        assert!(text.lines().all(|it| it.starts_with('#')), "{text}");
        assert!(text.ends_with("so there is nothing to paste.\n"), "{text}");
    }
}

#[test]
fn an_export_without_lines_says_why() {
    let end = |advice: &Advice| {
        let text = named("nginx").export(advice);
        let end = text.split("# Checked with nginx").nth(1).expect("a head").to_owned();
        end.split_once('\n').expect("lines").1.replace("\n# ", " ")
    };
    let without = |nothing| end(&Advice { nothing, ..Advice::default() });
    assert_eq!(without(Nothing::Unknown), "# Nothing is known, so there is nothing to paste.\n");
    assert_eq!(
        without(Nothing::OfServer),
        "# The gain is of a server that sends by priority (RFC 9218) as browsers ask, and needs no other line, so there is nothing to \
         paste.\n"
    );
    let quoted = line("/a\"b.css", Kind::Css, (1, false), -3.0);
    assert_eq!(
        end(&Advice { lines: vec![quoted], ..Advice::default() }),
        "# Left out: /a\"b.css, because \" in a path has a meaning of its own in some servers' configurations: rename the file, or use \
         `fetchpriority`. No line that gains can be written for this server, so there is nothing to paste.\n"
    );
}

/// What an export leaves out of these lines, if pages also ask for `sent` at the same host.
fn left_out(lines: &[(&str, u8)], sent: &[&str]) -> Vec<String> {
    let lines = lines.iter().map(|it| line(it.0, Kind::Image, (it.1, false), -1.0)).collect();
    let sent = sent.iter().map(|it| ("shop.example".to_owned(), (*it).to_owned())).collect();
    let text = named("nginx").export(&Advice { lines, sent, ..Advice::default() });
    let text = text.replace("\n# ", " ");
    let left_out = text.split(" Left out: ").skip(1);
    let sentences = left_out.filter_map(|it| it.split(". ").next());
    sentences.map(|it| it.trim_end_matches('.').to_owned()).collect()
}

#[test]
fn a_line_that_a_server_would_also_apply_to_another_response_is_left_out() {
    let query = |other: &str| {
        format!(
            "because servers match a path without its query, and would change {other}, too; `fetchpriority` can move it alone"
        )
    };
    let case = |other: &str| {
        format!("because some servers take it for {other}; `fetchpriority` can move it alone")
    };
    assert_eq!(
        left_out(&[("/i?id=x", 7)], &["/i?id=hero", "/i?id=x"]),
        [format!("/i?id=x, {}", query("/i?id=hero"))]
    );
    assert_eq!(
        left_out(&[("/i?1", 0), ("/i?2", 7)], &[]),
        [format!("/i?1, {}", query("/i?2")), format!("/i?2, {}", query("/i?1"))]
    );
    assert_eq!(
        left_out(&[("/hero.jpg", 0), ("/HERO.JPG", 7)], &[]),
        [format!("/hero.jpg, {}", case("/HERO.JPG")), format!("/HERO.JPG, {}", case("/hero.jpg"))]
    );
    let nothing: [String; 0] = [];
    assert_eq!(left_out(&[("/i?1", 7), ("/i?2", 7)], &["/i?1", "/i?2", "/other?3"]), nothing);
}

#[test]
fn what_is_left_out_has_a_cause_with_the_character_and_a_remedy() {
    let why = |path: &str| left_out(&[(path, 7)], &[]).concat();
    for (path, odd) in
        [("/photo(1).jpg", "("), ("/a|b", "|"), ("/quo'te.jpg", "'"), ("/e%CC%81", "U+0301")]
    {
        assert_eq!(
            why(path),
            format!(
                "{path}, because {odd} in a path has a meaning of its own in some servers' configurations: rename the file, or use \
                 `fetchpriority`"
            )
        );
    }
    assert_eq!(
        why("/\u{65e5}.jpg"),
        "/\u{65e5}.jpg, because browsers send its path percent-encoded: name it so"
    );
    let long = format!("/{}", "a".repeat(5000));
    assert!(
        why(&long)
            .ends_with("a server such as nginx takes at most 4,096 bytes; this path has 5001")
    );
}

#[test]
fn an_unknown_server_is_refused_with_those_that_are_known() {
    let cause = "iis".parse::<Server>().expect_err("not known");
    assert_eq!(
        cause,
        "no server `iis` has an export; use one of nginx, caddy, h2o, apache, cloudflare, fastly"
    );
}

#[test]
fn a_policy_is_exported_with_its_priorities_and_links_and_says_what_no_other_server_can_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("policy.toml");
    let text = "[site]\nroot = \".\"\nsignals = \"override\"\n[[route]]\nhost = \"shop.example\"\npath = \"/index.html\"\n\
                links = [\"</top.css>; rel=preload; as=style\"]\n[route.resource.\"/hero.jpg\"]\nfacts = \"kind=image\"\nurgency = 1\n\
                [[route]]\nhost = \"shop.example\"\npath = \"/cart.html\"\nscheme = \"dfifo\"\nsignals = \"ignore\"\n";
    std::fs::write(&file, text).expect("written");
    let advice = of_policy(&Config::load(&file).expect("a configuration"));
    let [line] = &advice.lines[..] else { panic!("one line: {advice:?}") };
    assert_eq!((&*line.host, &*line.path), ("shop.example", "/hero.jpg"));
    assert_eq!(line.priority, Priority { urgency: Some(1), incremental: None });
    // The server of a directory also knows the document as `/`, which is no second page.
    let documents: Vec<&str> = advice.documents.iter().map(|it| &*it.path).collect();
    assert_eq!(documents, ["/index.html", "/"]);
    assert!(
        advice.found[0]
            .starts_with("The policy sends /cart.html under dfifo, which only utmost can.")
    );
    let text = named("nginx").export(&advice);
    for part in [
        "    \"shop.example/hero.jpg\" \"u=1\";\n",
        "    \"shop.example/index.html\" \"</top.css>; rel=preload; as=style\";\n",
        "# How much each line gains was not measured here",
        "#   <img src=\"/hero.jpg\" fetchpriority=\"high\">\n",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
}

#[test]
fn paths_that_servers_shorten_are_left_out_and_encoded_ones_have_the_form_that_each_server_matches()
{
    let paths = ["/a//late.jpg", "/a/%2E%2E/b.jpg", "/a%2Fb.jpg", "/late%20x.jpg", "/late x.jpg"];
    let lines = paths.map(|it| line(it, Kind::Image, (6, false), 3.0));
    let advice = Advice { lines: lines.to_vec(), ..Advice::default() };
    let exports = |name: &str| named(name).export(&advice);
    let nginx = exports("nginx");
    for left_out in [
        "# Left out: /a//late.jpg, because servers shorten its path.\n",
        "# Left out: /a/%2E%2E/b.jpg, because servers shorten its path.\n",
        "# Left out: /a%2Fb.jpg, because its path has an encoded slash, which servers take for a slash.\n",
        "# Left out: /late x.jpg, because browsers send its path percent-encoded: name it so.\n",
    ] {
        assert!(nginx.contains(left_out), "{left_out}{nginx}");
    }
    assert!(nginx.contains("/late x.jpg\" \"u=6"), "{nginx}");
    assert!(exports("apache").contains("\"^(/late x\\.jpg)$\""), "{}", exports("apache"));
    for name in ["caddy", "h2o", "cloudflare", "fastly"] {
        assert!(exports(name).contains("/late%20x.jpg"), "{}", exports(name));
    }
}

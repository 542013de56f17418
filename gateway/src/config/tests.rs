use super::*;
use schedulers::{Metadata, Priority};

#[test]
fn a_site_with_its_scheme_is_read() {
    let text = "[site]\npage = \"davies-meenan\"\nscheme = \"dfifo\"\nsignals = \"override\"\n[[route]]\npath = \"/\"\nscheme = \"fifo\"\n\
                signals = \"ignore\"\n[route.resource.\"/hero.jpg\"]\nurgency = 1\nfacts = \"above-fold\"\n";
    let config = Config::parse(text, Path::new("x.toml")).expect("good");
    assert_eq!(config.site, ConfigSite::Pages(vec!["davies-meenan".into()]));
    assert_eq!(
        (config.scheme.as_deref(), config.signals),
        (Some("dfifo"), Some(SignalUse::Override))
    );
    let hero = Directive {
        priority: Priority { urgency: Some(1), incremental: None },
        facts: Metadata::parse(b"above-fold"),
    };
    assert_eq!(config.directives, [("/hero.jpg".into(), hero)].into());
    let [route] = &config.routes[..] else { panic!("one route") };
    assert_eq!(
        (route.path.as_str(), route.scheme.as_ref().map(|it| it.name.as_str())),
        ("/", Some("fifo"))
    );
    assert_eq!(route.signals, Some(SignalUse::Ignore));
    assert!(route.host.is_none() && route.source.is_none() && route.pushing.is_none());
}

#[test]
fn websockets_are_for_the_backend_beside_the_key() {
    let read = |text: &str| Config::parse(text, Path::new("x.toml")).expect("good");
    let site = read("[site]\nupstream = \"http://a\"\nwebsockets = true\n");
    assert!(site.takes_websockets() && site.warnings.is_empty());
    let route = "[site]\nroot = \"a\"\n[[route]]\npath = \"/chat\"\n";
    let chat = read(&format!("{route}upstream = \"http://a\"\nwebsockets = true\n"));
    assert!(chat.takes_websockets() && chat.warnings.is_empty(), "{:?}", chat.warnings);
    assert!(!read("[site]\nupstream = \"http://a\"\n").takes_websockets());
    let warned = |text: &str, line: u8| {
        let idle = read(text);
        let why = "websockets has no effect without an upstream beside it";
        assert!(!idle.takes_websockets());
        assert_eq!(idle.warnings, [format!("x.toml: line {line}: {why}")]);
    };
    warned("[site]\nroot = \"a\"\nwebsockets = true\n", 3);
    warned(&format!("{route}x_push = false\nwebsockets = true\n"), 6);
}

#[test]
fn a_file_of_another_encoding_names_the_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.toml");
    std::fs::write(&file, b"[site]\nroot = \"caf\xe9\"\n").expect("written");
    let error = Config::load(&file).expect_err("Latin-1").to_string();
    assert!(
        error.ends_with("x.toml: line 2: not UTF-8: save the file in this encoding"),
        "{error}"
    );
}

#[test]
fn an_error_names_its_line() {
    let cases = [
        ("[site]\nroot = \"a\"\nrooot = 1", "x.toml: line 3: unknown field `rooot`"),
        (
            "# A site.\n\n[site]\nroot = \"a\"\npage = \"b\"",
            "x.toml: line 3: [site] must have exactly one of",
        ),
        (
            "[site]\npages = []\n",
            "x.toml: line 1: [site] must have exactly one of `root`, `page`, `pages`, `upstream`",
        ),
        ("[site]\nupstream = \"https:a\"", "x.toml: line 2: upstream `https:a`: expected"),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/api/*\"\nupstream = \"a\"",
            "x.toml: line 5: upstream `a`: expected",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npush_preload = 3",
            "x.toml: line 5: push_preload: invalid type: integer `3`, expected a boolean",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nx_push = true\npush_policy = \"push\"",
            "x.toml: line 6: push_policy needs push_graph",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nearly_hints = [\"/a.css\"]",
            "x.toml: line 5: early_hints \"/a.css\" must be a Link value",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nscheme = \"rr\"\n[[route]]\npath = \"/\"\nx_push = true",
            "x.toml: line 7: path \"/\" has a route at line 4",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\n[route.resource.\"/a\"]\nurgency = 1\n\
             [route.resource.\"/b\"]\nurgency = 8",
            "x.toml: line 8: urgency 8 must be from 0 to 7",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"x\"",
            "x.toml: line 4: path \"x\" must begin with /",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npushh = []",
            "x.toml: line 5: unknown field `pushh`, expected one of `path`",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\npush_gate = \"x\"",
            "x.toml: line 5: `x` is not a push gate",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/a*b\"",
            "x.toml: line 4: path \"/a*b\" must have its * at the end",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\nhost = \"a.test:443\"\npath = \"/\"",
            "x.toml: line 4: host \"a.test:443\" must not have a scheme, port or path: write \"a.test\"",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/*\"\nscheme = \"rr\"",
            "x.toml: line 5: scheme is for one page",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/*\"\nsignals = \"ignore\"",
            "x.toml: line 5: signals is for one page: give the route the path of its document",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nsignals = \"no\"",
            "x.toml: line 5: unknown variant `no`",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\n[route.resource.\"/a\"]\nfacts = \"kind=image, hero\"",
            "x.toml: line 6: facts \"kind=image, hero\": \"hero\" is not a fact; write some of kind=css, u=2, ",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\n[route.resource.\"/a/*\"]\nurgency = 1",
            "x.toml: line 5: resource \"/a/*\" must be a whole path",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\nhost = \"::1\"\npath = \"/\"",
            "x.toml: line 4: host \"::1\": an IPv6 address needs brackets: write \"[::1]\"",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\nhost = \"https://[::1]:443/x\"\npath = \"/\"",
            "x.toml: line 4: host \"https://[::1]:443/x\" must not have a scheme, port or path: write \"[::1]\"",
        ),
        (
            "[site]\nroot = \"a\"\n[[route]]\nhost = \"a b\"\npath = \"/\"",
            "x.toml: line 4: host \"a b\" is not a name or an address",
        ),
        ("[site]\nsignals = \"no\"", "x.toml: line 2: unknown variant `no`"),
        ("", "x.toml: line 1: missing field `site`"),
    ];
    for (text, expected) in cases {
        let message = Config::parse(text, Path::new("x.toml")).expect_err(text).to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_setting_that_does_nothing_is_warned_about() {
    let warnings =
        |text: &str| Config::parse(text, Path::new("x.toml")).expect("usable").warnings.join("\n");
    let directed = |signals: &str| {
        let site = format!("[site]\nroot = \"a\"\nsignals = \"{signals}\"\n");
        warnings(&format!("{site}[[route]]\npath = \"/\"\n[route.resource.\"/a\"]\nurgency = 1"))
    };
    let expected = "x.toml: line 3: directives have no effect unless signals = \"override\"";
    assert_eq!((directed("ignore").as_str(), directed("obey").as_str()), (expected, expected));
    assert_eq!(directed("override"), "");
    let told = |site: &str, page: &str| {
        let site = format!("[site]\nroot = \"a\"\n{site}[[route]]\npath = \"/\"\n{page}");
        warnings(&format!("{site}[route.resource.\"/a\"]\nfacts = \"in-head\""))
    };
    let (obey, ignore) = ("signals = \"obey\"\n", "signals = \"ignore\"\n");
    let expected = "x.toml: line 3: facts of resources have no effect where signals = \"obey\"";
    assert_eq!((told(obey, "").as_str(), told(obey, obey).as_str()), (expected, expected));
    assert_eq!([told(obey, ignore), told(ignore, obey), told("", "")], [""; 3]);
    let idle = warnings("[site]\nroot = \"a\"\n[[route]]\nhost = \"a\"\npath = \"/\"");
    assert_eq!(idle, "x.toml: line 5: the route has no keys: remove it");
    let told = warnings(
        "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nearly_hints = \"learn\"\npush_gate = \"strict\"\n\
         max_concurrent_pushes = 3\nclient_has = [\"conditional\"]",
    );
    let nothing = "has no effect, because this route pushes nothing";
    let expected = [
        "x.toml: line 5: early_hints has no effect: it needs the fields of a backend, and no backend answers here"
            .to_owned(),
        format!("x.toml: line 6: push_gate {nothing}"),
        format!("x.toml: line 7: max_concurrent_pushes {nothing}"),
        format!("x.toml: line 8: client_has {nothing}"),
    ];
    assert_eq!(told, expected.join("\n"));
    let hinting =
        "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nearly_hints = [\"</a>; rel=preload\"]";
    assert_eq!(
        warnings(hinting),
        "x.toml: line 5: early_hints has no effect for files, which are ready at once: add early_hints_for_files = true to send them anyway"
    );
    let learning = "[[route]]\npath = \"/\"\nearly_hints = \"learn\"";
    assert_eq!(warnings(&format!("[site]\nupstream = \"http://a\"\n{learning}")), "");
    let mounted = "[[route]]\npath = \"/*\"\nupstream = \"http://a\"";
    assert_eq!(warnings(&format!("[site]\nroot = \"a\"\n{learning}\n{mounted}")), "");
}

#[test]
fn too_many_pushes_and_304s_that_cannot_happen_are_warned_about() {
    let pushing = |rest: &str| {
        let text = format!("[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\n{rest}");
        Config::parse(&text, Path::new("x.toml")).expect("usable").warnings.join("\n")
    };
    let list =
        |count: u32| format!("{:?}", (0..count).map(|it| format!("/{it}")).collect::<Vec<_>>());
    assert_eq!(
        pushing(&format!("push = {}", list(15))),
        "x.toml: line 5: push names 15 paths, and the first 10 are pushed: raise max_concurrent_pushes"
    );
    assert_eq!(pushing(&format!("push = {}\nmax_concurrent_pushes = 15", list(15))), "");
    assert_eq!(pushing(&format!("push = {}", list(10))), "");
    let validating =
        |has: &str| pushing(&format!("push = [\"/a\"]\npush_not_modified = true\n{has}"));
    let expected =
        "x.toml: line 6: push_not_modified has no effect, because nothing reports stale copies";
    for has in ["", "client_has = [\"conditional\"]"] {
        assert!(validating(has).starts_with(expected), "{has}");
    }
    assert_eq!(validating("client_has = [\"cache-digest\"]"), "");
}

#[test]
fn responses_move_by_the_rules_of_the_migration_table() {
    let read = |keys: &str| {
        let text = format!("[site]\nroot = \"a\"\n[migration]\n{keys}\n");
        Config::parse(&text, Path::new("x.toml"))
    };
    let config =
        read("size = { above_bytes = 1_000_000, beside = 1 }\nafter_bytes = 9").expect("good");
    let size = Some(migration::SizeRule { above_bytes: 1_000_000, beside: 1 });
    let expected = migration::Policy { size, after_bytes: 9, ..migration::Policy::default() };
    assert_eq!((config.migration, config.warnings), (Some(expected), Vec::new()));
    let idle = "x.toml: line 4: after_bytes has no effect without size or blocking";
    assert_eq!(read("after_bytes = 9").expect("usable").warnings, [idle]);
    let error = read("size = { above_bytes = 1 }").expect_err("beside is missing").to_string();
    assert_eq!(error, "x.toml: line 4: missing field `beside`");
    for (keys, expected) in [
        (
            "after_bytes = -1",
            "after_bytes: invalid value: integer `-1`, expected a whole number from 0",
        ),
        (
            "after_bytes = \"1k\"",
            "after_bytes: invalid type: string \"1k\", expected a whole number from 0",
        ),
        (
            "size = { above_bytes = 1, beside = 0.5 }",
            "beside: invalid type: floating point `0.5`, expected a whole number from 0",
        ),
        (
            "size = 5",
            "size: invalid type: integer `5`, expected a table such as { above_bytes = 1_000_000, beside = 1 }",
        ),
        (
            "blocking = true",
            "blocking: invalid type: boolean `true`, expected a table such as { above_ms = 500, beside = 1 }",
        ),
    ] {
        let error = read(keys).expect_err(keys).to_string();
        assert_eq!(error, format!("x.toml: line 4: {expected}"));
    }
}

#[test]
fn a_route_that_an_earlier_one_hides_is_warned_about() {
    let warnings = |first: &str, second: &str| {
        let route = |it: &str| format!("[[route]]\n{it}\npush = [\"/x\"]\n");
        let text = format!("[site]\nroot = \"a\"\n{}{}", route(first), route(second));
        Config::parse(&text, Path::new("x.toml")).expect("usable").warnings.join("\n")
    };
    let expected =
        "x.toml: line 7: path \"/a\": \"/*\" at line 4 decides about pushes and hints first";
    assert_eq!(warnings("path = \"/*\"", "path = \"/a\""), expected);
    assert_eq!(warnings("path = \"/a\"", "path = \"/*\""), "");
    assert_eq!(warnings("path = \"/*\"\nhost = \"b.test\"", "path = \"/a\""), "");
}

#[test]
fn a_ca_is_for_all_backends_over_tls() {
    let text = "[site]\nroot = \"a\"\nupstream_ca = \"ca.pem\"\n[[route]]\npath = \"/*\"\nupstream = \"https://b\"";
    let config = Config::parse(text, Path::new("etc/x.toml")).expect("a configuration");
    let address: Address = "https://b".parse().expect("an address");
    let trusting = address.trusting(Some("etc/ca.pem".into()));
    assert_eq!((config.routes[0].upstream(), config.warnings.len()), (Some(&trusting), 0));
    let text = text.replace("https", "http");
    let config = Config::parse(&text, Path::new("x.toml")).expect("a configuration");
    let expected = "x.toml: line 3: upstream_ca has no effect without an https:// upstream";
    assert_eq!(config.warnings, [expected]);
}

#[test]
fn a_backend_serves_the_site_or_some_paths() {
    let text = "[site]\nupstream = \"http://127.0.0.1:8080\"\n[[route]]\npath = \"/api/*\"\nupstream = \"http://api\"";
    let config = Config::parse(text, Path::new("x.toml")).expect("good");
    let address = |text: &str| text.parse::<Address>().expect("an address");
    assert_eq!(config.site, ConfigSite::Upstream(address("http://127.0.0.1:8080")));
    let [api] = &config.routes[..] else { panic!("one route") };
    assert_eq!((api.path.as_str(), api.upstream()), ("/api/*", Some(&address("http://api"))));
}

/// The routes of a directory, line by line: the path, and the pushes with it.
fn pushed(routes: &str) -> String {
    let text = format!("[site]\nroot = \"a\"\n{routes}");
    let config = Config::parse(&text, Path::new("x.toml")).expect("usable");
    let line =
        |it: &ConfigRoute| Some(format!("{}: {}", it.path, it.pushing.as_ref()?.push.join(" ")));
    config.routes.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn in_a_directory_a_route_holds_for_both_paths_of_an_index_unless_the_other_has_its_own() {
    let route =
        |path: &str, push: &str| format!("[[route]]\npath = \"{path}\"\npush = [\"{push}\"]\n");
    let index = route("/index.html", "/a");
    assert_eq!(pushed(&index), "/index.html: /a\n/: /a");
    assert_eq!(pushed(&route("/x/", "/a")), "/x/: /a\n/x/index.html: /a");
    assert_eq!(pushed(&route("/x/*", "/a")), "/x/*: /a");
    assert_eq!(pushed(&(route("/", "/b") + &index)), "/: /b\n/index.html: /a");
    let shop = "[[route]]\npath = \"/*\"\nupstream = \"http://a\"\n";
    assert_eq!(pushed(&format!("{shop}{index}")), "/index.html: /a");
}

#[test]
fn in_a_directory_schemes_and_directives_hold_for_both_paths_of_an_index() {
    let text = "[site]\nroot = \"a\"\n[[route]]\npath = \"/\"\nscheme = \"rr\"\n\
                signals = \"ignore\"\n[route.resource.\"/index.html\"]\nfacts = \"critical\"";
    let config = Config::parse(text, Path::new("x.toml")).expect("usable");
    assert!(config.routes.iter().all(|it| it.signals == Some(SignalUse::Ignore)));
    let paths: Vec<&str> = config.routes.iter().map(|it| it.path.as_str()).collect();
    let directed: Vec<&str> = config.directives.keys().map(String::as_str).collect();
    assert_eq!((paths, directed), (vec!["/", "/index.html"], vec!["/", "/index.html"]));
}

#[test]
fn a_graph_must_know_the_documents_of_its_route() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = |path: &str, kind: &str| {
        format!("{{\"host\":\"a\",\"path\":\"{path}\",\"kind\":\"{kind}\",\"bytes\":1}}")
    };
    let nodes = [node("/shop/index.html", "html"), node("/a.css", "css")].join(",");
    let graph = format!("{{\"format\":\"utmost-graph/1\",\"nodes\":[{nodes}],\"edges\":[]}}");
    std::fs::write(folder.path().join("graph.json"), graph).expect("written");
    let bad = "{\"format\":\"utmost-graph/1\",\"nodes\":[{\"host\":\"a\",\"path\":\"/a>;x\",\"kind\":\"html\",\"bytes\":1}],\
               \"edges\":[]}";
    std::fs::write(folder.path().join("bad.json"), bad).expect("written");
    let parse_with = |path: &str, graph: &str| {
        let route = format!(
            "[[route]]\npath = \"{path}\"\npush_policy = \"push\"\npush_graph = \"{graph}\""
        );
        let text = format!("[site]\nroot = \"a\"\n{route}");
        Config::parse(&text, &folder.path().join("x.toml"))
    };
    let parse = |path: &str| parse_with(path, "graph.json");
    let error = parse_with("/", "bad.json").expect_err("no path").to_string();
    assert!(error.contains("x.toml: line 6: "), "{error}");
    assert!(error.contains("push_graph: node \"/a>;x\": write < and > as %3C"), "{error}");
    let error = parse("/").expect_err("another page's").to_string();
    let expected = "x.toml: line 6: push_graph is for the page \"/shop/index.html\" and does not contain \"/\"";
    assert!(error.contains(expected), "{error}");
    let config = parse("/shop/").expect("the same document");
    let known = |it: &ConfigRoute| Some(it.pushing.as_ref()?.graph.as_ref()?.nodes[0].path.clone());
    let known: Vec<String> = config.routes.iter().filter_map(known).collect();
    assert_eq!(known, ["/shop/", "/shop/index.html"]);
    assert!(parse("/shop/*").is_ok() && parse("/a.css").is_ok());
}

#[test]
fn the_examples_are_read_without_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = include_str!("../../../examples/site.toml");
    let config = Config::parse(site, &folder.path().join("site.toml")).expect("good");
    assert_eq!(config.warnings, Vec::<String>::new());
    let graph = "{\"format\":\"utmost-graph/1\",\"nodes\":[{\"host\":\"localhost\",\"path\":\"/shop/\",\"kind\":\"html\",\
                 \"bytes\":1}],\"edges\":[]}";
    std::fs::write(folder.path().join("shop.json"), graph).expect("written");
    let push = include_str!("../../../examples/push.toml");
    let config = Config::parse(push, &folder.path().join("push.toml")).expect("good");
    assert_eq!(config.warnings, Vec::<String>::new());
    let paths: Vec<&str> = config.routes.iter().map(|it| it.path.as_str()).collect();
    let expected = ["/index.html", "/", "/assets/*", "/shop/", "/shop/index.html", "/app/*"];
    assert_eq!(paths, expected);
}

#[test]
fn the_example_of_a_backend_with_websockets_is_read_without_a_warning() {
    let text = include_str!("../../../docs/serve-backend.md");
    let mut examples = text.split("```toml\n").skip(1).filter_map(|it| it.split("```").next());
    let example = examples.find(|it| it.contains("websockets = ")).expect("an example");
    let config = Config::parse(example, Path::new("site.toml")).expect("good");
    assert!(config.takes_websockets());
    assert_eq!(config.warnings, Vec::<String>::new());
}

#[test]
fn the_example_of_a_page_with_its_own_order_is_read_without_a_warning() {
    let text = include_str!("../../../docs/serve-site.md");
    let example = text.split("```toml\n").skip(1).find(|it| it.contains("facts = "));
    let example = example.and_then(|it| it.split("```").next()).expect("an example");
    let config = Config::parse(example, Path::new("site.toml")).expect("good");
    assert_eq!(config.warnings, Vec::<String>::new());
    let told: Vec<&str> = config.directives.keys().map(String::as_str).collect();
    assert_eq!(told, ["/shop/hero.jpg", "/shop/late.css"]);
}

#[test]
fn a_backend_may_be_for_one_host() {
    let text = "[site]\nroot = \"a\"\n[[route]]\nhost = \"b.test\"\npath = \"/*\"\nupstream = \"http://b\"";
    let config = Config::parse(text, Path::new("x.toml")).expect("good");
    assert_eq!(config.routes[0].host.as_deref(), Some("b.test"));
}

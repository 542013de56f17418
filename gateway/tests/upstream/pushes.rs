//! Pushes and hints that a backend requests, and those that it must not get.

use crate::Proxy;
use crate::backend::{self, Backend, Talk};
use crate::fetch::{Ask, Fetched, fetch};
use gateway::UpstreamLimits;
use gateway::site::{Pushing, Rule};
use push::guard::CookiePolicy;
use std::net::TcpStream;

/// `/` is a page that names the pushes; the rest are its resources.
fn talk(head: &str, stream: &mut TcpStream) {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let fields = match path {
        "/" => {
            "Content-Type: text/html\r\nLink: </a.css>; rel=preload; as=style, </b.js>; rel=preload; nopush\r\n\
                Link: <https://other.example/c.js>; rel=preload\r\nX-Push: /d.js\r\n"
        }
        "/hostile" => {
            "Content-Type: text/html\r\nX-Push: /c d.js, //e.js, https://site.example/f.js, /g\u{e9}.js, /h.js#i, /ok.js\r\n\
             Link: </c d.css>; rel=preload, <//e.css>; rel=preload, </%0d%0aa:b.css>; rel=preload, </../f.css>; rel=preload\r\n\
             Link: <<<>>; rel=preload, </g.css>;;;;rel=\"preload\\\", </ok.css>; rel=preload\r\n"
        }
        "/login" => {
            "Content-Type: text/html\r\nSet-Cookie: session=USER; Path=/\r\n\
             Link: </session.js>; rel=preload, </basket.js>; rel=preload, </once.js>; rel=preload\r\n"
        }
        // Starts a session for a client without one.
        "/session.js" if !head.contains("session=") => "Set-Cookie: session=ANON; Path=/\r\n",
        "/basket.js" => "Cache-Control: private\r\n",
        "/once.js" => "Cache-Control: no-store\r\n",
        "/mine" => {
            "Content-Type: text/html\r\nCache-Control: private, no-store\r\nLink: </of-alice.css>; rel=preload; as=style\r\n"
        }
        "/cookie.js" => "Vary: Cookie\r\n",
        "/origin.js" => "Vary: Origin\r\n",
        "/all.js" => "Vary: *\r\n",
        "/language.js" => "Vary: Accept-Language\r\n",
        // Only for requests that come from a page, unlike promised requests.
        "/linked.js" if !head.contains("\r\nreferer: ") => {
            return backend::say(stream, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        }
        "/hinting" => {
            backend::say(
                stream,
                "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Secret: 1\r\nLink: </a.css>; rel=preload; as=style\r\n\
                 Link: </next>; rel=next\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b.css>; rel=preload\r\n\r\n",
            );
            "Content-Type: text/html\r\n"
        }
        "/gone.js" => {
            return backend::say(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
        "/broken.js" => {
            backend::say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
            return backend::hang_up(stream);
        }
        _ => "",
    };
    let length = path.len();
    backend::say(
        stream,
        &format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {length}\r\n\r\n{path}"),
    );
}

/// What a client gets for each of `asks`, each on a separate connection.
fn visits(path: &str, pushing: &Pushing, asks: &[Ask]) -> Vec<Fetched> {
    let backend = Backend::start(talk as Talk);
    let proxy = Proxy::start(
        backend.address,
        &UpstreamLimits::default(),
        vec![Rule::pushing(path, pushing.clone())],
    );
    asks.iter().map(|it| fetch(proxy.address, std::slice::from_ref(it), 20).remove(0)).collect()
}

fn promises(fetched: &Fetched) -> String {
    let lines = fetched.promises.iter().map(|(path, outcome)| format!("{path}: {outcome}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn link_and_x_push_fields_of_the_backend_name_pushes() {
    let pushing = Pushing { push_preload: true, x_push: true, ..Pushing::default() };
    let got = visits("/", &pushing, &[Ask::get("/")]).remove(0);
    assert_eq!((got.status, got.body.as_slice()), (200, &b"/"[..]));
    assert_eq!(promises(&got), "/a.css: 200 /a.css\n/d.js: 200 /d.js");
}

#[test]
fn a_pushed_response_that_the_guard_forbids_is_taken_back_and_then_not_promised() {
    let paths = [
        "/plain.js",
        "/cookie.js",
        "/origin.js",
        "/all.js",
        "/language.js",
        "/gone.js",
        "/broken.js",
    ];
    let pushing = Pushing { push: paths.map(str::to_owned).into(), ..Pushing::default() };
    let visits = visits("/", &pushing, &[Ask::get("/"), Ask::get("/")]);
    let first = "/all.js: cancelled\n/broken.js: cancelled\n/cookie.js: cancelled\n/gone.js: cancelled\n\
                 /language.js: cancelled\n/origin.js: cancelled\n/plain.js: 200 /plain.js";
    assert_eq!(promises(&visits[0]), first);
    assert_eq!(promises(&visits[1]), "/broken.js: cancelled\n/plain.js: 200 /plain.js");
    assert!(visits.iter().all(|it| it.status == 200 && it.finished));
}

#[test]
fn a_push_starts_no_session_and_carries_nothing_meant_for_one_client() {
    let pushing = Pushing { push_preload: true, ..Pushing::default() };
    let visited = visits("/login", &pushing, &[Ask::get("/login"), Ask::get("/login")]);
    let first = "/basket.js: cancelled\n/once.js: cancelled\n/session.js: cancelled";
    assert_eq!((promises(&visited[0]).as_str(), promises(&visited[1]).as_str()), (first, ""));
    assert_eq!(visited[0].field("set-cookie"), Some("session=USER; Path=/"));
    // With the cookies of the client's own request, the push is what the client would get.
    let known = Pushing { cookies: CookiePolicy::SamePath, ..pushing };
    let got = visits("/login", &known, &[Ask::get("/login")]).remove(0);
    let expected = "/basket.js: 200 /basket.js\n/once.js: cancelled\n/session.js: 200 /session.js";
    assert_eq!(promises(&got), expected);
}

/// RFC 9114, 4.6. Server: pushes only to paths of the site itself.
#[test]
fn hostile_fields_promise_nothing_but_paths() {
    let pushing = Pushing { push_preload: true, x_push: true, ..Pushing::default() };
    let got = visits("/hostile", &pushing, &[Ask::get("/hostile")]).remove(0);
    assert_eq!((got.status, got.finished), (200, true));
    let expected = "/%0d%0aa:b.css: 200 /%0d%0aa:b.css\n/ok.js: 200 /ok.js";
    assert_eq!(promises(&got), expected);
}

#[test]
fn a_cancelled_promise_is_not_repeated_though_a_client_gets_the_resource() {
    let pushing = Pushing { push: vec!["/linked.js".into()], ..Pushing::default() };
    let linked = Ask::get("/linked.js").with("referer", "https://site.example/");
    let visits = visits("/", &pushing, &[Ask::get("/"), linked, Ask::get("/")]);
    assert_eq!(promises(&visits[0]), "/linked.js: cancelled");
    assert_eq!((visits[1].status, promises(&visits[2])), (200, String::new()));
}

#[test]
fn early_hints_of_the_backend_go_to_navigations_once_and_name_pushes() {
    let cors = Ask::get("/hinting").with("sec-fetch-mode", "cors");
    let navigation = Ask::get("/hinting").with("sec-fetch-mode", "navigate");
    let hint = "</a.css>; rel=preload; as=style".to_owned();
    let pushing = Pushing::default();
    let got = visits("/hinting", &pushing, &[navigation.clone(), cors]);
    assert_eq!((got[0].hints.clone(), promises(&got[0])), (vec![hint], String::new()));
    assert_eq!((got[0].status, got[0].body.as_slice()), (200, &b"/hinting"[..]));
    assert_eq!((got[1].hints.len(), got[1].status), (0, 200));
    let own = "</own.css>; rel=preload".to_owned();
    let pushing = Pushing { push_preload: true, early_hints: vec![own.clone()], ..pushing };
    let got = visits("/hinting", &pushing, &[navigation]).remove(0);
    assert_eq!((got.hints.clone(), promises(&got)), (vec![own], "/a.css: 200 /a.css".to_owned()));
}

#[test]
fn a_kept_connection_tells_each_request_of_its_own_early_hints() {
    let backend = Backend::start(talk as Talk);
    let limits = UpstreamLimits { requests: 1, ..UpstreamLimits::default() };
    let proxy = Proxy::start(backend.address, &limits, vec![]);
    let asks = ["/hinting", "/", "/hinting", "/plain"].map(Ask::get);
    let got = fetch(proxy.address, &asks, 0);
    let hints: Vec<usize> = got.iter().map(|it| it.hints.len()).collect();
    assert_eq!((hints, backend.connections()), (vec![1, 0, 1, 0], 1));
}

#[test]
fn a_push_repeats_the_request_fields_that_its_response_varies_on() {
    let pushing = Pushing { push: vec!["/language.js".into()], ..Pushing::default() };
    let got = visits("/", &pushing, &[Ask::get("/").with("accept-language", "la")]).remove(0);
    assert_eq!(promises(&got), "/language.js: 200 /language.js");
}

#[test]
fn hints_leave_while_the_backend_thinks() {
    let hint = "</a.css>; rel=preload; as=style".to_owned();
    let pushing = Pushing { early_hints: vec![hint.clone()], ..Pushing::default() };
    let got = visits("/", &pushing, &[Ask::get("/"), Ask::get("/").with("sec-fetch-mode", "cors")]);
    assert_eq!((got[0].hints.clone(), got[1].hints.clone()), (vec![hint], Vec::new()));
}

#[test]
fn hints_are_learned_from_the_last_answer() {
    let pushing = Pushing { learn_hints: true, ..Pushing::default() };
    let got = visits("/", &pushing, &[Ask::get("/"), Ask::get("/")]);
    let learned = "</a.css>; rel=preload; as=style, </b.js>; rel=preload; nopush";
    let other = "<https://other.example/c.js>; rel=preload";
    assert_eq!((got[0].hints.len(), got[1].hints.join("\n")), (0, format!("{learned}\n{other}")));
}

#[test]
fn hints_are_not_learned_from_one_clients_response() {
    let pushing = Pushing { learn_hints: true, ..Pushing::default() };
    let alice = Ask::get("/mine").with("cookie", "u=alice");
    let got = visits("/mine", &pushing, &[alice, Ask::get("/mine")]);
    assert!(got[0].field("link").is_some_and(|it| it.contains("/of-alice.css")));
    assert_eq!(got[1].hints, Vec::<String>::new());
}

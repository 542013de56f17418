//! The pages of the experiment, the network, and the ways in which a page's resources get to the client.

use crate::bench::{Case, Times};
use crate::sketch::{Found, Sketch};
use corpus::Page;
use lab::network::Network;
use schedulers::Kind;
use simulator::link::Profile;
use std::sync::Arc;

pub(super) const RTT_MS: f64 = 100.0;

/// Bytes of demo.html and style.css, as `nghttp` lists them in the article.
const HTML_BYTES: u64 = 492;
const CSS_BYTES: u64 = 266;

/// The article's images: "40K" and "173K".
pub(super) const IMAGES_BYTES: [u64; 2] = [40 * 1024, 173 * 1024];

/// Images that fit in a packet together with the rest of the page.
pub(super) const TINY_BYTES: [u64; 2] = [200, 200];

/// Bytes of each resource where early hints are compared with pushes.
pub(super) const HINTED_BYTES: u64 = 20 * 1024;

/// NGINX's initial window, in packets.
pub(super) const WINDOW_PACKETS: usize = 10;

/// The article's page: the style sheet names the images.
pub(super) fn demo(name: &str, images: [u64; 2]) -> Arc<Page> {
    let mut sketch = Sketch::new(name, HTML_BYTES)
        .item("/style.css", Kind::Css, CSS_BYTES, Found::End(0))
        .item("/image1.jpg", Kind::Image, images[1], Found::Applied(1))
        .item("/image2.jpg", Kind::Image, images[0], Found::Applied(1));
    "/demo.html".clone_into(&mut sketch.items[0].path);
    sketch.page()
}

/// A document that takes `wait_ms` to make. Its head names a style sheet, at whose end stands a script.
pub(super) fn hinted(wait_ms: f64) -> Arc<Page> {
    Sketch::new("hinted", HINTED_BYTES)
        .thinking(wait_ms)
        .item("/style.css", Kind::Css, HINTED_BYTES, Found::Head)
        .script("/app.js", HINTED_BYTES, Found::End(1))
        .page()
}

pub(super) fn pages() -> Vec<Arc<Page>> {
    vec![demo("demo-tiny", TINY_BYTES), demo("demo", IMAGES_BYTES), hinted(0.0)]
}

/// A first visit at this rate, in bits a second. Requests and acknowledgements never wait.
pub(super) fn case(page: Arc<Page>, rate: f64, window_packets: usize) -> Case {
    let network = Network {
        name: "nginx-push".into(),
        server_pace: false,
        down: Profile::plain(rate, RTT_MS / 2.0),
        up: Profile::plain(f64::INFINITY, RTT_MS / 2.0),
    };
    Case::new(page, network, window_packets)
}

/// A first visit without a limit of bandwidth to the article's page.
pub(super) fn demo_case() -> Case {
    case(demo("demo", IMAGES_BYTES), f64::INFINITY, WINDOW_PACKETS)
}

pub(super) fn pushing(case: Case) -> Case {
    let page = Arc::clone(&case.page);
    case.pushing(page.resources[1..].iter().map(|it| it.url.as_str()))
}

/// A `Link` field that preloads everything but the document, as NGINX's `add_header` makes it.
pub(super) fn preloads(page: &Page) -> (&'static str, String) {
    let links = page.resources[1..].iter().map(|resource| {
        let destination = match resource.kind {
            Kind::Css => "style",
            Kind::Js => "script",
            _ => "image",
        };
        format!("<{}>; as={destination}; rel=preload", resource.url)
    });
    ("link", links.collect::<Vec<_>>().join(", "))
}

pub(super) fn linked(mut case: Case) -> Case {
    case.fields.push(preloads(&case.page));
    case
}

pub(super) fn round_trips(ms: f64) -> f64 {
    ms / RTT_MS
}

pub(super) fn used(times: &Times) -> Vec<usize> {
    times.outcome.pushed.iter().filter(|(_, used)| *used).map(|(id, _)| *id).collect()
}

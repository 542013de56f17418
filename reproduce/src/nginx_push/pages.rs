//! The pages of the experiment.

use corpus::Page;
use serde_json::json;
use std::sync::Arc;

/// The host of all.
const HOST: &str = "site.example";

/// Bytes of demo.html and style.css, as `nghttp` lists them in the article.
pub(super) const HTML_BYTES: u64 = 492;
pub(super) const CSS_BYTES: u64 = 266;

/// The article's images: "40K" and "173K".
pub(super) const IMAGES_BYTES: [u64; 2] = [40 * 1024, 173 * 1024];

/// Images that fit in a packet together with all the rest.
pub(super) const TINY_BYTES: [u64; 2] = [200, 200];

/// Bytes of each resource where early hints are compared with pushes.
pub(super) const HINTED_BYTES: u64 = 20 * 1024;

/// The article's page: the style sheet names the images.
pub(super) fn demo(name: &str, images: [u64; 2]) -> Arc<Page> {
    let image = |id: usize, path: &str, bytes: u64| {
        json!({"id": id, "url": path, "kind": "image", "mime": "image/jpeg", "bytes": bytes,
            "trigger": {"on": "css_applied", "of": 1}})
    };
    page(
        name,
        &json!([
            {"id": 0, "url": "/demo.html", "kind": "html", "mime": "text/html", "bytes": HTML_BYTES, "main": true,
                "trigger": {"on": "nav"}},
            {"id": 1, "url": "/style.css", "kind": "css", "mime": "text/css", "bytes": CSS_BYTES, "in_head": true,
                "trigger": {"on": "complete", "of": 0}},
            image(2, "/image1.jpg", images[1]),
            image(3, "/image2.jpg", images[0]),
        ]),
    )
}

/// A document that takes `wait_ms` to make, whose head names a style sheet, at whose end stands a script.
pub(super) fn hinted(wait_ms: f64) -> Arc<Page> {
    page(
        "hinted",
        &json!([
            {"id": 0, "url": "/", "kind": "html", "mime": "text/html", "bytes": HINTED_BYTES, "main": true,
                "wait_ms": wait_ms, "trigger": {"on": "nav"}},
            {"id": 1, "url": "/style.css", "kind": "css", "mime": "text/css", "bytes": HINTED_BYTES, "in_head": true,
                "trigger": {"on": "bytes", "of": 0, "byte": 1}},
            {"id": 2, "url": "/app.js", "kind": "js", "mime": "text/javascript", "bytes": HINTED_BYTES,
                "trigger": {"on": "complete", "of": 1}},
        ]),
    )
}

/// Those that are loaded, for the provenance.
pub(super) fn all() -> Vec<Arc<Page>> {
    vec![demo("demo-tiny", TINY_BYTES), demo("demo", IMAGES_BYTES), hinted(0.0)]
}

fn page(name: &str, resources: &serde_json::Value) -> Arc<Page> {
    let page = json!({
        "format": "utmost-page/1", "name": name,
        "source": {"kind": "hand", "from": "reproduce nginx-push", "licence": "CC0-1.0"},
        "viewport": [1366, 768],
        "origins": [{"host": HOST, "party": "first"}],
        "resources": resources,
    });
    Arc::new(serde_json::from_value(page).expect("written above"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_sound() {
        for page in all() {
            assert!(corpus::check(&page).is_empty(), "{}: {:?}", page.name, corpus::check(&page));
        }
    }
}

//! Test pages in outline, as publications describe them: once for a model and once for the program.

use corpus::Page;
use corpus::generate::mime;
use corpus::page::{Event, Origin, PageResource, Script, Source, SourceKind, Trigger};
use schedulers::Kind;
use std::sync::Arc;

/// A kilobyte of the source: its formulas are closest to the printed values with 1024 bytes.
pub(crate) const KB: u64 = 1024;

/// A page: the document first.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    pub(crate) name: String,
    pub(crate) items: Vec<Item>,
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) found: Found,
    /// Time from the request until the server has it.
    pub(crate) wait_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// By the navigation: the document.
    Navigation,
    /// With the first packet of the document, whose head names it.
    Head,
    /// With the last byte of this one: a script that writes a reference, or a document whose end names it.
    End(usize),
    /// When this style sheet, which names it, is applied.
    Applied(usize),
}

impl Sketch {
    pub(crate) fn new(name: impl Into<String>, html_bytes: u64) -> Self {
        let html = Item {
            path: "/".into(),
            kind: Kind::Html,
            bytes: html_bytes,
            found: Found::Navigation,
            wait_ms: 0.0,
        };
        Self { name: name.into(), items: vec![html] }
    }

    pub(crate) fn script(self, path: &str, bytes: u64, found: Found) -> Self {
        self.item(path, Kind::Js, bytes, found)
    }

    /// Adds scripts in the head, `/1.js` first.
    pub(crate) fn scripts(self, count: usize, bytes: u64) -> Self {
        (1..=count).fold(self, |it, n| it.script(&format!("/{n}.js"), bytes, Found::Head))
    }

    pub(crate) fn item(mut self, path: &str, kind: Kind, bytes: u64, found: Found) -> Self {
        self.items.push(Item { path: path.into(), kind, bytes, found, wait_ms: 0.0 });
        self
    }

    pub(crate) fn thinking(mut self, wait_ms: f64) -> Self {
        self.items[0].wait_ms = wait_ms;
        self
    }

    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.items.iter().position(|it| it.path == path)
    }

    /// As a page that the server serves and the client plays back; nothing takes time to evaluate.
    pub(crate) fn page(&self) -> Arc<Page> {
        let resources = self.items.iter().enumerate().map(|(id, it)| self.resource(id, it));
        let licence = "MIT OR Apache-2.0";
        let source = Source::new(SourceKind::Hand, "utmost reproduce".into(), licence);
        let origins = vec![Origin::own("site.example")];
        let page = Page::new(self.name.clone(), source, origins, resources.collect());
        Arc::new(Page { viewport: [360, 640], ..page })
    }

    fn resource(&self, id: usize, item: &Item) -> PageResource {
        let (on, of, byte) = match item.found {
            Found::Navigation => (Event::Nav, 0, None),
            Found::Head => (Event::Bytes, 0, Some(1)),
            Found::End(of) if self.items[of].kind == Kind::Js => (Event::Timer, of, None),
            Found::End(of) => (Event::Complete, of, None),
            Found::Applied(of) => (Event::CssApplied, of, None),
        };
        let needed_to_render = item.kind != Kind::Image;
        PageResource {
            wait_ms: item.wait_ms,
            script: (item.kind == Kind::Js).then_some(Script::Sync),
            in_head: needed_to_render && (item.found == Found::Head || item.kind == Kind::Css),
            critical: needed_to_render,
            above_fold: needed_to_render,
            trigger: Trigger { on, of, byte, ..Trigger::default() },
            ..PageResource::plain(id, item.path.clone(), mime(item.kind).into(), item.bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_is_a_valid_page() {
        let sketch = Sketch::new("order", 10 * KB)
            .script("/1.js", 5 * KB, Found::Head)
            .script("/2.js", 10 * KB, Found::End(1))
            .item("/a.jpg", Kind::Image, 1, Found::Head)
            .script("/tail.js", 1, Found::End(0));
        let page = sketch.page();
        Page::parse(&page.to_text(), "sketch").expect("valid");
        assert_eq!(sketch.find("/2.js"), Some(2));
    }
}

//! The bundled page `davies-meenan-public` compared with Chromium: a page of the same structure and sizes, with our own
//! bodies.

use crate::browser::has;
use corpus::Page;
use corpus::page::{Event, PageResource};
use recorder::browser::Chromium;
use recorder::installed::Kind;
use recorder::session::LocalServer;
use recorder::site::HOST;
use server::site::header::CONTENT_TYPE;
use server::site::{Body, Request, Response, Site};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// After the first part of the document arrived, and how long `top.js` takes.
const REST_MS: u64 = 1500;
const TOP_MS: u64 = 3000;

struct Imitation {
    page: Page,
    document: String,
    /// Bytes of the document that arrive at once.
    first_bytes: u64,
}

impl Site for Imitation {
    fn respond(&self, request: &Request) -> Response {
        let resources = self.page.resources.iter();
        let Some(resource) = resources.clone().find(|it| it.url == request.path) else {
            return Response::empty(404);
        };
        let length = usize::try_from(resource.bytes).unwrap();
        let body = match (resource.id, resource.mime.as_str()) {
            (0, _) => self.document.clone().into_bytes(),
            (_, "text/javascript") => vec![b';'; length],
            _ => vec![0; length],
        };
        let bytes = body.len() as u64;
        let ready = match resource.id {
            0 => vec![(0, self.first_bytes), (REST_MS, bytes)],
            1 => vec![(TOP_MS, bytes)],
            _ => vec![(0, bytes)],
        };
        Response {
            headers: server::site::fields::fields([(CONTENT_TYPE, resource.mime.clone())]),
            ready: ready.into_iter().map(|(ms, to)| (Duration::from_millis(ms), to)).collect(),
            body: Body::Bytes(body.into()),
            ..Response::empty(200)
        }
    }
}

/// A document with the page's references, each of which ends at the byte given in the page.
fn document(page: &Page) -> String {
    let by_name = |part: &str| page.resources.iter().find(|it| it.url.contains(part)).unwrap();
    let (background, font) = (by_name("background"), by_name("woff2"));
    let mut text = format!(
        "<!DOCTYPE html><html><head><style>@font-face{{font-family:F;font-display:block;src:url({})}}\
         body{{font-family:F;background-image:url({})}} .spacer{{height:4000px}} img{{width:600px;height:400px}}</style>",
        font.url, background.url
    );
    ends_at(&mut text, background, "</head><body>");
    ends_at(&mut text, font, "<h1>T");
    text += "est</h1><img id=visible>";
    ends_at(&mut text, by_name("top.js"), "<script src=/resources/top.js></script>");
    let visible = by_name("visible");
    let script =
        format!("<script>document.getElementById('visible').src='{}'</script>", visible.url);
    ends_at(&mut text, visible, &script);
    text += "<div class=spacer></div>";
    for hidden in page.resources.iter().filter(|it| it.url.contains("hidden")) {
        ends_at(&mut text, hidden, &format!("<img src={}>", hidden.url));
    }
    let bottom = by_name("bottom.js");
    let script =
        format!("<script>document.write('<scr'+'ipt src={}></scr'+'ipt>')</script>", bottom.url);
    ends_at(&mut text, bottom, &script);
    text += "</body></html>";
    let bytes = page.resources[0].bytes;
    format!("{text:<0$}", usize::try_from(bytes).unwrap())
}

/// Appends `markup` so that it ends at the byte of the resource's trigger; for a script, so that its opening tag does.
fn ends_at(text: &mut String, resource: &PageResource, markup: &str) {
    assert_eq!((resource.trigger.on, resource.trigger.of), (Event::Bytes, 0), "{}", resource.url);
    let end = usize::try_from(resource.trigger.byte.unwrap()).unwrap();
    let counted =
        markup.strip_suffix("</script>").filter(|it| it.contains("top.js")).unwrap_or(markup);
    let room = end.checked_sub(text.len() + counted.len());
    let room = room.unwrap_or_else(|| panic!("{}: no room before byte {end}", resource.url));
    text.push_str(&" ".repeat(room));
    text.push_str(markup);
}

/// When Chromium requests each resource, if the document's first bytes arrive long before the others.
fn asked_ms(page: &Page, first_bytes: u64) -> BTreeMap<String, f64> {
    let site = Imitation { page: page.clone(), document: document(page), first_bytes };
    let server = LocalServer::start(Arc::new(site)).unwrap();
    let chromium = Chromium::start(HOST, server.port, &server.pin).unwrap();
    let url = format!("https://{HOST}{}", page.resources[0].url);
    let visited = chromium.visit(&url, Duration::from_millis(TOP_MS + 1000)).unwrap();
    let document_ms = visited.fetches[0].requested_ms;
    let path = |url: &str| url.trim_start_matches(&format!("https://{HOST}")).to_owned();
    let fetches = visited.fetches.iter();
    fetches.map(|it| (path(&it.url), it.requested_ms - document_ms)).collect()
}

#[test]
fn chromium_asks_for_the_public_page_of_davies_and_meenan_for_the_causes_that_it_has() {
    if !has(Kind::Chromium) {
        return;
    }
    let page = corpus::bundled("davies-meenan-public").unwrap();
    // The first packet of the paper's network: the text, and the tag of top.js.
    let first_bytes = 1400;
    let asked_ms = asked_ms(page, first_bytes);
    // What the first part of the document makes known, what the rest does, and what waits for top.js.
    let mut groups: [Vec<f64>; 3] = Default::default();
    for resource in &page.resources[1..] {
        let trigger = &resource.trigger;
        let group = match trigger.needs.as_slice() {
            [1] => 2,
            _ if trigger.byte.unwrap() > first_bytes => 1,
            _ => 0,
        };
        let asked_ms = asked_ms.get(&resource.url);
        groups[group].push(*asked_ms.unwrap_or_else(|| panic!("{}: not asked for", resource.url)));
    }
    assert_eq!(groups.each_ref().map(Vec::len), [3, 30, 2]);
    let [known, hidden, late] = groups.map(|mut it| {
        it.sort_by(f64::total_cmp);
        (it[0], it[it.len() - 1])
    });
    assert!(known.1 < hidden.0 && hidden.1 < late.0, "{known:?} {hidden:?} {late:?}");
    assert!(hidden.0 >= REST_MS as f64 && late.0 >= TOP_MS as f64, "{hidden:?} {late:?}");
}

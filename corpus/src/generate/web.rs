//! The bundled pages of the set `web`: pages of public sites, grown to the sizes of today's web pages.

use super::draw::whole;
use super::quantiles;
use super::{Growth, grow};
use crate::page::{Page, SourceKind};
use crate::sets::kept_pages;

/// The pages of the set `web`, each with its name: every imported page of `first-60` twice, once in the smaller half of the web's
/// pages and once in the larger. Each has its own level in the published percentiles of requests, and one in the percentiles of
/// bytes. The levels are evenly spaced, and assigned by the templates' ranks among themselves.
pub fn web_pages() -> Vec<Page> {
    let templates: Vec<&Page> =
        kept_pages().into_iter().filter(|it| it.source.kind == SourceKind::Imported).collect();
    let count = templates.len();
    let by_resources = ranks(&templates, |it| it.resources.len() as u64);
    let by_bytes = ranks(&templates, Page::body_bytes);
    let mut pages = Vec::new();
    for (half, size) in ["small", "large"].into_iter().enumerate() {
        for (place, template) in templates.iter().enumerate() {
            let resources_level = level(half * count + by_resources[place], 2 * count);
            let bytes_level = level(half * count + by_bytes[place], 2 * count);
            let growth = Growth {
                seed: (half * count + place) as u64,
                resources: whole(quantiles::web_requests(resources_level)),
                bytes: whole(quantiles::web_bytes(bytes_level)) as u64,
            };
            if let Ok(page) = grow(template, &growth)
                && let Some((_, site)) = template.name.split_once('-')
            {
                let site = site.strip_prefix("har-").unwrap_or(site);
                pages.push(Page { name: format!("web-{site}-{size}"), ..page });
            }
        }
    }
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

/// The level of a rank among `count`, from 0 to 1.
fn level(rank: usize, count: usize) -> f64 {
    (rank as f64 + 0.5) / count as f64
}

/// The rank of each page by `of`, from 0; equal pages keep the list's order.
fn ranks(pages: &[&Page], of: impl Fn(&Page) -> u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by_key(|it| of(pages[*it]));
    let mut ranks = vec![0; pages.len()];
    for (rank, place) in order.into_iter().enumerate() {
        ranks[place] = rank;
    }
    ranks
}

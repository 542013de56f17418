//! Pages grown from a page: its structure, with the numbers of resources and bytes of another web page.
//!
//! Recordings of sites show which resource references which, what is above the fold, and how kinds mix; no published
//! distribution does. Published distributions show how large pages are today; few recordings do.

use super::draw::{Draw, whole};
use super::{RESOURCES, ShapeError, check_bytes, set_order, url};
use crate::page::{Event, Page, PageResource, Source, SourceKind};
use schedulers::Kind;

/// The largest file of a grown page, as large as the largest in recorded pages. A larger one would be a download.
pub const FILE_BYTES_MAX: u64 = 2_000_000;

const ASSUMPTIONS: &[&str] = &[
    "causes, roles, kinds and hosts are those of the template; a copy has the cause of its original, and its size times 0.5 to \
     1.5; hero images are not copied; resources that a smaller page lacks are those that no other waits for, drawn at random",
    "a copy of an image or of data that the document's text names stands anywhere behind its original, other copies at its \
     place",
    "the document keeps its size, as far as it is at most half of the page; all other sizes and their times on the main \
     thread grow by one factor, up to 2 MB a file",
];

/// How a page grows from a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// Decides all that is drawn.
    pub seed: u64,
    /// Resources with the document.
    pub resources: usize,
    /// Body bytes of the page.
    pub bytes: u64,
}

/// The page with this number of resources and bytes and the structure of `template`. It passes [`crate::check()`] if the
/// template does. It belongs to the template's site, because the two are not independent.
pub fn grow(template: &Page, growth: &Growth) -> Result<Page, ShapeError> {
    check_size(growth)?;
    if template.resources.len() < 2 {
        return Err(ShapeError::Bare(template.name.clone()));
    }
    let mut draw = Draw::new(growth.seed);
    let originals = chosen(template, growth.resources, &mut draw);
    let mut resources = with_copies(template, &originals, growth.resources, &mut draw);
    resize(&mut resources, growth.bytes);
    set_order(&mut resources);
    Ok(Page {
        name: format!("{}-{}-{}", template.name, growth.resources, growth.seed),
        source: source(template, growth),
        resources,
        ..template.clone()
    })
}

fn check_size(growth: &Growth) -> Result<(), ShapeError> {
    if !RESOURCES.contains(&growth.resources) {
        return Err(ShapeError::Resources(growth.resources));
    }
    check_bytes(growth.bytes)?;
    let most = growth.resources as u64 * FILE_BYTES_MAX / 2;
    if growth.bytes > most {
        return Err(ShapeError::Files { bytes: growth.bytes, most });
    }
    Ok(())
}

fn source(template: &Page, growth: &Growth) -> Source {
    let from = format!(
        "utmost corpus generate --template {} --seed {} --resources {} --bytes {}",
        template.name, growth.seed, growth.resources, growth.bytes
    );
    Source {
        site: Some(template.site().to_owned()),
        assumptions: ASSUMPTIONS.iter().map(|&it| it.to_owned()).collect(),
        ..Source::new(SourceKind::Generated, from, &template.source.licence)
    }
}

/// The IDs of at most `count` resources that stay. Removes leaves until few enough are left, but keeps heroes.
fn chosen(template: &Page, count: usize, draw: &mut Draw) -> Vec<usize> {
    let all = &template.resources;
    let mut waiters = vec![0_usize; all.len()];
    for parent in all.iter().flat_map(parents) {
        waiters[parent] += 1;
    }
    let mut stays = vec![true; all.len()];
    for _ in count..all.len() {
        let leaves = (1..all.len()).filter(|&it| stays[it] && waiters[it] == 0);
        let (heroes, others): (Vec<usize>, Vec<usize>) = leaves.partition(|&it| all[it].hero);
        let found = if others.is_empty() { heroes } else { others };
        let Some(&gone) = found.get(draw.below(found.len())) else { break };
        stays[gone] = false;
        for parent in parents(&all[gone]) {
            waiters[parent] -= 1;
        }
    }
    (0..all.len()).filter(|it| stays[*it]).collect()
}

fn parents(it: &PageResource) -> impl Iterator<Item = usize> + '_ {
    let of = (it.id != 0).then_some(it.trigger.of);
    of.into_iter().chain(it.trigger.needs.iter().copied())
}

/// The originals and their copies, `count` in all, each original before its copies.
fn with_copies(
    template: &Page,
    originals: &[usize],
    count: usize,
    draw: &mut Draw,
) -> Vec<PageResource> {
    let all = &template.resources;
    let mut copies = vec![0_usize; all.len()];
    let others = &originals[1..];
    let plain: Vec<usize> = others.iter().copied().filter(|it| !all[*it].hero).collect();
    // If a page has only a document and heroes, the heroes are copied.
    let may = if plain.is_empty() { others } else { &plain };
    for _ in originals.len()..count {
        copies[may[draw.below(may.len())]] += 1;
    }
    let mut place_of = vec![0; all.len()];
    let mut next = 0;
    for &id in originals {
        place_of[id] = next;
        next += 1 + copies[id];
    }
    let mut resources = Vec::with_capacity(next);
    let text_bytes = all[0].decoded_len();
    for &id in originals {
        for copy in 0..=copies[id] {
            let mut it = all[id].clone();
            it.id = resources.len();
            it.trigger.of = place_of[it.trigger.of];
            for need in &mut it.trigger.needs {
                *need = place_of[*need];
            }
            it.chunks.clear();
            if copy > 0 {
                set_apart(&mut it, text_bytes, draw);
            }
            if it.id != 0 {
                it.url = url(it.id, it.kind);
            }
            resources.push(it);
        }
    }
    resources
}

/// Gives a copy its own size and place.
fn set_apart(it: &mut PageResource, text_bytes: u64, draw: &mut Draw) {
    resize_one(it, 0.5 + draw.share());
    (it.hero, it.main) = (false, false);
    let is_loose = matches!(it.kind, Kind::Image | Kind::Media | Kind::Xhr | Kind::Other);
    if let Some(byte) = it.trigger.byte.filter(|_| is_loose && it.trigger.of == 0) {
        let behind = text_bytes.saturating_sub(byte) as f64 * draw.share();
        it.trigger.byte = Some(byte + whole(behind) as u64);
    }
}

fn resize(resources: &mut [PageResource], bytes: u64) {
    let before: Vec<u64> = resources.iter().map(PageResource::decoded_len).collect();
    let document = resources[0].bytes.clamp(1, bytes / 2);
    let factor = document as f64 / resources[0].bytes.max(1) as f64;
    resize_one(&mut resources[0], factor);
    resources[0].bytes = document;
    let targets = shared_out(&resources[1..], bytes - document);
    for (it, target) in resources[1..].iter_mut().zip(targets) {
        resize_one(it, target as f64 / it.bytes.max(1) as f64);
        it.bytes = target;
    }
    let after: Vec<u64> = resources.iter().map(PageResource::decoded_len).collect();
    for resource in resources.iter_mut().filter(|resource| resource.trigger.on == Event::Bytes) {
        let (old, new) = (before[resource.trigger.of].max(1), after[resource.trigger.of]);
        resource.trigger.byte = resource.trigger.byte.map(|byte| {
            let scaled = whole(byte as f64 * new as f64 / old as f64);
            (scaled as u64).clamp(1, new.max(1))
        });
    }
}

/// Distributes `bytes` in proportion to the sizes of `resources`, at most [`FILE_BYTES_MAX`] each.
fn shared_out(resources: &[PageResource], bytes: u64) -> Vec<u64> {
    let sizes: Vec<f64> = resources.iter().map(|it| it.bytes.max(1) as f64).collect();
    let mut targets = vec![0_u64; sizes.len()];
    let mut open: Vec<usize> = (0..sizes.len()).collect();
    let mut left = bytes;
    while !open.is_empty() {
        let sum: f64 = open.iter().map(|it| sizes[*it]).sum();
        for &it in &open {
            targets[it] = whole((left as f64 * sizes[it] / sum).floor()) as u64;
        }
        let (full, rest): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|it| targets[**it] >= FILE_BYTES_MAX);
        if full.is_empty() {
            break;
        }
        for &it in &full {
            targets[it] = FILE_BYTES_MAX;
        }
        left = left.saturating_sub(FILE_BYTES_MAX * full.len() as u64);
        open = rest;
    }
    // The largest resource with room gets the rounding remainder.
    let rest = bytes.saturating_sub(targets.iter().sum());
    let with_room = targets.iter_mut().filter(|bytes| **bytes + rest <= FILE_BYTES_MAX);
    if let Some(largest) = with_room.max_by_key(|bytes| **bytes) {
        *largest += rest;
    }
    targets
}

/// Scales a resource, and its main-thread time in proportion, in whole tenths of a millisecond.
fn resize_one(it: &mut PageResource, factor: f64) {
    it.decoded_bytes = it.decoded_bytes.map(|bytes| scaled(bytes, factor));
    it.bytes = scaled(it.bytes, factor);
    it.exec_ms = (it.exec_ms * factor * 10.0).round() / 10.0;
}

fn scaled(bytes: u64, factor: f64) -> u64 {
    whole(bytes as f64 * factor) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bundled, check, discovery};

    fn grown(template: &str, resources: usize, bytes: u64) -> Page {
        let growth = Growth { seed: 1, resources, bytes };
        grow(bundled(template).expect("bundled"), &growth).expect("a page")
    }

    fn total(page: &Page) -> u64 {
        page.resources.iter().map(|it| it.bytes).sum()
    }

    #[test]
    fn every_recorded_and_imported_page_grows_and_shrinks_to_the_size_asked_for() {
        let kinds = [SourceKind::Recorded, SourceKind::Imported];
        for template in crate::kept_pages().into_iter().filter(|it| kinds.contains(&it.source.kind))
        {
            for (resources, bytes) in [(3, 30_000), (71, 2_652_000), (300, 20_000_000)] {
                let page = grown(&template.name, resources, bytes);
                assert_eq!(check(&page), [], "{}", page.name);
                assert_eq!(
                    (page.resources.len(), total(&page)),
                    (resources, bytes),
                    "{}",
                    page.name
                );
                assert!(
                    page.resources.iter().all(|it| it.bytes <= FILE_BYTES_MAX),
                    "{}",
                    page.name
                );
                assert_eq!(page.site(), template.site());
            }
        }
    }

    #[test]
    fn a_grown_page_discovers_as_deep_as_its_template_and_has_its_heroes() {
        for name in ["lighthouse-paulirish", "perfcascade-bbc", "gentelella-index"] {
            let template = bundled(name).expect("bundled");
            let page = grown(name, 300, 4_000_000);
            assert_eq!(discovery::depth(&page), discovery::depth(template), "{name}");
            let heroes = |page: &Page| page.resources.iter().filter(|it| it.hero).count();
            assert_eq!(heroes(&page), heroes(template), "{name}");
        }
    }

    #[test]
    fn the_share_above_the_fold_stays_near_the_templates() {
        let share = |page: &Page| {
            let above = page.resources.iter().filter(|it| it.above_fold).map(|it| it.bytes);
            above.sum::<u64>() as f64 / total(page) as f64
        };
        let template = share(bundled("perfcascade-enorm").expect("bundled"));
        let page = share(&grown("perfcascade-enorm", 124, 1_500_000));
        assert!(
            (template - 0.26).abs() < 0.01 && (page - template).abs() < 0.1,
            "{template} {page}"
        );
    }

    #[test]
    fn sizes_that_no_page_has_are_rejected() {
        let template = bundled("davies-meenan").expect("bundled");
        let refused = |resources, bytes| {
            grow(template, &Growth { seed: 1, resources, bytes }).unwrap_err().to_string()
        };
        assert_eq!(refused(2, 5000), "2 resources: use 3 to 5000");
        assert_eq!(refused(10, 5), "5 bytes: use 1000 to 1000000000");
        assert_eq!(
            refused(10, 11_000_000),
            "11000000 bytes in files of at most 2 MB: use at most 10000000, or more resources"
        );
    }
}

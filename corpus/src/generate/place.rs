//! References between resources: in the document's text, and the late discoveries behind it.

use super::Shape;
use super::draw::{Draw, whole};
use crate::import::derive::typical_exec_ms;
use crate::page::{Event, PageResource, Script, Trigger};
use schedulers::Kind;

/// Share of the document's text that is its head.
const HEAD_SHARE: f64 = 0.1;
/// The resources with levels, causes and roles; causes precede their effects.
pub(super) fn discoveries(
    resources: &[PageResource],
    shape: &Shape,
    draw: &mut Draw,
) -> Vec<PageResource> {
    let levels = levels(resources, shape, draw);
    let mut order: Vec<usize> = (0..resources.len()).collect();
    order.sort_by_key(|&id| (levels[id], text_order(&resources[id], id, draw_key(shape, id))));
    let mut placed: Vec<(usize, PageResource)> =
        order.iter().map(|&id| (levels[id], resources[id].clone())).collect();
    for (id, (_, it)) in placed.iter_mut().enumerate() {
        it.id = id;
        it.url = super::url(id, it.kind);
        it.exec_ms = typical_exec_ms(it);
    }
    place_in_text(&mut placed, draw);
    for id in 0..placed.len() {
        if placed[id].0 > 1 {
            placed[id].1.trigger = late(id, &placed, draw);
        }
    }
    let mut resources: Vec<PageResource> = placed.into_iter().map(|it| it.1).collect();
    set_roles(&mut resources, draw);
    resources
}

/// The number of discoveries before each resource; 0 for the document.
fn levels(resources: &[PageResource], shape: &Shape, draw: &mut Draw) -> Vec<usize> {
    let mut levels = vec![1; resources.len()];
    levels[0] = 0;
    let others = resources.len() - 1;
    let late = whole(others as f64 * shape.late_share);
    // One stylesheet stays in the text, to reference the others.
    let stylesheet = resources.iter().position(|it| it.kind == Kind::Css);
    let mut chosen: Vec<usize> =
        (1..resources.len()).filter(|&it| Some(it) != stylesheet).collect();
    draw.shuffle(&mut chosen);
    // Fonts first, as on real pages, then enough scripts for a chain, then any.
    let scripts: Vec<usize> =
        chosen.iter().copied().filter(|&it| resources[it].kind == Kind::Js).collect();
    let links = &scripts[..scripts.len().min(shape.depth.saturating_sub(1)).min(late)];
    chosen.sort_by_key(|id| match resources[*id].kind {
        _ if links.contains(id) => 0,
        Kind::Font => 1,
        // The text references an inner frame's document.
        Kind::Html => 3,
        _ => 2,
    });
    for (place, &id) in chosen.iter().take(late).enumerate() {
        levels[id] = match resources[id].kind {
            _ if place < links.len() => place + 2,
            Kind::Font | Kind::Css => 2,
            _ => 2 + draw.below(links.len().max(1)),
        };
    }
    levels
}

/// Sort key in the text: stylesheets precede scripts, and scripts precede the rest, which is mixed.
fn text_order(it: &PageResource, id: usize, mixed: u64) -> (u8, u64) {
    match it.kind {
        _ if id == 0 => (0, 0),
        Kind::Css => (1, id as u64),
        Kind::Js if !mixed.is_multiple_of(3) => (2, id as u64),
        _ => (3, mixed),
    }
}

/// A random number for each resource that is independent of all other draws.
fn draw_key(shape: &Shape, id: usize) -> u64 {
    let mut draw = Draw::new(shape.seed ^ (id as u64).wrapping_mul(0x9e37_79b9));
    draw.below(1 << 30) as u64
}

/// Places stylesheets and the scripts that follow them in the head, and spreads the rest over the
/// body.
fn place_in_text(placed: &mut [(usize, PageResource)], draw: &mut Draw) {
    let decoded = placed[0].1.decoded_len();
    let in_text: Vec<usize> = (1..placed.len()).filter(|&it| placed[it].0 == 1).collect();
    let body = in_text.iter().position(|&it| !matches!(placed[it].1.kind, Kind::Css | Kind::Js));
    let body = body.unwrap_or(in_text.len());
    let head_bytes = decoded as f64 * HEAD_SHARE;
    let mut places: Vec<f64> = (0..in_text.len() - body).map(|_| draw.share()).collect();
    places.sort_by(f64::total_cmp);
    for (place, &id) in in_text.iter().enumerate() {
        let byte = match place.checked_sub(body) {
            None => head_bytes * (place as f64 + 1.0) / (body as f64 + 1.0),
            Some(nth) => head_bytes + (decoded as f64 - head_bytes) * places[nth],
        };
        let it = &mut placed[id].1;
        it.in_head = place < body;
        let byte = Some((whole(byte) as u64).clamp(1, decoded));
        it.trigger = Trigger { on: Event::Bytes, byte, ..Trigger::default() };
    }
}

/// Gives a late resource a cause: a stylesheet or script one level before, otherwise the latest one.
fn late(id: usize, placed: &[(usize, PageResource)], draw: &mut Draw) -> Trigger {
    let (level, it) = &placed[id];
    let by_style = match it.kind {
        Kind::Font | Kind::Css => true,
        Kind::Image => *level == 2 && draw.happens(0.5),
        _ => false,
    };
    let kind = if by_style { Kind::Css } else { Kind::Js };
    let earlier = &placed[..id];
    let found = (1..*level).rev().find_map(|wanted| {
        let found = parents(earlier, wanted, kind);
        (!found.is_empty()).then(|| found[draw.below(found.len())])
    });
    let sheets = parents(earlier, 1, Kind::Css);
    let (of, by_style) = match found {
        Some(of) => (of, by_style),
        None => (sheets.first().copied().unwrap_or(0), true),
    };
    let on = match it.kind {
        _ if of == 0 => Event::Complete,
        Kind::Css if by_style => Event::CssImport,
        _ if by_style => Event::CssApplied,
        _ => Event::Exec,
    };
    Trigger { on, of, ..Trigger::default() }
}

fn parents(placed: &[(usize, PageResource)], level: usize, kind: Kind) -> Vec<usize> {
    let found = placed.iter().filter(|(at, it)| *at == level && it.kind == kind);
    found.map(|(_, it)| it.id).collect()
}

fn set_roles(resources: &mut [PageResource], draw: &mut Draw) {
    for it in resources.iter_mut().skip(1) {
        let text = it.trigger.on == Event::Bytes;
        match it.kind {
            Kind::Css => it.critical = text && it.in_head,
            Kind::Js if !text => it.script = Some(Script::Async),
            Kind::Js => {
                let script = match draw.below(3) {
                    0 => Script::Async,
                    1 if it.in_head => Script::Sync,
                    _ if it.in_head => Script::Defer,
                    _ => Script::Sync,
                };
                it.script = Some(script);
                it.critical = script == Script::Sync;
            }
            _ => {}
        }
        it.above_fold = it.critical || it.kind == Kind::Font;
    }
    set_hero(resources);
    super::set_order(resources);
}

fn set_hero(resources: &mut [PageResource]) {
    let images =
        resources.iter_mut().filter(|it| it.kind == Kind::Image && it.trigger.on == Event::Bytes);
    if let Some(hero) = images.take(3).max_by_key(|image| image.bytes) {
        hero.hero = true;
        hero.above_fold = true;
    }
}

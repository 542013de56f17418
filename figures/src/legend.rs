//! The legend of the ribbons: the resources in request order, or, for large pages, by kind.

use qlog_tools::saturating_cast::to_usize;
use schedulers::Kind;

use super::svg::{Area, Flow, INK, MARGIN, SMALL, Style, Svg, d};
use crate::number_texts::bytes_text;
use crate::palette::{LOOKS, are_by_kind, kind_colour, shade};
use qlog_tools::labels::Labels;
use qlog_tools::page_resources::PageResource;

const LINE: f64 = 18.0;
const SWATCH: f64 = 13.0;
/// With more resources than this, only the ATF ones are listed by name.
const LISTED_MAX: usize = 72;
/// The most streams of a log that are listed.
const STREAMS_MAX: usize = 240;
/// If not all resources are listed, at most this many of each kind are.
const LISTED_OF_KIND_MAX: usize = 12;

/// Draws the legend from the figure's left to `right`, and returns its height. `fills` has one paint for each
/// resource.
pub fn draw(
    svg: &mut Svg,
    top: f64,
    right: f64,
    resources: &[PageResource],
    fills: &[String],
) -> f64 {
    let area = Area { left: MARGIN, top, width: right - MARGIN, height: 0.0 };
    let keys = draw_keys(svg, area, resources);
    let area = Area { top: area.top + keys, ..area };
    let height = if are_by_kind(resources) {
        draw_kinds(svg, area, resources, fills)
    } else {
        draw_in_request_order(svg, area, resources, fills)
    };
    height + keys
}

/// Draws the meaning of the marks, and returns the height.
fn draw_keys(svg: &mut Svg, area: Area, resources: &[PageResource]) -> f64 {
    let order = if are_by_kind(resources) {
        "Resources by kind, dark to light in request order".to_owned()
    } else if resources.iter().all(|resource| resource.streams.is_empty()) {
        "Resources in request order, left to right".to_owned()
    } else if resources.len() <= LOOKS {
        "Streams in request order, left to right: ID and path".to_owned()
    } else {
        format!("Streams in request order: ID and path; looks repeat after {LOOKS}")
    };
    let right = area.left + area.width;
    let mut flow = Flow { left: area.left, right, next: area.left, top: area.top };
    let (x, top) = flow.place(330.0);
    svg.text(x, top + 10.0, SMALL.muted(), &order);
    if resources.iter().any(|resource| resource.above_fold) {
        let (x, top) = flow.place(260.0);
        svg.rect(Area { left: x, top: top + 4.0, width: 22.0, height: 3.0 }, INK);
        svg.text(x + 28.0, top + 10.0, SMALL, "above the fold (ATF): bold, outlined");
        let (x, top) = flow.place(180.0);
        svg.path(&d!("M{} {}l-4 -6h8z", x, top + 9.0), INK, "");
        svg.text(x + 9.0, top + 10.0, SMALL, "all ATF resources complete");
    }
    flow.top - area.top + LINE + 8.0
}

/// Columns of the legend: on a screen `screen`, in print as many as fit.
fn columns(svg: &Svg, area: Area, screen: u32) -> u32 {
    const LEAST: f64 = 160.0;
    let room = u32::try_from(to_usize(area.width / LEAST)).unwrap_or(screen);
    svg.sheet.either(screen, room.clamp(1, screen))
}

fn draw_in_request_order(
    svg: &mut Svg,
    area: Area,
    resources: &[PageResource],
    fills: &[String],
) -> f64 {
    let columns = columns(svg, area, if resources.len() <= 10 { 5 } else { 6 });
    let width = area.width / f64::from(columns);
    let labels = Labels::of(resources);
    let mut rows = 0;
    for (place, (resource, paint)) in (0_u32..).zip(resources.iter().zip(fills).take(STREAMS_MAX)) {
        let (row, column) = (place / columns, place % columns);
        rows = row + 1;
        let left = area.left + f64::from(column) * width;
        let line = Area { left, top: area.top + f64::from(row) * LINE, width, ..area };
        draw_resource(svg, line, resource, paint, &labels);
    }
    if resources.len() > STREAMS_MAX {
        let text = format!("and {} more", resources.len() - STREAMS_MAX);
        let baseline = area.top + f64::from(rows) * LINE + 10.5;
        svg.text(area.left + SWATCH + 7.0, baseline, SMALL.muted(), &text);
        rows += 1;
    }
    f64::from(rows) * LINE
}

fn draw_resource(
    svg: &mut Svg,
    area: Area,
    resource: &PageResource,
    paint: &str,
    labels: &Labels<'_>,
) {
    const OUTLINE: &str = r##" class="outline" stroke="#1a1a1a" stroke-width="1.6""##;
    let plain = Style::PLAIN.size(11.5);
    let (outline, style) = if resource.above_fold { (OUTLINE, plain.bold()) } else { ("", plain) };
    let swatch = Area { left: area.left + 1.0, top: area.top, width: SWATCH, height: SWATCH };
    svg.rect(swatch, &format!(r#"fill="{paint}"{outline}"#));
    // Of the widest font that figures name.
    let letter = if resource.above_fold { 7.9 } else { 6.9 };
    let room = to_usize(((area.width - SWATCH - 12.0) / letter).max(4.0));
    let name = labels.label(resource, room);
    svg.text(area.left + SWATCH + 7.0, area.top + 10.5, style, &name);
}

/// One line of the legend by kind.
enum Entry<'a> {
    Kind(Kind, String),
    Resource(&'a PageResource, &'a str),
    More(usize),
}

fn draw_kinds(svg: &mut Svg, area: Area, resources: &[PageResource], fills: &[String]) -> f64 {
    let entries = entries(resources, fills);
    let columns = columns(svg, area, 5) as usize;
    let lines = entries.len().div_ceil(columns).max(1);
    let width = area.width / columns as f64;
    let labels = Labels::of(resources);
    for (place, entry) in entries.iter().enumerate() {
        let left = area.left + (place / lines) as f64 * width;
        let line = Area { left, top: area.top + (place % lines) as f64 * LINE, width, ..area };
        match entry {
            Entry::Kind(kind, text) => draw_kind(svg, line, *kind, text),
            Entry::Resource(resource, paint) => {
                let line = Area { left: left + 8.0, width: width - 8.0, ..line };
                draw_resource(svg, line, resource, paint, &labels);
            }
            Entry::More(count) => {
                let text = format!("and {count} more");
                svg.text(left + 8.0 + SWATCH + 7.0, line.top + 10.5, SMALL.muted(), &text);
            }
        }
    }
    lines as f64 * LINE
}

fn entries<'a>(resources: &'a [PageResource], fills: &'a [String]) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    for kind in Kind::ALL {
        let all = resources.iter().zip(fills.iter().map(String::as_str));
        let of_kind: Vec<(&PageResource, &str)> = all.filter(|it| it.0.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let bytes = of_kind.iter().fold(0, |sum: u64, (resource, _)| {
            sum.saturating_add(resource.body_bytes.unwrap_or(0))
        });
        let text = format!("{}: {}, {}", kind.name(), of_kind.len(), bytes_text(bytes));
        entries.push(Entry::Kind(kind, text));
        let all = of_kind.len();
        let mut listed = of_kind;
        if resources.len() > LISTED_MAX {
            listed.retain(|(resource, _)| resource.above_fold);
            listed.truncate(LISTED_OF_KIND_MAX);
        }
        // The kind's own line has the number of all.
        let left_out = if listed.is_empty() { 0 } else { all - listed.len() };
        entries
            .extend(listed.into_iter().map(|(resource, paint)| Entry::Resource(resource, paint)));
        if left_out > 0 {
            entries.push(Entry::More(left_out));
        }
    }
    entries
}

/// Draws the range of a kind's colour, and its share of the page.
fn draw_kind(svg: &mut Svg, area: Area, kind: Kind, text: &str) {
    for step in 0..4 {
        let colour = shade(kind_colour(kind), f64::from(step) / 3.0);
        let left = area.left + f64::from(step) * 7.0;
        let swatch = Area { left, top: area.top, width: 7.0, height: SWATCH };
        svg.rect(swatch, &format!(r#"fill="{colour}""#));
    }
    svg.text(area.left + 34.0, area.top + 10.5, Style::PLAIN.size(11.5).muted(), text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Sheet;

    #[test]
    fn of_a_kind_without_a_name_in_the_list_nothing_is_left_to_say() {
        let resources = (0..80).map(|place| PageResource {
            url: format!("https://a.test/{place}"),
            kind: if place < 20 { Kind::Image } else { Kind::Js },
            above_fold: place < 2,
            body_bytes: Some(1000),
            streams: Vec::new(),
        });
        let resources: Vec<PageResource> = resources.collect();
        let fills = vec![String::new(); 80];
        let words = entries(&resources, &fills).into_iter().map(|it| match it {
            Entry::Kind(_, text) => text,
            Entry::Resource(resource, _) => resource.url.clone(),
            Entry::More(count) => format!("and {count} more"),
        });
        let mut words: Vec<String> = words.collect();
        words.sort();
        let expected = [
            "and 18 more",
            "https://a.test/0",
            "https://a.test/1",
            "image: 20, 20.0 kB",
            "js: 60, 60.0 kB",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_name_in_bold_has_fewer_characters_in_the_same_room() {
        let shown = |above_fold| {
            let resource = PageResource {
                url: "https://a.test/photographs-of-the-harbour-at-dawn.jpg".to_owned(),
                kind: Kind::Image,
                above_fold,
                body_bytes: None,
                streams: Vec::new(),
            };
            let mut svg = Svg::on(&Sheet::default());
            let area = Area { left: 0.0, top: 0.0, width: 192.0, height: 0.0 };
            draw_resource(&mut svg, area, &resource, "#000000", &Labels::of(&[]));
            let svg = svg.finish(192.0, 20.0, "");
            let name = svg.split_once("text-anchor").and_then(|it| it.1.split_once('>'));
            name.and_then(|it| it.1.split_once('<')).map(|it| it.0.chars().count())
        };
        assert_eq!((shown(false), shown(true)), (Some(24), Some(21)));
    }
}

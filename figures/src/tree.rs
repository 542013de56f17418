//! Dependency trees, one panel for each moment (the paper's Figures 9 and 10): which streams depend on which, which
//! strictly precede others, and which share by weight.

mod changes;
mod layout;

use qlog_tools::saturating_cast::to_usize;
use std::collections::BTreeMap;

use schedulers::{Element, Kind, Scheme, Snapshot, SnapshotNode};

pub use self::changes::in_words;
use self::layout::{BOX_HEIGHT, BOX_WIDTH, Band, Laid, Line, TRUNK, laid_out};
use super::sheet::Sheet;
use super::svg::{Area, SMALL, Style, Svg, d, number};
use crate::palette::kind_colour;
use qlog_tools::short_texts::shorten;

/// A strip of trees.
#[derive(Debug, Clone, Default)]
pub struct Trees {
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// Known names of elements; the others are shown by kind and number.
    pub names: BTreeMap<Element, String>,
    /// The content type of each stream, if known.
    pub kinds: BTreeMap<Element, Kind>,
    /// The trees, in chronological order.
    pub panels: Vec<TreePanel>,
    /// A note if the figure is incomplete: `the first 6 of 31 trees`.
    pub note: String,
}

/// A tree at a moment.
#[derive(Debug, Clone)]
pub struct TreePanel {
    /// When: `slot 4`.
    pub when: String,
    /// The events since the preceding panel, one line each if they do not fit in one: `closed: 0`.
    pub what: Vec<String>,
    /// The tree.
    pub tree: Snapshot,
}

const MARGIN: f64 = 18.0;
const TITLE_HEIGHT: f64 = 34.0;
/// Without the lines for events.
const PANEL_TITLE_HEIGHT: f64 = 33.0;
const WHAT_LINE: f64 = 13.5;
const PANEL_GAP: f64 = 30.0;
const PANEL_WIDTH_MIN: f64 = 190.0;
/// Panels that would exceed this width go to the next row.
const STRIP_WIDTH: f64 = 1680.0;
const LEGEND_WIDTH: f64 = 900.0;
const LEGEND_HEIGHT: f64 = 54.0;

/// Okabe and Ito's blue, for elements that get a share of the connection.
const SERVED: &str = "#0072B2";
/// The styles of ready streams, waiting streams, and groups.
const READY: &str = r##"fill="#DCEBF7" stroke="#0072B2" stroke-width="1.8""##;
const WAITING: &str =
    r##"fill="#ffffff" stroke="#8C8C8C" stroke-width="1.2" stroke-dasharray="4 3""##;
const GROUP: &str = r##"rx="6" fill="#EFEFEF" stroke="#5a5a5a" stroke-width="1""##;

impl Trees {
    /// The figure.
    pub fn svg(&self) -> String {
        let panels: Vec<(&TreePanel, Laid<'_>)> =
            self.panels.iter().filter_map(|it| Some((it, laid_out(&it.tree)?))).collect();
        let mut svg = Svg::on(&Sheet::default());
        svg.text(MARGIN, 24.0, Style::PLAIN.size(15.0).bold(), &shorten(&self.title, 120));
        let lines = panels.iter().map(|(panel, laid)| what_lines(panel, panel_width(laid)).len());
        let lines = lines.max().unwrap_or_default();
        let title_height = PANEL_TITLE_HEIGHT + WHAT_LINE * lines as f64;
        let (mut left, mut top) = (MARGIN, TITLE_HEIGHT);
        let (mut row_height, mut right) = (0.0_f64, MARGIN + LEGEND_WIDTH);
        for (panel, laid) in &panels {
            let width = panel_width(laid);
            if left > MARGIN && left + width > STRIP_WIDTH {
                (left, top) = (MARGIN, top + row_height + PANEL_GAP);
                row_height = 0.0;
            }
            draw_panel_title(&mut svg, left, top, width, panel);
            self.draw_node(&mut svg, left, top + title_height, laid);
            row_height = row_height.max(laid.height + title_height);
            right = right.max(left + width);
            left += width + PANEL_GAP;
        }
        let bottom = top + row_height + 14.0;
        self.draw_legend(&mut svg, bottom);
        svg.finish(right + MARGIN, bottom + LEGEND_HEIGHT + 8.0, &self.title)
    }

    fn draw_node(&self, svg: &mut Svg, left: f64, top: f64, laid: &Laid<'_>) {
        let box_left = left + laid.box_left;
        let below = top + BOX_HEIGHT;
        if laid.is_ranked() {
            self.draw_ranks(svg, left, box_left, below, laid);
        } else if let Some(line) = laid.only_line() {
            let line_top = below + layout::LEVEL_GAP;
            let from = (box_left + BOX_WIDTH / 2.0, below);
            draw_fan(svg, from, left, line_top, line);
            self.draw_line(svg, left, line_top, line);
        }
        self.draw_box(svg, box_left, top, laid);
    }

    /// Draws children of different ranks: each rank is a band below the preceding one.
    fn draw_ranks(&self, svg: &mut Svg, left: f64, box_left: f64, below: f64, laid: &Laid<'_>) {
        let trunk = box_left + TRUNK;
        let bands = laid.bands.iter().map(|band| (band, below + band.top));
        for (band, top) in bands.clone() {
            draw_band(svg, left + TRUNK + layout::INDENT, top, band);
        }
        // Served elements are drawn last, over the others.
        for is_served in [false, true] {
            for (band, top) in bands.clone() {
                for line in &band.lines {
                    let line_top = top + line.top;
                    draw_branches(svg, (trunk, below), left, line_top, line, is_served);
                }
            }
        }
        for (place, (band, top)) in bands.enumerate() {
            for line in &band.lines {
                self.draw_line(svg, left, top + line.top, line);
            }
            if laid.has_order {
                draw_ordinal(svg, trunk, top + band.entry(), place + 1);
            }
        }
    }

    fn draw_line(&self, svg: &mut Svg, left: f64, top: f64, line: &Line<'_>) {
        for (offset, child) in &line.children {
            self.draw_node(svg, left + offset, top, child);
        }
    }

    fn draw_box(&self, svg: &mut Svg, left: f64, top: f64, laid: &Laid<'_>) {
        let area = Area { left, top, width: BOX_WIDTH, height: BOX_HEIGHT };
        let Some(node) = laid.node else {
            let text = format!("and {} more", laid.hidden);
            let middle = left + BOX_WIDTH / 2.0;
            svg.text(middle, top + 22.0, Style::PLAIN.size(11.5).middle().muted(), &text);
            return;
        };
        let is_stream = node.element.stream().is_some();
        let look = match (is_stream, node.ready) {
            (true, true) => READY,
            (true, false) => WAITING,
            _ => GROUP,
        };
        svg.rect(area, look);
        let kind = self.kinds.get(&node.element).copied();
        if let Some(kind) = kind {
            let stripe = Area { left, top, width: 5.0, height: BOX_HEIGHT };
            svg.rect(stripe, &format!(r#"fill="{}""#, kind_colour(kind)));
        }
        draw_share_bar(svg, area, node.share);
        draw_texts(svg, area, node, &self.name(node.element), &self.what(node));
    }

    fn name(&self, element: Element) -> String {
        self.names.get(&element).cloned().unwrap_or_else(|| element.to_string())
    }

    /// Describes a stream: its number, unless its name has it, and its content, otherwise whether it is ready.
    fn what(&self, node: &SnapshotNode) -> String {
        let Some(stream) = node.element.stream() else { return String::new() };
        let state = if node.ready { "ready" } else { "waiting" };
        let what = self.kinds.get(&node.element).map_or(state, |kind| kind.name());
        if self.names.contains_key(&node.element) {
            format!("{} {what}", stream.0)
        } else {
            what.to_owned()
        }
    }

    fn draw_legend(&self, svg: &mut Svg, top: f64) {
        let sample = Area { left: MARGIN, top: top + 3.0, width: 24.0, height: 14.0 };
        let baseline = top + 14.0;
        let mut left = MARGIN;
        let boxes = [
            (READY, "ready to send", 122.0),
            (WAITING, "has no bytes yet", 136.0),
            (GROUP, "group", 82.0),
        ];
        for (look, words, width) in boxes {
            svg.rect(Area { left, ..sample }, look);
            svg.text(left + 30.0, baseline, SMALL, words);
            left += width;
        }
        svg.rect(Area { left, ..sample }, r##"fill="#ffffff" stroke="#bdbdbd""##);
        draw_share_bar(svg, Area { left: left - 6.0, width: 30.0, ..sample }, 0.6);
        svg.text(left + 30.0, baseline, SMALL, "share of the connection, with all below");
        left += 252.0;
        draw_ordinal(svg, left + 8.0, top + 10.0, 1);
        draw_ordinal(svg, left + 26.0, top + 10.0, 2);
        let words = "strictly in this order; others share by weight (w)";
        svg.text(left + 40.0, baseline, SMALL, words);
        svg.text(MARGIN, top + 36.0, SMALL.muted(), &self.note);
    }
}

/// A scheme's names for the groups of a tree.
pub fn group_names(scheme: &Scheme, tree: &Snapshot) -> Vec<(Element, String)> {
    let names = tree.nodes.iter().filter_map(|node| match node.element {
        Element::Placeholder(id) => Some((node.element, (scheme.group_name)(id)?)),
        _ => None,
    });
    names.collect()
}

fn panel_width(laid: &Laid<'_>) -> f64 {
    laid.width.max(PANEL_WIDTH_MIN)
}

fn draw_panel_title(svg: &mut Svg, left: f64, top: f64, width: f64, panel: &TreePanel) {
    let line = d!("M{} {}h{}", left, top + 4.0, width);
    svg.path(&line, r##"class="grid" stroke="#bdbdbd" stroke-width="1" fill="none""##, "");
    let when = shorten(&panel.when, characters(width));
    svg.text(left, top + 20.0, Style::PLAIN.size(12.5).bold(), &when);
    for (place, line) in what_lines(panel, width).iter().enumerate() {
        let baseline = top + 35.0 + WHAT_LINE * place as f64;
        svg.text(left, baseline, SMALL.muted(), line);
    }
}

/// The events, in one line if they fit.
fn what_lines(panel: &TreePanel, width: f64) -> Vec<String> {
    let characters = characters(width);
    let one = panel.what.join("; ");
    if one.chars().count() <= characters {
        return vec![one];
    }
    panel.what.iter().map(|it| shorten(it, characters)).collect()
}

/// The number of small characters that fit.
fn characters(width: f64) -> usize {
    to_usize(width / 6.0)
}

fn draw_texts(svg: &mut Svg, area: Area, node: &SnapshotNode, name: &str, what: &str) {
    let Area { left, top, .. } = area;
    let is_stream = node.element.stream().is_some();
    let (first, second) = (top + 15.5, top + 30.0);
    let (text_left, text_right) = (left + 10.0, left + BOX_WIDTH - 7.0);
    let name = shorten(name, if is_stream { 11 } else { 16 });
    svg.text(text_left, first, Style::PLAIN.size(12.0).bold(), &name);
    if node.element != Element::Root {
        let weight = format!("w {}", node.weight);
        svg.text(text_right, second, SMALL.end(), &weight);
    }
    // The name of a group leaves no room beside it.
    let share_at = if is_stream { (text_right, first) } else { (text_left, second) };
    if node.active {
        let style = if is_stream { SMALL.end() } else { SMALL };
        let style = if node.share > 0.0 { style.bold() } else { style.muted() };
        svg.text(share_at.0, share_at.1, style, &share_text(node.share));
    }
    if is_stream {
        svg.text(text_left, second, SMALL.muted(), what);
    }
}

/// Draws lines from one point to the top of each box in a line.
fn draw_fan(svg: &mut Svg, from: (f64, f64), left: f64, top: f64, line: &Line<'_>) {
    let bus = top - layout::LEVEL_GAP / 2.0;
    for is_served in [false, true] {
        for (offset, child) in line.children.iter().filter(|(_, it)| it.is_served() == is_served) {
            let to = left + offset + child.box_left + BOX_WIDTH / 2.0;
            let d = d!("M{} {}V{}H{}V{}", from.0, from.1, bus, to, top);
            svg.path(&d, &stroke(child), "");
        }
    }
}

/// Draws lines from a trunk to the boxes in a line: to a single one from its left, to several from above.
fn draw_branches(
    svg: &mut Svg,
    trunk: (f64, f64),
    left: f64,
    top: f64,
    line: &Line<'_>,
    is_served: bool,
) {
    let start = d!("M{} {}", trunk.0, trunk.1);
    for (offset, child) in line.children.iter().filter(|(_, it)| it.is_served() == is_served) {
        let box_left = left + offset + child.box_left;
        let d = if line.is_single() {
            d!("{start}V{}H{}", top + BOX_HEIGHT / 2.0, box_left)
        } else {
            let (bus, middle) = (top - layout::BUS_GAP, box_left + BOX_WIDTH / 2.0);
            d!("{start}V{}H{}V{}", bus, middle, top)
        };
        svg.path(&d, &stroke(child), "");
    }
}

/// As wide as the share.
fn stroke(child: &Laid<'_>) -> String {
    let share = child.node.map_or(0.0, |it| it.share);
    if child.is_served() {
        let width = number(1.6 + 2.4 * share);
        format!(r#"fill="none" stroke="{SERVED}" stroke-width="{width}""#)
    } else {
        r##"fill="none" stroke="#a6a6a6" stroke-width="1.2""##.to_owned()
    }
}

/// Draws the frame around the elements that share within one rank.
fn draw_band(svg: &mut Svg, left: f64, top: f64, band: &Band<'_>) {
    if band.is_shared() {
        let area = Area {
            left: left - layout::BAND_PADDING,
            top,
            width: band.width - TRUNK - layout::INDENT + 2.0 * layout::BAND_PADDING,
            height: band.height,
        };
        svg.rect(area, r##"rx="6" fill="#f7f7f7" stroke="#e0e0e0" stroke-width="1""##);
    }
}

fn draw_ordinal(svg: &mut Svg, x: f64, y: f64, ordinal: usize) {
    let (cx, cy) = (number(x), number(y));
    svg.raw(&format!(
        r##"<circle cx="{cx}" cy="{cy}" r="8" fill="#ffffff" stroke="#1a1a1a" stroke-width="1"/>"##
    ));
    svg.text(x, y + 3.6, Style::PLAIN.size(10.0).bold().middle(), &ordinal.to_string());
}

/// Draws the share along the bottom of a box, clear of its corners.
fn draw_share_bar(svg: &mut Svg, area: Area, share: f64) {
    const HEIGHT: f64 = 4.0;
    const INSET: f64 = 6.0;
    if share > 0.0 {
        let bar = Area {
            left: area.left + INSET,
            top: area.top + area.height - HEIGHT,
            width: ((area.width - 2.0 * INSET) * share.clamp(0.0, 1.0)).max(1.0),
            height: HEIGHT,
        };
        svg.rect(bar, &format!(r#"fill="{SERVED}""#));
    }
}

/// `33 %`; a small share is never written as 0 %.
fn share_text(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 0.5 => "<1 %".to_owned(),
        percent if percent > 99.5 && percent < 100.0 => ">99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::{Resource, Scheduler, StreamId, find_scheme};

    /// A tree of N images under a scheme, all ready but the last.
    fn figure(scheme: &str, streams: u64) -> Trees {
        let mut scheduler = Scheduler::new(&find_scheme(scheme).unwrap());
        let image = Resource { kind: Kind::Image, ..Resource::default() };
        for stream in 0..streams {
            scheduler.open(StreamId(4 * stream), &image);
            scheduler.set_ready(StreamId(4 * stream), stream + 1 < streams);
        }
        Trees {
            title: "<b>\"&".to_owned(),
            names: BTreeMap::new(),
            kinds: BTreeMap::from([(Element::Stream(StreamId(0)), Kind::Image)]),
            panels: vec![TreePanel {
                when: "<script>".to_owned(),
                what: vec!["a & b".to_owned()],
                tree: scheduler.tree(),
            }],
            note: "</svg>".to_owned(),
        }
    }

    #[test]
    fn a_stream_with_a_name_has_its_number_below() {
        let mut figure = figure("rr", 2);
        figure.names.insert(Element::Stream(StreamId(0)), "hero.jpg".to_owned());
        let texts = texts(&figure);
        assert!(texts.contains("hero.jpg|w 1") && texts.contains("|0 image"), "{texts}");
    }

    /// The texts of a figure between its title and its legend.
    fn texts(figure: &Trees) -> String {
        let svg = figure.svg();
        let document = resvg::usvg::roxmltree::Document::parse(&svg).unwrap();
        let texts = document.descendants().filter(|it| it.has_tag_name("text"));
        let texts: Vec<&str> = texts.filter_map(|it| it.text()).collect();
        let end = texts.iter().position(|it| *it == "ready to send").unwrap();
        texts[1..end].join("|")
    }

    #[test]
    fn the_figure_is_well_formed_whatever_the_words() {
        let svg = figure("firefox", 3).svg();
        assert!(svg.contains("<title>&lt;b&gt;&quot;&amp;</title>"), "{svg}");
        assert!(svg.contains(">&lt;/svg&gt;</text>") && !svg.contains("<script>"));
        assert_eq!(svg.matches("</svg>").count(), 1);
        assert!(texts(&figure("firefox", 3)).starts_with("<script>|a & b|"));
    }

    #[test]
    fn those_of_one_rank_share_and_those_of_several_are_numbered() {
        assert_eq!(
            texts(&figure("rr", 3)),
            "<script>|a & b|stream 0|w 16|50 %|image|stream 4|w 16|50 %|ready|stream 8|w 16|waiting|root|100 %"
        );
        assert_eq!(
            texts(&figure("fifo", 3)),
            "<script>|a & b|stream 0|w 16|100 %|image|1|stream 4|w 16|0 %|ready|2|stream 8|w 16|waiting|3|root|100 %"
        );
    }

    #[test]
    fn of_very_many_streams_the_first_are_drawn_and_the_others_counted() {
        for scheme in ["rr", "fifo", "lifo", "firefox"] {
            let svg = figure(scheme, 3000).svg();
            assert!(svg.contains(">and 2976 more</text>"), "{scheme}");
            assert!(svg.len() < 40_000, "{scheme}: {}", svg.len());
        }
    }

    #[test]
    fn a_small_share_is_not_written_as_none() {
        assert_eq!(
            [0.0, 0.001, 0.334, 0.999, 1.0].map(share_text).join(" "),
            "0 % <1 % 33 % >99 % 100 %"
        );
    }

    #[test]
    fn a_tree_without_a_root_is_not_a_panel() {
        let mut figure = figure("rr", 1);
        figure.panels[0].tree.nodes.clear();
        assert_eq!(texts(&figure), "");
    }
}

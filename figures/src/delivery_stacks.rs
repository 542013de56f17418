//! Packets by the moment at which they were handed to HTTP/3: those handed up together stand on one another (the
//! paper's Figure 13). An empty place is a moment at which nothing could be used.

use super::axis::{Across, Axis};
use super::legend;
use super::paint::Paints;
use super::sheet::Sheet;
use super::svg::{Area, GRID, MARGIN, Style, Svg, WIDTH, add_box, d};
use super::table::{Table, row};
use crate::palette::looks;
use qlog_tools::labels::short_name;
use qlog_tools::page_resources::PageResource;
use qlog_tools::short_texts::shorten;

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct DeliveryStacks {
    /// Tells this figure's patterns from those of others on the same page; letters, digits and hyphens.
    pub id: String,
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// How long a packet takes: its width.
    pub slot_ms: f64,
    /// Where the time axis ends; what comes later is not drawn.
    pub end_ms: f64,
    /// The page's resources in request order.
    pub resources: Vec<PageResource>,
    /// The runs, top to bottom.
    pub rows: Vec<StackRow>,
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct StackRow {
    /// What it is.
    pub label: String,
    /// In order of time, in milliseconds: the resources of the packets that were handed up then.
    pub stacks: Vec<(f64, Vec<Option<usize>>)>,
}

const LEFT: f64 = 150.0;
const TOP: f64 = 40.0;
const BLOCK: f64 = 9.0;

impl DeliveryStacks {
    /// The figure on `sheet`, which is a screen.
    pub fn draw(&self, sheet: &Sheet) -> String {
        let paints = Paints::new(&self.id, &looks(&self.resources));
        let mut svg = Svg::on(sheet);
        svg.raw(&paints.definitions);
        svg.text(MARGIN, 22.0, Style::PLAIN.size(14.0).bold(), &self.title);
        let mut top = TOP;
        for row in &self.rows {
            let height = self.highest(row) as f64 * BLOCK;
            self.draw_row(&mut svg, row, top + height, &paints);
            top += height + 18.0;
        }
        self.across().draw(&mut svg, [top + 10.0, top + 28.0], |_| None);
        let place = (top + 44.0, WIDTH - MARGIN);
        let height = legend::draw(&mut svg, place, &self.resources, &paints.fills);
        svg.finish(WIDTH, top + 44.0 + height + MARGIN, &self.title)
    }

    /// The words below the figure.
    pub fn caption(&self) -> String {
        format!(
            "Each block is one packet at the moment at which HTTP/3 got it; those that it got together stand on one another. The first {:.1} s are shown.",
            self.end_ms / 1000.0
        )
    }

    /// How many stacks of each height there are, over the whole load.
    pub fn table(&self) -> Table {
        let most = self.rows.iter().map(highest_of).max().unwrap_or(0).max(1);
        let headings = row("run", (1..=most).map(|it| it.to_string()));
        let rows = self.rows.iter().map(|run| {
            let of = |height| run.stacks.iter().filter(|it| it.1.len() == height).count();
            row(&run.label, (1..=most).map(|height| of(height).to_string()))
        });
        Table::new("Stacks by the number of packets in them", headings, rows)
    }

    fn highest(&self, row: &StackRow) -> usize {
        let shown = row.stacks.iter().filter(|(time_ms, _)| *time_ms <= self.end_ms);
        shown.map(|(_, packets)| packets.len()).max().unwrap_or(0).max(2)
    }

    fn across(&self) -> Across {
        Across::new(Axis::Time, LEFT, WIDTH - MARGIN, self.end_ms.max(1.0))
    }

    fn draw_row(&self, svg: &mut Svg, row: &StackRow, bottom: f64, paints: &Paints) {
        svg.text(MARGIN, bottom - 4.0, Style::PLAIN.size(12.0).bold(), &shorten(&row.label, 20));
        svg.path(&d!("M{LEFT} {}H{}", bottom + 0.5, WIDTH - MARGIN), GRID, "");
        let across = self.across();
        let width = (across.x(self.slot_ms) - LEFT).max(0.6);
        // One path a resource: a load has thousands of packets.
        let mut paths = vec![String::new(); paints.fills.len() + 1];
        for (time_ms, packets) in row.stacks.iter().filter(|it| it.0 <= self.end_ms) {
            for (height, packet) in packets.iter().enumerate() {
                let place = packet.unwrap_or(usize::MAX).min(paints.fills.len());
                let top = bottom - (height + 1) as f64 * BLOCK;
                let (left, width) = (across.x(*time_ms) - width, (width - 0.4).max(0.5));
                add_box(&mut paths[place], Area { left, top, width, height: BLOCK - 0.6 });
            }
        }
        paints.draw(svg, &paths, |place| {
            let name = self.resources.get(place).map_or("not listed", |it| short_name(&it.url));
            format!("{}: {name}", row.label)
        });
    }
}

fn highest_of(row: &StackRow) -> usize {
    row.stacks.iter().map(|(_, packets)| packets.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::Kind;

    #[test]
    fn packets_that_came_together_stand_on_one_another() {
        let figure = DeliveryStacks {
            id: "x".to_owned(),
            title: "t".to_owned(),
            slot_ms: 10.0,
            end_ms: 100.0,
            resources: vec![PageResource {
                url: "/<a>".to_owned(),
                kind: Kind::Html,
                above_fold: true,
                body_bytes: None,
                streams: Vec::new(),
            }],
            rows: vec![StackRow {
                label: "rr".to_owned(),
                stacks: vec![
                    (10.0, vec![Some(0)]),
                    (30.0, vec![Some(0), None]),
                    (900.0, vec![None]),
                ],
            }],
        };
        let svg = figure.draw(&Sheet::default());
        assert!(svg.contains("rr: &lt;a&gt;") && svg.contains("rr: not listed"), "{svg}");
        let listed = svg.lines().find(|it| it.contains("rr: &lt;a&gt;")).expect("its path");
        assert_eq!(listed.matches('M').count(), 2);
        assert_eq!(figure.table().rows, [["rr", "2", "1"]]);
    }
}

//! Dependencies of discovery: cycles that would leave a resource undiscovered, and the depth of a page.

use crate::page::{Event, Page, PageResource, Script};
use schedulers::Kind;

/// A cycle of resources that wait for each other; `None` if every resource will be discovered.
/// References must be in range.
pub(crate) fn circle(page: &Page) -> Option<Vec<usize>> {
    let graph = Graph::new(page);
    let order = graph.order();
    if order.len() == graph.waits_for.len() {
        return None;
    }
    let mut settled = vec![false; graph.waits_for.len()];
    for node in order {
        settled[node] = true;
    }
    graph.walk_circle(&settled, page.resources.len())
}

pub(crate) fn describe(circle: &[usize]) -> String {
    let mut names: Vec<String> = circle.iter().map(ToString::to_string).collect();
    names.push(circle[0].to_string());
    if names.len() > 8 {
        names.splice(4..names.len() - 3, ["...".to_owned()]);
    }
    format!("resource {}", names.join(" for "))
}

/// The length of the longest chain of discoveries; 0 if there is only the document. The page must be
/// valid.
pub fn depth(page: &Page) -> usize {
    let graph = Graph::new(page);
    let count = page.resources.len();
    let mut depths = vec![0_usize; graph.waits_for.len()];
    for node in graph.order() {
        let before = graph.waits_for[node].iter().map(|&it| depths[it]).max().unwrap_or(0);
        depths[node] = before + usize::from(node != 0 && node < count);
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Nodes: 0..n are the discovery of each resource, n..2n its application; then follow the stylesheets
/// applied up to each render-blocking one, the turns of the main thread, and `DOMContentLoaded`.
struct Graph {
    waits_for: Vec<Vec<usize>>,
}

impl Graph {
    fn new(page: &Page) -> Self {
        let count = page.resources.len();
        let mut graph = Self { waits_for: vec![Vec::new(); 2 * count] };
        let sheets = graph.add_sheets(page);
        graph.add_turns(page);
        let holding = page.resources.iter().filter(|it| it.id == 0 || it.holds_dom_ready());
        let dom_ready = graph.add_node(holding.map(|it| count + it.id).collect());
        for resource in &page.resources {
            graph.waits_for[count + resource.id].push(resource.id);
            if resource.id != 0 {
                let waits = waits_of(resource, count, &sheets, dom_ready);
                graph.waits_for[resource.id].extend(waits);
            }
        }
        graph
    }

    fn add_node(&mut self, waits: Vec<usize>) -> usize {
        self.waits_for.push(waits);
        self.waits_for.len() - 1
    }

    /// (ID of a render-blocking stylesheet, the node "applied up to it").
    fn add_sheets(&mut self, page: &Page) -> Vec<(usize, usize)> {
        let count = page.resources.len();
        let mut sheets: Vec<(usize, usize)> = Vec::new();
        for sheet in page.resources.iter().filter(|resource| resource.blocks_rendering()) {
            let mut waits = vec![count + sheet.id];
            waits.extend(sheets.last().map(|&(_, node)| node));
            let node = self.add_node(waits);
            sheets.push((sheet.id, node));
        }
        sheets
    }

    /// A resource with an `eval_order` is applied after all with a smaller one.
    fn add_turns(&mut self, page: &Page) {
        let count = page.resources.len();
        let mut ordered: Vec<&PageResource> =
            page.resources.iter().filter(|it| it.turn().is_some()).collect();
        ordered.sort_by_key(|it| it.eval_order);
        let mut before: Option<usize> = None;
        for turn in ordered.chunk_by(|a, b| a.eval_order == b.eval_order) {
            for resource in turn {
                self.waits_for[count + resource.id].extend(before);
            }
            let mut waits: Vec<usize> = turn.iter().map(|it| count + it.id).collect();
            waits.extend(before);
            before = Some(self.add_node(waits));
        }
    }

    /// The nodes in an order in which each follows all nodes that it waits for. Nodes in a cycle or
    /// behind one are missing.
    fn order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.waits_for.iter().map(Vec::len).collect();
        let mut waiters = vec![Vec::new(); missing.len()];
        for (node, waits) in self.waits_for.iter().enumerate() {
            for &it in waits {
                waiters[it].push(node);
            }
        }
        let mut order: Vec<usize> = (0..missing.len()).filter(|&it| missing[it] == 0).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for &waiter in &waiters[node] {
                missing[waiter] -= 1;
                if missing[waiter] == 0 {
                    order.push(waiter);
                }
            }
        }
        order
    }

    /// Finds a cycle: every unsettled node waits for an unsettled one, so a walk must return to a node.
    fn walk_circle(&self, settled: &[bool], count: usize) -> Option<Vec<usize>> {
        let mut node = settled.iter().position(|it| !it)?;
        let mut step_of = vec![None; settled.len()];
        let mut path = Vec::new();
        while step_of[node].is_none() {
            step_of[node] = Some(path.len());
            path.push(node);
            node = self.waits_for[node].iter().copied().find(|&it| !settled[it])?;
        }
        let nodes = path[step_of[node]?..].iter().filter(|&&it| it < 2 * count);
        let mut ids: Vec<usize> = nodes.map(|&it| it % count).collect();
        ids.dedup();
        if ids.len() > 1 && ids.first() == ids.last() {
            ids.pop();
        }
        Some(ids)
    }
}

fn waits_of(
    resource: &PageResource,
    count: usize,
    sheets: &[(usize, usize)],
    dom_ready: usize,
) -> Vec<usize> {
    let trigger = &resource.trigger;
    // The node `count + id` means that the resource is applied.
    let mut waits: Vec<usize> = trigger.needs.iter().map(|&id| count + id).collect();
    match trigger.on {
        Event::Nav => {}
        Event::Bytes | Event::Complete | Event::CssImport => waits.push(trigger.of),
        Event::CssApplied => {
            waits.push(count + trigger.of);
            let earlier = sheets.partition_point(|&(id, _)| id < trigger.of);
            waits.extend(earlier.checked_sub(1).map(|last| sheets[last].1));
        }
        Event::StyleApplied => waits.push(sheets.last().map_or(count, |&(_, node)| node)),
        Event::Exec | Event::Timer => waits.push(count + trigger.of),
        Event::Dcl | Event::Load => waits.push(dom_ready),
    }
    waits
}

impl PageResource {
    /// Whether it is a stylesheet that blocks the first rendering and all references in stylesheets.
    pub fn blocks_rendering(&self) -> bool {
        self.kind == Kind::Css && self.critical
    }

    /// Whether it is a script that `DOMContentLoaded` waits for (modules are deferred).
    pub fn holds_dom_ready(&self) -> bool {
        self.kind == Kind::Js
            && matches!(self.script, Some(Script::Sync | Script::Defer | Script::Module))
    }

    /// Whether it is a script that the parser waits for before it reaches the body.
    pub fn is_head_script(&self) -> bool {
        self.kind == Kind::Js && self.in_head && matches!(self.script, None | Some(Script::Sync))
    }

    /// Whether it takes main-thread time after it has arrived: styles and scripts that are not errors.
    pub fn is_executed(&self) -> bool {
        matches!(self.kind, Kind::Css | Kind::Js) && (200..300).contains(&self.status)
    }

    /// Its place in the order of evaluation, if it has one.
    pub fn turn(&self) -> Option<u32> {
        self.eval_order.filter(|_| matches!(self.kind, Kind::Css | Kind::Js))
    }

    /// Bytes of the decoded body; by default the bytes on the wire.
    pub fn decoded_len(&self) -> u64 {
        self.decoded_bytes.unwrap_or(self.bytes)
    }
}

//! The milestones of a load: when the user sees what.

use super::conditions::{Happening, wire_bytes};
use corpus::Page;
use corpus::page::{Event, PageResource, Script};
use schedulers::{Kind, Milestone};
use std::sync::Arc;

/// The duration of one frame on a 60 Hz display.
const FRAME_US: u64 = 16_667;

#[derive(Debug, Clone)]
pub(super) struct Rendering {
    roles: Arc<[Role]>,
    /// Bytes on the wire that contain the document's head.
    head_bytes: u64,
    head_has_come: bool,
    /// Resources that the first rendering waits for.
    blocking: usize,
    has_rendered: bool,
    /// Incomplete hero images; `None` if the hero was shown, or there is none.
    heroes: Option<usize>,
    /// Weights of complete regions that wait for the first rendering.
    hidden: Vec<u64>,
    regions_weight: u64,
    reached: Vec<(u64, Milestone)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Role {
    blocks: Blocks,
    is_hero: bool,
    /// Its weight, if it is a region.
    region: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Blocks {
    #[default]
    Never,
    /// Always: it is in the head.
    Always,
    /// Only if it is discovered before the first rendering.
    IfKnown,
}

impl Rendering {
    pub(super) fn new(page: &Page) -> Self {
        let mut roles: Vec<Role> = page.resources.iter().map(Role::of).collect();
        // A stylesheet is applied after its imports.
        for imported in page.resources.iter().filter(|other| other.trigger.on == Event::CssImport) {
            let by = roles.get(imported.trigger.of).map_or(Blocks::Never, |it| it.blocks);
            let own = &mut roles[imported.id].blocks;
            if *own != Blocks::Never && by == Blocks::Always {
                *own = Blocks::Always;
            }
        }
        let heroes = roles.iter().filter(|it| it.is_hero).count();
        Self {
            head_bytes: head_bytes(page),
            head_has_come: false,
            blocking: roles.iter().filter(|it| it.blocks == Blocks::Always).count(),
            has_rendered: false,
            heroes: Some(heroes).filter(|it| *it > 0),
            hidden: Vec::new(),
            regions_weight: roles.iter().filter_map(|it| it.region).sum(),
            reached: Vec::new(),
            roles: roles.into(),
        }
    }

    pub(super) fn discovered(&mut self, id: usize) {
        let is_late = self.roles[id].blocks == Blocks::IfKnown && !self.has_rendered;
        self.blocking += usize::from(is_late);
    }

    pub(super) fn happen(&mut self, happening: Happening, now_us: u64) {
        match happening {
            Happening::Bytes(0, bytes) => {
                self.head_has_come |= bytes >= self.head_bytes;
            }
            Happening::Applied(id) => self.applied(id, now_us),
            Happening::Load => self.reach(Milestone::Load, now_us),
            _ => {}
        }
    }

    pub(super) fn reach(&mut self, milestone: Milestone, now_us: u64) {
        self.reached.push((now_us, milestone));
    }

    /// Records a rendering, which becomes visible with the next frame.
    fn show(&mut self, milestone: Milestone, now_us: u64) {
        self.reach(milestone, now_us.saturating_add(FRAME_US));
    }

    /// Renders for the first time, unless something blocks it. Returns `false` if something blocks it, or it
    /// has already happened.
    pub(super) fn render(&mut self, now_us: u64) -> bool {
        if self.has_rendered || !self.head_has_come || self.blocking > 0 {
            return false;
        }
        self.has_rendered = true;
        self.show(Milestone::FirstRender, now_us);
        self.show_hero(now_us);
        for weight in std::mem::take(&mut self.hidden) {
            self.show_region(weight, now_us);
        }
        true
    }

    /// The milestones since the last call, with their times in microseconds.
    pub(super) fn take_reached(&mut self) -> Vec<(u64, Milestone)> {
        std::mem::take(&mut self.reached)
    }

    fn applied(&mut self, id: usize, now_us: u64) {
        let Role { blocks, is_hero, region } = self.roles[id];
        if blocks != Blocks::Never && !self.has_rendered {
            self.blocking -= 1;
        }
        if is_hero {
            self.heroes = self.heroes.map(|it| it - 1);
            self.show_hero(now_us);
        }
        match region {
            Some(weight) if self.has_rendered => self.show_region(weight, now_us),
            Some(weight) => self.hidden.push(weight),
            None => {}
        }
    }

    fn show_hero(&mut self, now_us: u64) {
        if self.has_rendered && self.heroes == Some(0) {
            self.heroes = None;
            self.show(Milestone::HeroRender, now_us);
        }
    }

    fn show_region(&mut self, weight: u64, now_us: u64) {
        self.show(Milestone::Region { weight, of: self.regions_weight }, now_us);
    }
}

impl Role {
    fn of(resource: &PageResource) -> Self {
        let is_sync_in_head = resource.in_head && resource.script == Some(Script::Sync);
        let blocks = match resource.kind {
            Kind::Css if resource.critical && resource.in_head => Blocks::Always,
            Kind::Css if resource.critical => Blocks::IfKnown,
            Kind::Js if is_sync_in_head => Blocks::Always,
            _ => Blocks::Never,
        };
        // Stylesheets and scripts have no area of their own.
        let is_region = resource.above_fold && !matches!(resource.kind, Kind::Css | Kind::Js);
        Self { blocks, is_hero: resource.hero, region: is_region.then_some(resource.bytes) }
    }
}

/// The document's bytes up to its last reference in the head, at least one.
fn head_bytes(page: &Page) -> u64 {
    let Some(document) = page.resources.first() else { return 1 };
    let in_head = page.resources.iter().filter(|it| it.in_head && it.is_in_text());
    let bytes = in_head.filter_map(|it| it.trigger.byte);
    wire_bytes(document, bytes.max().unwrap_or(0))
}

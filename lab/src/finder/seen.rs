//! The visible effects on a page: when it first appears, and when its largest image, or the image taken for it, is complete.

use crate::bounds::{SEEN_LATER_MAX, largest_image};
use crate::study::RunRecord;
use crate::study::statistics::{Interval, hodges_lehmann, median};
use corpus::Page;
use qlog_tools::metrics;
use qlog_tools::short_texts::shown;
use serde::Serialize;

/// A time that moves by less than this share of itself counts as unchanged.
const AS_NOW: f64 = 0.01;

/// How importers begin an assumption about heroes.
const ASSUMED_HEROES: &str = "heroes:";

/// The longest path of an image.
const PATH_CHARACTERS: usize = 60;

/// `950 ms` or `1.20 s`.
pub fn length_text(ms: f64) -> String {
    if ms.abs() < 1000.0 { format!("{ms:.0} ms") } else { format!("{:.2} s", ms / 1000.0) }
}

/// A time of a page now and with a change, over pairs of loads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Seen {
    /// The time now in ms, the median.
    pub present_ms: f64,
    /// How many ms later it is with the change (Hodges and Lehmann); negative: earlier.
    pub later_ms: f64,
    /// The 95 % interval of that; null with fewer than six pairs.
    pub interval_ms: Option<Interval>,
}

/// The visible effects on a page on a network. No change may delay either beyond [`SEEN_LATER_MAX`] times its present time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Noticed {
    /// The first rendering; null if no load has it.
    pub first_render: Option<Seen>,
    /// The rendering with the hero images, or the completion of the largest visible image if there is no hero; null without one.
    pub largest_image: Option<Seen>,
    /// Why it is this image.
    #[serde(skip)]
    pub image: SeenImage,
}

/// Why an image counts as the largest that a visitor sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SeenImage {
    /// The page states its heroes.
    #[default]
    Largest,
    /// The page assumes its heroes, because its recording has no layout.
    TakenForHero,
    /// It has the most bytes of the images above the fold, because no image is a hero.
    MostBytes,
}

impl SeenImage {
    fn of(page: &Page) -> Self {
        let mut assumptions = page.source.assumptions.iter();
        let is_assumed = assumptions.any(|it| it.starts_with(ASSUMED_HEROES));
        match () {
            () if !page.resources.iter().any(|it| it.hero) => Self::MostBytes,
            () if is_assumed => Self::TakenForHero,
            () => Self::Largest,
        }
    }

    /// `its largest image`.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Largest => "its largest image",
            Self::TakenForHero => "the image taken for its hero",
            Self::MostBytes => "its image above the fold with the most bytes",
        }
    }

    /// The same with the image's path, if it is not certain that it is the largest.
    pub(super) fn named(self, page: &Page) -> String {
        let heroes = page.resources.iter().filter(|it| it.hero).count();
        let path = largest_image(page).map(|it| shown(&page.resources[it].url, PATH_CHARACTERS));
        match (self, path) {
            (Self::TakenForHero, _) if heroes > 1 => {
                format!("the last of the {heroes} images taken for its heroes")
            }
            (Self::TakenForHero | Self::MostBytes, Some(path)) => {
                format!("{}, {path},", self.words())
            }
            _ => self.words().to_owned(),
        }
    }

    /// The heading of its times.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Largest => "largest image",
            Self::TakenForHero => "image taken for hero",
            Self::MostBytes => "largest image above the fold",
        }
    }
}

impl Noticed {
    /// The visible effects, from loads with the same seeds, now and with a change.
    pub(super) fn of(page: &Page, present: &[&RunRecord], changed: &[&RunRecord]) -> Self {
        let largest = largest_image(page);
        let image_ms = |run: &RunRecord| {
            let complete_ms =
                || run.resources.iter().find(|it| Some(it.id) == largest)?.complete_ms;
            metric(run, "hero_render").or_else(complete_ms)
        };
        Self {
            first_render: Seen::of(present, changed, |run| metric(run, "first_render")),
            largest_image: Seen::of(present, changed, image_ms),
            image: SeenImage::of(page),
        }
    }

    /// Whether further loads are needed to show if something is too late.
    pub(super) fn is_undecided(&self) -> bool {
        [self.first_render, self.largest_image].into_iter().flatten().any(|it| {
            let limit_ms = (SEEN_LATER_MAX - 1.0) * it.present_ms;
            it.interval_ms.is_some_and(|[low, high]| low <= limit_ms && limit_ms <= high)
        })
    }

    /// The parts that the change delays too much, in words.
    pub(super) fn too_late(&self) -> Option<&'static str> {
        let is_late = |it: Option<Seen>| it.is_some_and(|it| it.is_late());
        match () {
            () if is_late(self.first_render) => Some("its first rendering"),
            () if is_late(self.largest_image) => Some(self.image.words()),
            () => None,
        }
    }
}

fn metric(run: &RunRecord, name: &str) -> Option<f64> {
    run.metrics.get(metrics::find(name)?).all
}

impl Seen {
    fn of(
        present: &[&RunRecord],
        changed: &[&RunRecord],
        time_ms: impl Fn(&RunRecord) -> Option<f64>,
    ) -> Option<Self> {
        let (mut before, mut later) = (Vec::new(), Vec::new());
        for run in changed.iter().filter(|it| it.completed) {
            let pair = present.iter().find(|it| it.completed && it.seed == run.seed);
            let pair = pair.and_then(|it| time_ms(it)).zip(time_ms(run));
            if let Some((before_ms, then_ms)) = pair {
                before.push(before_ms);
                later.push(then_ms - before_ms);
            }
        }
        let (later_ms, interval_ms) = hodges_lehmann(&later)?;
        Some(Self { present_ms: median(&before)?, later_ms, interval_ms })
    }

    /// How much later or earlier it is, with its interval: `20 to 40 ms earlier`, or `as now`.
    pub fn change_text(&self) -> String {
        if self.is_as_now() {
            return "as now".to_owned();
        }
        if let Some([low, high]) = self.interval_ms.filter(|[low, high]| *low < 0.0 && *high > 0.0)
        {
            return format!("{} earlier to {} later", length_text(-low), length_text(high));
        }
        let side = if self.later_ms < 0.0 { "earlier" } else { "later" };
        let ends = self.interval_ms.unwrap_or([self.later_ms; 2]);
        let [one, other] = ends.map(|it| it * self.later_ms.signum());
        let (from, to) = (length_text(one.min(other)), length_text(one.max(other)));
        let (number, unit) = from.split_once(' ').unwrap_or((&from, ""));
        match () {
            () if from == to => format!("{to} {side}"),
            () if to.ends_with(&format!(" {unit}")) => format!("{number} to {to} {side}"),
            () => format!("{from} to {to} {side}"),
        }
    }

    /// Whether it moves too little to be noticed.
    fn is_as_now(&self) -> bool {
        self.later_ms.abs() <= AS_NOW * self.present_ms
    }

    /// Whether it is shown to be earlier, and to an extent that is noticed.
    pub(super) fn is_earlier(&self) -> bool {
        let is_shown = self.interval_ms.is_some_and(|[_, high]| high < 0.0);
        is_shown && self.later_ms < -AS_NOW * self.present_ms
    }

    fn is_late(&self) -> bool {
        self.present_ms + self.later_ms > SEEN_LATER_MAX * self.present_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::metrics::BySet;
    use schedulers::Kind;

    fn run(seed: u64, first_render_ms: f64, hero_render_ms: f64) -> RunRecord {
        let times = [("first_render", first_render_ms), ("hero_render", hero_render_ms)];
        let metrics = times.map(|(name, ms)| (name, BySet::of_page(Some(ms))));
        RunRecord {
            seed,
            completed: true,
            metrics: metrics.into_iter().collect(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn an_image_that_is_only_taken_for_the_hero_is_named() {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        let named = |page: &Page| SeenImage::of(page).named(page);
        assert_eq!(named(&page), "its largest image");
        let assumed = "heroes: without priorities, the first image of at least 20 kB that the document asks for";
        page.source.assumptions.push(assumed.to_owned());
        assert_eq!(named(&page), "the image taken for its hero, /hero.jpg,");
        let image = page.resources.iter().position(|it| it.kind == Kind::Image && !it.hero);
        page.resources[image.expect("another image")].hero = true;
        assert_eq!(named(&page), "the last of the 2 images taken for its heroes");
        page.resources.iter_mut().for_each(|it| it.hero = false);
        page.resources.iter_mut().for_each(|it| it.above_fold = it.url == "/hero.jpg");
        assert_eq!(named(&page), "its image above the fold with the most bytes, /hero.jpg,");
    }

    #[test]
    fn a_change_that_shows_the_page_or_its_hero_more_than_2_percent_later_is_told() {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let loads = |first_ms: f64, hero_ms: f64| {
            (0..6).map(|seed| run(seed, first_ms + seed as f64, hero_ms)).collect::<Vec<_>>()
        };
        let now = loads(500.0, 1000.0);
        let noticed = |then: &[RunRecord]| {
            Noticed::of(page, &now.iter().collect::<Vec<_>>(), &then.iter().collect::<Vec<_>>())
        };
        let then = noticed(&loads(505.0, 700.0));
        let hero = then.largest_image.expect("a hero");
        assert_eq!((hero.present_ms, hero.later_ms), (1000.0, -300.0));
        assert_eq!(hero.interval_ms, Some([-300.0, -300.0]));
        assert_eq!(then.too_late(), None);
        assert_eq!(noticed(&loads(515.0, 700.0)).too_late(), Some("its first rendering"));
        assert_eq!(noticed(&loads(400.0, 1021.0)).too_late(), Some("its largest image"));
    }
}

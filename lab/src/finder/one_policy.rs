//! One policy for all pages: a configuration has one priority for a path, whichever page asks for it.
//!
//! Each page is searched alone. Here the lines of all pages become one set. Every page that the set treats differently is loaded
//! again under it and judged by that. A line that harms a page is left out of the set.

use super::answer::JudgedCandidate;
use super::by_resource::loaded;
use super::{ByResource, Question, Step};
use crate::bounds::{self, Priorities};
use crate::study::StudyError;
use corpus::Page;
use corpus::page::BrowserPriority;
use std::collections::BTreeMap;

/// The lines of a configuration, by path. As `utmost serve` applies them, a path without a query holds for every query.
#[derive(Default)]
struct Lines {
    kept: BTreeMap<String, Line>,
    /// Why the others were left out, by path.
    left_out: BTreeMap<String, String>,
}

struct Line {
    priority: BrowserPriority,
    /// The page that it is for.
    page: String,
}

/// A page, searched alone and under the lines of all pages.
struct Candidate {
    alone: ByResource,
    /// `None`: the lines treat the page as it was judged alone.
    under: Option<(Priorities, ByResource)>,
}

/// Judges the pages under the lines of all of them.
pub(super) fn merge(
    question: &Question,
    found: Vec<ByResource>,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<ByResource>, StudyError> {
    let mut lines = Lines::of(&found);
    let new = |alone| Candidate { alone, under: None };
    let mut candidates: Vec<Candidate> = found.into_iter().map(new).collect();
    loop {
        for candidate in &mut candidates {
            candidate.load(question, &lines, progress)?;
        }
        decide(question, candidates.iter_mut().map(Candidate::current).collect());
        let before = lines.kept.len();
        for candidate in &candidates {
            lines.spare(candidate);
        }
        if lines.kept.len() == before {
            lines.drop_useless(&candidates);
        }
        if lines.kept.len() == before {
            return Ok(candidates.into_iter().map(|it| it.finished(&lines)).collect());
        }
    }
}

/// Decides which pages gain, with p-values adjusted for one another.
pub(super) fn decide(question: &Question, mut found: Vec<&mut ByResource>) {
    let gains = found.iter_mut().flat_map(|it| &mut it.networks);
    JudgedCandidate::judge(gains.map(|it| (&mut it.judgement, &mut it.verdict)).collect());
    for page in found {
        page.decide(question);
    }
}

impl Candidate {
    fn load(
        &mut self,
        question: &Question,
        lines: &Lines,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<(), StudyError> {
        let Some(page) = self.alone.page().filter(|_| self.alone.is_known()) else { return Ok(()) };
        let under = lines.applied(page);
        if under == self.wished(page) {
            self.under = None;
        } else if self.under.as_ref().is_none_or(|it| it.0 != under) {
            let found = loaded(question, page, &under, progress)?;
            self.under = Some((under, found));
        }
        Ok(())
    }

    /// The priorities that are best for the page alone.
    fn wished(&self, page: &Page) -> Priorities {
        let mut priorities = bounds::usual(page);
        for line in self.alone.resources.iter().filter(|_| self.alone.is_better) {
            priorities[line.id] = line.priority();
        }
        priorities
    }

    fn current(&mut self) -> &mut ByResource {
        self.under.as_mut().map_or(&mut self.alone, |it| &mut it.1)
    }

    fn result(&self) -> &ByResource {
        self.under.as_ref().map_or(&self.alone, |it| &it.1)
    }

    /// The page as the lines leave it. Without a gain before and after, it is as searched alone.
    fn finished(self, lines: &Lines) -> ByResource {
        let mut not_kept = self.not_kept(lines);
        let Self { alone, under } = self;
        let ByResource { unsure, alike, .. } = alone.clone();
        not_kept.extend(alone.not_kept.clone());
        match under.filter(|it| alone.is_better || it.1.is_better) {
            Some((_, found)) => ByResource { unsure, not_kept, alike, ..found },
            None => ByResource { not_kept, ..alone },
        }
    }

    /// The lines that the page alone would have, and that other pages forbid.
    fn not_kept(&self, lines: &Lines) -> BTreeMap<String, Vec<String>> {
        let mut not_kept: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let Some(page) = self.alone.page().filter(|_| self.alone.is_better) else {
            return not_kept;
        };
        for wished in &self.alone.resources {
            let path = &page.resources[wished.id].url;
            let why = match lines.for_path(path) {
                Some((_, kept)) if kept.priority == wished.priority() => continue,
                Some((_, kept)) => format!(
                    "a path has one priority for all pages, and {} gains with {}",
                    kept.page,
                    words(kept.priority)
                ),
                None => lines.left_out.get(path).cloned().unwrap_or_default(),
            };
            not_kept.entry(why).or_default().push(wished.url.clone());
        }
        not_kept
    }
}

impl Lines {
    /// The lines of the pages that gain. If two are for one path, the page that gains most has its line.
    fn of(found: &[ByResource]) -> Self {
        let mut better: Vec<&ByResource> = found.iter().filter(|it| it.is_better).collect();
        better.sort_by(|one, other| {
            let [one, other] = [one, other].map(|it| it.speedup().unwrap_or_default());
            other.total_cmp(&one)
        });
        let mut lines = Self::default();
        for (found, page) in better.into_iter().filter_map(|it| Some((it, it.page()?))) {
            for line in &found.resources {
                let path = page.resources[line.id].url.clone();
                let line = Line { priority: line.priority(), page: found.page.clone() };
                lines.kept.entry(path).or_insert(line);
            }
        }
        lines
    }

    /// The line for a path, with the path that the line names.
    fn for_path(&self, path: &str) -> Option<(&String, &Line)> {
        let plain = path.split('?').next().unwrap_or_default();
        self.kept.get_key_value(path).or_else(|| self.kept.get_key_value(plain))
    }

    fn applied(&self, page: &Page) -> Priorities {
        let mut priorities = bounds::usual(page);
        for (priority, resource) in priorities.iter_mut().zip(&page.resources) {
            if let Some((_, line)) = self.for_path(&resource.url) {
                *priority = line.priority;
            }
        }
        priorities
    }

    /// Leaves out what harms a page: the lines that differ from what is best for it, or, without any, all of its lines.
    fn spare(&mut self, candidate: &Candidate) {
        let Some((under, found)) = candidate.under.as_ref().filter(|it| !it.1.is_harmless()) else {
            return;
        };
        let Some(page) = found.page() else { return };
        for best in [candidate.wished(page), bounds::usual(page)] {
            let changed = page.resources.iter().filter(|it| under[it.id] != best[it.id]);
            let paths = changed.filter_map(|it| Some(self.for_path(&it.url)?.0.clone()));
            let paths: Vec<String> = paths.collect();
            for path in &paths {
                self.leave_out(path, &format!("with {{}}, {} would be slower", found.page));
            }
            if !paths.is_empty() {
                return;
            }
        }
    }

    /// Leaves out the lines of pages that no longer gain with all lines.
    fn drop_useless(&mut self, candidates: &[Candidate]) {
        let better = candidates.iter().map(Candidate::result).filter(|it| it.is_better);
        let pages: Vec<_> = better.filter_map(ByResource::page).collect();
        let paths: Vec<String> = self.kept.keys().cloned().collect();
        for path in paths {
            let names = |page: &Page| {
                page.resources
                    .iter()
                    .any(|it| self.for_path(&it.url).is_some_and(|it| *it.0 == path))
            };
            if !pages.iter().any(|it| names(it)) {
                self.leave_out(&path, "without the lines that harm another page, it gains nothing");
            }
        }
    }

    /// `why`: with `{}` for the priority.
    fn leave_out(&mut self, path: &str, why: &str) {
        if let Some(line) = self.kept.remove(path) {
            let why = why.replace("{}", &words(line.priority));
            self.left_out.insert(path.to_owned(), why);
        }
    }
}

/// `urgency 0, shared`.
fn words(priority: BrowserPriority) -> String {
    let shared = if priority.incremental { ", shared" } else { "" };
    format!("urgency {}{shared}", priority.urgency)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Gain, PolicySite, ResourcePriority, SiteAnswer, by_resource, policy};
    use super::*;
    use crate::network::Network;
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// A page at `host`, whose document refers to these images at once: path, bytes, and whether a visitor sees it first.
    pub(in super::super) fn page(
        name: &str,
        host: &str,
        images: &[(&str, u64, bool)],
    ) -> Arc<Page> {
        let document = json!({"id": 0, "url": format!("/{name}"), "kind": "html", "mime": "text/html", "bytes": 3000, "main": true,
            "critical": true, "above_fold": true, "trigger": {"on": "nav"}});
        let image = |(id, (path, bytes, above_fold)): (usize, &(&str, u64, bool))| {
            json!({"id": id, "url": path, "kind": "image", "mime": "image/png", "bytes": bytes, "above_fold": above_fold,
                "trigger": {"on": "bytes", "of": 0, "byte": 1000}})
        };
        let images = (1..).zip(images).map(image);
        let resources: Vec<Value> = [document].into_iter().chain(images).collect();
        let page = json!({"format": "utmost-page/1", "name": name,
            "source": {"kind": "hand", "from": "a test", "licence": "MIT"}, "viewport": [1366, 768],
            "origins": [{"host": host, "party": "first"}], "resources": resources});
        Arc::new(serde_json::from_value(page).expect("a page"))
    }

    /// The page alone gains so much with these urgencies of its images.
    pub(in super::super) fn gaining(
        page: &Arc<Page>,
        ratio: f64,
        lines: &[(usize, u8)],
    ) -> ByResource {
        let line = |(id, urgency): &(usize, u8)| ResourcePriority {
            id: *id,
            url: page.url(*id),
            urgency: *urgency,
            incremental: false,
            later_ms: 0.0,
        };
        let gain = Gain::judged("cable", ratio, [ratio - 0.01, ratio + 0.01]);
        ByResource {
            resources: lines.iter().map(line).collect(),
            of: Some(Arc::clone(page)),
            is_better: !lines.is_empty(),
            ..ByResource::with_gains(&page.name, vec![gain])
        }
    }

    fn question(pages: &[&Arc<Page>]) -> Question {
        let pages = pages.iter().map(|it| Arc::clone(it)).collect();
        let networks = vec![Network::find("cable").expect("built in")];
        Question { most_loads: 9, jobs: 2, ..Question::new(pages, networks) }
    }

    /// The image that is seen first comes second.
    fn shop() -> Arc<Page> {
        page("shop", "site.test", &[("/large.png", 400_000, false), ("/x.png", 90_000, true)])
    }

    /// The image that is seen first needs `/x.png` to wait.
    fn home() -> Arc<Page> {
        page("home", "site.test", &[("/x.png", 400_000, false), ("/hero.png", 90_000, true)])
    }

    #[test]
    fn a_path_for_which_two_pages_need_other_priorities_has_none_and_the_answer_says_so() {
        let (home, shop) = (home(), shop());
        let question = question(&[&home, &shop]);
        let found = vec![gaining(&home, 1.3, &[(1, 7)]), gaining(&shop, 1.9, &[(2, 0)])];
        let found = merge(&question, found, &|_| ()).expect("loads");
        assert!(found.iter().all(|it| !it.is_better && it.resources.is_empty()), "{found:?}");
        let harm = "a priority for /x.png: with urgency 0, home would be slower.";
        let doubts: Vec<String> = found.iter().flat_map(ByResource::doubts).collect();
        assert_eq!(doubts, [format!("home: {harm}"), format!("shop: {harm}")]);
        let answer = SiteAnswer::of(&question, &found);
        assert_eq!(
            answer.sentence,
            "Keep what you have: no priority that can be kept makes the 2 pages faster. What was left out is named below."
        );
        assert_eq!(answer.left_out, doubts);
        let text = policy(&answer, &found, &[], &PolicySite::Folder(".".to_owned()), &Value::Null);
        assert!(!text.contains("\n[route.resource"), "{text}");
        assert!(text.contains(&format!("# shop: {harm}\n")), "{text}");
        let export = super::super::advice(&answer, &found, None);
        assert!(export.lines.is_empty() && export.found.contains(&doubts[0]), "{export:?}");
    }

    #[test]
    fn a_line_that_harms_a_page_without_lines_is_left_out() {
        let (home, shop) = (home(), shop());
        let question = question(&[&home, &shop]);
        let found = vec![gaining(&home, 1.0, &[]), gaining(&shop, 1.9, &[(2, 0)])];
        let found = merge(&question, found, &|_| ()).expect("loads");
        assert_eq!(found.iter().map(|it| it.is_better).collect::<Vec<_>>(), [false, false]);
        assert_eq!(
            found[1].doubts(),
            ["shop: a priority for /x.png: with urgency 0, home would be slower."]
        );
    }

    #[test]
    fn a_line_that_harms_no_page_is_kept_and_pages_are_judged_by_loads_under_it() {
        let small = [("/hero.png", 90_000, true), ("/x.png", 9_000, false)];
        let (home, shop) = (page("home", "other.test", &small), shop());
        let question = question(&[&home, &shop]);
        let found = vec![gaining(&home, 1.3, &[(2, 7)]), gaining(&shop, 1.9, &[(2, 0)])];
        let found = merge(&question, found, &|_| ()).expect("loads");
        let better: Vec<bool> = found.iter().map(|it| it.is_better).collect();
        if better[1] {
            assert_eq!(found[1].networks[0].judgement.ratio, Some(1.9), "nothing changed for it");
        }
        let kept = "home: a priority for /x.png: a path has one priority for all pages, and shop gains with urgency 0.";
        assert_eq!((better, found[0].doubts()), (vec![false, true], vec![kept.to_owned()]));
    }

    #[test]
    fn a_page_that_its_own_lines_treat_as_searched_is_not_loaded_again() {
        let (home, shop) = (home(), shop());
        let question = question(&[&home, &shop]);
        let found = vec![gaining(&home, 1.3, &[(2, 1)]), gaining(&shop, 1.9, &[(1, 6)])];
        let never = |_| panic!("a load");
        let merged = merge(&question, found, &never).expect("no load");
        assert!(merged.iter().all(|it| it.is_better && it.not_kept.is_empty()), "{merged:?}");
    }

    #[test]
    fn a_line_for_a_path_holds_for_its_queries_unless_they_have_their_own() {
        let shop =
            page("shop", "site.test", &[("/i?a", 9, true), ("/i?b", 9, true), ("/i", 9, true)]);
        let lines = Lines::of(&[gaining(&shop, 1.2, &[(2, 1), (3, 6)])]);
        let urgencies: Vec<u8> = lines.applied(&shop).iter().map(|it| it.urgency).collect();
        assert_eq!(urgencies[1..], [6, 1, 6]);
    }

    #[test]
    fn what_no_configuration_can_name_is_not_advised() {
        let images = [("/1*.png", 400_000, false), ("/2*.png", 90_000, true)];
        let page = page("home", "site.test", &images);
        let question = question(&[&page]);
        let found = by_resource(&question, &|_| ()).expect("loads");
        assert!(!found[0].is_better && found[0].resources.is_empty(), "{found:?}");
        let answer = SiteAnswer::of(&question, &found);
        assert!(
            answer
                .sentence
                .starts_with("Keep what you have: no priority that can be kept makes home faster.")
        );
        assert!(
            answer.left_out[0].contains(".png: no configuration can name a path with *"),
            "{answer:?}"
        );
        assert_eq!(super::super::routes(&found, &PolicySite::ToFillIn), "");
    }
}

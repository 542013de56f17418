//! Browser profiles as data: the signals for each kind of resource, and the requests that a browser holds back. Each has a date and a
//! source, because browsers change.

use corpus::Page;
use corpus::page::{BrowserPriority, FetchPriority, PageResource, Script};
use schedulers::{FACTS, Fact, Kind};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::collections::BTreeMap;

/// A browser of some date.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name, as in `--profile`.
    #[serde(skip)]
    pub name: String,
    /// Its peculiarities, in a sentence.
    pub about: String,
    /// When it was seen, `YYYY-MM`.
    pub date: String,
    /// Where.
    pub source: String,
    /// Which requests the browser holds back.
    pub hold_back: Option<HoldBack>,
    /// How long it takes to commit to a document ([`Page::commit_ms`]): minimum and maximum.
    #[serde(default)]
    pub commit_ms: [f64; 2],
    #[serde(rename = "rule")]
    rules: Vec<Rule>,
}

/// Which requests wait although their resources are discovered. Until the parser reaches the document's body
/// ([`crate::playback::Playback::is_in_head`]), only a few of the less urgent requests may be outstanding. After that, the waiting ones
/// are sent in order of urgency. Blink does the same (`ResourceLoadScheduler`, with its tight limit).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldBack {
    /// The limit applies to requests of this urgency and less urgent ones.
    pub urgency_from: u8,
    /// How many of them are outstanding.
    pub at_most: u8,
}

/// A rule. The first one whose conditions all hold decides.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    urgency: u8,
    #[serde(default)]
    incremental: bool,
    #[serde(default)]
    when: Conditions,
}

/// The conditions of a rule on a resource: its kind, its `script` or `fetchpriority` attribute, whether it is among the first images that
/// the document references, or any of [`FACTS`].
#[derive(Debug, Clone, Default)]
struct Conditions {
    kind: Option<Kind>,
    first_images: Option<usize>,
    script: Option<Script>,
    fetchpriority: Option<FetchPriority>,
    facts: Vec<(&'static Fact, bool)>,
}

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut conditions = Self::default();
        for (key, value) in BTreeMap::<String, toml::Value>::deserialize(deserializer)? {
            let wrong =
                |error: toml::de::Error| D::Error::custom(format!("{key}: {}", error.message()));
            match key.as_str() {
                "kind" => conditions.kind = Some(corpus::kind::deserialize(value).map_err(wrong)?),
                "first_images" => {
                    conditions.first_images = Some(value.try_into().map_err(wrong)?);
                }
                "script" => conditions.script = Some(value.try_into().map_err(wrong)?),
                "fetchpriority" => {
                    conditions.fetchpriority = Some(value.try_into().map_err(wrong)?);
                }
                _ => {
                    let fact = FACTS.iter().find(|it| it.name == key);
                    let fact =
                        fact.ok_or_else(|| D::Error::custom(format!("{key}: not a condition")))?;
                    conditions.facts.push((fact, value.try_into().map_err(wrong)?));
                }
            }
        }
        Ok(conditions)
    }
}

/// A profile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProfileError {
    #[error("no profile named `{name}`; there are {known}")]
    Unknown { name: String, known: String },
    #[error("profile {name}: {cause}")]
    Malformed { name: String, cause: String },
}

const BUNDLED: [(&str, &str); 6] = [
    ("chromium-156", include_str!("../profiles/chromium-156.toml")),
    ("chrome-2023", include_str!("../profiles/chrome-2023.toml")),
    ("firefox-2023", include_str!("../profiles/firefox-2023.toml")),
    ("firefox-132", include_str!("../profiles/firefox-132.toml")),
    ("firefox-153", include_str!("../profiles/firefox-153.toml")),
    ("safari-2023", include_str!("../profiles/safari-2023.toml")),
];

impl Profile {
    /// A bundled profile by its name.
    pub fn find(name: &str) -> Result<Self, ProfileError> {
        let found = BUNDLED.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            known: BUNDLED.map(|(known, _)| known).join(", "),
        })?;
        Self::parse(name, text)
    }

    /// Reads a profile.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        let profile: Self = toml::from_str(text)
            .map_err(|error| malformed(name, error.to_string().trim().replace('\n', " ")))?;
        if let Some(rule) = profile.rules.iter().find(|rule| rule.urgency > 7) {
            return Err(malformed(name, format!("urgency {}: from 0 to 7", rule.urgency)));
        }
        Ok(Self { name: name.to_owned(), ..profile })
    }

    /// The page as this browser would signal it, with RFC 9218's default for resources without a rule.
    #[must_use]
    pub fn applied_to(&self, mut page: Page) -> Page {
        self.commits_to(&mut page, 0.5);
        let mut images = 0;
        for resource in &mut page.resources {
            let is_named_image = resource.kind == Kind::Image && resource.is_in_text();
            images += usize::from(is_named_image);
            let image = is_named_image.then_some(images);
            let rule = self.rules.iter().find(|it| it.when.hold_for(resource, image));
            let (urgency, incremental) = rule.map_or((3, false), |it| (it.urgency, it.incremental));
            resource.browser = Some(BrowserPriority { urgency, incremental });
        }
        page
    }

    /// The same, but the page's own signals stay, because they were observed. `chance`, from 0 to 1, places the commit time within its
    /// limits.
    pub fn opened(&self, mut page: Page, chance: f64) -> Page {
        self.commits_to(&mut page, chance);
        let mut opened = self.applied_to(page.clone());
        for (resource, seen) in opened.resources.iter_mut().zip(&page.resources) {
            resource.browser = seen.browser.or(resource.browser);
        }
        opened
    }

    /// Sets the commit time, unless the page has its own.
    fn commits_to(&self, page: &mut Page, chance: f64) {
        let [least, most] = self.commit_ms;
        if page.commit_ms == 0.0 {
            page.commit_ms = least + chance * (most - least);
        }
    }
}

impl Conditions {
    /// `image`: its number among the document's images, from 1.
    fn hold_for(&self, resource: &PageResource, image: Option<usize>) -> bool {
        // A script without an attribute is synchronous.
        let script = resource.script.or((resource.kind == Kind::Js).then_some(Script::Sync));
        let known = resource.for_scheduler();
        self.kind.is_none_or(|it| it == resource.kind)
            && self.first_images.is_none_or(|most| image.is_some_and(|it| it <= most))
            && self.script.is_none_or(|it| Some(it) == script)
            && self.fetchpriority.is_none_or(|it| Some(it) == resource.fetchpriority)
            && self.facts.iter().all(|&(fact, wanted)| fact.get(&known) == wanted)
    }
}

fn malformed(name: &str, cause: String) -> ProfileError {
    ProfileError::Malformed { name: name.to_owned(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signals of a profile for the resources of the Davies/Meenan page, in order.
    fn signals(name: &str) -> String {
        let page = corpus::bundled("davies-meenan").expect("bundled").clone();
        let page = Profile::find(name).expect("bundled").applied_to(page);
        let text = |it: BrowserPriority| {
            format!("{}{}", it.urgency, if it.incremental { "i" } else { "" })
        };
        page.resources.iter().filter_map(|it| it.browser.map(text)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_browser_signals_the_same_page_in_its_own_way() {
        // index.html, top.js, three hidden images, background, font, hero, bottom.js.
        assert_eq!(signals("chrome-2023"), "0i 1 3i 3i 3i 3i 0 3i 2");
        assert_eq!(signals("chromium-156"), "0i 1 2i 2i 2i 2i 0 2i 2");
        assert_eq!(signals("firefox-2023"), "1 2 4 4 4 4 4 4 3");
        assert_eq!(signals("firefox-132"), "0i 2 5i 5i 5i 5i 3 5i 2");
        assert_eq!(signals("firefox-153"), "0i 2 5i 5i 5i 5i 3 5i 3");
        assert_eq!(signals("safari-2023"), "0i 1i 3i 3i 3i 3i 3i 3i 1i");
    }

    #[test]
    fn an_opened_page_keeps_the_signals_that_were_seen_and_is_read_within_the_bounds() {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(3);
        page.resources[1].browser = Some(BrowserPriority { urgency: 7, incremental: false });
        page.resources[2].browser = None;
        let profile = Profile::find("chromium-156").expect("bundled");
        let opened = profile.opened(page.clone(), 0.0);
        let urgencies = opened.resources.iter().filter_map(|it| Some(it.browser?.urgency));
        assert_eq!(urgencies.collect::<Vec<_>>(), [0, 7, 2]);
        let commit = |it: &Page, chance| profile.opened(it.clone(), chance).commit_ms.to_string();
        assert_eq!([0.0, 0.5, 1.0].map(|it| commit(&page, it)), ["25", "35", "45"]);
        page.commit_ms = 90.0;
        assert_eq!(commit(&page, 0.5), "90");
    }

    #[test]
    fn an_unknown_profile_names_the_known_ones_and_a_bad_one_its_cause() {
        let unknown = Profile::find("lynx").expect_err("unknown").to_string();
        assert_eq!(
            unknown,
            "no profile named `lynx`; there are chromium-156, chrome-2023, firefox-2023, firefox-132, firefox-153, safari-2023"
        );
        let text = "about = \"\"\ndate = \"\"\nsource = \"\"\n[[rule]]\nurgency = 9";
        assert!(Profile::parse("x", text).expect_err("bad").to_string().contains("urgency 9"));
    }
}

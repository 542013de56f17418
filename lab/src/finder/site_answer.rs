//! The answer in a few sentences: what to do, what was left out, and how certain it is.

use super::by_resource::Gain;
use super::doubts::{doubts, without_priorities};
use super::others::Others;
use super::seen::length_text;
use super::words::{doubt, listed};
use super::{ByResource, Question, Verdict, WHAT_YOU_HAVE};
use crate::export::Nothing;
use corpus::import::said::SEVERAL_LOADS;
use qlog_tools::short_texts::counted;
use serde::Serialize;
use std::collections::BTreeSet;

/// Key phrases of importers' and recorders' assumptions about missing responses.
const LEFT_OUT: [&str; 4] =
    ["other hosts", "left out because", "could not be reached", SEVERAL_LOADS];

/// The most doubts that an answer names.
const DOUBTS_SHOWN: usize = 3;

/// The advice to the owner of a site.
#[derive(Debug, Clone, Serialize)]
pub struct SiteAnswer {
    /// Whether to change anything.
    pub verdict: Verdict,
    /// The advice, and its result.
    pub sentence: String,
    /// The limits of the answer, one sentence each.
    pub left_out: Vec<String>,
    /// How certain it is, and why.
    pub certainty: String,
}

impl SiteAnswer {
    /// Why an export of it has nothing to paste, if it has nothing.
    pub(super) fn nothing(&self, found: &[ByResource]) -> Nothing {
        match self.verdict {
            Verdict::Unknown => Nothing::Unknown,
            Verdict::Better if found.iter().any(|it| it.changes_server) => Nothing::OfServer,
            Verdict::Better => Nothing::MadeUpHosts,
            _ => Nothing::NoGain,
        }
    }

    /// The answer from the results for each page.
    pub fn of(question: &Question, found: &[ByResource]) -> Self {
        let better: Vec<&ByResource> = found.iter().filter(|it| it.is_better).collect();
        let gains = || found.iter().flat_map(|page| page.networks.iter().map(move |it| (page, it)));
        let is_unsure = gains().any(|it| it.1.verdict == Verdict::Unsure);
        let (verdict, sentence) = if !better.is_empty() {
            (Verdict::Better, change(question, found, &better))
        } else if let Some((page, gain)) =
            best(gains().filter(|it| it.1.verdict == Verdict::Better))
        {
            (Verdict::NothingBetter, harm(page, gain))
        } else if let Some((page, gain)) =
            best(gains().filter(|it| it.1.verdict == Verdict::Unsure && it.1.ratio() > 1.0))
        {
            (Verdict::Unsure, unsure(page, gain))
        } else if gains().any(|it| it.1.verdict != Verdict::Unknown) {
            (if is_unsure { Verdict::Unsure } else { Verdict::NothingBetter }, nothing(found))
        } else {
            (Verdict::Unknown, unknown(found))
        };
        let mut left_out: Vec<String> = Vec::new();
        for page in &question.pages() {
            left_out.extend(Others::of(page).words());
            let mut said = page.source.assumptions.clone();
            said.retain(|it| LEFT_OUT.iter().any(|words| it.contains(words)));
            left_out.extend(said.iter().map(|it| format!("{}: {it}.", page.name)));
        }
        let doubts = found.iter().flat_map(ByResource::doubts);
        left_out.extend(doubts.chain(found.iter().filter_map(alike)));
        Self { verdict, sentence, left_out, certainty: certainty(question, found, verdict) }
    }
}

type OnNetwork<'a> = (&'a ByResource, &'a Gain);

fn best<'a>(gains: impl Iterator<Item = OnNetwork<'a>>) -> Option<OnNetwork<'a>> {
    gains.max_by(|one, other| one.1.ratio().total_cmp(&other.1.ratio()))
}

fn change(question: &Question, found: &[ByResource], better: &[&ByResource]) -> String {
    // Pages share lines.
    let lines = better.iter().flat_map(|it| &it.resources).map(|it| &it.url);
    let lines = lines.collect::<BTreeSet<_>>().len();
    let responses = counted(lines, "response");
    let of = match found.len() {
        1 => format!(" of {}", better[0].page),
        pages => format!(" on {} of {pages} pages", better.len()),
    };
    let priorities = format!("give {responses}{of} another priority");
    let server = format!(
        "send {}by RFC 9218, as utmost serve and h2o do, and not as {} does",
        if lines == 0 { format!("{} ", better[0].page) } else { String::new() },
        question.server.name
    );
    let what = match (question.server.is_obeying(), lines) {
        (true, _) => priorities,
        (false, 0) => server,
        (false, _) => format!("{server}, and {priorities}"),
    };
    let gains = better.iter().filter_map(|page| Some((*page, page.gains_most()?)));
    let gain = best(gains).map_or(String::new(), |(page, gain)| {
        let name = if found.len() == 1 { "it" } else { &page.page };
        let seen = gain.moved(page).map_or(String::new(), |it| format!(", and {it}"));
        let condition = page.page().and_then(|it| Others::of(it).condition(page));
        let condition = condition.map_or(String::new(), |it| format!(", {it}"));
        format!(
            ": on {}, {name} is {:.2} times as fast{seen}{condition}.{}",
            gain.network,
            gain.ratio(),
            elsewhere(page)
        )
    });
    format!("{}{gain}", capitalised(&what))
}

/// The networks without a gain that is shown, each in a sentence with a leading space.
fn elsewhere(page: &ByResource) -> String {
    let on = |verdict: Verdict| page.networks.iter().filter(move |it| it.verdict == verdict);
    let unsure: Vec<&str> = on(Verdict::Unsure).map(|it| it.network.as_str()).collect();
    let mut words = Vec::new();
    if !unsure.is_empty() {
        words.push(format!(" A gain is not shown on {}.", listed(unsure)));
    }
    for slower in on(Verdict::Slower) {
        words.push(format!(" On {}, {:.2} times as fast.", slower.network, slower.ratio()));
    }
    words.concat()
}

/// A gain on a network that must not be used, and why.
fn harm(page: &ByResource, gain: &Gain) -> String {
    let slower = page.networks.iter().min_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    let late = page.networks.iter().find_map(|it| it.noticed.too_late().zip(Some(&it.network)));
    let unknown = page.networks.iter().find(|it| it.verdict == Verdict::Unknown);
    let but = match (late, unknown, slower) {
        (Some((what, network)), ..) => format!("but {what} would arrive later on {network}"),
        (None, ..) if !page.late.is_empty() => "but a visible image would arrive later".to_owned(),
        (None, Some(unknown), _) => format!("but too few loads finished on {}", unknown.network),
        (None, None, Some(slower)) => format!(
            "but {}{:.2} times as fast on {}, and a server does not know a visitor's network",
            if slower.verdict == Verdict::Slower { "" } else { "perhaps " },
            slower.ratio(),
            slower.network
        ),
        (None, None, None) => String::new(),
    };
    format!(
        "Keep {WHAT_YOU_HAVE}: {}, {} would be {:.2} times as fast on {}, {but}.",
        page.change("other priorities"),
        page.page,
        gain.ratio(),
        gain.network
    )
}

fn unsure(page: &ByResource, gain: &Gain) -> String {
    let slower = page.networks.iter().find(|it| it.verdict == Verdict::Slower);
    format!(
        "Keep {WHAT_YOU_HAVE} for now: {}, {} may be {:.2} times as fast on {}, which is uncertain.{}{}",
        page.change("other priorities"),
        page.page,
        gain.ratio(),
        gain.network,
        doubt(&gain.judgement, page.networks.len()),
        slower.map_or(String::new(), |it| format!(
            " It is shown to be slower on {}, {:.2} times as fast.",
            it.network,
            it.ratio()
        ))
    )
}

fn nothing(found: &[ByResource]) -> String {
    let mut known: Vec<&ByResource> = found.iter().collect();
    known.retain(|it| it.is_known());
    let pages = match (found, known.len()) {
        ([one], _) => one.page.clone(),
        (several, known) if known < several.len() => {
            format!("{known} of {} pages", several.len())
        }
        (several, _) => format!("the {} pages", several.len()),
    };
    let is_written = found.iter().all(|it| it.not_kept.is_empty());
    if !is_written {
        return format!(
            "Keep {WHAT_YOU_HAVE}: no priority that can be kept makes {pages} faster. What was left out is named below."
        );
    }
    if found.iter().any(|it| it.changes_server) {
        return format!("Keep {WHAT_YOU_HAVE}: RFC 9218 does not make {pages} faster.");
    }
    format!(
        "Keep {WHAT_YOU_HAVE}: no response of {pages} gains from a priority other than the browser's{}.",
        in_every_recording(found)
    )
}

/// The words that tell a search without result from one whose results other recordings reverse.
fn in_every_recording(found: &[ByResource]) -> &'static str {
    let is_doubtful = found.iter().any(|it| !it.unsure.is_empty());
    if is_doubtful { " in every recording" } else { "" }
}

/// Why nothing is known, and what to do.
fn unknown(found: &[ByResource]) -> String {
    for (page, gain) in found.iter().flat_map(|page| page.networks.iter().map(move |it| (page, it)))
    {
        if let Some(problem) = &gain.problem {
            return format!(
                "Unknown: too few loads finished. The first that failed, of {} on {}: {problem}. Correct what it names, or leave it out of \
                 the page, or name another network, and search again.",
                page.page, gain.network
            );
        }
    }
    "Unknown: no load has a value. Name a page with bytes above the fold, or another --metric."
        .to_owned()
}

/// The pages assumed to be like a loaded one.
fn alike(found: &ByResource) -> Option<String> {
    let count = found.alike.len();
    let named = listed(found.alike.iter().map(String::as_str));
    (count > 0).then(|| {
        format!(
            "{}: {count} pages with its template were not loaded: {named}. Resources that only they name have no priority.",
            found.page
        )
    })
}

fn certainty(question: &Question, found: &[ByResource], verdict: Verdict) -> String {
    let gains = || found.iter().flat_map(|it| &it.networks);
    // A change is advised for gains that are shown; other networks' gains do not support it.
    let supports = |page: &ByResource, gain: &Gain| match verdict {
        Verdict::Better => page.is_better && gain.verdict == Verdict::Better,
        _ => gain.verdict != Verdict::Unknown,
    };
    let known = found.iter().flat_map(|page| page.networks.iter().filter(|it| supports(page, it)));
    let pairs = known.map(|it| it.judgement.pairs).min().unwrap_or_default();
    let own = question.pages();
    let of_page = |name: &str| question.pages.iter().filter(|it| it.name == name).count();
    let recordings = match own.iter().map(|it| of_page(&it.name)).min() {
        Some(several) if several > 1 => {
            format!("one of {several} recordings, varied as on another day")
        }
        _ => "an imitated recording of another day".to_owned(),
    };
    let has_line = |it: &ByResource| !it.resources.is_empty() || !it.not_kept.is_empty();
    let tried = found.iter().any(|it| it.changes_server || has_line(it));
    let how = match verdict {
        Verdict::Unsure => {
            format!("{pairs} pairs of loads or more do not all agree, each of {recordings}")
        }
        _ if tried || verdict == Verdict::Better => {
            format!("{pairs} pairs of loads or more show it, each of {recordings}")
        }
        _ => format!(
            "the search gave one response after another a priority, and none gains 1 %{}",
            in_every_recording(found)
        ),
    };
    let pages = found.iter().filter(|it| it.is_better || verdict != Verdict::Better);
    let pages: Vec<_> = pages.filter_map(ByResource::page).collect();
    let doubts: Vec<String> = pages.iter().flat_map(|it| doubts(it)).collect();
    let how = match listed_doubts(&doubts) {
        _ if verdict == Verdict::Unknown => "Nothing is known.".to_owned(),
        Some(doubts) => format!("Unsure: {doubts}. {}.", capitalised(&how)),
        None if verdict == Verdict::Unsure => format!("Unsure: {how}."),
        None => format!("Sure: {how}."),
    };
    let problem = gains().find_map(|it| it.problem.as_ref());
    let problem = problem.map_or(String::new(), |it| format!(" The first failed: {it}."));
    let unfinished = match gains().map(|it| it.unfinished).sum::<usize>() {
        0 => String::new(),
        1 => format!(" 1 load did not finish.{problem}"),
        several => format!(" {several} loads did not finish.{problem}"),
    };
    let today = pages.iter().find_map(|it| without_priorities(it)).unwrap_or_default();
    format!(
        "{how}{unfinished} {} is assumed to be {}.{today} Loads are played back, not made by a browser.",
        capitalised(WHAT_YOU_HAVE),
        question.server.model
    )
}

/// The first doubts, and the number of the others.
fn listed_doubts(doubts: &[String]) -> Option<String> {
    let (shown, more) = doubts.split_at(doubts.len().min(DOUBTS_SHOWN));
    let more = match more.len() {
        0 => String::new(),
        more => format!("; and {more} more doubts"),
    };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join("; ")))
}

impl Gain {
    /// The visible effects on this network, in one sentence.
    pub(super) fn line(&self, page: &str) -> String {
        let seen = [
            ("first render", self.noticed.first_render),
            (self.noticed.image.heading(), self.noticed.largest_image),
        ];
        let mut parts: Vec<String> = Vec::new();
        for (what, seen) in seen {
            parts.extend(
                seen.map(|it| {
                    format!("{what} {}, {}", length_text(it.present_ms), it.change_text())
                }),
            );
        }
        let ratio = self
            .judgement
            .interval
            .map_or(String::new(), |[low, high]| format!(" ({low:.2} to {high:.2})"));
        parts.push(format!("{:.2} times as fast{ratio}", self.ratio()));
        format!("{page} on {}: {}.", self.network, parts.join("; "))
    }

    /// The speedup; 1 if unknown.
    fn ratio(&self) -> f64 {
        self.judgement.ratio.unwrap_or(1.0)
    }

    /// The parts that a visitor sees earlier, in words.
    fn moved(&self, page: &ByResource) -> Option<String> {
        let image = self.noticed.image;
        let image = page.page().map_or_else(|| image.words().to_owned(), |it| image.named(it));
        let seen = [
            (image, self.noticed.largest_image),
            ("its first rendering".to_owned(), self.noticed.first_render),
        ];
        let (what, seen) = seen.into_iter().find_map(|(what, seen)| Some((what, seen?)))?;
        seen.is_earlier().then(|| format!("{what} comes {} earlier", length_text(-seen.later_ms)))
    }
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::super::{BASELINE_SERVERS, Seen};
    use super::*;

    fn answered(server: &str, pages: Vec<ByResource>) -> SiteAnswer {
        let server = BASELINE_SERVERS.iter().find(|it| it.name == server).expect("a model");
        let question = Question { server, ..Question::new(Vec::new(), Vec::new()) };
        let mut pages = pages;
        for page in &mut pages {
            page.decide(&question);
        }
        SiteAnswer::of(&question, &pages)
    }

    fn home(gains: &[(&str, f64, [f64; 2])]) -> ByResource {
        let gains = gains.iter().map(|it| Gain::judged(it.0, it.1, it.2));
        ByResource::with_gains("home", gains.collect())
    }

    fn sentence(gains: &[(&str, f64, [f64; 2])]) -> String {
        answered("rfc9218", vec![home(gains)]).sentence
    }

    #[test]
    fn one_sentence_says_what_to_do_and_where_a_visitor_gains_most() {
        let gains = [("cable", 1.0, [0.99, 1.01]), ("3g", 1.25, [1.2, 1.3])];
        assert_eq!(
            sentence(&gains),
            "Give 1 response of home another priority: on 3g, it is 1.25 times as fast. A gain is not shown on cable."
        );
        let mut page = home(&gains);
        let seen =
            Seen { present_ms: 6500.0, later_ms: -2980.0, interval_ms: Some([-3020.0, -2950.0]) };
        page.networks[1].noticed.largest_image = Some(seen);
        assert_eq!(
            answered("nginx", vec![page]).sentence,
            "Send by RFC 9218, as utmost serve and h2o do, and not as nginx does, and give 1 response of home another priority: on 3g, \
             it is 1.25 times as fast, and its largest image comes 2.98 s earlier. A gain is not shown on cable."
        );
        assert_eq!(seen.change_text(), "2.95 to 3.02 s earlier");
    }

    #[test]
    fn a_larger_gain_that_is_not_shown_is_no_headline() {
        let mut page =
            home(&[("cable", 1.0104, [1.0099, 1.011]), ("3g", 1.0806, [0.9988, 1.0985])]);
        let unsure =
            Seen { present_ms: 2460.5, later_ms: -214.8, interval_ms: Some([-262.1, 6.2]) };
        assert_eq!(unsure.change_text(), "262 ms earlier to 6 ms later");
        // Where the image is as unsure, the headline does not have it either.
        page.networks.iter_mut().for_each(|it| it.noticed.largest_image = Some(unsure));
        page.networks[1].judgement.pairs = 3;
        let answer = answered("rfc9218", vec![page]);
        assert_eq!(
            answer.sentence,
            "Give 1 response of home another priority: on cable, it is 1.01 times as fast. A gain is not shown on 3g."
        );
        assert!(answer.certainty.starts_with("Sure: 9 pairs of loads or more show it"));
    }

    #[test]
    fn what_is_shown_to_be_slower_is_called_slower() {
        let slower = ("cable", 0.974, [0.959, 0.989]);
        let mut page = home(&[slower, ("3g", 1.03, [0.98, 1.08])]);
        page.decide(&Question::new(Vec::new(), Vec::new()));
        assert_eq!(serde_json::json!(page.networks[0].verdict), "slower");
        assert!(page.words()[0].ends_with("9 pairs of loads). It is slower here."));
        assert_eq!(
            sentence(&[slower, ("3g", 1.03, [0.98, 1.08])]),
            "Keep what you have for now: with other priorities, home may be 1.03 times as fast on 3g, which is uncertain. Another recording of \
             the page, or chance, would reverse that. It is shown to be slower on cable, 0.97 times as fast."
        );
        // An estimate alone is not stated as a fact.
        let harm = sentence(&[("cable", 0.97, [0.9, 1.04]), ("3g", 1.25, [1.2, 1.3])]);
        assert!(harm.contains("but perhaps 0.97 times as fast on cable"), "{harm}");
    }

    #[test]
    fn what_gains_in_some_recordings_is_not_said_to_gain_in_none() {
        let mut page = home(&[("3g", 1.0, [0.99, 1.01])]);
        page.resources.clear();
        page.unsure.push("https://shop.example/a.woff2".to_owned());
        let answer = answered("rfc9218", vec![page]);
        assert_eq!(
            answer.sentence,
            "Keep what you have: no response of home gains from a priority other than the browser's in every recording."
        );
        assert!(answer.certainty.starts_with(
            "Sure: the search gave one response after another a priority, and none gains 1 % in every recording."
        ));
        assert_eq!(
            answer.left_out,
            [
                "home: a priority for /a.woff2: it gains in some recordings of the page and not in others."
            ]
        );
    }

    /// The same at a page of which another host sends all but the document.
    fn at_another_host(mut found: ByResource) -> ByResource {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        let mut other = page.origins[0].clone();
        "cdn.other.net".clone_into(&mut other.host);
        other.party = corpus::page::Party::Third;
        let place = page.origins.len();
        page.origins.push(other);
        page.resources[1..].iter_mut().for_each(|it| it.origin = place);
        page.resources[0].bytes = 0;
        found.of = Some(std::sync::Arc::new(page));
        found
    }

    #[test]
    fn a_gain_that_the_owners_server_cannot_bring_alone_has_its_condition_and_is_not_sure() {
        let mut page = at_another_host(home(&[("3g", 1.28, [1.2, 1.3])]));
        page.resources.clear();
        let answer = answered("nginx", vec![page]);
        assert_eq!(
            answer.sentence,
            "Send home by RFC 9218, as utmost serve and h2o do, and not as nginx does: on 3g, it is 1.28 times as fast, but only if the \
             server of cdn.other.net, which sends 100 % of the bytes, does the same."
        );
        let certainty = "Unsure: other hosts send 100 % of the bytes of davies-meenan, and in these loads one server sends all of them. 9 \
                         pairs of loads or more show it, each of an imitated recording of another day.";
        assert!(answer.certainty.starts_with(certainty), "{}", answer.certainty);
    }

    /// A network on which no load finished.
    fn failed(network: &str) -> Gain {
        Gain {
            judgement: super::super::answer::JudgedCandidate::default(),
            verdict: Verdict::Unknown,
            unfinished: 6,
            problem: Some("/a<b>.png: status 400, the page says 200".to_owned()),
            ..Gain::judged(network, 1.0, [1.0, 1.0])
        }
    }

    #[test]
    fn where_loads_fail_the_first_cause_is_named_and_nothing_is_sure() {
        let page = || ByResource::with_gains("home", vec![failed("3g")]);
        let answer = answered("rfc9218", vec![page()]);
        assert_eq!(answer.verdict, Verdict::Unknown);
        assert_eq!(
            answer.sentence,
            "Unknown: too few loads finished. The first that failed, of home on 3g: /a<b>.png: status 400, the page says 200. Correct what \
             it names, or leave it out of the page, or name another network, and search again."
        );
        let certainty = "Nothing is known. 6 loads did not finish. The first failed: /a<b>.png: status 400, the page says 200.";
        assert!(answer.certainty.starts_with(certainty), "{}", answer.certainty);
        let other = ByResource { page: "shop".to_owned(), ..home(&[("3g", 1.25, [1.2, 1.3])]) };
        let certainty = answered("rfc9218", vec![page(), other]).certainty;
        assert!(certainty.starts_with("Sure: 9 pairs of loads or more show it"), "{certainty}");
    }

    #[test]
    fn a_gain_does_not_count_where_another_network_is_unknown() {
        let page = ByResource::with_gains(
            "home",
            vec![Gain::judged("cable", 1.25, [1.2, 1.3]), failed("3g")],
        );
        assert_eq!(
            answered("rfc9218", vec![page]).sentence,
            "Keep what you have: with other priorities, home would be 1.25 times as fast on cable, but too few loads finished on 3g."
        );
    }

    #[test]
    fn what_another_server_gains_and_loses_without_a_new_priority_is_laid_to_that_server() {
        let mut page = home(&[("cable", 1.24, [1.2, 1.3]), ("3g", 0.95, [0.94, 0.96])]);
        page.resources.clear();
        let answer = answered("nginx", vec![page]);
        assert_eq!(
            answer.sentence,
            "Keep what you have: sent by RFC 9218 as browsers ask, home would be 1.24 times as fast on cable, but 0.95 times as fast on 3g, \
             and a server does not know a visitor's network."
        );
        assert!(answer.certainty.starts_with("Sure: 9 pairs of loads or more show it"));
    }

    #[test]
    fn a_gain_without_a_new_priority_leaves_an_export_nothing_to_paste() {
        let nothing = |server: &str, gain: (f64, [f64; 2])| {
            let mut page = home(&[("3g", gain.0, gain.1)]);
            page.resources.clear();
            page.changes_server = server == "nginx";
            let pages = [page.clone()];
            answered(server, vec![page]).nothing(&pages)
        };
        assert_eq!(nothing("nginx", (1.25, [1.2, 1.3])), Nothing::OfServer);
        assert_eq!(nothing("rfc9218", (1.0, [0.99, 1.01])), Nothing::NoGain);
    }

    #[test]
    fn what_gains_on_a_network_and_loses_on_another_is_one_verdict() {
        assert_eq!(
            sentence(&[("cable", 0.95, [0.94, 0.96]), ("3g", 1.25, [1.2, 1.3])]),
            "Keep what you have: with other priorities, home would be 1.25 times as fast on 3g, but 0.95 times as fast on cable, and a \
             server does not know a visitor's network."
        );
        assert_eq!(
            sentence(&[("3g", 1.03, [0.98, 1.08])]),
            "Keep what you have for now: with other priorities, home may be 1.03 times as fast on 3g, which is uncertain. Another recording of the page, or chance, would reverse that."
        );
        let mut page = home(&[("3g", 1.0, [0.99, 1.01])]);
        page.resources.clear();
        assert_eq!(
            answered("rfc9218", vec![page]).sentence,
            "Keep what you have: no response of home gains from a priority other than the browser's."
        );
    }
}

//! Priorities for single resources, in words.

use super::seen::length_text;
use super::words::{doubt, evidence};
use super::{ByResource, ResourcePriority, Verdict, WHAT_YOU_HAVE};
use qlog_tools::short_texts::shown;

/// The longest path of a resource that was left out.
const PATH_CHARACTERS: usize = 120;

impl ByResource {
    /// Their gain in words: a sentence for each network, and why lines were omitted.
    pub fn words(&self) -> Vec<String> {
        let lines = match self.resources.len() {
            1 => "priorities for 1 resource".to_owned(),
            several => format!("priorities for {several} resources"),
        };
        let change = self.change(&lines);
        let mut sentences = Vec::new();
        for it in &self.networks {
            let place = format!("{} on {}", self.page, it.network);
            let Some(ratio) = it.judgement.ratio else {
                let failed = it.problem.as_ref();
                let failed = failed.map_or(String::new(), |it| format!(" The first failed: {it}."));
                sentences
                    .push(format!("{place}: unknown, because too few loads finished.{failed}"));
                continue;
            };
            let evidence = evidence(&it.judgement);
            let doubt = match it.verdict {
                Verdict::Slower => " It is slower here.".to_owned(),
                Verdict::Unsure if ratio <= 1.0 => " It gains nothing here.".to_owned(),
                Verdict::Unsure => {
                    format!(" Unsure:{}", doubt(&it.judgement, self.networks.len()))
                }
                _ => String::new(),
            };
            let late = it.noticed.too_late().map(|what| format!(" But {what} comes later."));
            let share = it.percent_of_oracle.filter(|_| ratio > 1.0).map(|percent| {
                format!(" That is {percent:.0} % of what the oracle's order gains.")
            });
            sentences.push(format!(
                "{place}: {change}, it is {ratio:.2} times as fast as {WHAT_YOU_HAVE} ({evidence}).{doubt}{}{}",
                late.unwrap_or_default(),
                share.unwrap_or_default()
            ));
        }
        if self.resources.is_empty() && self.is_known() {
            // Without a change, the ratios are of the same loads.
            sentences.retain(|_| self.changes_server);
            let none = "no resource needs a priority other than the browser's";
            let is_kept = self.not_kept.is_empty();
            sentences.extend(is_kept.then(|| format!("{}: {none}.", self.page)));
        }
        sentences.extend(self.doubts());
        sentences
    }

    /// `269 ms earlier on cable`: how far a line moves its resource, on the network with the largest gain that is shown.
    pub(super) fn moved_text(&self, line: &ResourcePriority) -> String {
        let side = if line.later_ms < 0.0 { "earlier" } else { "later" };
        let place = self.moved_on().map_or(String::new(), |it| format!(" on {it}"));
        format!("{} {side}{place}", length_text(line.later_ms.abs()))
    }

    /// The network on which it is measured how far lines move their resources.
    pub(super) fn moved_on(&self) -> Option<&str> {
        self.gains_most().map(|it| it.network.as_str())
    }

    /// The change that was loaded; `priorities`: how its priorities are called.
    pub(super) fn change(&self, priorities: &str) -> String {
        match (self.changes_server, self.resources.is_empty()) {
            (true, true) => "sent by RFC 9218 as browsers ask".to_owned(),
            (true, false) => format!("sent by RFC 9218 and with {priorities}"),
            (false, _) => format!("with {priorities}"),
        }
    }

    /// Whether loads on a network show anything.
    pub(super) fn is_known(&self) -> bool {
        self.networks.iter().any(|it| it.verdict != Verdict::Unknown)
    }

    /// Why a policy has no route for the page.
    pub(super) fn without_route(&self) -> &'static str {
        match () {
            () if !self.is_known() => "unknown",
            () if !self.not_kept.is_empty() => "no priority that gains can be kept",
            () if self.is_better => "no priority but the browser's is needed",
            () => "no difference",
        }
    }

    /// The lines that were omitted as unsure, in words.
    pub(super) fn doubts(&self) -> Vec<String> {
        let listed = |urls: &[String]| match urls {
            [] => None,
            [one] => Some(path(one)),
            [one, others @ ..] => Some(format!("{} and {} more", path(one), others.len())),
        };
        let page = &self.page;
        let unsure = listed(&self.unsure).map(|it| {
            format!("{page}: a priority for {it}: it gains in some recordings of the page and not in others.")
        });
        let left_out = match (self.changes_server, self.resources.is_empty()) {
            (true, true) => "RFC 9218, because with it",
            _ => "all priorities, because with them",
        };
        let late = listed(&self.late)
            .map(|it| format!("{page}: {left_out} a visible image arrives later: {it}."));
        let not_kept = self.not_kept.iter().filter_map(|(why, urls)| {
            let what = if urls.len() == 1 { "a priority" } else { "priorities" };
            Some(format!("{page}: {what} for {}: {why}.", listed(urls)?))
        });
        unsure.into_iter().chain(not_kept).chain(late).collect()
    }
}

/// The path of a URL, with its query.
fn path(url: &str) -> String {
    let path = url::Url::parse(url).map(|it| it[url::Position::BeforePath..].to_owned());
    shown(&path.unwrap_or_else(|_| url.to_owned()), PATH_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::super::{BaselineServer, Gain, Question};
    use super::*;

    #[test]
    fn how_far_a_line_moves_is_told_with_the_network_whose_gain_is_shown() {
        let networks =
            vec![Gain::judged("cable", 1.2, [1.1, 1.3]), Gain::judged("3g", 1.4, [0.9, 1.5])];
        let found = ByResource::with_gains("home", networks);
        assert_eq!(found.moved_text(&found.resources[0]), "500 ms earlier on cable");
        let by_hand = ByResource { networks: Vec::new(), ..found };
        assert_eq!(by_hand.moved_text(&by_hand.resources[0]), "500 ms earlier");
    }

    #[test]
    fn what_another_server_gains_without_a_new_priority_is_told_as_its_gain() {
        let words = |server: &str| {
            let server = BaselineServer::find(server).expect("known");
            let question = Question { server, ..Question::new(Vec::new(), Vec::new()) };
            let gain = Gain::judged("3g", 1.235, [1.2, 1.3]);
            let mut found = ByResource::with_gains("home", vec![gain]);
            found.resources.clear();
            found.decide(&question);
            found.words()
        };
        let none = "home: no resource needs a priority other than the browser's.";
        assert_eq!(words("rfc9218"), [none]);
        assert_eq!(
            words("nginx"),
            [
                "home on 3g: sent by RFC 9218 as browsers ask, it is 1.24 times as fast as what you have (95 % interval 1.20 to 1.30, 9 \
                 pairs of loads).",
                none
            ]
        );
    }
}

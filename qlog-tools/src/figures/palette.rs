//! Colours that stay apart for colour-blind readers and in grey print: Okabe and Ito's, then the
//! same with patterns; for large pages one of them a kind, from dark to light in request order.

use schedulers::Kind;

use super::PageResource;

/// Up to so many resources each has its own colour or pattern; with more, kinds share a colour.
pub const OWN_LOOKS: usize = 24;

/// Okabe and Ito (2008), without black, which marks ATF bytes, and with a grey for the eighth.
pub const OKABE_ITO: [&str; 8] =
    ["#D55E00", "#56B4E9", "#E69F00", "#0072B2", "#F0E442", "#009E73", "#CC79A7", "#8C8C8C"];

/// The same for thin lines: the yellow, too light on paper, is darker.
pub const LINE_COLOURS: [&str; 8] =
    ["#D55E00", "#56B4E9", "#E69F00", "#0072B2", "#A89A00", "#009E73", "#CC79A7", "#8C8C8C"];

/// The kinds, in the order of legends.
pub(super) const KINDS: [Kind; 8] =
    [Kind::Html, Kind::Css, Kind::Js, Kind::Font, Kind::Image, Kind::Media, Kind::Xhr, Kind::Other];

/// How a resource is painted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// `#rrggbb`.
    pub colour: String,
    /// What lies over the colour.
    pub pattern: Pattern,
}

/// What lies over a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Nothing.
    Solid,
    /// Diagonal lines.
    Hatched,
    /// Dots.
    Dotted,
}

/// One look for each resource.
pub fn looks(resources: &[PageResource]) -> Vec<Look> {
    const PATTERNS: [Pattern; 3] = [Pattern::Solid, Pattern::Hatched, Pattern::Dotted];
    if resources.len() > OWN_LOOKS {
        return by_kind(resources);
    }
    let looks = PATTERNS.iter().flat_map(|&pattern| {
        OKABE_ITO.iter().map(move |colour| Look { colour: (*colour).to_owned(), pattern })
    });
    looks.take(resources.len()).collect()
}

/// The colour of a kind, in the middle of its range.
pub fn kind_colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Html => "#D55E00",
        Kind::Css => "#CC79A7",
        Kind::Js => "#E69F00",
        Kind::Font => "#009E73",
        Kind::Image => "#0072B2",
        Kind::Media => "#6E6E6E",
        Kind::Xhr => "#D9CC1E",
        Kind::Other => "#A8A8A8",
    }
}

fn by_kind(resources: &[PageResource]) -> Vec<Look> {
    let count = |kind: Kind| resources.iter().filter(|resource| resource.kind == kind).count();
    let all: Vec<(Kind, usize)> = KINDS.iter().map(|&kind| (kind, count(kind))).collect();
    let mut seen = [0_usize; KINDS.len()];
    let mut looks = Vec::with_capacity(resources.len());
    for resource in resources {
        let place = KINDS.iter().position(|&kind| kind == resource.kind).unwrap_or_default();
        let of_kind = all[place].1;
        let share = if of_kind < 2 { 0.33 } else { seen[place] as f64 / (of_kind - 1) as f64 };
        seen[place] += 1;
        looks.push(Look {
            colour: shade(kind_colour(resource.kind), share),
            pattern: Pattern::Solid,
        });
    }
    looks
}

/// How the line at `place` of a figure is drawn: by colour, and once those are used up by dashes too.
pub(super) fn line_stroke(place: usize) -> String {
    const DASHES: [&str; 4] = ["", "7 3", "2 2.5", "9 3 2 3"];
    let colour = LINE_COLOURS[place % LINE_COLOURS.len()];
    let dashes = DASHES[place / LINE_COLOURS.len() % DASHES.len()];
    let dashes =
        if dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dashes}""#) };
    format!(r#"fill="none" stroke="{colour}" stroke-width="2.2" stroke-linejoin="round"{dashes}"#)
}

/// `colour` from dark (0) by itself (about a third) to light (1).
pub(super) fn shade(colour: &str, share: f64) -> String {
    const DARKEST: f64 = -0.3;
    const LIGHTEST: f64 = 0.62;
    let amount = DARKEST + (LIGHTEST - DARKEST) * share.clamp(0.0, 1.0);
    let target = if amount < 0.0 { 0.0 } else { 255.0 };
    let channel = |place: usize| {
        let value = colour.get(place..place + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let value = f64::from(value.unwrap_or_default());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mix of two values up to 255"
        )]
        let mixed = (value + (target - value) * amount.abs()).round() as u8;
        mixed
    };
    format!("#{:02X}{:02X}{:02X}", channel(1), channel(3), channel(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(count: usize) -> Vec<PageResource> {
        let kinds = [Kind::Html, Kind::Css, Kind::Image];
        (0..count)
            .map(|n| PageResource {
                url: format!("/{n}"),
                kind: kinds[n % 3],
                above_fold: false,
                body_bytes: None,
            })
            .collect()
    }

    #[test]
    fn no_two_resources_look_the_same() {
        for count in [1, 8, 9, 24, 25, 60] {
            let looks = looks(&page(count));
            for (place, look) in looks.iter().enumerate() {
                assert!(!looks[..place].contains(look), "{count}: {look:?}");
            }
            assert_eq!(looks.len(), count);
        }
    }

    #[test]
    fn a_kind_goes_from_dark_to_light() {
        assert_eq!(shade("#0072B2", 0.0), "#00507D");
        assert_eq!(shade("#0072B2", 0.3261), "#0072B2");
        assert_eq!(shade("#0072B2", 1.0), "#9EC9E2");
    }
}

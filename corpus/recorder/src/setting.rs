//! The delays of responses while a page is recorded: they separate causes from coincidences.

use crate::limits::SETTINGS_MAX;
use schedulers::Kind;

/// The kinds that can be delayed, by their names in page files.
const KINDS: [(&str, Kind); 5] = [
    ("css", Kind::Css),
    ("js", Kind::Js),
    ("img", Kind::Image),
    ("font", Kind::Font),
    ("doc", Kind::Html),
];

/// The delays of one load, by kind of resource and by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// Its name in page files: `css+600 js+100 img+50`.
    pub name: String,
    /// For each of [`KINDS`].
    held_ms: [u64; KINDS.len()],
    /// The largest further delay of resources other than the document; their path and `seed`
    /// determine it.
    up_to_ms: u64,
    seed: u64,
}

impl Setting {
    /// The first `count` of the settings from which a page's trace is derived.
    pub fn fitted(count: usize) -> Vec<Self> {
        let mut settings = vec![
            Self::held([600, 100, 50, 0, 0]),
            Self::held([50, 500, 0, 0, 200]),
            Self::scattered(700, 1),
            Self::scattered(700, 2),
            Self::held([250, 50, 150, 400, 100]),
        ];
        let rest = settings.len() as u64..SETTINGS_MAX as u64;
        settings.extend(rest.map(|seed| Self::scattered(500, seed)));
        settings.truncate(count.min(SETTINGS_MAX));
        settings
    }

    /// The settings by which a trace is judged; none of them is used for its derivation.
    pub fn unseen() -> Vec<Self> {
        vec![Self::held([350, 250, 100, 200, 50]), Self::scattered(600, 100)]
    }

    fn held(held_ms: [u64; KINDS.len()]) -> Self {
        let held = KINDS.iter().zip(held_ms).filter(|(_, ms)| *ms > 0);
        let parts: Vec<String> = held.map(|((kind, _), ms)| format!("{kind}+{ms}")).collect();
        Self { name: parts.join(" "), held_ms, ..Self::default() }
    }

    fn scattered(up_to_ms: u64, seed: u64) -> Self {
        let name = format!("each+0..{up_to_ms} (seed {seed})");
        Self { name, up_to_ms, seed, ..Self::default() }
    }

    /// The delay in milliseconds of the response to a request for `path`.
    pub fn delay_ms(&self, kind: Kind, path: &str) -> u64 {
        let place = KINDS.iter().position(|(_, held)| *held == kind);
        let of_kind = place.map_or(0, |it| self.held_ms[it]);
        if kind == Kind::Html {
            return of_kind;
        }
        of_kind + hash(self.seed, path).checked_rem(self.up_to_ms).unwrap_or(0)
    }

    /// The longest delay of a response.
    pub fn delay_max_ms(&self) -> u64 {
        self.held_ms.into_iter().max().unwrap_or(0) + self.up_to_ms
    }
}

/// FNV-1a, with a last mixing step.
fn hash(seed: u64, path: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = path
        .bytes()
        .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 17
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_hold_back_kinds_and_paths_differently() {
        let settings = Setting::fitted(SETTINGS_MAX);
        assert_eq!(settings[0].name, "css+600 js+100 img+50");
        assert_eq!(settings[0].delay_ms(Kind::Css, "/a.css"), 600);
        assert_eq!(settings[1].delay_ms(Kind::Html, "/"), 200);
        let scattered: Vec<u64> =
            ["/a.js", "/b.js", "/c.png"].map(|path| settings[2].delay_ms(Kind::Js, path)).to_vec();
        assert!(scattered.iter().all(|&ms| ms < 700), "{scattered:?}");
        assert!(scattered.windows(2).all(|it| it[0].abs_diff(it[1]) > 20), "{scattered:?}");
        assert_eq!(settings[2].delay_ms(Kind::Js, "/a.js"), scattered[0]);
    }

    #[test]
    fn what_a_trace_is_judged_by_is_not_what_it_was_derived_from() {
        let fitted = Setting::fitted(SETTINGS_MAX);
        assert_eq!(fitted.len(), SETTINGS_MAX);
        for unseen in Setting::unseen() {
            assert!(fitted.iter().all(|it| it.name != unseen.name));
        }
    }
}

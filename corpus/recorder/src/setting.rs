//! The delays of responses while a page is recorded: they tell causes from coincidences.

use crate::limits::SETTINGS_MAX;
use schedulers::Kind;

/// The delays of one load, by kind of resource and by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// Its name in page files: `css+600 js+100 img+50`.
    pub name: String,
    css_ms: u64,
    js_ms: u64,
    image_ms: u64,
    font_ms: u64,
    document_ms: u64,
    /// Resources other than the document are held back a further time, which their path and `seed`
    /// decide, up to this.
    up_to_ms: u64,
    seed: u64,
}

impl Setting {
    /// The first `count` of the settings that a page's trace is derived from.
    pub fn fitted(count: usize) -> Vec<Self> {
        let mut settings = vec![
            Self { css_ms: 600, js_ms: 100, image_ms: 50, ..Self::default() },
            Self { css_ms: 50, js_ms: 500, document_ms: 200, ..Self::default() },
            Self { up_to_ms: 700, seed: 1, ..Self::default() },
            Self { up_to_ms: 700, seed: 2, ..Self::default() },
            Self {
                css_ms: 250,
                js_ms: 50,
                image_ms: 150,
                font_ms: 400,
                document_ms: 100,
                ..Self::default()
            },
        ];
        let rest = settings.len() as u64..SETTINGS_MAX as u64;
        settings.extend(rest.map(|seed| Self { up_to_ms: 500, seed, ..Self::default() }));
        settings.truncate(count.min(SETTINGS_MAX));
        settings.into_iter().map(Self::named).collect()
    }

    /// The settings that a trace is judged by: none of them takes part in its derivation.
    pub fn unseen() -> Vec<Self> {
        let settings = [
            Self {
                css_ms: 350,
                js_ms: 250,
                image_ms: 100,
                font_ms: 200,
                document_ms: 50,
                ..Self::default()
            },
            Self { up_to_ms: 600, seed: 100, ..Self::default() },
        ];
        settings.into_iter().map(Self::named).collect()
    }

    fn named(self) -> Self {
        let kinds = [
            ("css", self.css_ms),
            ("js", self.js_ms),
            ("img", self.image_ms),
            ("font", self.font_ms),
            ("doc", self.document_ms),
        ];
        let held = kinds.iter().filter(|(_, ms)| *ms > 0);
        let mut parts: Vec<String> = held.map(|(kind, ms)| format!("{kind}+{ms}")).collect();
        if self.up_to_ms > 0 {
            parts.push(format!("each+0..{} (seed {})", self.up_to_ms, self.seed));
        }
        Self { name: parts.join(" "), ..self }
    }

    /// Milliseconds to hold back the response to a request for `path`.
    pub fn delay_ms(&self, kind: Kind, path: &str) -> u64 {
        let of_kind = match kind {
            Kind::Html => return self.document_ms,
            Kind::Css => self.css_ms,
            Kind::Js => self.js_ms,
            Kind::Image => self.image_ms,
            Kind::Font => self.font_ms,
            Kind::Media | Kind::Xhr | Kind::Other => 0,
        };
        let scattered = hash(self.seed, path).checked_rem(self.up_to_ms).unwrap_or(0);
        of_kind + scattered
    }

    /// Longest time that it holds a response back.
    pub fn delay_max_ms(&self) -> u64 {
        [self.css_ms, self.js_ms, self.image_ms, self.font_ms, self.document_ms]
            .into_iter()
            .max()
            .unwrap_or(0)
            + self.up_to_ms
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

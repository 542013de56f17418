//! The cookies of a client: one site's, as long as it lives (RFC 6265, without scopes and expiry but for removal).

use std::collections::BTreeMap;

/// Cookies that are kept, as many as Chromium keeps of a site; beyond it new ones are not.
const MAX_COOKIES: usize = 180;
/// The longest `Set-Cookie` field that is taken.
const MAX_FIELD_BYTES: usize = 4096;

/// Name and value of each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CookieJar(BTreeMap<String, String>);

impl CookieJar {
    /// What a response's `Set-Cookie` field says.
    pub fn set(&mut self, field: &str) {
        let mut parts = field.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|it| it.split_once('=')) else { return };
        let removed = parts.any(|it| it.eq_ignore_ascii_case("max-age=0"));
        if removed {
            self.0.remove(name);
        } else if field.len() <= MAX_FIELD_BYTES
            && (self.0.len() < MAX_COOKIES || self.0.contains_key(name))
        {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The `Cookie` field of a request; none without cookies.
    pub fn field(&self) -> Option<String> {
        let pairs: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_set_replaced_removed_and_bounded() {
        let mut jar = CookieJar::default();
        for field in ["b=1; Path=/", "a=1; Secure", "b=2", "nothing", "c=3", "c=; Max-Age=0"] {
            jar.set(field);
        }
        assert_eq!(jar.field().as_deref(), Some("a=1; b=2"));
        (0..300).for_each(|it| jar.set(&format!("n{it}=1")));
        assert_eq!(jar.0.len(), MAX_COOKIES);
        assert_eq!(CookieJar::default().field(), None);
    }
}

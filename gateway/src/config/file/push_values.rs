//! The values of a route's keys about pushes and hints.

use super::checked;
use crate::site::CacheEvidence;
use push::freshness::fresh_s;
use push::guard::{CookiePolicy, Scope};
use push::link::{self, Link};
use push::visits::PushWhen;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// `Link` values, or `"learn"`: the values of the last response to the same request.
#[derive(Default)]
pub(super) struct EarlyHints {
    pub(super) links: Vec<String>,
    pub(super) learn: bool,
}

impl<'de> Deserialize<'de> for EarlyHints {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        checked(value, |said: NameOr<Vec<String>>| match said {
            NameOr::Name(name) if name == "learn" => Ok(Self { learn: true, ..Self::default() }),
            NameOr::Name(name) => {
                Err(format!("early_hints \"{name}\" must be \"learn\" or a list of Link values"))
            }
            NameOr::Value(links) => Ok(Self { links: hints("early_hints", links)?, learn: false }),
        })
    }
}

/// `Link` values that a client can use early.
fn hints(key: &str, links: Vec<String>) -> Result<Vec<String>, String> {
    let is_hint =
        |it: &String| !it.contains(char::is_control) && link::parse(it).iter().any(Link::is_hint);
    match links.iter().find(|it| !is_hint(it)) {
        None => Ok(links),
        Some(link) => Err(format!(
            "{key} \"{}\" must be a Link value that preloads or preconnects, such as \
             \"</style.css>; rel=preload; as=style\"",
            link.escape_default()
        )),
    }
}

pub(super) fn links<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<String>, D::Error> {
    checked(value, |said| hints("links", said))
}

/// A word that stands for a value, or the value.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a word or a list or table, as docs/reference/configuration.md describes"
)]
enum NameOr<T> {
    Name(String),
    Value(T),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWhen {
    cookie_absent: String,
}

pub(super) fn push_when<'de, D: Deserializer<'de>>(value: D) -> Result<PushWhen, D::Error> {
    checked(value, |FileWhen { cookie_absent: name }| {
        if is_token(&name) {
            return Ok(PushWhen::CookieAbsent(name));
        }
        Err(format!("cookie_absent \"{name}\" is not a possible cookie name (RFC 6265, 4.1.1)"))
    })
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileHas {
    CacheDigest,
    Conditional,
}

pub(super) fn client_has<'de, D: Deserializer<'de>>(value: D) -> Result<CacheEvidence, D::Error> {
    checked(value, |said: Vec<FileHas>| {
        if said.is_empty() {
            return Err(
                "client_has is empty: remove it, or add a method, such as \"cache-digest\"".into(),
            );
        }
        let has = |it| said.contains(&it);
        Ok(CacheEvidence {
            cache_digest: has(FileHas::CacheDigest),
            conditional: has(FileHas::Conditional),
        })
    })
}

/// `"none"`, `"same-path"`, or the path of each cookie.
pub(super) fn cookies<'de, D: Deserializer<'de>>(value: D) -> Result<CookiePolicy, D::Error> {
    checked(value, |said: NameOr<BTreeMap<String, String>>| match said {
        NameOr::Name(name) if name == "same-path" => Ok(CookiePolicy::SamePath),
        NameOr::Name(name) if name == "none" => Ok(CookiePolicy::None),
        NameOr::Name(name) => Err(format!(
            "cookies \"{name}\" must be \"none\", \"same-path\", or a table of cookies and their paths"
        )),
        NameOr::Value(scopes) => {
            let is_bad =
                |(name, path): &(&String, &String)| !is_token(name) || !path.starts_with('/');
            if let Some((name, path)) = scopes.iter().find(is_bad) {
                return Err(format!(
                    "cookies \"{name}\" = \"{path}\" must be a cookie's name and the path it is set for, such as \
                     session = \"/\""
                ));
            }
            let scopes = scopes.into_iter().map(|(name, path)| Scope { name, path });
            Ok(CookiePolicy::DeclaredScope(scopes.collect()))
        }
    })
}

pub(super) fn cache_control<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<String>, D::Error> {
    checked(value, |said: String| {
        let is_plain = said.bytes().all(|it| (b' '..=b'~').contains(&it));
        if is_plain && fresh_s(&said, None).is_some() && said.split(',').all(is_age) {
            return Ok(Some(said));
        }
        Err(format!(
            "cache_control \"{said}\" must contain a duration, such as \"max-age=3600\" or \"no-cache\""
        ))
    })
}

fn is_age(directive: &str) -> bool {
    let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
    let value = value.trim().trim_matches('"');
    let is_number = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
    is_number || !name.trim().eq_ignore_ascii_case("max-age")
}

/// Whether a cookie may have this name (RFC 9110, 5.6.2).
fn is_token(name: &str) -> bool {
    let special = b"!#$%&'*+-.^_`|~";
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || special.contains(&it))
}

//! Forbids pushes whose request the server cannot predict safely (*Rules of Thumb*, rule 4).
//!
//! A pushed response answers a request that was never made. It may be sent only if it varies on nothing, or on fields
//! whose values the server knows for certain; cookies are certain only if the operator declares their scope. A
//! response for one client must not reach another who might have got a different answer, least of all with a cookie: a
//! session begun by a push would replace the client's own.

use crate::link::without_query;
use cookie::Cookie;
use std::time::Duration;

/// The fields whose values a client repeats in every request of a connection.
pub const REPEATED: [&str; 3] = ["accept-encoding", "accept-language", "user-agent"];

/// Why a resource is not pushed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// `Vary: *`.
    #[error("it varies on everything (Vary: *)")]
    VariesOnEverything,
    /// It varies on an unknown field.
    #[error("it varies on {0}, which may differ in the client's next request")]
    VariesOn(String),
    /// It varies on cookies, which are unknown.
    #[error("it varies on cookies, and {0}")]
    UnknownCookies(UnknownCookies),
    /// It sets a cookie of the site, which would take effect without a request, or be lost with a refused push.
    #[error("it sets a cookie")]
    SetsCookie,
    /// `Cache-Control: no-store`: the client may not keep it until it makes the request.
    #[error("it must not be stored")]
    NotStored,
    /// `Cache-Control: private`, and the requesting client is unknown.
    #[error("it is private, and {0}")]
    Private(UnknownCookies),
    /// Another host's.
    #[error("it belongs to another host")]
    OtherHost,
}

/// Why the cookies of a future request are unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownCookies {
    /// Nothing was declared about them.
    #[error("their scope is not declared")]
    NotDeclared,
    /// A cookie may be bound to another path.
    #[error("it is in another folder than the page")]
    OtherFolder,
    /// A cookie that the operator did not declare.
    #[error("the scope of cookie `{0}` is not declared")]
    Undeclared(String),
    /// A cookie that applies only to the resource, so that the request for the page would not show it.
    #[error("cookie `{0}` would not have been sent with the page's request")]
    Unseen(String),
}

/// The operator's declaration about cookies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CookiePolicy {
    /// None: responses that vary on cookies are not pushed.
    #[default]
    None,
    /// Every cookie applies to a whole folder: resources in the page's own folder, or below it, have its cookies.
    SamePath,
    /// The paths of all cookies by name; the site has no others.
    DeclaredScope(Vec<Scope>),
}

/// The scope of a cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The cookie's name.
    pub name: String,
    /// Its `Path` attribute.
    pub path: String,
}

/// The request that causes the push, and the known part of its response.
#[derive(Debug, Clone, Copy)]
pub struct Parent<'a> {
    /// `:authority`.
    pub authority: &'a str,
    /// `:path`.
    pub path: &'a str,
    /// The request's `Cookie` field.
    pub cookies: Option<&'a str>,
    /// The `Set-Cookie` fields of its response.
    pub set_cookies: &'a [String],
    /// Names of the request's fields, in lower case: a promise repeats those on which a response may vary.
    pub fields: &'a [&'a str],
}

/// A resource that may be pushed.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// `:authority`.
    pub authority: &'a str,
    /// `:path`.
    pub path: &'a str,
    /// The known part of its response.
    pub said: CacheFields<'a>,
}

/// The fields that restrict the clients of a response; empty by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheFields<'a> {
    /// The `Vary` field, its lines joined.
    pub vary: &'a str,
    /// The `Cache-Control` field, its lines joined.
    pub cache_control: &'a str,
    /// Whether it sets a cookie.
    pub sets_cookie: bool,
}

impl CacheFields<'_> {
    fn has(&self, directive: &str) -> bool {
        let names = self.cache_control.split(',').filter_map(|it| it.split('=').next());
        names.into_iter().any(|it| it.trim().eq_ignore_ascii_case(directive))
    }

    /// Whether it varies on cookies. Fails if it may not be pushed in any case: it must not be stored, sets a cookie,
    /// or varies on a field that a promise does not repeat from `fields`.
    fn varies_on_cookies(&self, fields: &[&str]) -> Result<bool, Forbidden> {
        if self.sets_cookie {
            return Err(Forbidden::SetsCookie);
        }
        if self.has("no-store") {
            return Err(Forbidden::NotStored);
        }
        let mut varies_on_cookies = false;
        for name in self.vary.split(',').map(|part| part.trim().to_ascii_lowercase()) {
            match name.as_str() {
                "" => {}
                "*" => return Err(Forbidden::VariesOnEverything),
                "cookie" => varies_on_cookies = true,
                known if REPEATED.contains(&known) && fields.contains(&known) => {}
                _ => return Err(Forbidden::VariesOn(name)),
            }
        }
        Ok(varies_on_cookies)
    }

    /// Whether all clients get the same, in one coding or another, so that its contents may be sent to others who
    /// request it.
    pub fn is_for_everyone(&self) -> bool {
        let mut vary = self.vary.split(',').map(str::trim);
        let is_personal = self.sets_cookie || self.has("private") || self.has("no-store");
        !is_personal && vary.all(|it| it.is_empty() || it.eq_ignore_ascii_case("accept-encoding"))
    }
}

/// The `Cookie` field of the promised request (`None`: without one), or why it must not be promised.
pub fn check(
    parent: &Parent<'_>,
    candidate: &Candidate<'_>,
    policy: &CookiePolicy,
) -> Result<Option<String>, Forbidden> {
    if !parent.authority.eq_ignore_ascii_case(candidate.authority) {
        return Err(Forbidden::OtherHost);
    }
    let said = candidate.said;
    let varies_on_cookies = said.varies_on_cookies(parent.fields)?;
    match cookies(parent, candidate.path, policy) {
        Ok(cookies) => Ok(cookies),
        Err(unknown) if varies_on_cookies => Err(Forbidden::UnknownCookies(unknown)),
        Err(unknown) if said.has("private") => Err(Forbidden::Private(unknown)),
        // A response that is the same for all does not need them.
        Err(_) => Ok(None),
    }
}

/// Whether an arrived response may answer a promised request, whose fields have these lower-case names. If it varies
/// on cookies or is private, the request must have the client's cookies.
pub fn allows(said: &CacheFields<'_>, fields: &[&str], cookies_known: bool) -> bool {
    said.varies_on_cookies(fields)
        .is_ok_and(|varies| cookies_known || !(varies || said.has("private")))
}

/// The cookies that a request for `path` would have after the parent's response.
fn cookies(
    parent: &Parent<'_>,
    path: &str,
    policy: &CookiePolicy,
) -> Result<Option<String>, UnknownCookies> {
    let mut jar: Vec<(String, String)> = split(parent.cookies.unwrap_or_default());
    match policy {
        CookiePolicy::None => return Err(UnknownCookies::NotDeclared),
        CookiePolicy::SamePath if !without_query(path).starts_with(folder(parent.path)) => {
            return Err(UnknownCookies::OtherFolder);
        }
        CookiePolicy::SamePath => {}
        CookiePolicy::DeclaredScope(scopes) => {
            keep_applicable(&mut jar, parent.path, path, scopes)?;
        }
    }
    for set in parent.set_cookies.iter().filter_map(|field| Cookie::parse(field.as_str()).ok()) {
        apply(&mut jar, &set, parent.path, path);
    }
    let pairs: Vec<String> =
        jar.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok((!pairs.is_empty()).then(|| pairs.join("; ")))
}

fn split(field: &str) -> Vec<(String, String)> {
    let pairs = field.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// Removes the parent's cookies that do not apply to `path`. Fails if one of them is undeclared, or if a declared one
/// may exist unseen.
fn keep_applicable(
    jar: &mut Vec<(String, String)>,
    parent_path: &str,
    path: &str,
    scopes: &[Scope],
) -> Result<(), UnknownCookies> {
    if let Some((name, _)) = jar.iter().find(|(name, _)| scope_of(name, scopes).is_none()) {
        return Err(UnknownCookies::Undeclared(name.clone()));
    }
    for scope in scopes.iter().filter(|scope| path_matches(path, &scope.path)) {
        if !path_matches(parent_path, &scope.path) {
            return Err(UnknownCookies::Unseen(scope.name.clone()));
        }
    }
    jar.retain(|(name, _)| scope_of(name, scopes).is_none_or(|it| path_matches(path, &it.path)));
    Ok(())
}

fn scope_of<'a>(name: &str, scopes: &'a [Scope]) -> Option<&'a Scope> {
    scopes.iter().find(|it| it.name == name)
}

/// The cookies that the response to the parent sets, if they apply to `path` (RFC 6265, 5.1.4 and 5.3).
fn apply(jar: &mut Vec<(String, String)>, set: &Cookie<'_>, parent_path: &str, path: &str) {
    let scope = set
        .path()
        .filter(|it| it.starts_with('/'))
        .map_or_else(|| default_path(parent_path), str::to_owned);
    if !path_matches(path, &scope) {
        return;
    }
    jar.retain(|(name, _)| name != set.name());
    let removed =
        set.max_age().is_some_and(|age| Duration::try_from(age).map_or(true, |age| age.is_zero()));
    if !removed {
        jar.push((set.name().to_owned(), set.value().to_owned()));
    }
}

/// Whether a cookie's path covers a path: itself and everything below (RFC 6265, 5.1.4).
fn path_matches(path: &str, scope: &str) -> bool {
    let rest = without_query(path).strip_prefix(scope);
    rest.is_some_and(|rest| rest.is_empty() || scope.ends_with('/') || rest.starts_with('/'))
}

/// The default path of a cookie (RFC 6265, 5.1.4).
fn default_path(path: &str) -> String {
    let folder = folder(path);
    if folder.len() > 1 { folder.trim_end_matches('/').to_owned() } else { "/".to_owned() }
}

/// The path up to and including the last slash.
fn folder(path: &str) -> &str {
    let path = without_query(path);
    &path[..path.rfind('/').map_or(0, |slash| slash + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [&str; 3] = ["accept-encoding", "accept-language", "user-agent"];

    fn pushed(
        cookies: Option<&str>,
        set_cookies: &[&str],
        (path, vary): (&str, Option<&str>),
        policy: &CookiePolicy,
    ) -> String {
        let set_cookies: Vec<String> = set_cookies.iter().map(|&it| it.to_owned()).collect();
        let parent = Parent {
            authority: "site.example",
            path: "/shop/page.html",
            cookies,
            set_cookies: &set_cookies,
            fields: &FIELDS,
        };
        let said = CacheFields { vary: vary.unwrap_or_default(), ..CacheFields::default() };
        match check(&parent, &Candidate { authority: "site.example", path, said }, policy) {
            Ok(cookies) => format!("push [{}]", cookies.unwrap_or_default()),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn only_what_varies_on_known_fields_is_pushed() {
        let unknown = "push []";
        let no_scope = "it varies on cookies, and their scope is not declared";
        let other =
            |field| format!("it varies on {field}, which may differ in the client's next request");
        let everything = "it varies on everything (Vary: *)";
        let rows: [(Option<&str>, bool, String); 16] = [
            (None, false, unknown.into()),
            (None, true, "push [a=1]".into()),
            (Some(""), false, unknown.into()),
            (Some("Accept-Encoding"), false, unknown.into()),
            (Some("accept-encoding, Accept-Language"), false, unknown.into()),
            (Some("User-Agent"), false, unknown.into()),
            (Some("Accept-Encoding,User-Agent , Accept-Language"), true, "push [a=1]".into()),
            (Some("Cookie"), false, no_scope.into()),
            (Some("Cookie"), true, "push [a=1]".into()),
            (Some("Accept-Encoding, Cookie"), false, no_scope.into()),
            (Some("Accept-Encoding, Cookie"), true, "push [a=1]".into()),
            (Some("*"), false, everything.into()),
            (Some("*"), true, everything.into()),
            (Some("Accept-Encoding, *"), true, everything.into()),
            (Some("Origin"), true, other("origin")),
            (Some("Accept-Encoding, DPR"), true, other("dpr")),
        ];
        for (vary, cookies_known, expected) in rows {
            let policy = if cookies_known { CookiePolicy::SamePath } else { CookiePolicy::None };
            assert_eq!(
                pushed(Some("a=1"), &[], ("/shop/a.css", vary), &policy),
                expected,
                "{vary:?}"
            );
        }
    }

    #[test]
    fn a_field_that_the_page_was_not_asked_with_is_unknown() {
        let parent =
            Parent { authority: "a", path: "/", cookies: None, set_cookies: &[], fields: &[] };
        let said = CacheFields { vary: "accept-language", ..CacheFields::default() };
        let candidate = Candidate { authority: "a", path: "/a", said };
        let expected = Err(Forbidden::VariesOn("accept-language".into()));
        assert_eq!(check(&parent, &candidate, &CookiePolicy::None), expected);
    }

    #[test]
    fn what_came_is_checked_against_what_was_promised() {
        for (vary, cookies_known, allowed) in [
            ("", false, true),
            ("Accept-Encoding, user-agent", false, true),
            ("Accept-Language", false, false),
            ("Cookie", false, false),
            ("Cookie", true, true),
            ("*", true, false),
            ("Origin", true, false),
        ] {
            let fields = ["accept-encoding", "user-agent", "origin"];
            let said = CacheFields { vary, ..CacheFields::default() };
            assert_eq!(allows(&said, &fields, cookies_known), allowed, "{vary}");
        }
    }

    #[test]
    fn what_is_for_one_client_goes_to_no_other() {
        let private = "it is private, and their scope is not declared";
        let (stored, cookie) = ("it must not be stored", "it sets a cookie");
        let rows: [(&str, bool, bool, &str); 12] = [
            ("", false, false, ""),
            ("max-age=60, public", false, false, ""),
            ("private", false, false, private),
            ("private", false, true, ""),
            ("Max-Age=60 , Private=\"set-cookie\"", false, false, private),
            ("no-store", false, false, stored),
            ("private, No-Store", false, true, stored),
            ("no-cache", false, false, ""),
            ("x-private, privately", false, false, ""),
            ("", true, false, cookie),
            ("", true, true, cookie),
            ("public, max-age=60", true, true, cookie),
        ];
        for (cache_control, sets_cookie, cookies_known, expected) in rows {
            let said = CacheFields { vary: "", cache_control, sets_cookie };
            let policy = if cookies_known { CookiePolicy::SamePath } else { CookiePolicy::None };
            let parent =
                Parent { authority: "a", path: "/", cookies: None, set_cookies: &[], fields: &[] };
            let checked = check(&parent, &Candidate { authority: "a", path: "/a", said }, &policy);
            let why = checked.err().map(|it| it.to_string()).unwrap_or_default();
            assert_eq!(why, expected, "{cache_control} {sets_cookie} {cookies_known}");
            assert_eq!(allows(&said, &[], cookies_known), expected.is_empty(), "{cache_control}");
        }
    }

    #[test]
    fn what_everyone_gets_is_neither_personal_nor_varies() {
        for (vary, cache_control, sets_cookie, expected) in [
            ("", "", false, true),
            ("Accept-Encoding", "max-age=60", false, true),
            ("Accept-Encoding, Cookie", "", false, false),
            ("Accept-Language", "", false, false),
            ("*", "", false, false),
            ("", "private", false, false),
            ("", "no-store", false, false),
            ("", "", true, false),
        ] {
            let said = CacheFields { vary, cache_control, sets_cookie };
            assert_eq!(said.is_for_everyone(), expected, "{said:?}");
        }
    }

    #[test]
    fn another_host_is_not_ours_to_promise() {
        let parent =
            Parent { authority: "a", path: "/", cookies: None, set_cookies: &[], fields: &[] };
        let candidate = Candidate { authority: "b", path: "/a", said: CacheFields::default() };
        assert_eq!(check(&parent, &candidate, &CookiePolicy::None), Err(Forbidden::OtherHost));
    }

    #[test]
    fn cookies_apply_are_unseen_or_newly_set() {
        let scope = |name: &str, path: &str| Scope { name: name.into(), path: path.into() };
        let declared = CookiePolicy::DeclaredScope(vec![scope("all", "/"), scope("shop", "/shop")]);
        let hidden = CookiePolicy::DeclaredScope(vec![scope("all", "/"), scope("api", "/api")]);
        let vary = Some("Cookie");
        let rows: [(&str, &[&str], &str, &CookiePolicy, &str); 8] = [
            // Which of the page's cookies apply?
            ("all=1; shop=2", &[], "/shop/a.css", &declared, "push [all=1; shop=2]"),
            ("all=1; shop=2", &[], "/a.css", &declared, "push [all=1]"),
            (
                "all=1",
                &[],
                "/a.css",
                &CookiePolicy::SamePath,
                "it varies on cookies, and it is in another folder than the page",
            ),
            // Are there others?
            (
                "all=1",
                &[],
                "/api/x",
                &hidden,
                "it varies on cookies, and cookie `api` would not have been sent with the page's request",
            ),
            (
                "new=1",
                &[],
                "/a.css",
                &declared,
                "it varies on cookies, and the scope of cookie `new` is not declared",
            ),
            // What does the page's response set?
            ("all=1", &["shop=9; Path=/shop"], "/shop/a.css", &declared, "push [all=1; shop=9]"),
            (
                "all=1",
                &["all=; Max-Age=0; Path=/", "x=1; Path=/other"],
                "/shop/a.css",
                &declared,
                "push []",
            ),
            ("all=1", &["folder=3"], "/shop/a.css", &declared, "push [all=1; folder=3]"),
        ];
        for (cookies, set, path, policy, expected) in rows {
            assert_eq!(
                pushed(Some(cookies), set, (path, vary), policy),
                expected,
                "{cookies} {set:?} {path}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn hostile_cookies_never_panic(cookies in "\\PC{0,60}", set in "\\PC{0,60}", path in "/\\PC{0,20}") {
            pushed(Some(&cookies), &[&set], (&path, Some("Cookie")), &CookiePolicy::SamePath);
        }
    }
}

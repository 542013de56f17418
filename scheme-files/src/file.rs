//! The text of a scheme file, and the scheme it defines.

use crate::condition::conditions;
use crate::error::{Fault, group_of, line_of};
use crate::limits::{GROUPS_MAX, NAME_BYTES_MAX, PLACES_MAX, RANK_MAX, TEXT_BYTES_MAX};
use crate::script::Script;
use crate::scripted;
use crate::signals::{self, FileSays, Form, PlacedRule};
use crate::{RESERVED, Report, SchemeFile};
use schedulers::{Declared, Element, Group, Language, Order, REGISTRY, Rule, Scheme, find_scheme};
use serde::Deserialize;
use std::sync::Arc;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scheme: FileScheme,
    #[serde(default)]
    group: Vec<Spanned<FileGroup>>,
    #[serde(default)]
    place: Vec<Spanned<FilePlace>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileScheme {
    /// 1 to 40 letters, digits and marks of `+-_.`; `name@guard` works as for every scheme.
    name: Spanned<String>,
    /// Its effect, in one line. All keys but `name` and this one are optional.
    about: Spanned<String>,
    /// Its description elsewhere.
    source: Option<Spanned<String>>,
    /// How clients signal it, [below](#what-clients-signal): `"silence"` (the default), `"tree"`, `"bucket"`, `"rfc9218"`,
    /// `"none"`.
    #[serde(default, with = "Form")]
    signals: Language,
    /// A built-in scheme that it claims to reproduce; [`utmost-workshop twin`](own-schemes.md#beside-a-twin) compares their
    /// orders.
    twin: Option<Spanned<String>>,
    /// `true`: the file may take the name of a built-in scheme.
    #[serde(default)]
    replaces_built_in: bool,
    /// `true`: all children of the root share one clock, so that a response that waited behind lower ranks is ahead of a later
    /// one.
    #[serde(default)]
    common_time: bool,
    /// A number to increase when its behaviour changes; 1 by default.
    revision: Option<Spanned<u32>>,
    /// A [script](#scripts), instead of places.
    script: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileGroup {
    /// Its name; figures and traces show it.
    name: Spanned<String>,
    /// Another group, which must precede it in the file, or `"root"` (the default).
    parent: Option<Spanned<String>>,
    /// 0 (first, the default) to 65534.
    rank: Option<Spanned<i64>>,
    /// 1 to 256; 16 by default.
    weight: Option<Spanned<i64>>,
    /// `{ open = "HIGH", weight = 1 }`: another weight while a response is open directly in the group `HIGH`.
    weight_while: Option<FileWeightWhile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWeightWhile {
    open: Spanned<String>,
    weight: Spanned<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePlace {
    /// A table of facts that must all be true, or a list of tables of which one must match; without it, every resource
    /// matches.
    when: Option<Spanned<toml::Value>>,
    /// The name of a group, or `"root"` (the default).
    parent: Option<Spanned<String>>,
    /// 0 (first, the default) to 65534.
    rank: Option<Spanned<i64>>,
    /// 1 to 256; 16 by default.
    weight: Option<Spanned<i64>>,
    /// `"shared"` (the default), `"sequential"` (in the order of requests), `"newest-first"`, `"by-stream-id"`.
    #[serde(default, with = "Share")]
    share: Order,
    /// The client's signal for it, [below](#what-clients-signal).
    says: Option<Spanned<FileSays>>,
}

/// The order of responses in one place.
#[derive(Deserialize)]
#[serde(remote = "Order", rename_all = "kebab-case")]
enum Share {
    Shared,
    #[serde(rename = "sequential")]
    ByRequest,
    #[serde(rename = "newest-first")]
    Newest,
    #[serde(rename = "by-stream-id")]
    ByStream,
}

pub(crate) fn parse(text: &str, file: &str, report: Report) -> Result<SchemeFile, Fault> {
    let read: File = toml::from_str(text)
        .map_err(|error| Fault::new(error.span().map_or(0, |it| it.start), error.message()))?;
    let name = name(&read.scheme)?;
    let groups = groups(&read.group)?;
    let form = read.scheme.signals;
    let rules = rules(&read.place, &groups, form)?;
    let twin = twin(&read.scheme)?;
    let has_script = read.scheme.script.is_some();
    let names: Vec<String> = groups.iter().map(|(group, _)| group.name.clone()).collect();
    let placeholders =
        if form == Language::Tree { u32::try_from(names.len()).unwrap_or(0) } else { 0 };
    let (about, source) = texts(&read.scheme)?;
    let scheme = match &read.scheme.script {
        None if read.place.is_empty() => {
            let at = read.scheme.name.span().start;
            return Fault::at(at, "the file places nothing: add [[place]] tables, or a `script`");
        }
        Some(script) if !read.place.is_empty() => {
            let at = script.span().start;
            return Fault::at(at, "a file has [[place]] tables or a `script`; remove one of them");
        }
        None => {
            signals::check(form, &groups, &rules)?;
            let declared = declared(groups, rules, &read.scheme);
            Scheme::new(&name, about, source, move |_, _| Ok(declared.halves()))
        }
        Some(script) => {
            let declared = declared(groups, Vec::new(), &read.scheme);
            let script = Script::compile(script, first_line(text, script), form)?;
            let scripted = scripted::Scripted::new(script, declared, form, &name, file, report);
            Scheme::new(&name, about, source, move |_, _| Ok(scripted.halves()))
        }
    };
    let scheme = Scheme {
        placeholders,
        signals: form,
        group_name: Arc::new(move |id| names.get(usize::try_from(id).ok()?).cloned()),
        revision: read.scheme.revision.map_or(1, Spanned::into_inner),
        text: Some(Arc::from(text)),
        ..scheme
    };
    Ok(SchemeFile { scheme, twin, has_script })
}

fn declared(
    groups: Vec<(Group, usize)>,
    rules: Vec<PlacedRule>,
    scheme: &FileScheme,
) -> Arc<Declared> {
    let groups = groups.into_iter().map(|(it, _)| it).collect();
    let rules = rules.into_iter().map(|(it, _)| it).collect();
    let declared = Declared::new(groups, rules, scheme.signals);
    Arc::new(if scheme.common_time { declared.with_common_time() } else { declared })
}

/// The line of the file with the script's first line, if the script has lines of its own.
fn first_line(text: &str, script: &Spanned<String>) -> Option<usize> {
    let at = script.span().start;
    let raw = text.get(at..).unwrap_or_default();
    let lines = raw.strip_prefix("'''").or_else(|| raw.strip_prefix("\"\"\""))?;
    let begins_below = lines.starts_with('\n') || lines.starts_with("\r\n");
    Some(line_of(text, at) + usize::from(begins_below))
}

fn name(scheme: &FileScheme) -> Result<String, Fault> {
    let (name, at) = (scheme.name.get_ref(), scheme.name.span().start);
    let is_plain = name.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-_.".contains(&it));
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !is_plain {
        let name: String = name.escape_default().take(60).collect();
        let form = format!("1 to {NAME_BYTES_MAX} letters, digits and marks of `+-_.`");
        return Fault::at(at, format!("name \"{name}\" must have {form}"));
    }
    if RESERVED.contains(&name.as_str()) {
        return Fault::at(at, format!("`{name}` denotes other schemes; choose another name"));
    }
    if !scheme.replaces_built_in && REGISTRY.iter().any(|built_in| built_in.name == *name) {
        let remedy = "choose another name, or write replaces_built_in = true";
        return Fault::at(at, format!("`{name}` is a built-in scheme: {remedy}"));
    }
    Ok(name.clone())
}

fn texts(scheme: &FileScheme) -> Result<(String, String), Fault> {
    if let Some(revision) = &scheme.revision
        && *revision.get_ref() == 0
    {
        return Fault::at(revision.span().start, "revision 0 must be 1 or more");
    }
    let source = scheme.source.as_ref().map(text).transpose()?;
    Ok((text(&scheme.about)?, source.unwrap_or_else(|| "a file".to_owned())))
}

fn text(said: &Spanned<String>) -> Result<String, Fault> {
    let text = said.get_ref();
    if text.is_empty() || text.len() > TEXT_BYTES_MAX || text.contains(char::is_control) {
        let cause = format!("this text must be one line of 1 to {TEXT_BYTES_MAX} bytes");
        return Fault::at(said.span().start, cause);
    }
    Ok(text.clone())
}

fn twin(scheme: &FileScheme) -> Result<Option<String>, Fault> {
    let Some(twin) = &scheme.twin else { return Ok(None) };
    find_scheme(twin.get_ref())
        .map_err(|error| Fault::new(twin.span().start, format!("twin: {error}")))?;
    Ok(Some(twin.get_ref().clone()))
}

fn groups(read: &[Spanned<FileGroup>]) -> Result<Vec<(Group, usize)>, Fault> {
    if let Some(more) = read.get(GROUPS_MAX) {
        return Fault::at(more.span().start, format!("at most {GROUPS_MAX} groups"));
    }
    let mut groups: Vec<(Group, usize)> = Vec::new();
    for it in read {
        let at = it.span().start;
        let FileGroup { name, parent, rank, weight, .. } = it.get_ref();
        let group = Group {
            name: group_name(name, &groups)?,
            parent: parent_of(parent.as_ref(), &groups, read)?,
            level: level(rank.as_ref())?,
            weight: weight_of(weight.as_ref())?,
            weight_while: None,
        };
        groups.push((group, at));
    }
    for (index, it) in read.iter().enumerate() {
        let Some(FileWeightWhile { open, weight }) = &it.get_ref().weight_while else { continue };
        let watched = element(open, &groups)?;
        if watched == Element::Placeholder(index as u64) {
            return Fault::at(open.span().start, "a group cannot wait for itself; name another");
        }
        groups[index].0.weight_while = Some((watched, weight_of(Some(weight))?));
    }
    Ok(groups)
}

fn group_name(name: &Spanned<String>, above: &[(Group, usize)]) -> Result<String, Fault> {
    let (text, at) = (name.get_ref(), name.span().start);
    if text.is_empty() || text.len() > TEXT_BYTES_MAX || text == "root" {
        return Fault::at(at, "a group needs a name other than \"root\"");
    }
    if above.iter().any(|(it, _)| it.name == *text) {
        return Fault::at(at, format!("a second group named `{text}`; name each once"));
    }
    Ok(text.clone())
}

/// The parent of a group, which must precede it, so that no group is below itself.
fn parent_of(
    parent: Option<&Spanned<String>>,
    above: &[(Group, usize)],
    all: &[Spanned<FileGroup>],
) -> Result<Element, Fault> {
    let Some(parent) = parent else { return Ok(Element::Root) };
    let is_later =
        all.iter().skip(above.len()).any(|it| it.get_ref().name.get_ref() == parent.get_ref());
    if is_later {
        let name = parent.get_ref();
        let cause = format!("group `{name}` must precede the groups below it in the file");
        return Fault::at(parent.span().start, format!("{cause}; no group is below itself"));
    }
    element(parent, above)
}

/// `root`, or a group by its name.
fn element(name: &Spanned<String>, groups: &[(Group, usize)]) -> Result<Element, Fault> {
    let found = group_of(name.get_ref(), groups.iter().map(|(it, _)| it));
    found.map_err(|cause| Fault::new(name.span().start, cause))
}

fn level(rank: Option<&Spanned<i64>>) -> Result<u16, Fault> {
    let Some(rank) = rank else { return Ok(0) };
    if let Ok(it @ 0..=RANK_MAX) = u16::try_from(*rank.get_ref()) {
        return Ok(it);
    }
    let cause = format!("rank {} must be from 0 (first) to {RANK_MAX}", rank.get_ref());
    Fault::at(rank.span().start, cause)
}

fn weight_of(weight: Option<&Spanned<i64>>) -> Result<u16, Fault> {
    let Some(weight) = weight else { return Ok(Rule::DEFAULT.weight) };
    if let Ok(it @ 1..=256) = u16::try_from(*weight.get_ref()) {
        return Ok(it);
    }
    Fault::at(weight.span().start, format!("weight {} must be from 1 to 256", weight.get_ref()))
}

fn rules(
    read: &[Spanned<FilePlace>],
    groups: &[(Group, usize)],
    form: Language,
) -> Result<Vec<PlacedRule>, Fault> {
    if let Some(more) = read.get(PLACES_MAX) {
        return Fault::at(more.span().start, format!("at most {PLACES_MAX} places"));
    }
    let mut rules: Vec<PlacedRule> = Vec::new();
    for it in read {
        let at = it.span().start;
        if rules.iter().any(|(rule, _)| rule.when.is_empty()) {
            let cause =
                "an earlier [[place]] has no `when` and matches every resource: put it last";
            return Fault::at(at, cause);
        }
        let place = it.get_ref();
        let parent = place.parent.as_ref().map(|it| element(it, groups)).transpose()?;
        let when = place.when.as_ref().map(|it| conditions(it.get_ref(), it.span().start));
        let says = place.says.as_ref().map(|it| it.get_ref().signal(form, it.span().start));
        let rule = Rule {
            when: when.transpose()?.unwrap_or_default(),
            parent: parent.unwrap_or(Element::Root),
            level: level(place.rank.as_ref())?,
            weight: weight_of(place.weight.as_ref())?,
            order: place.share,
            says: says.transpose()?,
        };
        rules.push((rule, at));
    }
    Ok(rules)
}

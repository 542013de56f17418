//! The resource lists that the paper's own implementation plays back: `{"resources": {PATH: METADATA,
//! ...}}`, the document first (github.com/rmarx/quicker). They have roles and discoveries, but no sizes.

use super::derive::{finish_as_stated, mime_for, typical_bytes};
use super::{FileSize, ImportError, Imported, Recording, refuse};
use crate::check::is_of_path;
use crate::page::{Event, Origin, Page, PageResource, Script, SourceKind, Trigger};
use captures::within_limit;
use schedulers::Kind;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

#[derive(Deserialize)]
struct List {
    #[serde(deserialize_with = "in_order")]
    resources: Vec<(String, Metadata)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the list's keys")]
struct Metadata {
    #[serde(alias = "mimetype")]
    mime_type: String,
    #[serde(default)]
    is_critical: bool,
    #[serde(default)]
    in_head: bool,
    #[serde(default)]
    is_after_first_image: bool,
    #[serde(default)]
    is_above_the_fold: bool,
    #[serde(default)]
    is_async: bool,
    #[serde(default)]
    is_defer: bool,
    #[serde(default)]
    is_preload: bool,
    delta_start_time: Option<f64>,
    #[serde(default)]
    children_start: Vec<String>,
    #[serde(default)]
    children_end: Vec<String>,
}

/// Reads an object in the order of its keys: the first is the document.
fn in_order<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, Metadata)>, D::Error> {
    struct InOrder;
    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<(String, Metadata)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object from paths to metadata")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
            let mut resources = Vec::new();
            while let Some(entry) = object.next_entry()? {
                resources.push(entry);
                within_limit(resources.len()).map_err(Error::custom)?;
            }
            Ok(resources)
        }
    }
    from.deserialize_map(InOrder)
}

/// Imports such a list; `file_size` finds the sizes of the site's files beside it.
pub(super) fn resource_list(
    Recording { text, label, file_size }: Recording<'_>,
) -> Result<Imported, ImportError> {
    let List { resources: list } = serde_json::from_str(text)
        .map_err(|error| ImportError::Format(format!("is not a resource list: {error}")))?;
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, (path, _)) in list.iter().enumerate() {
        if ids.insert(path, id).is_some() {
            return refuse(format!("resources: {path:?} occurs twice"));
        }
    }
    let mut notes = Vec::new();
    let mut resources: Vec<PageResource> =
        list.iter().enumerate().map(|(id, (path, it))| resource(id, path, it)).collect();
    let triggers = triggers(&list, &ids, &mut notes)?;
    for (it, trigger) in resources.iter_mut().zip(triggers).skip(1) {
        it.trigger = trigger;
    }
    set_sizes(&mut resources, &list, file_size, &mut notes);
    notes.push(
        "delays run from the document's first byte (childrenStart) or the parent's arrival \
         (childrenEnd); wait_ms and exec_ms are 0, as in the implementation that the list is for"
            .to_owned(),
    );
    notes.push("heroes: the images marked isAboveTheFold; the viewport is 1366x768".to_owned());
    let (name, source) = label.into_source(SourceKind::Imported);
    finish_as_stated(Page::new(name, source, vec![Origin::own("host-0.test")], resources), notes)
}

fn resource(id: usize, path: &str, metadata: &Metadata) -> PageResource {
    let mime = mime_for(&metadata.mime_type, "", path);
    let mut it = PageResource::plain(id, url_of(path), mime, 0);
    it.in_head = metadata.in_head;
    it.after_first_image = metadata.is_after_first_image;
    it.preload = metadata.is_preload;
    it.critical |= metadata.is_critical;
    it.hero = it.kind == Kind::Image && metadata.is_above_the_fold;
    it.above_fold |= metadata.is_above_the_fold || metadata.is_critical || it.kind == Kind::Font;
    it.script = (it.kind == Kind::Js).then_some(match metadata {
        Metadata { is_defer: true, .. } => Script::Defer,
        Metadata { is_async: true, .. } => Script::Async,
        _ => Script::Sync,
    });
    it
}

/// The path with a leading slash, percent-encoded.
fn url_of(path: &str) -> String {
    let mut url = String::from("/");
    for byte in path.trim_start_matches('/').bytes() {
        if is_of_path(byte) && byte != b'"' {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

fn triggers(
    list: &[(String, Metadata)],
    ids: &BTreeMap<&str, usize>,
    notes: &mut Vec<String>,
) -> Result<Vec<Trigger>, ImportError> {
    let mut triggers: Vec<Option<Trigger>> = vec![None; list.len()];
    let mut again = 0;
    for (of, (path, metadata)) in list.iter().enumerate() {
        let start = metadata.children_start.iter().map(|it| (it, Event::Bytes, "childrenStart"));
        let end = metadata.children_end.iter().map(|it| (it, Event::Complete, "childrenEnd"));
        for (child, on, key) in start.chain(end) {
            let Some(&id) = ids.get(child.as_str()) else {
                return refuse(format!("resources[{path:?}].{key}: {child:?} is not in the list"));
            };
            if triggers[id].is_some() {
                again += 1;
                continue;
            }
            let delay_ms = list[id].1.delta_start_time.unwrap_or(0.0).max(0.0);
            let byte = (on == Event::Bytes).then_some(0);
            triggers[id] = Some(Trigger { on, of, byte, delay_ms, ..Trigger::default() });
        }
    }
    let orphans = triggers.iter().skip(1).filter(|it| it.is_none()).count();
    if orphans > 0 {
        notes.push(format!("{orphans} resources are nobody's child: they follow the document"));
    }
    if again > 0 {
        notes.push(format!("{again} children have a parent already: the first one counts"));
    }
    // By default they wait for the end of the document.
    Ok(triggers.into_iter().map(Option::unwrap_or_default).collect())
}

fn set_sizes(
    resources: &mut [PageResource],
    list: &[(String, Metadata)],
    file_size: FileSize<'_>,
    notes: &mut Vec<String>,
) {
    let mut assumed = 0;
    for (it, (path, _)) in resources.iter_mut().zip(list) {
        it.bytes = file_size(path).unwrap_or_else(|| {
            assumed += 1;
            typical_bytes(it.kind)
        });
    }
    if assumed > 0 {
        notes.push(format!(
            "{assumed} of {} resources have no file beside the list to take their size from: they get \
             the typical size of their kind (HTTP Archive 2024: bytes over requests of the median page)",
            list.len()
        ));
    }
}

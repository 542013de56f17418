//! Removes everything that identifies people and pages: names, paths, addresses, identifiers, tokens, texts. Keeps
//! the data needed to judge scheduling: sizes, times, priorities, media types, the kind of a path.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::limits::ANONYMOUS_NAMES;

/// Field lines whose values stay.
const KEPT_FIELDS: &str = "\
    :method :scheme :status priority content-length content-type content-encoding accept-ranges";
/// Keys whose values are dropped, wherever they stand.
const DROPPED_KEYS: &str = "\
    token stateless_reset_token reset_token ip ip_v4 ip_v6 src_ip dst_ip src dst local remote address_v4 \
    address_v6 addr_from addr_to sni message reason details begins_with preferred_address original_uris \
    resource url";
/// Keys whose values are connection IDs.
const IDENTIFIER_KEYS: &str = "\
    scid dcid connection_id src_cid dst_cid src_id group_id original_destination_connection_id \
    initial_source_connection_id retry_source_connection_id old new";

/// Gives the same stand-in for the same text.
#[derive(Debug, Default)]
pub(super) struct Anonymiser {
    identifiers: BTreeMap<String, usize>,
    paths: BTreeMap<String, usize>,
    hosts: BTreeMap<String, usize>,
}

impl Anonymiser {
    /// A stand-in for a connection ID.
    pub(super) fn identifier(&mut self, id: &str) -> String {
        format!("{:016x}", number(&mut self.identifiers, id))
    }

    pub(super) fn anonymise(&mut self, value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.retain(|key, _| !is_listed(DROPPED_KEYS, key));
                for (key, value) in object.iter_mut() {
                    self.entry(key, value);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|it| self.anonymise(it)),
            _ => {}
        }
    }

    fn entry(&mut self, key: &str, value: &mut Value) {
        match (key, &mut *value) {
            ("headers", Value::Array(fields)) => fields.iter_mut().for_each(|it| self.field(it)),
            ("raw", Value::Object(raw)) => {
                raw.remove("data");
            }
            ("data", Value::String(_)) => *value = json!(""),
            (key, Value::String(text))
                if is_listed(IDENTIFIER_KEYS, key)
                    && text.len() >= 8
                    && text.chars().all(|it| it.is_ascii_hexdigit() || matches!(it, 'x' | ':')) =>
            {
                let id = self.identifier(text);
                *value = json!(id);
            }
            (_, other) => self.anonymise(other),
        }
    }

    fn field(&mut self, field: &mut Value) {
        let name = field.get("name").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        if is_listed(KEPT_FIELDS, &name) {
            return;
        }
        let text = field.get("value").and_then(Value::as_str).unwrap_or_default().to_owned();
        let value = match &*name {
            ":path" => self.path(&text),
            ":authority" | "host" => format!("host-{}.invalid", number(&mut self.hosts, &text)),
            _ => String::new(),
        };
        if let Value::Object(field) = field {
            field.retain(|key, _| key == "name");
            field.insert("value".to_owned(), json!(value));
        }
    }

    /// `/resource-3.css`: the extension shows the kind.
    fn path(&mut self, path: &str) -> String {
        let number = number(&mut self.paths, path);
        let last = path.split(['?', '#']).next().and_then(|it| it.rsplit('/').next());
        let ending = last.and_then(|it| it.rsplit_once('.')).map(|it| it.1).unwrap_or_default();
        let is_kind =
            (1..=5).contains(&ending.len()) && ending.chars().all(|it| it.is_ascii_alphanumeric());
        if is_kind { format!("/resource-{number}.{ending}") } else { format!("/resource-{number}") }
    }
}

pub(super) fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|it| it == word)
}

fn number(known: &mut BTreeMap<String, usize>, text: &str) -> usize {
    if let Some(&number) = known.get(text) {
        return number;
    }
    let number = known.len() + 1;
    if number <= ANONYMOUS_NAMES {
        known.insert(text.to_owned(), number);
    }
    number
}

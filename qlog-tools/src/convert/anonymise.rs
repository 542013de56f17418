//! Keeps only the data needed to judge scheduling: numbers, times, sizes, priorities, media types, the kind of a path, and the schema's
//! own words. So names, addresses, identifiers, tokens and texts leave a log wherever they stand.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::limits::ANONYMOUS_NAMES;
use crate::reader::header::is_known_stack;
use crate::reader::names::{EventKind, kind};
use crate::trace::Stack;

/// Field lines whose values stay.
const KEPT_FIELDS: &str = "\
    :method :scheme :status priority content-length content-type content-encoding accept-ranges";
/// Keys whose texts are words of the schema, or of our own events.
const WORD_KEYS: &str = "\
    frame_type packet_type packet_number_space type key_type stream_type target_stream_type owner initiator side trigger from to \
    state stream_side mode event_type timer_type ecn error_space error_code error application_error connection_error \
    connection_code application_code reason_code header_type instruction_type prefetch_type kind op by milestone name";
/// Keys whose texts are priorities in the form of RFC 9218.
const PRIORITY_KEYS: &str = "priority_field_value priority old new";
/// Keys whose texts are connection IDs.
const IDENTIFIER_KEYS: &str = "\
    scid dcid connection_id src_cid dst_cid src_id group_id original_destination_connection_id \
    initial_source_connection_id retry_source_connection_id old new";
/// Keys whose values are dropped, whatever they are.
const DROPPED_KEYS: &str = "\
    token stateless_reset_token reset_token preferred_address local remote port_v4 port_v6 src_port dst_port \
    unknown_parameters data details reason";
/// The name of an event in no known schema: its own could name its program.
const UNKNOWN_EVENT: &str = "unknown:unknown";
/// The most characters of a word, and the most digits of a number in a text.
const WORD_CHARACTERS: usize = 40;
const DIGITS: usize = 20;

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

    /// The program, if many people use it.
    pub(super) fn stack(logged: &Stack) -> Stack {
        let name = logged.name.clone().filter(|it| is_known_stack(it));
        Stack { name, version: logged.version.as_deref().and_then(word) }
    }

    /// An event of a known schema with the values that may stay; of another one only that there was an event.
    pub(super) fn event(&mut self, name: String, data: Value) -> (String, Value) {
        if kind(&name) == EventKind::Unknown {
            return (UNKNOWN_EVENT.to_owned(), json!({}));
        }
        (name, self.kept("", data).unwrap_or_else(|| json!({})))
    }

    /// A value as it may stay.
    fn kept(&mut self, key: &str, value: Value) -> Option<Value> {
        match value {
            Value::Object(object) => Some(Value::Object(self.object(object))),
            Value::Array(values) => {
                let kept = values.into_iter().filter_map(|it| self.kept(key, it));
                Some(Value::Array(kept.collect()))
            }
            Value::String(text) => self.text(key, &text).map(Value::String),
            number_or_flag => Some(number_or_flag),
        }
    }

    fn object(&mut self, object: Map<String, Value>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (key, value) in object {
            let value = match value {
                _ if is_listed(DROPPED_KEYS, &key) => None,
                Value::Array(fields) if key == "headers" => {
                    Some(fields.iter().filter_map(|it| self.field(it)).collect())
                }
                value => self.kept(&key, value),
            };
            kept.extend(value.map(|it| (key, it)));
        }
        kept
    }

    fn text(&mut self, key: &str, text: &str) -> Option<String> {
        let is_hexadecimal =
            !text.is_empty() && text.chars().all(|it| it.is_ascii_hexdigit() || "x:".contains(it));
        let is_number = text.len() <= DIGITS && text.parse::<f64>().is_ok_and(f64::is_finite);
        let is_priority = || text.chars().all(|it| "ui=,? 01234567".contains(it));
        let is_identifier = is_listed(IDENTIFIER_KEYS, key);
        if is_identifier && is_hexadecimal {
            return Some(self.identifier(text));
        }
        if is_number || is_listed(PRIORITY_KEYS, key) && is_priority() {
            return Some(text.to_owned());
        }
        word(text).filter(|_| is_identifier || is_listed(WORD_KEYS, key))
    }

    /// A field line as it may stay; the name of another one could name its program.
    fn field(&mut self, field: &Value) -> Option<Value> {
        let text = |key| field.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, value) = (text("name").to_lowercase(), text("value"));
        let value = match &*name {
            ":path" => self.path(value),
            ":authority" | "host" => format!("host-{}.invalid", number(&mut self.hosts, value)),
            kept if is_listed(KEPT_FIELDS, kept) => {
                value.split(';').next().unwrap_or_default().to_owned()
            }
            _ => return None,
        };
        Some(json!({"name": name, "value": value}))
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

/// A text that is one word.
fn word(text: &str) -> Option<String> {
    let is_word = text.len() <= WORD_CHARACTERS
        && text.chars().all(|it| it.is_ascii_alphanumeric() || "_-:".contains(it));
    is_word.then(|| text.to_owned())
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

//! h2o: a handler before those of the site, in Ruby, because fields are otherwise set for whole paths with their own handlers.

use super::{Advice, Document};

pub(super) const ABOUT: &str = "Put this entry first in the list of handlers of the path \"/\" (h2o with mruby), \
    before `file.dir` or `proxy.reverse.url`.\n\
    What h2o does with it: over HTTP/3, it sends by priority (RFC 9218), and the field Priority of a response goes before what the \
    client asked for (h2o/h2o, pull request 3318; a build of 2026 has it). Older builds heed the client alone. Over HTTP/2, the \
    field can raise a response and not lower it (h2o/h2o, pull request 2217), and 2.2, which Debian has, passes it on and does not \
    act on it. Early hints are sent as status 103 since 2.3 (h2o/h2o, pull request 1767). A field Priority or Link of a backend stays \
    beside these.";

pub(super) fn configuration(advice: &Advice) -> String {
    let lines = advice.lines.iter();
    let priorities = lines.map(|it| (advice.key(&it.host, &it.path), it.priority.to_string()));
    let priorities: Vec<(String, String)> = priorities.collect();
    let links = rows_of_documents(advice, |it| it.all_links().join(", "));
    let early_hints = rows_of_documents(advice, |it| it.early_hints.join(", "));
    let host = if advice.names_hosts() { "env[\"HTTP_HOST\"].split(\":\")[0] + " } else { "" };
    [
        "- mruby.handler: |\n".to_owned(),
        table("priorities", &priorities),
        table("links", &links),
        table("early_hints", &early_hints),
        format!(
            "    lambda do |env|
      path = {host}env[\"PATH_INFO\"]
      hints = early_hints[path]
      if hints && env[\"rack.early_hints\"] && env[\"HTTP_SEC_FETCH_MODE\"] == \"navigate\"
        env[\"rack.early_hints\"].call({{\"link\" => hints}})
      end
      fields = {{}}
      fields[\"priority\"] = priorities[path] if priorities[path]
      fields[\"link\"] = links[path] if links[path]
      [399, fields, []]
    end
"
        ),
    ]
    .concat()
}

/// Key and value for each path of a document whose value is not empty.
fn rows_of_documents(advice: &Advice, value: fn(&Document) -> String) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for document in &advice.documents {
        let value = value(document);
        if value.is_empty() {
            continue;
        }
        for path in document.paths() {
            rows.push((advice.key(&document.host, &path), value.clone()));
        }
    }
    rows
}

fn table(name: &str, rows: &[(String, String)]) -> String {
    let rows = rows.iter().map(|(key, value)| format!("      \"{key}\" => \"{value}\",\n"));
    format!("    {name} = {{\n{}    }}\n", rows.collect::<String>())
}

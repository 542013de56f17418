//! h2o: a handler before those of the site, in Ruby, because fields are otherwise set for whole paths with their own handlers.

use super::Advice;

pub(super) const ABOUT: &str = "Put this entry first in the list of handlers of the path \"/\" (h2o with mruby), \
    before `file.dir` or `proxy.reverse.url`.\n\
    What h2o does with it: over HTTP/3, it sends by priority (RFC 9218), and the field Priority of a response goes before what the \
    client asked for (h2o/h2o, pull request 3318; a build of 2026 has it). Older builds heed the client alone. Over HTTP/2, the \
    field can raise a response and not lower it (h2o/h2o, pull request 2217), and 2.2, which Debian has, passes it on and does not \
    act on it. Early hints are sent as status 103 since 2.3 (h2o/h2o, pull request 1767). A field Priority or Link of a backend stays \
    beside these.";

pub(super) fn configuration(advice: &Advice) -> String {
    let names_hosts = advice.names_hosts();
    let key = |host: &str, path: &str| advice.key(host, path);
    let table = |name: &str, rows: Vec<(String, String)>| {
        let rows: Vec<String> =
            rows.iter().map(|(key, value)| format!("      \"{key}\" => \"{value}\",\n")).collect();
        format!("    {name} = {{\n{}    }}\n", rows.concat())
    };
    let priorities =
        advice.lines.iter().map(|it| (key(&it.host, &it.path), it.priority.to_string()));
    let of_pages = |links: fn(&super::Document) -> String| {
        let documents = advice.documents.iter();
        let rows = documents.flat_map(|it| {
            let paths = it.paths().into_iter();
            paths.map(|path| (key(&it.host, &path), links(it))).collect::<Vec<_>>()
        });
        rows.filter(|it| !it.1.is_empty()).collect::<Vec<_>>()
    };
    let host = if names_hosts { "env[\"HTTP_HOST\"].split(\":\")[0] + " } else { "" };
    [
        "- mruby.handler: |\n".to_owned(),
        table("priorities", priorities.collect()),
        table("links", of_pages(|it| it.all_links().join(", "))),
        table("early_hints", of_pages(|it| it.early_hints.join(", "))),
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

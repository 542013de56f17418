//! Fastly: VCL snippets.

use super::Advice;

pub(super) const ABOUT: &str = "Each part is a VCL snippet; its comment names the subroutine.\n\
    What Fastly does with it: its edge is h2o. Over HTTP/3, that sends by priority (RFC 9218), and the field Priority of a response \
    goes before what the client asked for (h2o/h2o, pull request 3318). Over HTTP/2, the field can raise a response and not lower \
    it (h2o/h2o, pull request 2217). `early_hints` sends status 103 to clients of HTTP/2 and HTTP/3.";

pub(super) fn configuration(advice: &Advice) -> String {
    let mut deliver: Vec<String> = Vec::new();
    for line in &advice.lines {
        let condition = condition(&line.host, std::slice::from_ref(&line.path));
        deliver.push(format!(
            "if ({condition}) {{\n  set resp.http.Priority = \"{}\";\n}}\n",
            line.priority
        ));
    }
    let mut receive: Vec<String> = Vec::new();
    for document in &advice.documents {
        let condition = condition(&document.host, &document.paths());
        let links = document.all_links().into_iter();
        let links = links.map(|it| format!("  add resp.http.Link = \"{it}\";\n"));
        let links = links.collect::<Vec<_>>().concat();
        deliver.push(format!("if ({condition}) {{\n{links}}}\n"));
        if !document.early_hints.is_empty() {
            let hints = document.early_hints.iter().map(|it| format!("\"link: {it}\""));
            let hints = hints.collect::<Vec<_>>().join(", ");
            receive.push(format!(
                "if ({condition} && req.http.Sec-Fetch-Mode == \"navigate\" && (fastly_info.is_h2 || fastly_info.is_h3)) {{\n  \
                 early_hints({hints});\n}}\n"
            ));
        }
    }
    let recv = if receive.is_empty() { "" } else { "# Subroutine recv:\n" };
    format!("{recv}{}# Subroutine deliver:\n{}", receive.concat(), deliver.concat())
}

fn condition(host: &str, paths: &[String]) -> String {
    let each = paths.iter().map(|it| format!("req.url.path == \"{it}\""));
    let any = each.collect::<Vec<_>>().join(" || ");
    let paths = if paths.len() == 1 { any } else { format!("({any})") };
    if host.is_empty() { paths } else { format!("req.http.host == \"{host}\" && {paths}") }
}

//! Pages from their templates.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, HtmlEscape, Value};

/// Renders a template of this crate; in names that end with `.html`, values are escaped.
///
/// # Panics
/// Panics if the template is wrong: templates are part of the program, and tests render each.
pub(crate) fn render(name: &str, template: &str, view: Value) -> String {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let mut environment = Environment::new();
    environment.set_syntax(syntax.expect("only white space is configured"));
    environment.add_filter("with_code", with_code);
    let page = environment.render_named_str(name, template, view);
    page.expect("the template asks for nothing that is missing")
}

/// A text in which parts between backticks are code.
#[expect(clippy::needless_pass_by_value, reason = "filters own their arguments")]
fn with_code(text: String) -> Value {
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let parts: Vec<&str> = if is_paired { text.split('`').collect() } else { vec![&text] };
    let parts = parts.into_iter().enumerate().map(|(place, part)| {
        let part = HtmlEscape(part);
        if place % 2 == 1 { format!("<code>{part}</code>") } else { part.to_string() }
    });
    Value::from_safe_string(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code_and_all_is_escaped() {
        let of = |text: &str| with_code(text.to_owned()).to_string();
        assert_eq!(of("`load`: a < b"), "<code>load</code>: a &lt; b");
        assert_eq!(of("`<b>`"), "<code>&lt;b&gt;</code>");
        assert_eq!(of("one ` alone"), "one ` alone");
    }
}

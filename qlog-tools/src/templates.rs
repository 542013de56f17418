//! Pages from their templates.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Value};

/// Fills in a template of this crate; names that end with `.html` escape what is filled in.
///
/// # Panics
/// If the template is wrong: it is part of the program, and tests render each.
pub(crate) fn render(name: &str, template: &str, view: Value) -> String {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let mut environment = Environment::new();
    environment.set_syntax(syntax.expect("only white space is configured"));
    let page = environment.render_named_str(name, template, view);
    page.expect("the template asks for nothing that is missing")
}

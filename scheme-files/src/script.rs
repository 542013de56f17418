//! A script, and calls of its functions.
//!
//! The language is Rhai without modules, clocks, shared values and `eval`. Scripts can use the packages for
//! computation, but not the one with `sleep` and `exit`.

use crate::error::Fault;
use crate::limits::{
    ARRAY_MAX, CALLS_MAX, EXPRESSION_DEPTH_MAX, FUNCTIONS_MAX, MAP_MAX, OPERATIONS_MAX,
    STRING_BYTES_MAX, VARIABLES_MAX,
};
use crate::values;
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{AST, CallFnOptions, Dynamic, Engine, EvalAltResult, FuncArgs, Position, Scope};
use schedulers::Language;
use toml::Spanned;

/// The functions that a script may define: name, parameters, and whether it is required.
const FUNCTIONS: [(&str, &[&str], bool); 6] = [
    ("setup", &[], false),
    ("opened", &["stream", "resource"], true),
    ("signalled", &["stream", "said"], false),
    ("sent", &["stream", "bytes"], false),
    ("closed", &["stream"], false),
    ("says", &["resource"], false),
];

pub(crate) struct Script {
    engine: Engine,
    ast: AST,
    /// The line of the file where the script begins, if its lines are lines of the file.
    first_line: Option<usize>,
    /// The names of the [`FUNCTIONS`] that it defines.
    functions: Vec<&'static str>,
}

/// Why a call failed: the line in the file, if known, and the cause.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) line: Option<usize>,
    pub(crate) cause: String,
}

impl Script {
    /// Compiles a script whose first line is line `first_line` of its file.
    pub(crate) fn compile(
        script: &Spanned<String>,
        first_line: Option<usize>,
        form: Language,
    ) -> Result<Self, Fault> {
        let (engine, at) = (engine(), script.span().start);
        let ast = engine.compile(script.get_ref()).map_err(|error| {
            let line = in_file(first_line, error.position().line());
            Fault { at, line, cause: error.err_type().to_string() }
        })?;
        check_functions(&ast, form).map_err(|cause| Fault { at, line: None, cause })?;
        let names: Vec<&str> = ast.iter_functions().map(|it| it.name).collect();
        let functions = FUNCTIONS.iter().map(|it| it.0).filter(|it| names.contains(it)).collect();
        Ok(Self { engine, ast, first_line, functions })
    }

    pub(crate) fn has(&self, function: &str) -> bool {
        self.functions.contains(&function)
    }

    /// Calls a function; `this` is the script's memory.
    pub(crate) fn call(
        &self,
        name: &str,
        this: &mut Dynamic,
        arguments: impl FuncArgs,
    ) -> Result<Dynamic, Failure> {
        let Self { engine, ast, .. } = self;
        let options = CallFnOptions::new().eval_ast(false).bind_this_ptr(this);
        let result = engine.call_fn_with_options(options, &mut Scope::new(), ast, name, arguments);
        let result = result.map_err(|error| self.failure(&error))?;
        engine
            .ensure_data_size_within_limits(this)
            .map_err(|error| Failure { line: None, cause: format!("`this`: {error}") })?;
        Ok(result)
    }

    fn failure(&self, error: &EvalAltResult) -> Failure {
        let mut inner = error;
        let mut line = inner.position().line();
        while let EvalAltResult::ErrorInFunctionCall(_, _, cause, _) = inner {
            inner = cause;
            line = inner.position().line().or(line);
        }
        let mut plain = inner.to_string();
        let position = inner.position();
        if position != Position::NONE {
            let suffix = format!(" ({position})");
            plain = plain.trim_end_matches(&suffix).to_owned();
        }
        Failure { line: in_file(self.first_line, line), cause: plain }
    }
}

/// The line of the file for a line of the script.
fn in_file(first_line: Option<usize>, line: Option<usize>) -> Option<usize> {
    Some(first_line? + line? - 1)
}

fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicFnPackage::new().register_into_engine(&mut engine);
    engine
        .disable_symbol("eval")
        .disable_symbol("print")
        .disable_symbol("debug")
        .set_strict_variables(true)
        .set_fail_on_invalid_map_property(true)
        .set_max_operations(OPERATIONS_MAX)
        .set_max_call_levels(CALLS_MAX)
        .set_max_expr_depths(EXPRESSION_DEPTH_MAX, EXPRESSION_DEPTH_MAX)
        .set_max_functions(FUNCTIONS_MAX)
        .set_max_variables(VARIABLES_MAX)
        .set_max_string_size(STRING_BYTES_MAX)
        .set_max_array_size(ARRAY_MAX)
        .set_max_map_size(MAP_MAX);
    values::register(&mut engine);
    engine
}

fn check_functions(ast: &AST, form: Language) -> Result<(), String> {
    let signalled = matches!(form, Language::Bucket | Language::Priority);
    let mut statements = ast.clone();
    statements.clear_functions();
    if statements.iter_literal_variables(true, true).next().is_some() {
        let cause = "a script consists of functions: put values that they share into `this`, in `fn setup()`";
        return Err(cause.to_owned());
    }
    if form == Language::Tree {
        let remedy = "use signals = \"bucket\", \"rfc9218\" or \"none\"";
        return Err(format!("clients cannot signal a script by tree frames: {remedy}"));
    }
    for (name, parameters, is_needed) in FUNCTIONS {
        let signature = format!("fn {name}({})", parameters.join(", "));
        let is_needed = is_needed || (signalled && ["says", "signalled"].contains(&name));
        match ast.iter_functions().find(|function| function.name == name) {
            None if is_needed => return Err(format!("the script needs `{signature}`")),
            Some(found) if found.params.len() != parameters.len() => {
                return Err(format!("`{name}` must take other parameters: `{signature}`"));
            }
            None | Some(_) => {}
        }
    }
    Ok(())
}

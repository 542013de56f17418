//! The program as reviewers and maintainers meet it: processes, exit codes, what is printed where.

#[path = "../../../stress/tests/at_server/mod.rs"]
mod at_server;
#[path = "../../../tests/cli/commands.rs"]
mod commands;
mod definitions;
#[path = "../../../tests/cli/process.rs"]
mod process;
mod results;
#[path = "../../../tests/cli/schemas.rs"]
mod schemas;
mod schemes;
mod sources;
mod stressing;

use process::{only_line, stdout_of, utmost};

const NAME: &str = "utmost-workshop";
const PROGRAM: &str = env!("CARGO_BIN_EXE_utmost-workshop");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The commands of the program.
const COMMANDS: &[&str] = &["reproduce", "stress", "adversary", "twin"];

//! `utmost manual`: writes the manual pages and completions of `utmost` and `utmost-serve` for packages.

use ::serve::Failure;
use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Write manual pages and completions into a folder, laid out as in /usr/share
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Where each shell looks for completions below /usr/share, and the name of its file.
const COMPLETIONS: [(Shell, &str, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions", "", ""),
    (Shell::Zsh, "zsh/site-functions", "_", ""),
    (Shell::Fish, "fish/vendor_completions.d", "", ".fish"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let program = crate::Arguments::command();
    let serve = program.find_subcommand("serve").cloned().unwrap_or_default();
    let serve = serve.name("utmost-serve").version(env!("CARGO_PKG_VERSION"));
    for program in [program, serve] {
        write(program, &arguments.folder)
            .map_err(|error| Failure::of_file(&arguments.folder, error))?;
    }
    Ok(())
}

/// Writes a page for the program and each of its commands, and a file for each shell.
fn write(mut program: Command, folder: &Path) -> io::Result<()> {
    // Before the completions, because they add a command `help` to each command.
    let pages = folder.join("man/man1");
    fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(program.clone(), pages)?;
    let name = program.get_name().to_owned();
    for (shell, place, before, after) in COMPLETIONS {
        let place = folder.join(place);
        fs::create_dir_all(&place)?;
        let mut file = fs::File::create(place.join(format!("{before}{name}{after}")))?;
        generate(shell, &mut program, &name, &mut file);
    }
    Ok(())
}

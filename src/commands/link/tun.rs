//! `utmost link --tun`: programs on both ends of a link, each in a network namespace.

use super::Arguments;
use ::serve::Failure;
use lab::network::Network;
use lab::relay::tun::{CLIENT, End, SERVER, TunRelay, enter_user_namespace};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// The most checks whether the server listens, and the pause before each: ten seconds together.
const LOOKS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);
/// A shell adds this to the number of the signal that ended a program.
const BY_SIGNAL: i32 = 128;

/// Runs the server on one end and the command on the other, until the command ends. Returns the command's exit code.
pub(super) fn run(
    arguments: &Arguments,
    network: Network,
    log: Option<Box<dyn Write + Send>>,
) -> Result<(), Failure> {
    enter_user_namespace().map_err(Failure::elsewhere)?;
    let mut signals =
        Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM]).map_err(Failure::elsewhere)?;
    let (mut relay, ends) =
        TunRelay::between(network, arguments.seed, log).map_err(Failure::elsewhere)?;
    let stop = relay.stopper();
    let handle = signals.handle();
    let relaying = thread::spawn(move || {
        let ended = relay.run();
        handle.close();
        ended
    });
    let mut server = match &arguments.server {
        Some(command) => Some(start_server(&ends.server, command, &mut signals)?),
        None => None,
    };
    eprintln!("the client's end is {CLIENT}, the server's {SERVER}");
    let mut command = command(&arguments.command);
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = ends
        .client
        .within(|| command.spawn())
        .map_err(|error| Failure::Elsewhere(format!("{name}: {error}")))?;
    let code = wait(&mut child, server.as_mut(), &mut signals);
    drop(ends);
    stop.stop();
    let relayed = relaying.join().map_err(|_| Failure::elsewhere("the link broke"))?;
    relayed.and(code).map_err(Failure::elsewhere).and_then(|code| match code {
        0 => Ok(()),
        code => Err(Failure::Ended { program: name, code }),
    })
}

/// The command in the client's namespace; by default the user's shell.
fn command(words: &[OsString]) -> Command {
    let shell = || env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let mut command = Command::new(words.first().cloned().unwrap_or_else(shell));
    command.args(words.iter().skip(1));
    command
}

/// Starts the server, and waits until it listens. Its output goes to stderr, because stdout belongs to the client. The
/// terminal's signals do not reach it.
fn start_server(end: &End, command: &str, signals: &mut Signals) -> Result<Child, Failure> {
    let failed = |cause: String| Failure::Elsewhere(format!("--server {command}: {cause}"));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(io::stderr()).process_group(0);
    let mut server = end.within(|| shell.spawn()).map_err(|it| failed(it.to_string()))?;
    for _ in 0..LOOKS {
        if end.has_server().map_err(|it| failed(it.to_string()))? {
            return Ok(server);
        }
        if let Some(status) = server.try_wait().map_err(|it| failed(it.to_string()))? {
            return Err(failed(format!("ended before it listened ({status})")));
        }
        if let Some(signal) = signals.pending().find(|it| *it != SIGCHLD) {
            return Err(Failure::Ended { program: "link".into(), code: BY_SIGNAL + signal });
        }
        thread::sleep(PAUSE);
    }
    Err(failed("does not listen on any port after 10 s".into()))
}

/// Waits until the command ends or a signal ends this program. A terminal also sends SIGINT to the command, which reacts as it
/// likes.
fn wait(child: &mut Child, server: Option<&mut Child>, signals: &mut Signals) -> io::Result<i32> {
    let mut server = server;
    if let Some(status) = child.try_wait()? {
        return Ok(code(status));
    }
    for signal in signals.forever() {
        match signal {
            SIGCHLD => {
                if let Some(status) = child.try_wait()? {
                    return Ok(code(status));
                }
                if let Some(status) = server.as_mut().map_or(Ok(None), |it| it.try_wait())? {
                    eprintln!("the server ended: {status}");
                    server = None;
                }
            }
            SIGINT if io::stdin().is_terminal() => {}
            other => return Ok(BY_SIGNAL + other),
        }
    }
    Err(io::Error::other("the link ended"))
}

fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|it| BY_SIGNAL + it)).unwrap_or(BY_SIGNAL)
}

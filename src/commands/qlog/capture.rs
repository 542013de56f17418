//! Packet captures, which tshark reads and decrypts.

use ::serve::Failure;
use qlog_tools::reader::{ReadOptions, read_tshark};
use qlog_tools::trace::Trace;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The first bytes of a capture: pcapng, and pcap with microseconds or nanoseconds, of either byte order.
const BEGINS: [[u8; 4]; 5] = [
    [0x0a, 0x0d, 0x0d, 0x0a],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
];

/// Whether a file begins as a capture does. If it cannot be opened, its reader reports why.
pub(super) fn is_capture(path: &Path) -> bool {
    let mut first = [0; 4];
    let read = named_files::open(path).and_then(|mut it| it.read_exact(&mut first));
    read.is_ok() && BEGINS.contains(&first)
}

/// The connections of a capture. `keys` is the file with its secrets; pcapng files can also contain them.
pub(super) fn read(
    path: &Path,
    keys: Option<&Path>,
    options: ReadOptions,
) -> Result<Vec<Trace>, Failure> {
    let mut tshark = start(path, keys)?;
    let traces = match tshark.stdout.take() {
        Some(output) => read_tshark(&path.display().to_string(), BufReader::new(output), options)
            .map_err(Failure::bad_input),
        None => Ok(Vec::new()),
    };
    let status = tshark.wait().map_err(Failure::elsewhere)?;
    if !status.success() {
        let file = path.display();
        let reason = format!("tshark cannot read it ({status}); `tshark -r {file}` says why");
        return Err(Failure::of_file(path, reason));
    }
    let traces = traces?;
    if traces.iter().all(|it| it.counts.stream_frames == 0) {
        return Err(Failure::of_file(path, undecrypted(keys)));
    }
    Ok(traces)
}

fn undecrypted(keys: Option<&Path>) -> String {
    let cause = "its packets cannot be decrypted";
    let Some(keys) = keys else {
        return format!("{cause}: name the file that SSLKEYLOGFILE named with --keys");
    };
    // Whatever is not text has no secrets.
    let text = named_files::read_text(keys).unwrap_or_default();
    let has_secrets =
        text.lines().any(|line| line.contains("SECRET") && line.split(' ').count() == 3);
    let what = if has_secrets { "only secrets of other connections" } else { "no secrets" };
    format!(
        "{cause}: {} has {what}; name the file that SSLKEYLOGFILE named while the capture was made",
        keys.display()
    )
}

fn start(path: &Path, keys: Option<&Path>) -> Result<Child, Failure> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-Y", "quic", "-T", "json", "--no-duplicate-keys"]);
    command.args(["-J", "frame ip ipv6 udp quic"]);
    if let Some(keys) = keys {
        // tshark silently reads without the keys if there is no such file.
        named_files::open(keys).map_err(|error| Failure::of_file(keys, error))?;
        command.arg("-o").arg(format!("tls.keylog_file:{}", keys.display()));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::of_file(
            path,
            "a packet capture, which tshark reads, and tshark is not installed: install it (Debian: apt install tshark), or name a qlog",
        ),
        _ => Failure::of_file(path, format!("tshark: {error}")),
    })
}

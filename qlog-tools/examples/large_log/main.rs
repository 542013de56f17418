//! Writes the log of a made-up client of some size, to see what reading it costs: `large_log MEGABYTES OUT.sqlog`.

mod log;

use std::fs::File;
use std::io::{BufWriter, Write as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: large_log MEGABYTES OUT.sqlog";
    let megabytes: u64 = std::env::args().nth(1).ok_or(usage)?.parse()?;
    let path = std::env::args().nth(2).ok_or(usage)?;
    let mut out = BufWriter::new(File::create(path)?);
    log::write(&mut out, megabytes * 1_000_000)?;
    Ok(out.flush()?)
}

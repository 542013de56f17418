//! How far the blocking that one order for all streams would add, computed from a client's log alone, is from what both logs
//! give. The client's log does not say in which order the server sent.
//!
//! ```sh
//! cargo run -p utmost-qlog-tools --example measure_blocking -- CLIENT SERVER CLIENT SERVER...
//! ```

use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::reader::{ReadOptions, read_file_traces};
use qlog_tools::trace::{Detail, Trace};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    println!("{:>10} {:>10} {:>8}  log", "both ms", "client ms", "error");
    for pair in files.chunks_exact(2) {
        let (client, server) = (read(&pair[0])?, read(&pair[1])?);
        let mean_ms = |sent| HeadOfLine::new(Arrivals::of(&client, sent)).inter.mean_ms;
        let (both_ms, client_ms) = (mean_ms(Some(&server.arrivals)), mean_ms(None));
        // Without any blocking there is nothing to be a part of.
        let error_percent = 100.0 * (client_ms - both_ms) / both_ms.max(f64::MIN_POSITIVE);
        println!("{both_ms:>10.3} {client_ms:>10.3} {error_percent:>7.1}%  {}", client.file);
    }
    Ok(())
}

fn read(file: &str) -> Result<Trace, Box<dyn Error>> {
    let options = ReadOptions { detail: Detail::Arrivals, vantage: None };
    let mut traces = read_file_traces(Path::new(file), options)?;
    Ok(traces.swap_remove(0))
}

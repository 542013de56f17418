//! The memory and the descriptors of the server's process.

use std::path::PathBuf;

/// Resident bytes of a process, from Linux's `/proc`; `None` if there is no such process.
pub(crate) fn resident_bytes(process: u32) -> Option<u64> {
    let path = PathBuf::from(format!("/proc/{process}/status"));
    kilobytes(&std::fs::read_to_string(path).ok()?).map(|it| it * 1024)
}

/// Open descriptors of a process; `None` if there is no such process, or it belongs to another
/// user.
pub(crate) fn descriptors(process: u32) -> Option<u64> {
    Some(std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64)
}

fn kilobytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_a_line_of_the_status() {
        assert_eq!(kilobytes("Name:\tx\nVmRSS:\t   5120 kB\nThreads:\t1\n"), Some(5120));
        assert_eq!(kilobytes("Name:\tx\n"), None);
    }
}

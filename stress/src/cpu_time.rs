//! How much of the machine's CPU time other programs use.

use std::fs::read_to_string;

/// CPU time since the system began, in its ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuTime {
    /// The time of all programs.
    busy: u64,
    /// The time of this process and of the server.
    ours: u64,
    idle: u64,
}

impl CpuTime {
    /// Until now, from Linux's `/proc`.
    pub(crate) fn read(server: u32) -> Option<Self> {
        let of_process = |it: &str| of_process(&read_to_string(format!("/proc/{it}/stat")).ok()?);
        let (busy, idle) = of_machine(&read_to_string("/proc/stat").ok()?)?;
        Some(Self { busy, ours: of_process("self")? + of_process(&server.to_string())?, idle })
    }

    /// The share of the machine that other programs have used since `before`.
    pub(crate) fn share_of_others(self, before: Self) -> f64 {
        let (busy, ours) = (self.busy - before.busy, self.ours.saturating_sub(before.ours));
        let all = busy + self.idle.saturating_sub(before.idle);
        busy.saturating_sub(ours) as f64 / all.max(1) as f64
    }
}

/// The first line: user, nice, system, idle, I/O wait, interrupts of both kinds, stolen.
fn of_machine(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|it| it.parse().ok()).take(8).collect();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((ticks.iter().sum::<u64>() - idle, idle))
}

/// User and system time, the 14th and 15th fields. The second field, a name, can contain spaces.
fn of_process(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_read_of_the_machine_and_of_processes() {
        let stat = "cpu  100 20 30 1000 50 1 2 3 7 0\ncpu0 1 1 1 1\n";
        assert_eq!(of_machine(stat), Some((156, 1050)));
        let stat = "42 (a) b) S 1 42 42 0 -1 4194560 1 2 3 4 500 70 0 0 20 0 1 0 9 9 9";
        assert_eq!(of_process(stat), Some(570));
        let before = CpuTime { busy: 100, ours: 50, idle: 100 };
        let after = CpuTime { busy: 200, ours: 110, idle: 200 };
        assert!((after.share_of_others(before) - 0.2).abs() < 1e-9);
    }
}

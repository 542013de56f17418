//! The earliest slot in which each response can begin, whatever the order: as if it had the link to
//! itself, with its ancestors' bytes, waits, delays and executions.

use super::task::Task;
use crate::ideal::{Simulation, micros};
use crate::limits::PASSES_MAX;
use client::playback::Wait;

/// Earliest times, given the load so far.
pub(super) struct Earliest<'a> {
    task: &'a Task,
    load: &'a Simulation,
    now_us: u64,
    discovered_us: Vec<u64>,
    applied_us: Vec<u64>,
    begun_us: Vec<u64>,
}

impl<'a> Earliest<'a> {
    /// Computes the earliest times for everything that can follow `load`, whose slot is still free.
    ///
    /// All times start as the present and are raised by the times they depend on, in several passes.
    /// After each pass they are valid bounds, so limiting the passes does no harm.
    pub(super) fn new(task: &'a Task, load: &'a Simulation) -> Self {
        let count = task.len();
        let now_us = task.clock.time_us(load.slot);
        let discovered_us = load.requested_us.iter().map(|it| it.unwrap_or(now_us)).collect();
        let (applied_us, begun_us) = (vec![0; count], vec![0; count]);
        let mut earliest = Self { task, load, now_us, discovered_us, applied_us, begun_us };
        for _ in 0..=count.min(PASSES_MAX) {
            earliest.execute();
            if !earliest.discover() {
                break;
            }
        }
        earliest
    }

    /// The first slot that `id` can use from now on.
    pub(super) fn first_slot(&self, id: usize) -> u64 {
        let wait_us = micros(self.task.page.resources[id].wait_ms);
        self.task.clock.first_slot(self.opened_us(id) + wait_us).max(self.load.slot)
    }

    /// A lower bound on the packets for the remaining bytes up to `bytes`.
    pub(super) fn packets_left(&self, id: usize, bytes: u64) -> u64 {
        bytes.saturating_sub(self.load.sent[id]).div_ceil(self.task.clock.packet_bytes)
    }

    /// When the server gets the request: it checks at the beginning of a slot.
    fn opened_us(&self, id: usize) -> u64 {
        let clock = self.task.clock;
        self.load.opened_us[id].unwrap_or_else(|| {
            clock.time_us(clock.first_slot(self.discovered_us[id] + clock.up_us))
        })
    }

    /// When the first `bytes` of a body can have arrived.
    fn arrived_us(&self, id: usize, bytes: u64) -> u64 {
        let packets = self.packets_left(id, bytes.min(self.task.bytes[id]));
        if packets == 0 {
            return 0;
        }
        let clock = self.task.clock;
        let mut last = self.first_slot(id) + packets - 1;
        let mut end = 0;
        for chunk in &self.task.page.resources[id].chunks {
            if end < bytes {
                last = last.max(clock.first_slot(self.opened_us(id) + micros(chunk.at_ms)));
            }
            end += chunk.bytes;
        }
        clock.arrival_us(last)
    }

    fn complete_us(&self, id: usize) -> u64 {
        self.load.complete_us[id].unwrap_or_else(|| self.arrived_us(id, u64::MAX))
    }

    /// Runs the main thread: a script with a turn waits for all earlier turns, the others do not wait.
    fn execute(&mut self) {
        for id in 0..self.task.len() {
            self.begun_us[id] = self.complete_us(id);
            self.applied_us[id] = self.begun_us[id] + self.task.execution_us(id);
        }
        let mut earlier_us = 0;
        for turn in &self.task.turns {
            let mut members = turn.clone();
            members.sort_unstable_by_key(|it| self.begun_us[*it]);
            let mut thread_us = earlier_us;
            for id in members {
                if self.task.page.resources[id].is_executed() {
                    thread_us = thread_us.max(self.begun_us[id]) + self.task.execution_us(id);
                    self.begun_us[id] = self.begun_us[id].max(earlier_us);
                    self.applied_us[id] = self.begun_us[id] + self.task.execution_us(id);
                } else {
                    thread_us = thread_us.max(self.applied_us[id]);
                }
            }
            earlier_us = thread_us;
        }
    }

    /// Raises discoveries; false if nothing changed.
    fn discover(&mut self) -> bool {
        let mut raised = false;
        for id in 0..self.task.len() {
            if self.load.requested_us[id].is_some() {
                continue;
            }
            let waits = self.task.waits[id].iter().map(|wait| match *wait {
                Wait::Bytes(of, bytes) => self.arrived_us(of, bytes),
                Wait::Begun(of) => self.begun_us[of],
                Wait::Applied(of) => self.applied_us[of],
                all => self.all_applied_us(all),
            });
            let delay_us = micros(self.task.page.resources[id].trigger.delay_ms);
            let met_us = waits.max().unwrap_or(0).max(self.needs_arrived_us(id));
            let at_us = (met_us + delay_us).max(self.now_us);
            raised |= at_us > self.discovered_us[id];
            self.discovered_us[id] = at_us.max(self.discovered_us[id]);
        }
        raised
    }

    fn all_applied_us(&self, wait: Wait) -> u64 {
        let resources = self.task.page.resources.iter();
        let applied = resources.filter(|it| wait.is_for_execution_of(it));
        applied.map(|it| self.applied_us[it.id]).max().unwrap_or(0)
    }

    /// When all bytes that a discovery needs can have crossed the shared link.
    fn needs_arrived_us(&self, id: usize) -> u64 {
        let mut jobs: Vec<(u64, u64)> = Vec::new();
        for &(of, bytes) in &self.task.needs[id] {
            let packets = self.packets_left(of, bytes);
            if packets > 0 {
                jobs.push((self.first_slot(of), packets));
            }
        }
        jobs.sort_unstable();
        let end = jobs.iter().fold(0, |end: u64, (release, packets)| end.max(*release) + packets);
        if end == 0 { 0 } else { self.task.clock.arrival_us(end - 1) }
    }
}

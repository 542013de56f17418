//! The browser's single main thread: it executes one script or stylesheet at a time.

use super::micros;
use corpus::Page;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub(super) struct MainThread {
    duration_us: Vec<u64>,
    /// Place in the order of evaluation, for resources that have one.
    turn: Vec<Option<u32>>,
    /// (turn, resource) of resources that have a turn and are not applied yet.
    before: BTreeSet<(u32, usize)>,
    /// Arrived, with a turn: (turn, completion, resource).
    in_turn: BTreeSet<(u32, u64, usize)>,
    /// Arrived, without one: (completion, resource).
    free: BTreeSet<(u64, usize)>,
    /// (end in microseconds, resource).
    running: Option<(u64, usize)>,
}

impl MainThread {
    pub(super) fn new(page: &Page) -> Self {
        let turn: Vec<Option<u32>> =
            page.resources.iter().map(corpus::PageResource::turn).collect();
        Self {
            duration_us: page.resources.iter().map(|it| micros(it.exec_ms)).collect(),
            before: turn.iter().enumerate().filter_map(|(id, it)| Some(((*it)?, id))).collect(),
            turn,
            in_turn: BTreeSet::new(),
            free: BTreeSet::new(),
            running: None,
        }
    }

    pub(super) fn busy_until_us(&self) -> Option<u64> {
        self.running.map(|(end_us, _)| end_us)
    }

    /// A resource has arrived and waits for execution.
    pub(super) fn enqueue(&mut self, id: usize, now_us: u64) {
        match self.turn[id] {
            Some(turn) => self.in_turn.insert((turn, now_us, id)),
            None => self.free.insert((now_us, id)),
        };
    }

    pub(super) fn applied(&mut self, id: usize) {
        if let Some(turn) = self.turn[id] {
            self.before.remove(&(turn, id));
        }
    }

    /// The resource whose execution has ended by now.
    pub(super) fn end(&mut self, now_us: u64) -> Option<usize> {
        let (_, id) = self.running.take_if(|(end_us, _)| *end_us <= now_us)?;
        Some(id)
    }

    /// Begins the next execution, if the thread is idle and something may run.
    pub(super) fn begin(&mut self, now_us: u64) -> Option<usize> {
        if self.running.is_some() {
            return None;
        }
        let id = self.next()?;
        self.running = Some((now_us.saturating_add(self.duration_us[id]), id));
        Some(id)
    }

    fn next(&mut self) -> Option<usize> {
        let least = self.before.first().map(|&(turn, _)| turn);
        match self.in_turn.first() {
            Some(&first) if Some(first.0) == least => {
                self.in_turn.remove(&first);
                Some(first.2)
            }
            _ => self.free.pop_first().map(|(_, id)| id),
        }
    }
}

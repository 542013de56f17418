//! The lower bound on the final cost of a load.

use super::busy_time::{Job, least_cost_slots};
use super::earliest::Earliest;
use super::task::Task;
use crate::ideal::Simulation;

/// Rounding of a slot's time to microseconds.
const ROUNDING_US: f64 = 0.5;

/// A lower bound on the cost, in byte-microseconds, of any way to continue `load`.
pub(super) fn least_cost(task: &Task, load: &Simulation) -> f64 {
    let earliest = Earliest::new(task, load);
    let (mut known, mut weight_left) = (0.0, 0.0);
    let mut jobs = Vec::new();
    for (id, &weight) in task.weights.iter().enumerate() {
        if weight == 0 {
            continue;
        }
        if let Some(complete_us) = load.complete_us[id] {
            known += weight as f64 * complete_us as f64;
            continue;
        }
        weight_left += weight as f64;
        let packets = earliest.packets_left(id, task.bytes[id]);
        jobs.push(Job { weight, packets, release: earliest.first_slot(id) });
    }
    let exact = task.clock.tick_us.fract() == 0.0;
    let rounding_us = if exact { 0.0 } else { ROUNDING_US };
    let after_us = task.clock.down_us as f64 - rounding_us;
    known + task.clock.tick_us * least_cost_slots(&mut jobs) + weight_left * after_us
}

//! Attacks on a server on this machine: one for each class of denial of service, bounded in time and rate. Visitors load
//! a file before, during and after an attack, and what they notice is the judgement.
//!
//! [`ATTACKS`] lists the attacks. An attack is a script (`scripts`): pure, it says what each of its connections does at a
//! time. [`run`] carries it out (`event_loop`), beside the visitors (`visitors`). `outcome` judges.

mod attack;
mod event_loop;
mod limits;
mod memory;
mod outcome;
mod party;
mod scripts;
mod visitors;

pub use attack::{ATTACKS, Attack, find};
pub use event_loop::{StressError, Target, run};
pub use outcome::{Outcome, Served};

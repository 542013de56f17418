//! Attacks on a server on this machine: one for each class of denial of service, bounded in time and rate. Visitors load
//! a file before, during and after an attack, and their experience is the criterion.
//!
//! [`ATTACKS`] lists the attacks. An attack is a script (`scripts`), a pure function that determines what each of its
//! connections does at a time. [`run`] carries it out (`event_loop`) together with the visitors (`visitors`), and
//! `outcome` judges.
//!
//! [`soak`] lets guests (`guests`) load files for a long time during one attack after another, and observes the server's
//! process (`trend`). `soaked` judges.

mod attack;
mod client_connection;
mod cpu_time;
mod crafted;
mod event_loop;
mod files;
mod guests;
mod limits;
mod loss;
mod memory;
mod outcome;
mod scripts;
mod soaked;
mod trend;
mod visitors;

pub use attack::{ATTACKS, Attack, find};
pub use event_loop::{Soak, StressError, Target, run, soak};
pub use files::{File, files_of};
pub use guests::Seen;
pub use outcome::{Attacked, Outcome, Served, Visited};
pub use soaked::{Round, Soaked};
pub use trend::Trend;

//! The accounts of clients: one table of limits ([`ROWS`]), one [`Ledger`] for all clients and all versions of HTTP, and an
//! [`Account`] for each connection.
//!
//! Code that works for a client, or holds bytes for it, charges its account. The row says who shares the limit and what is done
//! beyond it; the charging code does that.

mod budget;
mod ledger;
mod rows;
mod useless;

pub use budget::Budget;
pub use ledger::{Account, Held, Ledger, Share};
pub use rows::{Charge, Limit, ROWS, Row, Scope, table};
pub(crate) use useless::{Measure, Transported, Useless};

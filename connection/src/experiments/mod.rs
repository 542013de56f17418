//! What studies do with a connection and users do not: off unless an owner asks for it.

mod ordered_delivery;
mod send_order;

pub use ordered_delivery::{OrderedDelivery, Piece};
pub use send_order::SendOrder;

//! Experiments with a connection, for studies only: off unless an owner enables them.

mod ordered_delivery;
mod send_order;

pub use ordered_delivery::{OrderedDelivery, Piece};
pub use send_order::SendOrder;

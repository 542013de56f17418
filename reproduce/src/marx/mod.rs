//! Marx, De Decker, Quax and Lamotte, "Of the Utmost Importance: Resource Prioritization in HTTP/3 over QUIC",
//! WEBIST 2019: its table, its figures and its case studies, on engine `ideal` and the paper's network.

pub(super) mod cases;
mod explanations;
pub(super) mod figure11;
pub(super) mod figure12;
pub(super) mod figure13;
pub(super) mod figure8;
mod matrix;
mod other_pages;
mod published;
mod readings;
mod stacks;
pub(super) mod table2;

use crate::ReproduceError;
use corpus::Page;
use lab::ideal::{self, Conditions};
use lab::network::Network;
use lab::{Load, Metadata};
use std::sync::Arc;

const KNOWN: &str = "The server has a resource list, as the paper's had: schemes know all that a page says of a resource \
    (`--metadata full`).";

/// Loads `page` once on a network of this name, with the paper's resource list at the server.
fn load(
    page: &Arc<Page>,
    scheme: &str,
    network: &str,
    conditions: Conditions,
) -> Result<Load, ReproduceError> {
    let scheme = crate::scheme(scheme)?;
    let network = Network::find(network).map_err(ReproduceError::unusable)?;
    let conditions = Conditions { metadata: Metadata::Full, ..conditions };
    Ok(ideal::load(page, &scheme, &network, conditions))
}

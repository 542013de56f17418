//! Endpoints, links and one virtual clock.

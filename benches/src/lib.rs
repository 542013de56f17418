//! Benches of the workspace: see `benches/`.

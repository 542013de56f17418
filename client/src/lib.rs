//! A client that plays a page back by its dependency trace: a core without I/O, and one event loop.

pub mod playback;

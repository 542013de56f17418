//! An HTTP/3 server whose send order is a plug-in: a core without I/O, and one event loop.

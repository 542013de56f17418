//! HTTP/3 on the wire, for both ends: frames, settings, priority signals, errors. No I/O.

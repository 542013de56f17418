//! Browser captures: HAR files and DevTools traces, read into one model.

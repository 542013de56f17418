//! The server half of the schemes whose clients say a byte of each response: what is known of it makes such a byte, too.

use crate::{Resource, ServerHalf, Signal, StreamId, Tree};

/// Where a byte puts a stream.
pub(super) trait ByteScheme: Send {
    /// The byte of a resource that nobody signalled.
    fn byte(&self, resource: &Resource) -> u8;
    /// Places `stream` by its byte.
    fn put(&mut self, tree: &mut Tree, stream: StreamId, byte: u8);
}

/// Places every stream by its byte.
pub(super) struct ByByte<S>(pub(super) S);

impl<S: ByteScheme> ServerHalf for ByByte<S> {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let byte = self.0.byte(resource);
        self.0.put(tree, stream, byte);
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        if let Signal::Bucket { stream, byte } = signal {
            self.0.put(tree, stream, byte);
        }
    }
}

//! Streams around other streams.

/// Methods of a stream in which only the stream inside it acts: `passes_on!(it => it.stream; poll_flush);`.
macro_rules! passes_on {
    ($it:ident => $inner:expr; $($method:ident),+) => {
        $($crate::passes_on::passes_on!(@ $method $it $inner);)+
    };
    (@ poll_read $it:ident $inner:expr) => {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            let $it = self.get_mut();
            std::pin::Pin::new(&mut $inner).poll_read(context, buffer)
        }
    };
    (@ poll_write $it:ident $inner:expr) => {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
            bytes: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            let $it = self.get_mut();
            std::pin::Pin::new(&mut $inner).poll_write(context, bytes)
        }
    };
    (@ $flush_or_shutdown:ident $it:ident $inner:expr) => {
        fn $flush_or_shutdown(
            self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            let $it = self.get_mut();
            std::pin::Pin::new(&mut $inner).$flush_or_shutdown(context)
        }
    };
}

pub(crate) use passes_on;

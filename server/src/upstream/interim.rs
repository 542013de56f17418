//! A transport that reads ahead of the client library. The library hides interim responses (RFC 9110, 15.2) and bytes
//! that belong neither to a head nor to a body.
//!
//! The traits belong to the library's `unversioned` part: a new version of it may require a change here.

use super::exchange::Exchange;
use crate::limits::{BODILESS_BYTES, INTERIM_RESPONSES};
use httparse::Status;
use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// As many fields as the client library takes.
const FIELDS_MAX: usize = 128;
const EARLY_HINTS: u16 = 103;
const SWITCHING_PROTOCOLS: u16 = 101;

thread_local! {
    /// The exchange that this thread carries out: a connection serves many exchanges, one after the other.
    static WATCHING: RefCell<Option<Arc<Exchange>>> = const { RefCell::new(None) };
}

/// Runs `carry_out` and meanwhile tells `exchange` of early hints that come on this thread. An abandoned exchange ends.
pub(super) fn watching<T>(exchange: &Arc<Exchange>, carry_out: impl FnOnce() -> T) -> T {
    WATCHING.set(Some(Arc::clone(exchange)));
    let end = carry_out();
    WATCHING.set(None);
    end
}

/// Wraps each connection of the library.
#[derive(Debug)]
pub(super) struct InterimConnector;

impl<In: Transport> Connector<In> for InterimConnector {
    type Out = Watched<In>;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Watched<In>>, Error> {
        let idle = |inner| Watched { inner, in_head: false, interim: 0, bodiless: (0, 0) };
        Ok(chained.map(idle))
    }
}

/// A connection whose response heads are looked at.
#[derive(Debug)]
pub(super) struct Watched<T> {
    inner: T,
    /// A request was sent, and the head of its final response has not come.
    in_head: bool,
    interim: usize,
    /// Bytes of the body when it last grew, and bytes that came since.
    bodiless: (u64, usize),
}

impl<T: Transport> Watched<T> {
    /// Bytes came for an exchange.
    fn came(&mut self, bytes: usize, exchange: &Exchange) -> Result<(), &'static str> {
        if exchange.is_abandoned() {
            return Err("the client has gone");
        }
        if !self.in_head {
            let (body, since) = self.bodiless;
            let grown = exchange.body_bytes();
            self.bodiless = (grown, if grown == body { since + bytes } else { bytes });
            let is_endless = self.bodiless.1 > BODILESS_BYTES;
            return if is_endless { Err("endless trailers") } else { Ok(()) };
        }
        // The library waits only when it has taken every whole head.
        let heads = heads(self.inner.buffers().input());
        self.in_head = !heads.is_final;
        self.interim += heads.interim;
        if let Some(links) = heads.links {
            exchange.hint(links);
        }
        if self.interim > INTERIM_RESPONSES {
            Err("more than 16 interim responses")
        } else {
            Ok(())
        }
    }
}

impl<T: Transport> Transport for Watched<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        if !std::mem::replace(&mut self.in_head, true) {
            (self.interim, self.bodiless) = (0, (0, 0));
        }
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let before = self.inner.buffers().input().len();
        let progress = self.inner.await_input(timeout)?;
        let bytes = self.inner.buffers().input().len().saturating_sub(before);
        let exchange = WATCHING.with_borrow(Option::clone);
        let fault = exchange.and_then(|it| self.came(bytes, &it).err());
        if let Some(fault) = fault {
            return Err(Error::Io(io::Error::new(io::ErrorKind::InvalidData, fault)));
        }
        Ok(progress)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }
}

/// The heads at the beginning of some bytes, as far as they are whole.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heads {
    interim: usize,
    /// The `Link` fields of the first 103 response.
    links: Option<Vec<String>>,
    /// The head of the final response is among them.
    is_final: bool,
}

fn heads(mut bytes: &[u8]) -> Heads {
    let mut heads = Heads::default();
    loop {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut head = httparse::Response::new(&mut fields);
        let Ok(Status::Complete(length)) = head.parse(bytes) else { return heads };
        let code = head.code.unwrap_or_default();
        if !(100..200).contains(&code) || code == SWITCHING_PROTOCOLS {
            return Heads { is_final: true, ..heads };
        }
        heads.interim += 1;
        if code == EARLY_HINTS && heads.links.is_none() {
            let links = head.headers.iter().filter(|it| it.name.eq_ignore_ascii_case("link"));
            let links = links.map(|it| String::from_utf8_lossy(it.value).into_owned());
            heads.links = Some(links.collect());
        }
        bytes = &bytes[length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HINTS: &str =
        "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\nX: y\r\nLink: </b>\r\n\r\n";

    #[test]
    fn the_first_early_hints_count_and_a_head_that_is_not_whole_does_not() {
        let links = Some(vec!["</a>; rel=preload".to_owned(), "</b>".to_owned()]);
        let two = format!("HTTP/1.1 102 Processing\r\n\r\n{HINTS}");
        let more =
            "HTTP/1.1 103 Early Hints\r\nlink: </c>\r\n\r\nHTTP/1.1 200 OK\r\nLink: </d>\r\n";
        let expected = |interim, is_final| Heads { interim, links: links.clone(), is_final };
        assert_eq!(heads(two.as_bytes()), expected(2, false));
        assert_eq!(heads(format!("{two}{more}").as_bytes()), expected(3, false));
        assert_eq!(heads(format!("{two}{more}\r\n{HINTS}").as_bytes()), expected(3, true));
        for cut in 0..HINTS.len() {
            assert_eq!(heads(&HINTS.as_bytes()[..cut]), Heads::default(), "{cut}");
        }
    }

    proptest::proptest! {
        #[test]
        fn hostile_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            heads(&bytes);
            heads(&[HINTS.as_bytes(), &bytes].concat());
        }
    }
}

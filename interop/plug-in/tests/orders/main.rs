//! Clients get three responses in the orders of three schemes.

mod over_h3;
#[cfg(feature = "tokio-quiche")]
mod over_tokio_quiche;

use bytes::Bytes;
use plug_in::PIECE_BYTES;
use plug_in::over_h3::AnyError;
use schedulers::{Kind, Resource};
use std::collections::BTreeMap;

/// The paths, in the order of the requests.
const PATHS: [&str; 3] = ["0", "4", "8"];

/// A document, an image and a style sheet, by path, of this many pieces each.
fn site(path: &str, pieces: usize) -> (Resource, Bytes) {
    let kind = match path {
        "/0" => Kind::Html,
        "/4" => Kind::Image,
        _ => Kind::Css,
    };
    let resource = Resource { kind, main: path == "/0", ..Resource::default() };
    (resource, Bytes::from(vec![b'x'; pieces * PIECE_BYTES]))
}

/// The responses, by path, in the order in which their pieces came.
#[derive(Default)]
struct Arrivals {
    bytes: BTreeMap<&'static str, usize>,
    pieces: Vec<&'static str>,
}

impl Arrivals {
    fn add(&mut self, path: &'static str, bytes: usize) {
        let all = self.bytes.entry(path).or_default();
        let before = *all / PIECE_BYTES;
        *all += bytes;
        self.pieces.extend((before..*all / PIECE_BYTES).map(|_| path));
    }
}

/// Each server sends in the order of the scheme.
async fn expect(scheme: &str, order: &str) -> Result<(), AnyError> {
    assert_eq!(over_h3::order(scheme).await?, order, "h3 over quinn");
    #[cfg(feature = "tokio-quiche")]
    assert_eq!(over_tokio_quiche::order(scheme).await?, order, "tokio-quiche");
    Ok(())
}

#[tokio::test]
async fn responses_follow_one_another_under_fifo() -> Result<(), AnyError> {
    expect("fifo", "0 0 0 4 4 4 8 8 8").await
}

#[tokio::test]
async fn responses_take_turns_under_rr() -> Result<(), AnyError> {
    expect("rr", "0 4 8 0 4 8 0 4 8").await
}

#[tokio::test]
async fn a_style_sheet_goes_before_an_image_under_bucket_html() -> Result<(), AnyError> {
    expect("bucket-html", "0 0 0 8 8 8 4 4 4").await
}

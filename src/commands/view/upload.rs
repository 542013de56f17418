//! Files dropped on a page, and other data that its scripts send.

use crate::limits::{UPLOAD_NAME_CHARACTERS_MAX, VIEW_UPLOAD};
use ::serve::Failure;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use std::error::Error;
use tokio::time::timeout;

/// The name of a dropped file: the last path component of the sender's name for it.
pub(super) fn name_of(name: Option<String>) -> String {
    let name = name.unwrap_or_else(|| "dropped".to_owned());
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    last.chars().take(UPLOAD_NAME_CHARACTERS_MAX).collect()
}

/// Reads a body of at most `most` bytes within [`VIEW_UPLOAD`]; errors use `name` for it.
pub(super) async fn take<B>(body: B, name: &str, most: usize) -> Result<Vec<u8>, Failure>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
{
    let remedy = "give a smaller one, or name it on the command line";
    let too_large = || Failure::BadInput(format!("{name}: over {} MiB; {remedy}", most >> 20));
    // Rejects a stated length that is too large before reading.
    if body.size_hint().lower() > most as u64 {
        return Err(too_large());
    }
    let collected = timeout(VIEW_UPLOAD, Limited::new(body, most).collect()).await;
    let late = |_| Failure::BadInput(format!("{name}: it did not arrive within a minute"));
    match collected.map_err(late)? {
        Ok(bytes) => Ok(bytes.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => Err(Failure::elsewhere(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;

    #[tokio::test]
    async fn a_body_is_taken_up_to_its_limit() {
        assert_eq!(name_of(Some("C:\\logs\\..\\a.qlog".to_owned())), "a.qlog");
        assert_eq!(take(Full::from("xy"), "a", 2).await.expect("small"), b"xy");
        let error = take(Full::from("xyz"), "a", 2).await.expect_err("too large").to_string();
        assert!(error.starts_with("a: over 0 MiB"), "{error}");
    }
}

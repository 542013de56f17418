//! Files dropped on the page.

use crate::limits::{UPLOAD_BYTES_MAX, UPLOAD_NAME_CHARACTERS_MAX, VIEW_UPLOAD};
use ::serve::Failure;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use std::error::Error;
use tokio::time::timeout;

/// The type that the page's script sends.
pub(super) const MIME: &str = "application/x-qlog";

/// Reads a dropped file: what to call it, and its bytes. It must come within [`VIEW_UPLOAD`].
pub(super) async fn take<B>(body: B, name: Option<String>) -> Result<(String, Vec<u8>), Failure>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
{
    let name = name.unwrap_or_else(|| "dropped".to_owned());
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().take(UPLOAD_NAME_CHARACTERS_MAX).collect();
    let collected = timeout(VIEW_UPLOAD, Limited::new(body, UPLOAD_BYTES_MAX).collect()).await;
    let late = |_| Failure::BadInput(format!("{name}: it did not come within a minute"));
    match collected.map_err(late)? {
        Ok(bytes) => Ok((format!("dropped: {name}"), bytes.to_bytes().into())),
        Err(error) if error.is::<LengthLimitError>() => {
            let mebibytes = UPLOAD_BYTES_MAX >> 20;
            let remedy = "put it into the directory instead";
            Err(Failure::BadInput(format!("{name}: over {mebibytes} MiB; {remedy}")))
        }
        Err(error) => Err(Failure::elsewhere(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::take;
    use http_body_util::Full;

    #[tokio::test]
    async fn of_a_dropped_file_only_the_last_part_of_its_name_counts() {
        let (body, name) = (Full::from("x"), "C:\\logs\\..\\a.qlog".to_owned());
        let (name, bytes) = take(body, Some(name)).await.expect("small");
        assert_eq!((&*name, &bytes[..]), ("dropped: a.qlog", &b"x"[..]));
    }
}

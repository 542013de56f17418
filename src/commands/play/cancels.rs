//! When the user abandons a page load.

use ::client::Cancels;
use ::corpus::Page;
use ::serve::Failure;
use gateway::site::fits;
use std::time::Duration;

/// The cancels of a page load.
#[derive(Debug, clap::Args)]
pub(super) struct GivingUp {
    /// Leave the page after MS milliseconds. Cancels every open response, and waits until no more data
    /// arrives
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    leave_after: Option<Duration>,
    /// Cancel the responses at PATH after MS milliseconds. Others continue. A PATH that ends in `*` matches
    /// every path with that prefix
    #[arg(long, value_name = "PATH=MS", value_parser = cancel)]
    cancel: Vec<(String, Duration)>,
}

impl GivingUp {
    /// The cancels of the only page. With several pages, it would be unclear which page is meant.
    pub(super) fn of(&self, page: &Page, are_several: bool) -> Result<Cancels, Failure> {
        if are_several && self.are_any() {
            let cause = "--leave-after and --cancel: give up one page; name only that one";
            return Err(Failure::BadInput(cause.to_owned()));
        }
        let mut cancels = Cancels { leave_after: self.leave_after, ..Cancels::default() };
        for (path, after) in &self.cancel {
            let at_path = page.resources.iter().filter(|it| fits(path, &it.url));
            let before = cancels.resources.len();
            cancels.resources.extend(at_path.map(|it| (it.id, *after)));
            if cancels.resources.len() == before {
                let cause = format!("--cancel {path}: page {} has no resource there", page.name);
                return Err(Failure::BadInput(format!(
                    "{cause}; use a path such as `/` or `/images/*`"
                )));
            }
        }
        Ok(cancels)
    }

    pub(super) fn are_any(&self) -> bool {
        self.leave_after.is_some() || !self.cancel.is_empty()
    }

    /// How the user left the page, if at all.
    pub(super) fn left(&self) -> Option<String> {
        self.leave_after.map(|it| format!("left after {} ms", it.as_millis()))
    }
}

pub(super) fn milliseconds(text: &str) -> Result<Duration, String> {
    let ms = text.parse::<u64>().ok().filter(|it| *it <= 3_600_000);
    ms.map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is not a time: use milliseconds, at most 3600000"))
}

fn cancel(text: &str) -> Result<(String, Duration), String> {
    let (path, ms) =
        text.rsplit_once('=').filter(|(path, _)| path.starts_with('/')).ok_or_else(|| {
            format!("`{text}` is not a cancel: use PATH=MS, for example /images/*=800")
        })?;
    Ok((path.to_owned(), milliseconds(ms)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_is_a_path_and_milliseconds() {
        let parsed = |path: &str, ms| Ok((path.to_owned(), Duration::from_millis(ms)));
        assert_eq!(cancel("/a?b=c=80"), parsed("/a?b=c", 80));
        assert_eq!(cancel("/*=0"), parsed("/*", 0));
        for wrong in ["a=1", "/a", "/a=", "/a=-1", "/a=1.5", "/a=3600001"] {
            assert!(cancel(wrong).is_err(), "{wrong}");
        }
    }
}

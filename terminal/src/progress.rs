//! The progress of something long, on stderr: a bar on a terminal, elsewhere a line now and then.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::Deref;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A line is printed this often if nobody sees the bar.
const EVERY: Duration = Duration::from_secs(10);

/// A bar, and the thread that prints lines if it is hidden. The thread ends with this value.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    _lines: Option<Sender<()>>,
}

impl Deref for Progress {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

/// The progress of `length` steps.
pub fn progress(length: usize, what: &'static str) -> Progress {
    let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    with_lines(bar, EVERY, |bar| {
        eprintln!("{}", in_words(&bar.message(), bar.position(), bar.length(), bar.elapsed()));
    })
}

/// The number of bytes read so far.
pub fn reading() -> Progress {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("reading logs: {bytes} {spinner}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    with_lines(bar, EVERY, |bar| {
        let mebibytes = bar.position() >> 20;
        eprintln!("reading logs: {mebibytes} MiB in {} s", bar.elapsed().as_secs());
    })
}

/// Calls `tell` at this interval until the bar is finished, if it is hidden.
fn with_lines(
    bar: ProgressBar,
    every: Duration,
    tell: impl Fn(&ProgressBar) + Send + 'static,
) -> Progress {
    if !bar.is_hidden() {
        return Progress { bar, _lines: None };
    }
    let (end, ended) = channel();
    let shown = bar.clone();
    std::thread::spawn(move || {
        while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) && !shown.is_finished() {
            tell(&shown);
        }
    });
    Progress { bar, _lines: Some(end) }
}

/// `page loads: 12 of 90 in 20 s`; the number of steps may not be known yet.
fn in_words(what: &str, done: u64, of: Option<u64>, time: Duration) -> String {
    let of = of.filter(|it| *it > 0).map_or(String::new(), |it| format!(" of {it}"));
    format!("{what}: {done}{of} in {} s", time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_lines_in_lines_until_it_is_done() {
        let (tell, lines) = channel();
        let bar = ProgressBar::with_draw_target(Some(9), ProgressDrawTarget::hidden());
        let progress = with_lines(bar, Duration::ZERO, move |bar| {
            tell.send(bar.length()).ok();
        });
        assert_eq!(lines.recv(), Ok(Some(9)));
        drop(progress);
        // The thread ends, and with it the sender.
        assert!(lines.iter().all(|it| it == Some(9)));
    }

    #[test]
    fn a_line_has_the_steps_that_are_known() {
        let words = |of| in_words("page loads", 12, of, Duration::from_millis(20_500));
        assert_eq!(words(Some(90)), "page loads: 12 of 90 in 20 s");
        assert_eq!(words(Some(0)), "page loads: 12 in 20 s");
        assert_eq!(words(None), "page loads: 12 in 20 s");
    }
}

//! Texts of a log, cut to the available space; numbers of things.

use std::fmt::Display;

/// A text from a log for a table: without control characters, and cut to `characters`.
pub fn shown(text: &str, characters: usize) -> String {
    let shown: String = text.chars().take(characters).collect();
    let mut shown = shown.replace(char::is_control, "\u{fffd}");
    if text.chars().nth(characters).is_some() {
        shown.pop();
        shown.push('\u{2026}');
    }
    shown
}

/// `text` cut in its middle to at most `characters`, because the ends of a file name are the most
/// informative.
pub fn shorten(text: &str, characters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= characters {
        return text.to_owned();
    }
    let kept = characters.saturating_sub(1);
    let tail = kept / 2;
    let head: String = all[..kept - tail].iter().collect();
    let tail: String = all[all.len() - tail..].iter().collect();
    format!("{head}\u{2026}{tail}")
}

/// `1 packet`, `2 packets`, `2 cuts of the window`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let (noun, rest) =
        what.split_once(" of ").map_or((what, String::new()), |it| (it.0, format!(" of {}", it.1)));
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        assert_eq!(counted(1_u64, "cut of the window"), "1 cut of the window");
        assert_eq!([0_usize, 2].map(|it| counted(it, "site")), ["0 sites", "2 sites"]);
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shorten("background.png", 9), "back\u{2026}.png");
        assert_eq!(shorten("a.css", 9), "a.css");
        assert_eq!(shorten("abc", 0), "\u{2026}");
    }
}

//! Texts of a log, cut to the available space.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shorten("background.png", 9), "back\u{2026}.png");
        assert_eq!(shorten("a.css", 9), "a.css");
        assert_eq!(shorten("abc", 0), "\u{2026}");
    }
}

//! Text in several lines. The reader's font is not known, so widths are a wide font's.

/// `text` in lines that are at most `width` wide in letters of height `size`. A word that is wider than a line is split.
pub(super) fn wrapped_to_width(text: &str, width: f64, size: f64) -> Vec<String> {
    let room = width / size;
    let mut lines: Vec<String> = Vec::new();
    for line in wrapped_while(text, |line| ems(line) <= room) {
        let mut begun = String::new();
        for character in line.chars() {
            if !begun.is_empty() && ems(&begun) + em(character) > room {
                lines.push(std::mem::take(&mut begun));
            }
            begun.push(character);
        }
        lines.push(begun);
    }
    lines
}

/// `text` in lines of at most `letters`; words are not split.
pub(super) fn wrapped(text: &str, letters: usize) -> Vec<String> {
    wrapped_while(text, |line| line.chars().count() <= letters)
}

/// A name in lines of at most `letters`; a longer word is split at its hyphens.
pub(super) fn name_lines(name: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in wrapped(name, letters) {
        let mut begun = String::new();
        for part in line.split_inclusive('-') {
            if !begun.is_empty() && begun.chars().count() + part.chars().count() > letters {
                lines.push(std::mem::take(&mut begun));
            }
            begun.push_str(part);
        }
        lines.push(begun);
    }
    lines
}

/// Adds words to a line while it fits.
fn wrapped_while(text: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match (lines.last_mut(), longer.filter(|it| fits(it))) {
            (Some(line), Some(longer)) => *line = longer,
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn ems(text: &str) -> f64 {
    text.chars().map(em).sum()
}

/// At least the width of a character in `DejaVu Sans`, the widest of the figures' fonts, for a letter height of 1.
fn em(character: char) -> f64 {
    match character {
        ' ' | '!' | '\'' | '(' | ')' | ',' | '-' | '.' | '/' | ':' | ';' | 'I' | '[' | ']'
        | 'f' | 'i' | 'j' | 'l' | 'r' | 't' | '|' => 0.42,
        'w' => 0.82,
        'a'..='l' | 'n'..='z' | '0'..='9' | '_' | '"' | '*' | '?' => 0.64,
        'A'..='L' | 'N'..='V' | 'X'..='Z' | '&' => 0.79,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_of_a_name_is_divided_at_its_hyphens() {
        assert_eq!(name_lines("paper-jitter 14 kB", 8), ["paper-", "jitter", "14 kB"]);
        assert_eq!(name_lines("paper-jitter 14 kB", 12), ["paper-jitter", "14 kB"]);
        assert_eq!(name_lines("a-b-long 1", 5), ["a-b-", "long", "1"]);
    }

    #[test]
    fn a_line_is_as_long_as_there_is_room_and_words_stay_whole() {
        assert_eq!(wrapped("cable 280K", 14), ["cable 280K"]);
        assert_eq!(wrapped("cable 0 B cubic queue 64k", 10), ["cable 0 B", "cubic", "queue 64k"]);
    }

    #[test]
    fn wide_letters_leave_room_for_fewer() {
        // In DejaVu Sans, `0` is 0.636 wide, `M` 0.863, `i` 0.278.
        let letters = |letter: &str| wrapped_to_width(&letter.repeat(100), 100.0, 10.0)[0].len();
        assert_eq!(["0", "M", "i"].map(letters), [15, 10, 23]);
    }

    #[test]
    fn only_a_word_wider_than_a_line_is_split() {
        assert_eq!(
            wrapped_to_width("pages 0123 45678901234", 52.0, 10.0),
            ["pages", "0123", "45678901", "234"]
        );
    }
}

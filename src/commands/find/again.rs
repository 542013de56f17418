//! The line for cron that repeats a search.

use super::Arguments;
use std::path::Path;

/// Repeats this search each morning. Exits with 1, and says why, if the page got slower or if another
/// answer is now right. `server`: the model of the present server.
pub(super) fn cron_line(arguments: &Arguments, server: &str, answer: &Path) -> String {
    let mut words = vec!["utmost".to_owned(), "find".to_owned()];
    words.extend(arguments.inputs.iter().cloned());
    if !arguments.networks.is_empty() {
        words.extend(["--networks".to_owned(), arguments.networks.join(",")]);
    }
    if let Some(ca) = &arguments.browser.ca {
        words.extend(["--ca".to_owned(), ca.display().to_string()]);
    }
    words.extend(arguments.browser.http3.then(|| "--http3".to_owned()));
    words.extend(["--metric".to_owned(), arguments.metric.text()]);
    words.extend(["--baseline-server".to_owned(), server.to_owned()]);
    let baseline = answer.display().to_string();
    words.extend(["--baseline".to_owned(), baseline, "--watch-drift".to_owned()]);
    let words: Vec<String> = words.iter().map(|it| quoted(it)).collect();
    let here = std::env::current_dir().unwrap_or_default().display().to_string();
    format!("17 5 * * *  cd {} && {} > /dev/null", quoted(&here), words.join(" "))
}

/// Quotes a word for a shell. In a crontab, `%` ends the line.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-:,=@".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''").replace('%', "\\%"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_reach_the_command_as_they_are() {
        assert_eq!(quoted("https://shop.example/"), "https://shop.example/");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's?x=%20"), "'it'\\''s?x=\\%20'");
    }
}

//! A query's words: parentheses, comparisons, and the text between them and spaces.

use super::QueryError;

#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'a> {
    /// In characters, from 1.
    pub(super) column: usize,
    /// Empty: the query's end.
    pub(super) text: &'a str,
}

impl Word<'_> {
    /// The word is not what was expected.
    pub(super) fn wrong(&self, expected: &str) -> QueryError {
        let found =
            if self.text.is_empty() { "the end".to_owned() } else { format!("`{}`", self.text) };
        self.because(format!("{found}: {expected}"))
    }

    pub(super) fn because(&self, cause: String) -> QueryError {
        QueryError { column: self.column, cause }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Parenthesis,
    Comparison,
    Letter,
}

fn class(it: char) -> Class {
    match it {
        '(' | ')' => Class::Parenthesis,
        '=' | '!' | '<' | '>' => Class::Comparison,
        it if it.is_whitespace() => Class::Space,
        _ => Class::Letter,
    }
}

/// The words of `text` in order. Adjacent characters of one class form one word, except
/// parentheses.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text.char_indices().enumerate().peekable();
    while let Some((place, (start, first))) = rest.next() {
        let class_of_word = class(first);
        let mut end = start + first.len_utf8();
        while class_of_word != Class::Parenthesis
            && let Some((_, (at, next))) = rest.next_if(|it| class(it.1.1) == class_of_word)
        {
            end = at + next.len_utf8();
        }
        if class_of_word != Class::Space {
            words.push(Word { column: place + 1, text: &text[start..end] });
        }
    }
    words
}

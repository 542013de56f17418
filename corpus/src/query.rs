//! Queries over the facts of pages: `recorded and resources > 40`.
//!
//! ```text
//! query = all-of { "or" all-of }
//! all-of = test { "and" test }
//! test  = "not" test | "(" query ")" | word | number-fact OP number | text-fact ("=" | "!=") text
//! OP    = "=" | "!=" | "<" | "<=" | ">" | ">="
//! ```

mod words;

use crate::Page;
use crate::facts::{self, NUMBERS, NumberFact, TEXTS, TextFact, WORDS, WordFact};
use crate::limits::{QUERY_BYTES_MAX, QUERY_DEPTH_MAX};
use crate::size;
use words::{Word, words};

/// A condition on pages.
#[derive(Debug, Clone)]
pub struct Query {
    root: Node,
}

/// A query that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {cause}")]
pub struct QueryError {
    /// The place, in characters from 1.
    pub column: usize,
    /// The mistake, and the remedy.
    pub cause: String,
}

#[derive(Debug, Clone)]
enum Node {
    Any(Vec<Self>),
    All(Vec<Self>),
    Not(Box<Self>),
    Is(&'static WordFact),
    Number(&'static NumberFact, Comparison, f64),
    Text { fact: &'static TextFact, text: String, is_equal: bool },
}

type Comparison = fn(&f64, &f64) -> bool;

const COMPARISONS: [(&str, Comparison); 6] = [
    ("=", f64::eq),
    ("!=", f64::ne),
    ("<", f64::lt),
    ("<=", f64::le),
    (">", f64::gt),
    (">=", f64::ge),
];

impl Query {
    /// Parses a query. Names are in lower case; numbers are sizes, as in [`size::parse`], or shares.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.len() > QUERY_BYTES_MAX {
            let cause = format!("a query has at most {QUERY_BYTES_MAX} bytes; use a shorter one");
            return Err(QueryError { column: 1, cause });
        }
        let end = Word { column: text.chars().count() + 1, text: "" };
        let mut parser = Parser { words: words(text), next: 0, end, depth: 0 };
        let root = parser.any()?;
        match parser.peek() {
            None => Ok(Self { root }),
            Some(word) => Err(word.wrong("expected `and`, `or` or the end")),
        }
    }

    /// Whether a page is like this.
    pub fn matches(&self, page: &Page) -> bool {
        self.root.matches(page)
    }
}

impl Node {
    fn matches(&self, page: &Page) -> bool {
        match self {
            Self::Any(nodes) => nodes.iter().any(|it| it.matches(page)),
            Self::All(nodes) => nodes.iter().all(|it| it.matches(page)),
            Self::Not(node) => !node.matches(page),
            Self::Is(fact) => (fact.is)(page),
            Self::Number(fact, compare, number) => compare(&(fact.of)(page), number),
            Self::Text { fact, text, is_equal } => is_like((fact.of)(page), text) == *is_equal,
        }
    }
}

/// A size, or a share such as 0.25.
fn number(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.map_or_else(|| size::parse(text).map(|it| it as f64), Ok)
}

/// Whether `value` equals `pattern`, or begins with it up to a final `*`.
fn is_like(value: &str, pattern: &str) -> bool {
    pattern.strip_suffix('*').map_or(value == pattern, |it| value.starts_with(it))
}

struct Parser<'a> {
    words: Vec<Word<'a>>,
    next: usize,
    end: Word<'a>,
    /// Open parentheses and negations.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Word<'a>> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self, text: &str) -> bool {
        let is_next = self.peek().is_some_and(|it| it.text == text);
        self.next += usize::from(is_next);
        is_next
    }

    fn word(&mut self, expected: &str) -> Result<Word<'a>, QueryError> {
        let word = self.peek().ok_or_else(|| self.end.wrong(expected))?;
        self.next += 1;
        Ok(word)
    }

    fn any(&mut self) -> Result<Node, QueryError> {
        let mut nodes = vec![self.all()?];
        while self.take("or") {
            nodes.push(self.all()?);
        }
        Ok(Node::Any(nodes))
    }

    fn all(&mut self) -> Result<Node, QueryError> {
        let mut nodes = vec![self.test()?];
        while self.take("and") {
            nodes.push(self.test()?);
        }
        Ok(Node::All(nodes))
    }

    fn test(&mut self) -> Result<Node, QueryError> {
        let expected = "expected a fact, `not` or `(`";
        let word = self.word(expected)?;
        if !["not", "("].contains(&word.text) {
            return self.fact(word);
        }
        self.depth += 1;
        if self.depth > QUERY_DEPTH_MAX {
            return Err(word.wrong(&format!("more than {QUERY_DEPTH_MAX} levels deep; use fewer")));
        }
        let node = if word.text == "not" {
            Node::Not(Box::new(self.test()?))
        } else {
            let node = self.any()?;
            let end = self.word("expected `)`")?;
            if end.text != ")" {
                return Err(end.wrong("expected `and`, `or` or `)`"));
            }
            node
        };
        self.depth -= 1;
        Ok(node)
    }

    fn fact(&mut self, word: Word<'a>) -> Result<Node, QueryError> {
        if let Some(fact) = WORDS.iter().find(|fact| fact.name == word.text) {
            return Ok(Node::Is(fact));
        }
        if let Some(fact) = NUMBERS.iter().find(|fact| fact.name == word.text) {
            let operator = self.word("expected =, !=, <, <=, > or >=")?;
            let comparison = COMPARISONS.iter().find(|it| it.0 == operator.text);
            let comparison =
                comparison.ok_or_else(|| operator.wrong("expected =, !=, <, <=, > or >="))?.1;
            let word = self.word("expected a number or a size such as 280k")?;
            let value = number(word.text).map_err(|cause| word.because(cause))?;
            return Ok(Node::Number(fact, comparison, value));
        }
        if let Some(fact) = TEXTS.iter().find(|fact| fact.name == word.text) {
            let operator = self.word("expected = or !=")?;
            if !["=", "!="].contains(&operator.text) {
                return Err(operator.wrong("expected = or !="));
            }
            let text = self.word("expected a name")?.text.to_owned();
            return Ok(Node::Text { fact, text, is_equal: operator.text == "=" });
        }
        Err(word.wrong(&format!("expected a fact; there are {}", facts::names().join(", "))))
    }
}

#[cfg(test)]
mod tests;

//! Dictionaries of structured fields (RFC 8941, section 3.2), read without copying.

/// A member's value, as far as this crate uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    /// An integer.
    Integer(i64),
    /// A boolean; a member without a value is true.
    Boolean(bool),
    /// A token, such as `css`.
    Token(&'a str),
    /// A well-formed value of any other type.
    Other,
}

/// The members of a dictionary. If a key occurs twice, the last one counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dictionary<'a>(Vec<(&'a str, Item<'a>)>);

impl<'a> Dictionary<'a> {
    /// Parses a field; `None` if any part of it is malformed, because then the whole field is
    /// ignored (RFC 8941, section 4.2).
    pub(crate) fn parse(field: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(field).ok().filter(|it| it.is_ascii())?;
        let mut input = Input(text.trim_matches(' '));
        let mut members = Vec::new();
        while !input.0.is_empty() {
            let key = input.key()?;
            let item = if input.take('=') { input.member()? } else { Item::Boolean(true) };
            input.parameters()?;
            members.push((key, item));
            input.skip(|it| matches!(it, ' ' | '\t'));
            if input.0.is_empty() {
                break;
            }
            if !input.take(',') {
                return None;
            }
            input.skip(|it| matches!(it, ' ' | '\t'));
            if input.0.is_empty() {
                return None;
            }
        }
        Some(Self(members))
    }

    fn get(&self, key: &str) -> Option<Item<'a>> {
        self.0.iter().rev().find(|it| it.0 == key).map(|it| it.1)
    }

    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            Item::Integer(it) => Some(it),
            _ => None,
        }
    }

    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Item::Boolean(it) => Some(it),
            _ => None,
        }
    }

    pub(crate) fn token(&self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            Item::Token(it) => Some(it),
            _ => None,
        }
    }
}

/// The unread part; ASCII.
struct Input<'a>(&'a str);

impl<'a> Input<'a> {
    fn take(&mut self, wanted: char) -> bool {
        let rest = self.0.strip_prefix(wanted);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Skips and returns everything up to the first character that is not `wanted`.
    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|it| !wanted(it)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn key(&mut self) -> Option<&'a str> {
        let key =
            self.skip(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '_' | '-' | '.' | '*'));
        key.starts_with(|it: char| it.is_ascii_lowercase() || it == '*').then_some(key)
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(';') {
            self.skip(|it| it == ' ');
            self.key()?;
            if self.take('=') {
                self.item()?;
            }
        }
        Some(())
    }

    /// An item or an inner list.
    fn member(&mut self) -> Option<Item<'a>> {
        if !self.take('(') {
            return self.item();
        }
        loop {
            self.skip(|it| it == ' ');
            if self.take(')') {
                return Some(Item::Other);
            }
            self.item()?;
            self.parameters()?;
            if !self.0.starts_with([' ', ')']) {
                return None;
            }
        }
    }

    fn item(&mut self) -> Option<Item<'a>> {
        match self.0.chars().next()? {
            '-' | '0'..='9' => self.number(),
            '"' => self.string(),
            ':' => self.bytes(),
            '?' => self.boolean(),
            'a'..='z' | 'A'..='Z' | '*' => {
                let mark = "!#$%&'*+-.^_`|~:/";
                let token = self.skip(|it| it.is_ascii_alphanumeric() || mark.contains(it));
                Some(Item::Token(token))
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Item<'a>> {
        let sign = if self.take('-') { -1 } else { 1 };
        let whole = self.skip(|it| it.is_ascii_digit());
        if !self.take('.') {
            let is_short = (1..=15).contains(&whole.len());
            return is_short
                .then(|| whole.parse().ok())
                .flatten()
                .map(|it: i64| Item::Integer(sign * it));
        }
        let fraction = self.skip(|it| it.is_ascii_digit());
        let is_decimal = (1..=12).contains(&whole.len()) && (1..=3).contains(&fraction.len());
        is_decimal.then_some(Item::Other)
    }

    fn string(&mut self) -> Option<Item<'a>> {
        self.take('"');
        loop {
            self.skip(|it| matches!(it, ' '..='~') && !matches!(it, '"' | '\\'));
            if self.take('"') {
                return Some(Item::Other);
            }
            if !self.take('\\') || !(self.take('"') || self.take('\\')) {
                return None;
            }
        }
    }

    /// Base64 bytes, which are not decoded here.
    fn bytes(&mut self) -> Option<Item<'a>> {
        self.take(':');
        self.skip(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '/' | '='));
        self.take(':').then_some(Item::Other)
    }

    fn boolean(&mut self) -> Option<Item<'a>> {
        self.take('?');
        if self.take('1') {
            return Some(Item::Boolean(true));
        }
        self.take('0').then_some(Item::Boolean(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The field as parsed by a general library for structured fields.
    fn of_sfv(field: &[u8]) -> Option<Vec<(String, String)>> {
        use sfv::{BareItem, ListEntry, Parser};
        let dictionary = Parser::parse_dictionary(field).ok()?;
        let text = |entry: &ListEntry| match entry {
            ListEntry::Item(it) => match &it.bare_item {
                BareItem::Integer(it) => format!("Integer({it})"),
                BareItem::Boolean(it) => format!("Boolean({it})"),
                BareItem::Token(it) => format!("Token({it:?})"),
                _ => "Other".to_owned(),
            },
            ListEntry::InnerList(_) => "Other".to_owned(),
        };
        let mut members: Vec<_> =
            dictionary.iter().map(|(key, entry)| (key.clone(), text(entry))).collect();
        members.sort();
        Some(members)
    }

    fn of_ours(field: &[u8]) -> Option<Vec<(String, String)>> {
        let Dictionary(all) = Dictionary::parse(field)?;
        let members: std::collections::BTreeMap<_, _> =
            all.into_iter().map(|(key, item)| (key.to_owned(), format!("{item:?}"))).collect();
        Some(members.into_iter().collect())
    }

    #[test]
    fn a_dictionary_is_read_or_rejected_whole() {
        let read = |field: &str| of_ours(field.as_bytes());
        assert_eq!(read("").unwrap(), []);
        assert_eq!(read(" a=1 ,\tb;x=\"y\",c=(1 a;q \"s\") ").unwrap().len(), 3);
        assert_eq!(read("a=1, a=?0").unwrap(), [("a".to_owned(), "Boolean(false)".to_owned())]);
        for malformed in ["A=1", "a=", "a=1,", "a b", "=", "a=(1", "a=(1)2", "a=(", "a=1.", "é"] {
            assert_eq!(read(malformed), None, "{malformed}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn fields_are_read_as_sfv_reads_them(field in "([ua*=0-9?;,() .\"\\\\Z\t_-]|=\\(|, |; ?|=-?[0-9]+){0,14}") {
            prop_assert_eq!(of_ours(field.as_bytes()), of_sfv(field.as_bytes()));
        }
    }
}

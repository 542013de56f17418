//! Where in a file something stands that the reader of TOML does not tell.

/// The line, from 1, at which `text` is not what was expected.
pub fn line_of(error: &toml::de::Error, text: &str) -> usize {
    let start = error.span().map_or(0, |span| span.start);
    1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
}

/// The lines of a configuration file.
pub(super) struct Lines<'a>(Vec<&'a str>);

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(text.lines().map(str::trim).collect())
    }

    /// The line, from 1, of a key of `[site]`, or of `[site]` itself if it is not there.
    pub(super) fn in_site(&self, key: &str) -> usize {
        self.find(key, self.0.iter().position(|it| it.starts_with("[site]")))
    }

    /// The line, from 1, of a key of the `index`-th `[[route]]`, or of that if it is not there.
    pub(super) fn in_route(&self, index: usize, key: &str) -> usize {
        let mut routes = (0..self.0.len()).filter(|it| self.0[*it].starts_with("[[route]]"));
        self.find(key, routes.nth(index))
    }

    /// In the section that begins at line `start`, from 0.
    fn find(&self, key: &str, start: Option<usize>) -> usize {
        let Some(start) = start else { return 1 };
        let others = |it: &&&str| !it.starts_with('[') || it.starts_with("[route.");
        let section = self.0[start + 1..].iter().take_while(others);
        let names = |line: &str| {
            let line = line.trim_start_matches("[route.");
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['=', ']']))
        };
        let place = section.enumerate().find(|(_, line)| names(line));
        1 + start + place.map_or(0, |(after, _)| 1 + after)
    }
}

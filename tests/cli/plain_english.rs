//! Docs, `--help`, comments and messages keep the rules of `docs/plain-english.md` that a program can check.

use crate::stdout_of;
use std::fs;
use std::path::{Path, PathBuf};

/// A phrase that readers stumble over.
struct Pattern {
    /// Whole words, in lower case.
    words: &'static str,
    /// What to write instead.
    remedy: &'static str,
    /// Words after the phrase that make it plain again.
    except_before: &'static [&'static str],
    /// Words before the phrase that do.
    except_after: &'static [&'static str],
}

const fn pattern(words: &'static str, remedy: &'static str) -> Pattern {
    Pattern { words, remedy, except_before: &[], except_after: &[] }
}

/// After these "no" is plain: "is no longer", "there is no cache".
const COMPARED: &[&str] = &[
    "longer", "more", "less", "later", "earlier", "larger", "smaller", "better", "worse", "other",
];
const EXISTENCE: &[&str] = &["there", "where", "if", "while"];

const PATTERNS: &[Pattern] = &[
    Pattern {
        words: "is no",
        remedy: "write \"is not a\"",
        except_before: COMPARED,
        except_after: EXISTENCE,
    },
    Pattern {
        words: "are no",
        remedy: "write \"are not\"",
        except_before: COMPARED,
        except_after: EXISTENCE,
    },
    pattern("what is none", "write \"anything else\""),
    pattern("that is none", "write \"anything else\""),
    pattern("what is no", "name the thing"),
    pattern("what is not", "name the thing, or write \"anything that is not\""),
    pattern("of what is", "name the thing"),
    pattern("so often", "write \"N times\""),
    pattern("nobody wants", "say who cancels what"),
    pattern("who ran dry", "name the thing"),
    pattern("that of the", "repeat the noun"),
    pattern("is to be", "write \"must be\" or \"will be\""),
    pattern("are to be", "write \"must be\" or \"will be\""),
    pattern("at most so many", "write \"at most N\""),
    pattern("every so many", "write \"every N\""),
    pattern("for there is", "write \"because there is\""),
    pattern("for there are", "write \"because there are\""),
    pattern("so that who", "name the subject"),
    pattern("are none of", "write \"are not\""),
    pattern("is none of", "write \"is not one of\""),
    pattern("is told of", "write \"learns\" or \"receives\""),
    pattern("tells of", "write \"reports\" or \"says\""),
];

/// Patterns of the second pass, which files in [`LEFT`] do not keep yet.
const NEWER: &[Pattern] = &[
    Pattern {
        words: "so many",
        remedy: "write \"N\", or name the number",
        except_before: &["that"],
        except_after: &[],
    },
    pattern("of several", "say how many, or which of them"),
    pattern("or else", "write \"otherwise\""),
    pattern("would else", "write \"would otherwise\""),
    pattern("those of", "repeat the noun, or use the possessive"),
    pattern("is told", "write \"gets\", \"receives\" or \"learns\""),
    pattern("are told", "write \"get\", \"receive\" or \"learn\""),
    pattern("hears", "write \"receives\" or \"gets\""),
    pattern("for want of", "write \"without\" or \"in place of\""),
    pattern("that comes", "write \"that arrives\", \"the next\" or \"later\""),
    pattern("what comes", "name the thing"),
    pattern("as it comes", "write \"as it arrives\""),
    pattern("nothing comes", "write \"nothing arrives\""),
    pattern("comes by", "write \"uses\" or \"arrives over\""),
    pattern("is there.", "say where, or write \"exists\" or \"has arrived\""),
    pattern("are there.", "say where, or write \"exist\" or \"have arrived\""),
    pattern("is there,", "say where, or write \"exists\" or \"has arrived\""),
    pattern("if it is there", "write \"if it exists\""),
    pattern("has not.", "write \"does not have\""),
    pattern("have not.", "write \"do not have\""),
    pattern("for a look", "say what it is good for"),
    pattern("under way", "write \"in progress\" or \"in flight\""),
    pattern("goes on with", "write \"continues with\""),
    pattern("a line each", "write \"one per line\""),
    pattern("of no use", "write \"useless\""),
    pattern("says so", "write \"states this\", or name the thing"),
    pattern("what came", "write \"what arrived\", or name the thing"),
    pattern("somebody", "name the person, or write \"anyone\""),
];

/// Files that hold texts which kept results and bundled pages compare.
const LEFT: &[&str] = &[
    "corpus/src/generate/grow.rs",
    "corpus/src/generate/quantiles.rs",
    "reproduce/src/marx/cases.rs",
    "reproduce/src/marx/figure11.rs",
    "reproduce/src/notsent_lowat/art_of_living.rs",
    "reproduce/src/push_rules/",
];

/// Words with which a doc comment must not begin: what follows them is a clause without a head.
const HEADLESS: &[&str] = &["who", "whose", "of"];

/// A text with the number of each line at which a part of it begins.
struct Paragraph {
    text: String,
    starts: Vec<(usize, usize)>,
}

impl Paragraph {
    fn new() -> Self {
        Self { text: " ".to_owned(), starts: Vec::new() }
    }

    fn push(&mut self, number: usize, line: &str) {
        self.starts.push((self.text.len(), number));
        for word in line.split_whitespace() {
            self.text.push_str(&word.to_lowercase());
            self.text.push(' ');
        }
    }

    fn line_at(&self, place: usize) -> usize {
        self.starts.iter().rev().find(|(start, _)| *start <= place).map_or(0, |it| it.1)
    }

    /// Lines with a pattern, and the pattern.
    fn findings(&self, patterns: &'static [Pattern]) -> Vec<(usize, &'static Pattern)> {
        let mut findings = Vec::new();
        for pattern in patterns {
            let phrase = format!(" {} ", pattern.words);
            for (place, _) in self.text.match_indices(&phrase) {
                let bare = |it: Option<&str>| {
                    it.unwrap_or_default().trim_matches(|it: char| !it.is_alphanumeric()).to_owned()
                };
                let after = bare(self.text[place + phrase.len()..].split(' ').next());
                let before = bare(self.text[..place].split(' ').next_back());
                if !pattern.except_before.contains(&after.as_str())
                    && !pattern.except_after.contains(&before.as_str())
                {
                    findings.push((self.line_at(place + 1), pattern));
                }
            }
        }
        findings
    }
}

/// Paragraphs of a Markdown text, without its code blocks; each row of a table is one.
fn of_markdown(text: &str) -> Vec<Paragraph> {
    let mut paragraphs = vec![Paragraph::new()];
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if is_fence || in_code || line.trim().is_empty() || line.starts_with('|') {
            paragraphs.push(Paragraph::new());
        }
        if let (false, false, Some(last)) = (is_fence, in_code, paragraphs.last_mut()) {
            last.push(index + 1, line);
        }
    }
    paragraphs
}

/// Paragraphs of the comments and texts of a Rust file.
fn of_source(text: &str) -> Vec<Paragraph> {
    let mut paragraphs = vec![Paragraph::new()];
    for (index, line) in text.lines().enumerate() {
        let comment =
            line.trim_start().strip_prefix("//").map(|it| it.trim_start_matches(['/', '!']));
        match (comment, paragraphs.last_mut()) {
            (Some(comment), Some(last)) if !comment.trim().is_empty() => {
                last.push(index + 1, comment);
            }
            (Some(_), _) => paragraphs.push(Paragraph::new()),
            (None, _) => {
                let texts = line.split('"').skip(1).step_by(2).map(|it| {
                    let mut paragraph = Paragraph::new();
                    paragraph.push(index + 1, it);
                    paragraph
                });
                paragraphs.extend(texts);
                paragraphs.push(Paragraph::new());
            }
        }
    }
    paragraphs
}

/// Doc comments that begin with a clause without a head.
fn headless(name: &str, text: &str) -> Vec<String> {
    let docs = |line: &str| {
        let rest = line.trim_start().strip_prefix("//")?;
        rest.strip_prefix(['/', '!']).map(|it| it.trim().to_lowercase()).filter(|it| !it.is_empty())
    };
    let mut before = None;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let doc = docs(line);
        let first = doc.as_deref().and_then(|it| it.split(' ').next()).unwrap_or_default();
        let is_new = matches!(first, "what" | "whom" | "whoever")
            && !text_of_doc(text, index).contains('?')
            && !is_left(name);
        if before.is_none() && (HEADLESS.contains(&first) || is_new) {
            found.push(format!("{name}:{}: begins with \"{first}\": name the thing", index + 1));
        }
        before = doc;
    }
    found
}

/// The line of a doc comment and those after it that belong to it.
fn text_of_doc(text: &str, index: usize) -> String {
    let lines = text.lines().skip(index);
    lines.take_while(|it| it.trim_start().starts_with("//")).collect()
}

fn is_left(name: &str) -> bool {
    LEFT.iter().any(|it| name.starts_with(it))
}

fn faults(name: &str, paragraphs: &[Paragraph]) -> Vec<String> {
    let newer = if is_left(name) { &[] } else { NEWER };
    let findings =
        paragraphs.iter().flat_map(|it| [it.findings(PATTERNS), it.findings(newer)].concat());
    findings.map(|(line, it)| format!("{name}:{line}: \"{}\": {}", it.words, it.remedy)).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files below a folder of the repository whose names end like this.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A file's name in the repository, and its text.
fn read(path: &Path) -> (String, String) {
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    (name, fs::read_to_string(path).expect("a text"))
}

fn assert_none(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} places are hard to read (docs/plain-english.md):\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn the_documents_are_in_plain_english() {
    let names = [
        "README.md",
        "ARTIFACT.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "cluster/README.md",
        "interop/README.md",
    ];
    let mut documents: Vec<PathBuf> = names.iter().map(|it| root().join(it)).collect();
    // It shows what not to write.
    documents
        .extend(files("docs", ".md").into_iter().filter(|it| !it.ends_with("plain-english.md")));
    let faults = documents
        .iter()
        .map(|it| read(it))
        .flat_map(|(name, text)| faults(&name, &of_markdown(&text)));
    assert_none(&faults.collect::<Vec<_>>());
}

#[test]
fn comments_and_messages_are_in_plain_english() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let members = manifest.lines().find(|it| it.starts_with("members = ")).expect("members");
    let crates = members.split('"').skip(1).step_by(2).chain(["."]);
    let sources = crates.map(|it| format!("{it}/src")).filter(|it| root().join(it).is_dir());
    let texts = sources.flat_map(|it| files(&it, ".rs")).map(|it| read(&it));
    let faults = texts.flat_map(|(name, text)| {
        [headless(&name, &text), faults(&name, &of_source(&text))].concat()
    });
    assert_none(&faults.collect::<Vec<_>>());
}

#[test]
fn every_help_is_in_plain_english() {
    let faulty = crate::COMMANDS.iter().chain(&[""]).flat_map(|command| {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let page = format!("docs/reference/commands/{}-{}", crate::NAME, command.replace(' ', "-"));
        faults(&page, &of_markdown(&stdout_of(&arguments)))
    });
    assert_none(&faulty.collect::<Vec<_>>());
}

#[test]
fn a_hard_phrase_is_found_across_lines_and_a_plain_one_is_not() {
    let hard = "/// A bracket is\n/// no scheme.\nfn parse() {}\n// Load the page so often\n";
    assert_eq!(
        faults("x.rs", &of_source(hard)),
        ["x.rs:1: \"is no\": write \"is not a\"", "x.rs:4: \"so often\": write \"N times\""]
    );
    let plain = "There is no cache. It is no longer needed.\n\n```\nwhat is none\n```\n";
    assert_eq!(faults("x.md", &of_markdown(plain)), Vec::<String>::new());
}

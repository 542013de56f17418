//! The files of the workbench: its pages, their style sheet, and their scripts, which send requests to the program
//! that serves them.

/// A file's name, its type and its text.
type File = (&'static str, &'static str, &'static str);

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A macro, so that each script's name is written only once.
macro_rules! scripts {
    ($($name:literal),* $(,)?) => {
        [$(($name, SCRIPT, include_str!(concat!("../templates/workbench/", $name)))),*]
    };
}

const PAGES: [File; 3] = [
    ("", HTML, include_str!("../templates/workbench/page.html")),
    ("study", HTML, include_str!("../templates/workbench/study.html")),
    ("style.css", "text/css; charset=utf-8", include_str!("../templates/workbench/style.css")),
];

const SCRIPTS: [File; 14] = scripts!(
    "main.js",
    "state.js",
    "ask.js",
    "controls.js",
    "order.js",
    "picture.js",
    "resources.js",
    "answers.js",
    "elements.js",
    "film.js",
    "take_away.js",
    "study.js",
    "study_folder.js",
    "long_task.js",
);

/// The file of this name below the room's address, as its type and its text. The page's own name is empty.
pub fn file(name: &str) -> Option<(&'static str, &'static str)> {
    let found = PAGES.iter().chain(&SCRIPTS).find(|it| it.0 == name);
    found.map(|(_, mime, text)| (*mime, *text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_for_nothing_but_its_own_files() {
        for (name, script) in [("", "main.js"), ("study", "study.js")] {
            let (_, page) = file(name).expect("a page");
            let named = page.split('"').filter(|it| !it.is_empty() && file(it).is_some());
            let named: Vec<&str> = named.filter(|it| it.contains('.')).collect();
            assert_eq!(named, ["style.css", script]);
            assert!(page.contains("default-src 'none'"));
        }
        for (name, _, text) in PAGES.iter().chain(&SCRIPTS) {
            assert!(!text.contains("//cdn") && !text.contains("https://"), "{name}");
            // Browsers do not load types in comments.
            let code = text.lines().filter(|it| !it.starts_with("/** @import "));
            for imported in code.filter_map(|it| it.split("from \"./").nth(1)) {
                let imported = imported.split('"').next().unwrap_or_default();
                assert!(file(imported).is_some(), "{name}: {imported}");
            }
            assert!(!text.contains("innerHTML") && !text.contains("eval("), "{name}");
        }
    }
}

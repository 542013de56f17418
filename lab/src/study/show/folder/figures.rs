//! The files of a study's figures: `NAME.svg` and `NAME.png`; for a paper `NAME.pdf`, `NAME.svg`, and `NAME.tex` with the
//! caption.

use super::write_figures;
use crate::study::StudyError;
use crate::{file_name, write_file};
use figures::FigureStyle;
use figures::png::{About, PngError, Rasterizer};
use report::comparison::{Comparison, Figure};
use std::path::Path;

/// The suffix of figures over all pages.
const OVERALL: &str = "-overall";
/// The suffixes of a page's figures.
const RIBBONS: &str = "-ribbons";
const CURVE: &str = "-curve";
const EXTENSIONS: [&str; 4] = ["svg", "png", "pdf", "tex"];

/// Writes the figures of a study. Returns why PNG or PDF files are missing, if they are.
pub(crate) fn write(
    folder: &Path,
    comparison: &Comparison,
    style: FigureStyle,
) -> Result<Option<PngError>, StudyError> {
    let figures = figures(comparison);
    match style {
        FigureStyle::Screen => {
            write_figures(folder, figures.into_iter().map(|(name, it)| (name, &it.svg)))
        }
        FigureStyle::Paper(_) => write_for_paper(folder, &figures),
    }
}

fn write_for_paper(
    folder: &Path,
    figures: &[(String, &Figure)],
) -> Result<Option<PngError>, StudyError> {
    let writer = Rasterizer::new();
    for (name, figure) in figures {
        let Some(svg) = &figure.print else { continue };
        write_file(&folder.join(format!("{name}.svg")), svg)?;
        write_file(&folder.join(format!("{name}.tex")), caption(figure))?;
        if let Ok(writer) = &writer {
            let subject = in_words(figure);
            let about = About { title: &figure.title, subject: &subject };
            write_file(&folder.join(format!("{name}.pdf")), writer.pdf(svg, &about)?)?;
        }
    }
    Ok(writer.err())
}

/// The figures with their names.
fn figures(comparison: &Comparison) -> Vec<(String, &Figure)> {
    let overall = comparison.figures.iter();
    let mut figures: Vec<(String, &Figure)> =
        overall.map(|it| (format!("{}{OVERALL}", it.name), &it.figure)).collect();
    for page in &comparison.pages {
        // `PAGE, send buffer 14000 bytes`.
        let name = file_name(&page.name.replace(", ", "-").replace(' ', "-"));
        figures.extend(page.ribbons.as_ref().map(|it| (format!("{name}{RIBBONS}"), it)));
        figures.extend(page.curve.as_ref().map(|it| (format!("{name}{CURVE}"), it)));
    }
    figures
}

/// Removes the figures of an earlier study in the same folder.
pub(crate) fn remove_old(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        let drawn = path.extension().is_some_and(|it| EXTENSIONS.iter().any(|end| it == *end));
        if drawn && [RIBBONS, CURVE, OVERALL].iter().any(|end| stem.ends_with(end)) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn in_words(figure: &Figure) -> String {
    format!("{}. {} Conditions: {}.", figure.title, figure.caption, figure.conditions)
}

/// The caption, to include in a figure: `\\caption{...}`.
fn caption(figure: &Figure) -> String {
    format!("\\caption{{{}}}\n", latex(&in_words(figure)))
}

/// Text for LaTeX, whatever its engine.
fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => escaped.extend(['\\', character]),
            '<' => escaped.push_str("$<$"),
            '>' => escaped.push_str("$>$"),
            '\u{d7}' => escaped.push_str("$\\times$"),
            '\u{2013}' => escaped.push_str("--"),
            '\u{202f}' => escaped.push_str("\\,"),
            '\u{a0}' => escaped.push('~'),
            _ if character.is_control() => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_says_what_the_figure_shows_and_under_which_conditions() {
        let figure = Figure {
            title: "Speedups".to_owned(),
            caption: "Above \u{d7}1, 95\u{202f}% of a_page & more.".to_owned(),
            conditions: "engine stack".to_owned(),
            ..Figure::default()
        };
        let expected = "\\caption{Speedups. Above $\\times$1, 95\\,\\% of a\\_page \\& more. Conditions: engine stack.}\n";
        assert_eq!(caption(&figure), expected);
    }

    #[test]
    fn a_name_cannot_end_the_caption() {
        assert_eq!(
            latex("a}\\b~^{<>"),
            "a\\}\\textbackslash{}b\\textasciitilde{}\\textasciicircum{}\\{$<$$>$"
        );
    }
}

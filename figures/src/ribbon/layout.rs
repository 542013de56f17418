//! Where the parts of a figure with ribbons are.

use super::Ribbons;
use crate::axis::Across;
use crate::sheet::Sheet;
use crate::svg::MARGIN;
use crate::text_lines::wrapped;
use qlog_tools::saturating_cast::to_usize;

pub(super) const TITLE_HEIGHT: f64 = 40.0;
const ROW_PITCH: f64 = 32.0;
/// On a screen, and in print, where headings of notes take several lines.
const NOTE_WIDTHS: [f64; 2] = [84.0, 54.0];
/// The most notes in a figure for one column of a paper; the ribbons need the room of further ones.
const NOTES_IN_COLUMN: usize = 2;
const COLUMN_MAX: f64 = 400.0;
/// The width of a letter of a run's name on a screen, and in print.
const LETTERS: [f64; 2] = [7.2, 6.3];
const NOTE_LETTER: f64 = 6.4;
/// The most characters of a run's name on a screen, and in print.
const LABEL_CHARACTERS: [usize; 2] = [26, 14];

/// The places of the parts of a figure.
pub(super) struct Layout {
    pub(super) across: Across,
    pub(super) axis_top: f64,
    note_width: f64,
    /// In lines.
    pub(super) note_titles: Vec<Vec<String>>,
    pub(super) label_characters: usize,
}

impl Layout {
    pub(super) fn new(figure: &Ribbons<'_>, sheet: &Sheet, end: f64) -> Self {
        let longest =
            figure.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or_default();
        let note_width = sheet.either(NOTE_WIDTHS[0], NOTE_WIDTHS[1]);
        let letters = sheet.either(usize::MAX, to_usize(note_width / NOTE_LETTER));
        let most = if sheet.width() < COLUMN_MAX { NOTES_IN_COLUMN } else { usize::MAX };
        let titles = figure.note_titles.iter().take(most);
        let note_titles: Vec<Vec<String>> = titles.map(|it| wrapped(it, letters)).collect();
        let notes = note_titles.len() as f64 * note_width;
        let label_characters = sheet.either(LABEL_CHARACTERS[0], LABEL_CHARACTERS[1]);
        let letter = sheet.either(LETTERS[0], LETTERS[1]);
        let left = MARGIN + 12.0 + longest.clamp(6, label_characters) as f64 * letter;
        let right = sheet.width() - MARGIN - notes - if notes > 0.0 { 0.0 } else { 6.0 };
        Self {
            note_width,
            note_titles,
            label_characters,
            across: Across::new(figure.axis, left, right, end),
            axis_top: TITLE_HEIGHT + 6.0 + figure.rows.len() as f64 * ROW_PITCH,
        }
    }

    pub(super) fn note_x(&self, place: usize) -> f64 {
        self.across.right + (place + 1) as f64 * self.note_width
    }
}

pub(super) fn row_top(place: usize) -> f64 {
    TITLE_HEIGHT + 6.0 + place as f64 * ROW_PITCH
}

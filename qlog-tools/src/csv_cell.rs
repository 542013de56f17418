//! Cells of tables that spreadsheets open.

use std::borrow::Cow;

/// A cell that no spreadsheet evaluates: untrusted text, such as a priority, may begin like a formula. Such text gets a
/// leading `'`, as in spreadsheets; numbers are unchanged.
pub fn inert(cell: &str) -> Cow<'_, str> {
    let is_formula = match cell.as_bytes() {
        [b'=' | b'+' | b'@' | b'\t' | b'\r', ..] => true,
        [b'-', _, ..] => cell.parse::<f64>().is_err(),
        _ => false,
    };
    if is_formula { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_begins_like_a_formula_is_a_text() {
        let cells = ["=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "-2+3", "-2.5", "-", "u=3, i", ""];
        let expected =
            ["'=cmd|' /C calc'!A0", "'+1", "'@SUM(A1)", "'-2+3", "-2.5", "-", "u=3, i", ""];
        assert_eq!(cells.map(inert), expected);
    }
}

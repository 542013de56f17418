//! Names as file names.

/// A name as a file name: characters outside `[a-z0-9-]` become `_` and their bytes in hex, because `%` begins a comment in
/// LaTeX.
pub fn file_name(name: &str) -> String {
    let characters = name.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' => char::from(byte).to_string(),
        _ => format!("_{byte:02X}"),
    });
    characters.collect()
}
#[cfg(test)]
mod tests {
    #[test]
    fn a_scheme_name_becomes_a_file_name_that_every_system_takes() {
        assert_eq!(super::file_name("p+"), "p_2B");
        assert_eq!(super::file_name("kway:4"), "kway_3A4");
        assert_eq!(super::file_name("bucket-html"), "bucket-html");
    }
}

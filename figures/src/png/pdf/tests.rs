use super::*;
use crate::png::Rasterizer;

const SVG: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" width="240pt" height="90pt" viewBox="0 0 360 135" font-family="sans-serif">
<defs><pattern id="p" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="#0072B2"/></pattern></defs>
<rect width="360" height="135" fill="#ffffff"/>
<path d="M10 10h50v30z" fill="url(#p)"/><path d="M0 0L90 90" stroke="#000000" stroke-opacity="0.5" stroke-dasharray="3 1"/>
<g transform="rotate(-90 30 30)"><text x="30" y="30" font-size="12">Speedup</text></g>
<path id="r" d="M1 1q5 5 9 0"/><use href="#r" x="9" y="9"/></svg>"##;

fn pdf(svg: &str, about: &About<'_>) -> Option<Result<Vec<u8>, PngError>> {
    let Ok(rasterizer) = Rasterizer::new() else {
        println!("skipped: no font on this system");
        return None;
    };
    Some(rasterizer.pdf(svg, about))
}

fn text(pdf: &[u8]) -> String {
    pdf.iter().map(|it| char::from(*it)).collect()
}

#[test]
fn a_pdf_has_one_page_as_large_as_the_figure_and_says_what_it_is() {
    let about = About { title: "Speedups", subject: "engine stack" };
    let Some(pdf) = pdf(SVG, &about) else { return };
    let pdf = pdf.expect("a document");
    assert!(pdf.starts_with(b"%PDF-1."));
    let text = text(&pdf);
    assert!(text.contains("/MediaBox [0 0 240 90]"), "{text}");
    assert!(text.contains("(Speedups)") && text.contains("(engine stack)"));
    assert_eq!(text.matches("/Type /Page\n").count(), 1);
}

#[test]
fn its_font_is_embedded_with_what_its_letters_mean() {
    let Some(pdf) = pdf(SVG, &About::default()) else { return };
    let text = text(&pdf.expect("a document"));
    for part in ["/FontFile2", "/ToUnicode", "/Identity-H", "/BaseFont /UTMOST+"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_figures_do_not_consist_of_is_an_error() {
    let with = |element: &str| SVG.replace("<path id=", &format!("{element}<path id="));
    for element in [
        r#"<linearGradient id="g"><stop offset="0"/><stop offset="1" stop-color="red"/></linearGradient><path d="M0 0h9v9z" fill="url(#g)"/>"#,
        r#"<g opacity="0.5"><path d="M0 0h9v9z"/><path d="M1 1h9v9z"/></g>"#,
    ] {
        let Some(pdf) = pdf(&with(element), &About::default()) else { return };
        assert!(matches!(pdf, Err(PngError::Svg(_))), "{element}");
    }
}

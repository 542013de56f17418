//! Film strips: what a visitor saw when, one load below the other, beside the arrivals so far.

use crate::templates::render;
use figures::axis::Axis;
use figures::{Drawing, RibbonRow, Ribbons, Sheet};
use minijinja::context;
use qlog_tools::page_resources::PageResource;
use qlog_tools::timeline::Timeline;
use std::collections::BTreeMap;

/// Everything that the page shows.
#[derive(Debug, Clone, Default)]
pub struct Film {
    /// The heading.
    pub title: String,
    /// The experiment, in a sentence.
    pub what: String,
    /// Loads that are compared: the loads of a page in one setting.
    pub scenes: Vec<Scene>,
}

/// Loads with one axis of time.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The page, and the loads' setting.
    pub heading: String,
    /// The page's resources in request order.
    pub resources: Vec<PageResource>,
    /// The loads.
    pub strips: Vec<Strip>,
}

/// One load.
#[derive(Debug, Clone, Default)]
pub struct Strip {
    /// Usually the scheme.
    pub label: String,
    /// Columns at its right: name, and value in milliseconds.
    pub notes: Vec<(String, String)>,
    /// The arrivals.
    pub timeline: Timeline,
    /// Pictures in order: milliseconds from the first request, and JPEG in base64.
    pub pictures: Vec<(f64, String)>,
}

/// Pictures of a strip.
const COLUMNS: u32 = 12;

/// The page as self-contained HTML. Each strip shows the picture that was on the screen at each of twelve moments, the same for all
/// loads of a scene.
pub fn film_page(film: &Film) -> String {
    let mut pictures = BTreeMap::new();
    let scenes = film.scenes.iter().enumerate();
    let scenes: Vec<_> = scenes.map(|(place, it)| scene(place, it, &mut pictures)).collect();
    let pictures: Vec<_> =
        pictures.into_iter().map(|(jpeg, class)| context! { class, jpeg }).collect();
    let view =
        context! { title => film.title.as_str(), what => film.what.as_str(), pictures, scenes };
    render("film.html", include_str!("../../templates/film.html"), view)
}

/// `pictures` has a class for each picture that is shown.
fn scene<'a>(
    place: usize,
    scene: &'a Scene,
    pictures: &mut BTreeMap<&'a str, String>,
) -> minijinja::Value {
    let last_pictures = scene.strips.iter().filter_map(|it| it.pictures.last());
    let end_ms = last_pictures.map(|(ms, _)| *ms).fold(1.0, f64::max);
    let moments: Vec<f64> =
        (1..=COLUMNS).map(|it| end_ms * f64::from(it) / f64::from(COLUMNS)).collect();
    let strips = scene.strips.iter().map(|strip| {
        let notes: Vec<String> = strip.notes.iter().map(|it| it.1.clone()).collect();
        let cells = moments.iter().map(|moment| {
            let shown = strip.pictures.iter().rev().find(|it| it.0 <= *moment);
            let picture = shown.map_or_else(String::new, |(_, jpeg)| {
                let next = format!("p{}", pictures.len());
                pictures.entry(jpeg).or_insert(next).clone()
            });
            context! { picture, seconds => format!("{:.1}", moment / 1000.0) }
        });
        let cells: Vec<minijinja::Value> = cells.collect();
        context! { label => strip.label.as_str(), notes, cells }
    });
    let strips: Vec<minijinja::Value> = strips.collect();
    let rows = scene.strips.iter().map(|strip| RibbonRow {
        label: strip.label.clone(),
        notes: Vec::new(),
        timeline: &strip.timeline,
        marks: Vec::new(),
    });
    let ribbons = Ribbons {
        id: format!("scene-{place}"),
        title: format!("{}: what arrived when", scene.heading),
        axis: Axis::Time,
        resources: scene.resources.clone(),
        note_titles: Vec::new(),
        rows: rows.collect(),
    };
    let seconds: Vec<String> = moments.iter().map(|it| format!("{:.1} s", it / 1000.0)).collect();
    let first = scene.strips.first();
    let note_titles: Vec<String> =
        first.into_iter().flat_map(|it| &it.notes).map(|it| it.0.clone()).collect();
    context! { heading => scene.heading.as_str(), ribbons => ribbons.draw(&Sheet::default()), seconds, note_titles, strips }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_shows_the_picture_that_was_on_the_screen_at_each_moment() {
        let strip = |label: &str, pictures: &[(f64, &str)]| Strip {
            label: label.to_owned(),
            notes: vec![("ByteIndex".to_owned(), "200".to_owned())],
            pictures: pictures.iter().map(|(ms, jpeg)| (*ms, (*jpeg).to_owned())).collect(),
            ..Strip::default()
        };
        let strips = vec![
            strip("rr", &[(50.0, "A/A+"), (1200.0, "BBBB")]),
            strip("fifo", &[(50.0, "A/A+"), (550.0, "BBBB")]),
        ];
        let scene = Scene { heading: "home on 3g".to_owned(), strips, ..Scene::default() };
        let page = film_page(&Film { scenes: vec![scene], ..Film::default() });
        let row = |label: &str| {
            let row = page.split("<tr>").find(|it| it.contains(label)).expect("a row").to_owned();
            let classes = row.split("class=\"picture ").skip(1).map(|it| it[..2].to_owned());
            classes.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(row("<th>rr"), "p0 p0 p0 p0 p0 p0 p0 p0 p0 p0 p0 p1");
        assert_eq!(row("<th>fifo"), "p0 p0 p0 p0 p0 p1 p1 p1 p1 p1 p1 p1");
        assert_eq!(page.matches("base64,A/A+").count(), 1, "each picture is there once");
    }
}

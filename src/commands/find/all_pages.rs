//! All pages of a site. Pages that share a template count as one, of which a single page is loaded.
//!
//! Pages share a template if they are in the same folder and reference the same style sheets and scripts. For addresses from a
//! sitemap or a list, only the folder counts, because nothing else is known before they are loaded.

use super::super::corpus::graph::references;
use super::inputs::{Browser, is_document};
use crate::limits::{SITE_PAGES_MAX, SITEMAP_BYTES_MAX, SITEMAPS_MAX};
use ::corpus::import::unpacked;
use ::serve::Failure;
use schedulers::Kind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use url::Url;

pub(super) struct Template {
    /// The page that is loaded, as an argument.
    pub(super) argument: String,
    /// The paths of the others.
    pub(super) alike: Vec<String>,
}

struct Listed {
    /// The files that it shares with other pages of its template.
    template: String,
    argument: String,
    path: String,
}

pub(super) fn templates(inputs: &[String], browser: &Browser) -> Result<Vec<Template>, Failure> {
    let [site] = inputs else {
        let cause = "--all-pages takes one site: a folder, or the file or URL of a sitemap";
        return Err(Failure::BadInput(cause.to_owned()));
    };
    let folder = Path::new(site);
    let listed = if folder.is_dir() { of_folder(folder)? } else { of_list(site, browser)? };
    if listed.is_empty() {
        let cause =
            "names no page; name a folder with HTML files, or a sitemap with <loc> elements";
        return Err(Failure::of_file(folder, cause));
    }
    let mut templates: BTreeMap<String, Template> = BTreeMap::new();
    for Listed { template, argument, path } in listed {
        match templates.get_mut(&template) {
            Some(known) => known.alike.push(path),
            None => {
                templates.insert(template, Template { argument, alike: Vec::new() });
            }
        }
    }
    Ok(templates.into_values().collect())
}

fn of_folder(root: &Path) -> Result<Vec<Listed>, Failure> {
    let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|it| Failure::of_file(&folder, it))?;
        for path in entries.filter_map(|it| Some(it.ok()?.path())) {
            let is_hidden = path.file_name().is_none_or(|it| it.to_string_lossy().starts_with('.'));
            // A link can lead back to a parent folder.
            if path.is_dir() && !path.is_symlink() && !is_hidden {
                folders.push(path);
            } else if is_document(&path) {
                files.push(path);
            }
        }
        at_most(files.len(), root)?;
    }
    files.sort();
    files.iter().map(|file| of_file(root, file)).collect()
}

fn of_file(root: &Path, file: &Path) -> Result<Listed, Failure> {
    let below: PathBuf = file.strip_prefix(root).unwrap_or(file).into();
    let path = format!("/{}", below.display()).replace(' ', "%20");
    let mut named: Vec<String> = Vec::new();
    for node in references(root, &path)? {
        if matches!(node.kind, Kind::Css | Kind::Js) {
            named.push(node.path);
        }
    }
    named.sort();
    let template = format!("{} {}", folder_of(&path), named.join(" "));
    Ok(Listed { template, argument: file.display().to_string(), path })
}

fn of_list(source: &str, browser: &Browser) -> Result<Vec<Listed>, Failure> {
    let lists = lists(source, &|list| text_of(list, browser))?;
    let mut listed: Vec<(Url, Listed)> = Vec::new();
    for url in lists.iter().flat_map(|it| addresses(it)) {
        let (host, path) = (url.host_str().map(str::to_owned), url.path().to_owned());
        if let Some((first, _)) = listed.first().filter(|it| it.0.host_str() != host.as_deref()) {
            let (first, other) = (first.host_str().unwrap_or_default(), host.unwrap_or_default());
            let cause =
                format!("{source}: names pages of {first} and of {other}; name pages of one host");
            return Err(Failure::BadInput(cause));
        }
        let template = folder_of(&path).to_owned();
        listed.push((url.clone(), Listed { template, argument: url.to_string(), path }));
    }
    at_most(listed.len(), Path::new(source))?;
    Ok(listed.into_iter().map(|it| it.1).collect())
}

/// The text of a list of pages, or of all sitemaps that an index of sitemaps names.
fn lists(
    source: &str,
    read: &dyn Fn(&str) -> Result<String, Failure>,
) -> Result<Vec<String>, Failure> {
    let is_index = |text: &str| text.contains("<sitemapindex");
    let text = read(source)?;
    if !is_index(&text) {
        return Ok(vec![text]);
    }
    let named = addresses(&text);
    if named.len() > SITEMAPS_MAX {
        let cause = format!("names more than {SITEMAPS_MAX} sitemaps; name one of them");
        return Err(Failure::of_file(Path::new(source), cause));
    }
    let mut texts = Vec::new();
    for sitemap in &named {
        let text = read(sitemap.as_str())?;
        if is_index(&text) {
            let cause = "is an index of sitemaps that another one names; name it, or a sitemap";
            return Err(Failure::of_file(Path::new(sitemap.as_str()), cause));
        }
        texts.push(text);
    }
    Ok(texts)
}

/// The text of a list at a URL or in a file, gzipped or not.
fn text_of(list: &str, browser: &Browser) -> Result<String, Failure> {
    if list.contains("://") {
        return super::inputs::text_at(list, browser);
    }
    let file = Path::new(list);
    let too_large = || {
        let cause = format!("has more than {SITEMAP_BYTES_MAX} bytes; name a smaller list");
        Failure::of_file(file, cause)
    };
    let bytes = std::fs::metadata(file).map_err(|it| Failure::of_file(file, it))?.len();
    if bytes > SITEMAP_BYTES_MAX {
        return Err(too_large());
    }
    let bytes = named_files::read(file).map_err(|it| Failure::of_file(file, it))?;
    let bytes = unpacked(bytes, list).map_err(Failure::bad_input)?;
    if bytes.len() as u64 > SITEMAP_BYTES_MAX {
        return Err(too_large());
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::of_file(file, "is not UTF-8; save it in this encoding"))
}

fn at_most(pages: usize, source: &Path) -> Result<(), Failure> {
    if pages <= SITE_PAGES_MAX {
        return Ok(());
    }
    Err(Failure::of_file(
        source,
        format!("has more than {SITE_PAGES_MAX} pages; name a part of it"),
    ))
}

fn addresses(text: &str) -> Vec<Url> {
    let named: Vec<&str> = if text.contains("<loc>") {
        text.split("<loc>").skip(1).filter_map(|it| it.split("</loc>").next()).collect()
    } else {
        text.lines().collect()
    };
    let named = named.into_iter().map(|it| it.trim().replace("&amp;", "&"));
    named.filter_map(|it| Url::parse(&it).ok().filter(Url::has_host)).collect()
}

/// The folder of a page; empty for the first page of the site.
fn folder_of(path: &str) -> &str {
    let page = path.strip_suffix("index.html").unwrap_or(path).trim_end_matches('/');
    page.rfind('/').map_or("", |end| &page[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_one_folder_are_alike_and_the_first_page_is_like_none() {
        let folders =
            ["/", "/index.html", "/about/", "/team.html", "/blog/a", "/blog/b/index.html"];
        assert_eq!(folders.map(folder_of), ["", "", "/", "/", "/blog/", "/blog/"]);
    }

    #[test]
    fn a_sitemap_and_a_list_name_their_addresses() {
        let sitemap = "<urlset><url><loc> https://shop.example/?a=1&amp;b=2 </loc></url><url><loc>https://shop.example/b</loc></url></urlset>";
        let named = |text: &str| addresses(text).iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(named(sitemap), ["https://shop.example/?a=1&b=2", "https://shop.example/b"]);
        assert_eq!(named("# mine\nhttps://shop.example/c\n"), ["https://shop.example/c"]);
    }

    #[test]
    fn an_index_stands_for_the_sitemaps_that_it_names() {
        let index =
            |url: &str| format!("<sitemapindex><sitemap><loc>{url}</loc></sitemap></sitemapindex>");
        let read = |name: &str| {
            Ok(match name {
                "index.xml" | "https://a.test/index.xml" => index("https://a.test/one.xml"),
                "twice.xml" => index("https://a.test/index.xml"),
                _ => "<urlset><url><loc>https://a.test/b</loc></url></urlset>".to_owned(),
            })
        };
        let texts = lists("index.xml", &read).expect("a sitemap");
        assert_eq!(addresses(&texts[0])[0].as_str(), "https://a.test/b");
        assert_eq!(lists("one.xml", &read).expect("itself"), texts);
        let refused = lists("twice.xml", &read).expect_err("a circle");
        assert!(refused.to_string().contains("https://a.test/index.xml: is an index of sitemaps"));
    }
}

//! Which top-level module of a crate, or of a large module, uses which other: paths of its production code that begin at that
//! root.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::buffer::{Cursor, TokenBuffer};
use syn::visit::{self, Visit};
use syn::{
    Attribute, ImplItem, Item, ItemMod, ItemUse, Macro, Meta, MetaList, UseTree, parse_file,
};

/// A module and one that it uses, with the files that use it.
pub(crate) type Imports = BTreeMap<(String, String), BTreeSet<PathBuf>>;

/// Gives the text of a file, or `None` if there is none.
pub(crate) type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// The imports of a crate whose root is this file.
pub(crate) fn imports(root: &Path, read: Read) -> Imports {
    imports_in(root, &[], read)
}

/// The imports between the modules of `path` in its crate, which `root` declares. Without a path it is the crate.
///
/// # Panics
///
/// If a file is missing or is not Rust.
pub(crate) fn imports_in(root: &Path, path: &[&str], read: Read) -> Imports {
    let items = parsed(root, read);
    let doors = Doors::new(&items);
    let mut imports = Imports::new();
    let folder = root.parent().expect("a file has a folder");
    let folder = path.last().map_or(folder.to_owned(), |it| folder.join(it));
    for module in modules(&items) {
        let name = module.ident.to_string();
        let mut reader = Reader {
            doors: &doors,
            path,
            read,
            module: &name,
            depth: 0,
            file: root.to_owned(),
            folder: folder.clone(),
            imports: &mut imports,
        };
        reader.visit_item_mod(module);
    }
    imports
}

fn parsed(file: &Path, read: Read) -> Vec<Item> {
    let text = read(file).unwrap_or_else(|| panic!("{} is missing", file.display()));
    parse_file(&text).unwrap_or_else(|it| panic!("{}: {it}", file.display())).items
}

fn modules(items: &[Item]) -> impl Iterator<Item = &ItemMod> {
    items.iter().filter_map(|item| match item {
        Item::Mod(module) if !is_test(&module.attrs) => Some(module),
        _ => None,
    })
}

/// The names at a crate's root that lead to modules. A module and a function can have the same name.
struct Doors {
    modules: BTreeSet<String>,
    /// Names that the root imports from its modules by `use`, each with those modules.
    brought: BTreeMap<String, BTreeSet<String>>,
}

impl Doors {
    fn new(items: &[Item]) -> Self {
        let modules = modules(items).map(|it| it.ident.to_string()).collect();
        let mut doors = Self { modules, brought: BTreeMap::new() };
        for item in items {
            let Item::Use(ItemUse { attrs, tree, .. }) = item else { continue };
            for (path, name) in leaves(tree).into_iter().filter(|_| !is_test(attrs)) {
                let inner = path.iter().position(|it| it != "crate" && it != "self").unwrap_or(0);
                let through = doors.behind(&path[inner..]);
                doors.brought.entry(name).or_default().extend(through);
            }
        }
        doors
    }

    /// The modules that a path from the root leads to.
    fn behind(&self, path: &[String]) -> BTreeSet<String> {
        let Some(first) = path.first() else { return BTreeSet::new() };
        let module = self.modules.get(first);
        let brought = self.brought.get(first).filter(|_| module.is_none() || path.len() == 1);
        module.into_iter().chain(brought.into_iter().flatten()).cloned().collect()
    }
}

/// The paths of a `use`, each with the name that it brings.
fn leaves(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let first = path.ident.to_string();
            leaves(&path.tree)
                .into_iter()
                .map(|(rest, name)| {
                    let name = if name == "self" { first.clone() } else { name };
                    ([vec![first.clone()], rest].concat(), name)
                })
                .collect()
        }
        UseTree::Name(it) => vec![(vec![it.ident.to_string()], it.ident.to_string())],
        UseTree::Rename(it) => vec![(vec![it.ident.to_string()], it.rename.to_string())],
        UseTree::Glob(_) => vec![(vec!["*".to_owned()], "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Whether an item is left out of the program: `#[cfg(test)]`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| match &it.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        _ => false,
    })
}

/// Reads a module with all modules below it.
struct Reader<'a> {
    doors: &'a Doors,
    /// The path of the root in its crate.
    path: &'a [&'a str],
    read: Read<'a>,
    /// The top-level module.
    module: &'a str,
    /// Modules between the root and the place that is read, with the top-level one.
    depth: usize,
    file: PathBuf,
    /// Where the files are of modules that the present module declares.
    folder: PathBuf,
    imports: &'a mut Imports,
}

impl Reader<'_> {
    /// The items of a module in its own file, `NAME.rs` or `NAME/mod.rs`.
    fn items_of(&mut self, name: &Path) -> Vec<Item> {
        let file = name.with_extension("rs");
        self.file = if (self.read)(&file).is_some() { file } else { name.join("mod.rs") };
        parsed(&self.file, self.read)
    }

    /// The part of a crate's path after the root's path.
    fn below_root<'b>(&self, path: &'b [String]) -> Option<&'b [String]> {
        let (start, rest) = path.split_at_checked(self.path.len())?;
        (start == self.path).then_some(rest)
    }

    /// Notes a path if it begins at the root.
    fn note(&mut self, path: &[String]) {
        let path = path.strip_prefix(&["self".to_owned()]).unwrap_or(path);
        let ups = path.iter().take_while(|it| *it == "super").count();
        let rest = match path.first().map(String::as_str) {
            Some("crate") => self.below_root(&path[1..]),
            Some("super") if ups == self.depth => Some(&path[ups..]),
            _ => None,
        };
        let Some(rest) = rest else { return };
        let is_glob = rest.first().is_some_and(|it| it == "*");
        assert!(!is_glob, "{}: a glob of the root hides what it uses", self.file.display());
        for module in self.doors.behind(rest).into_iter().filter(|it| it != self.module) {
            let edge = (self.module.to_owned(), module);
            self.imports.entry(edge).or_default().insert(self.file.clone());
        }
    }

    /// Notes the paths in the text of a macro or an attribute, which is not parsed.
    fn note_tokens(&mut self, mut at: Cursor) {
        let mut path: Vec<String> = Vec::new();
        while let Some((_, after)) = at.token_tree() {
            if let Some((name, _)) = at.ident() {
                path.push(name.to_string());
                if let Some(rest) = colons(after) {
                    at = rest;
                    continue;
                }
            } else if let Some((inner, ..)) = at.any_group() {
                self.note_tokens(inner);
            } else if let Some((text, _)) = at.literal() {
                // As in `#[serde(with = "crate::kind")]`.
                let text = text.to_string();
                path = text.trim_matches('"').split("::").map(str::to_owned).collect();
            }
            self.note(&path);
            path.clear();
            at = after;
        }
    }
}

/// The part after `::`.
fn colons(at: Cursor) -> Option<Cursor> {
    let (first, next) = at.punct()?;
    let (second, next) = next.punct()?;
    (first.as_char() == ':' && second.as_char() == ':').then_some(next)
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let is_test = match item {
            ImplItem::Fn(it) => is_test(&it.attrs),
            ImplItem::Const(it) => is_test(&it.attrs),
            _ => false,
        };
        if !is_test {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let name = module.ident.to_string();
        let (file, folder) = (self.file.clone(), self.folder.clone());
        self.folder = folder.join(&name);
        self.depth += 1;
        let parsed = match &module.content {
            Some((_, items)) => items.clone(),
            None => self.items_of(&folder.join(&name)),
        };
        for item in &parsed {
            self.visit_item(item);
        }
        self.depth -= 1;
        (self.file, self.folder) = (file, folder);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for (path, _) in leaves(&item.tree) {
            self.note(&path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        self.note(&names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, of: &'ast Macro) {
        visit::visit_macro(self, of);
        self.note_tokens(TokenBuffer::new2(of.tokens.clone()).begin());
    }

    fn visit_meta_list(&mut self, of: &'ast MetaList) {
        visit::visit_meta_list(self, of);
        self.note_tokens(TokenBuffer::new2(of.tokens.clone()).begin());
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

//! Inside each crate, modules import in one direction, and each public type name is unique in the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use atoms_tests::root;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, UseTree, Visibility};

/// Path of a module in its crate, such as `["plan", "file"]`. Empty for the root.
type Module = Vec<String>;

struct Source {
    path: PathBuf,
    module: Module,
    file: syn::File,
}

fn crates() -> BTreeMap<String, Vec<Source>> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    let manifest: toml::Table = manifest.parse().expect("it is TOML");
    let members = manifest["workspace"]["members"].as_array().expect("a list of members");
    let folder = |member: &toml::Value| member.as_str().expect("a folder").to_string();
    members
        .iter()
        .map(folder)
        .map(|member| (member.clone(), sources(&root().join(member).join("src"))))
        .collect()
}

fn sources(src: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![(src.to_path_buf(), Module::new())];
    while let Some((folder, module)) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("a folder can be read to its end").path();
            let stem = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            let inside = || module.iter().cloned().chain([stem.clone()]).collect();
            if path.is_dir() {
                folders.push((path.clone(), inside()));
            } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" {
                let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let module =
                    if matches!(&stem[..], "mod" | "lib" | "main") { module.clone() } else { inside() };
                found.push(Source { path, module, file });
            }
        }
    }
    found
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

struct Imports {
    module: Module,
    found: Vec<Module>,
}

impl Imports {
    fn name(&mut self, path: &[String]) {
        let (mut from, rest) = match path.first().map(String::as_str) {
            Some("crate") => (Module::new(), &path[1..]),
            Some("self") => (self.module.clone(), &path[1..]),
            Some("super") => (self.module.clone(), path),
            _ => return,
        };
        let ups = rest.iter().take_while(|part| *part == "super").count();
        from.truncate(from.len().saturating_sub(ups));
        from.extend(rest[ups..].iter().cloned());
        self.found.push(from);
    }

    fn tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.name(&with(&name.ident)),
            UseTree::Rename(name) => self.name(&with(&name.ident)),
            UseTree::Glob(_) => self.name(before),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.tree(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.name(&path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }
}

/// For each folder, the imports between its direct children, with one source file per import.
type Arrows = BTreeMap<Module, BTreeMap<(String, String), PathBuf>>;

fn arrows(sources: &[Source]) -> Arrows {
    let mut arrows = Arrows::new();
    for source in sources {
        let mut imports = Imports { module: source.module.clone(), found: Vec::new() };
        imports.visit_file(&source.file);
        for to in imports.found {
            let shared = source.module.iter().zip(&to).take_while(|(a, b)| a == b).count();
            let modules = |name: &[String]| sources.iter().any(|s| s.module.starts_with(name));
            if shared < source.module.len() && shared < to.len() && modules(&to[..=shared]) {
                let arrow = (source.module[shared].clone(), to[shared].clone());
                arrows.entry(to[..shared].to_vec()).or_default().entry(arrow).or_insert(source.path.clone());
            }
        }
    }
    arrows
}

/// Returns the arrows that are part of a cycle or lie between cycles. The function repeatedly removes modules
/// that import nothing or that nothing imports.
fn circle(mut arrows: BTreeMap<(String, String), PathBuf>) -> BTreeMap<(String, String), PathBuf> {
    loop {
        let (importing, imported): (BTreeSet<_>, BTreeSet<_>) = arrows.keys().cloned().unzip();
        let before = arrows.len();
        arrows.retain(|(from, to), _| importing.contains(to) && imported.contains(from));
        if arrows.len() == before {
            return arrows;
        }
    }
}

#[test]
fn modules_import_one_way() {
    let mut circles = Vec::new();
    for (name, sources) in crates() {
        for (folder, arrows) in arrows(&sources) {
            for ((from, to), path) in circle(arrows) {
                let folder = folder.join("/");
                circles.push(format!("{name}/src/{folder}: {from} -> {to} ({})", path.display()));
            }
        }
    }
    assert!(circles.is_empty(), "modules that import each other in a circle:\n  {}", circles.join("\n  "));
}

fn types(items: &[Item], found: &mut Vec<String>) {
    for item in items {
        let (visibility, name) = match item {
            Item::Struct(item) => (&item.vis, &item.ident),
            Item::Enum(item) => (&item.vis, &item.ident),
            Item::Union(item) => (&item.vis, &item.ident),
            Item::Trait(item) => (&item.vis, &item.ident),
            Item::Type(item) => (&item.vis, &item.ident),
            Item::Mod(item) if !is_test(&item.attrs) => {
                types(item.content.as_ref().map_or(&[], |(_, items)| items), found);
                continue;
            }
            _ => continue,
        };
        if matches!(visibility, Visibility::Public(_)) {
            found.push(name.to_string());
        }
    }
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in crates().into_values().flatten() {
        let mut names = Vec::new();
        types(&source.file.items, &mut names);
        for name in names {
            let path = source.path.strip_prefix(root()).unwrap_or(&source.path);
            places.entry(name).or_default().push(path.display().to_string());
        }
    }
    let several: Vec<_> = places
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect();
    assert!(several.is_empty(), "public types that share a name:\n  {}", several.join("\n  "));
}

/// The check finds two modules that import each other, and ignores modules outside the cycle.
#[test]
fn a_circle_is_found() {
    let arrow = |from: &str, to: &str| ((from.to_string(), to.to_string()), PathBuf::new());
    let found = circle([arrow("a", "b"), arrow("b", "a"), arrow("c", "a"), arrow("b", "d")].into());
    let found: Vec<_> = found.into_keys().map(|(from, to)| from + " -> " + &to).collect();
    assert_eq!(found, ["a -> b", "b -> a"]);
}

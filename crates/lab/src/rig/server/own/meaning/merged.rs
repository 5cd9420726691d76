//! Apache's sections in the order in which they are merged for a file and a URL: later ones win.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::nginx::expression;
use crate::rig::server::own::Rules;
use crate::rig::server::own::site::Site;
use crate::rig::server::own::syntax::Directive;
use crate::rig::server::own::tree::Tree;

/// Sections whose content holds whatever the request is, as far as is known here.
const OPEN: [&str; 5] = ["IfModule", "IfVersion", "IfDefine", "RequireAny", "RequireAll"];

/// Every directive that holds, in order of merging.
pub struct Merged<'t> {
    /// Of the server and the site.
    pub of_server: Vec<&'t Directive>,
    /// Of folders, files and locations, after that; the folder that it is said for, where it is one.
    pub of_place: Vec<(Option<PathBuf>, &'t Directive)>,
    /// Sections with conditions on requests.
    pub conditions: Vec<&'t Directive>,
}

impl<'t> Merged<'t> {
    /// What holds for this file and URL path.
    pub fn of(rules: &Rules, tree: &'t Tree, site: &Site, file: &Path, url: &str) -> Merged<'t> {
        let mut lists = vec![open(&tree.directives)];
        let sites = tree.directives.iter().filter(|d| d.is(&rules.site) && Some(d.at) == site.at);
        lists.extend(sites.map(|d| open(d.within())));
        let mut merged = Merged { of_server: Vec::new(), of_place: Vec::new(), conditions: Vec::new() };
        let all: Vec<&Directive> = lists.into_iter().flatten().collect();
        merged.of_server.extend(all.iter().filter(|d| d.block.is_none()));
        merged.folders(tree, &all, file);
        let matches = all.iter().filter(|d| d.is("DirectoryMatch"));
        let parent = file.parent().unwrap_or(file).to_string_lossy().into_owned();
        matches.filter(|d| is_match(d, &parent)).for_each(|d| merged.add(None, d.within()));
        // What is said for files within the folders comes with those of the server.
        let nested: Vec<&Directive> =
            merged.of_place.iter().map(|(_, d)| *d).filter(|d| d.block.is_some()).collect();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for files in all.iter().copied().chain(nested).filter(|d| is_of_file(d, &name)) {
            merged.add(None, files.within());
        }
        for location in all.iter().filter(|d| is_of_url(d, url)) {
            merged.add(None, location.within());
        }
        merged.conditions = all.iter().copied().filter(|d| d.is("If") || d.is("ElseIf")).collect();
        let within = merged.of_place.iter().map(|(_, d)| *d).filter(|d| d.is("If") || d.is("ElseIf"));
        merged.conditions.extend(within.collect::<Vec<_>>());
        merged.of_place.retain(|(_, d)| d.block.is_none());
        merged
    }

    /// `Directory` from the shortest to the longest, each followed by the folder's own file.
    fn folders(&mut self, tree: &'t Tree, all: &[&'t Directive], file: &Path) {
        let above: Vec<&Path> = file.ancestors().skip(1).collect();
        let mut overrides = true;
        for folder in above.into_iter().rev() {
            let own = all.iter().filter(|d| d.is("Directory") && is_folder(d, folder));
            for section in own.collect::<Vec<_>>() {
                self.add(Some(folder), section.within());
                let said = section.within().iter().rfind(|d| d.is("AllowOverride"));
                overrides = said.map_or(overrides, |d| !d.first().eq_ignore_ascii_case("none"));
            }
            if let Some(own) = tree.folders.get(folder).filter(|_| overrides) {
                self.add(Some(folder), own);
            }
        }
    }

    fn add(&mut self, folder: Option<&Path>, block: &'t [Directive]) {
        self.of_place.extend(open(block).into_iter().map(|d| (folder.map(Path::to_owned), d)));
    }

    /// Every directive of this name, in order.
    pub fn named<'m>(&'m self, name: &'m str) -> impl Iterator<Item = &'t Directive> + 'm {
        let all = self.of_server.iter().copied().chain(self.of_place.iter().map(|(_, d)| *d));
        all.filter(move |d| d.is(name))
    }

    /// The last of this name, which is in force.
    pub fn last(&self, name: &str) -> Option<&'t Directive> {
        self.named(name).last()
    }
}

/// Directives with those of sections that only group.
fn open(list: &[Directive]) -> Vec<&Directive> {
    let mut found = Vec::new();
    for directive in list {
        match OPEN.iter().any(|name| directive.is(name)) {
            true => found.extend(open(directive.within())),
            false => found.push(directive),
        }
    }
    found
}

fn is_folder(section: &Directive, folder: &Path) -> bool {
    let words = section.words();
    let path = words.first().map_or("", String::as_str);
    if path == "~" {
        return words.get(1).is_some_and(|pattern| is_regular(pattern, &folder.to_string_lossy()));
    }
    let path = if path == "/" { path } else { path.trim_end_matches('/') };
    if !path.contains(['*', '?', '[']) {
        return Path::new(path) == folder;
    }
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
    Pattern::new(path).is_ok_and(|pattern| pattern.matches_path_with(folder, options))
}

fn is_of_file(section: &Directive, name: &str) -> bool {
    if section.is("FilesMatch") {
        return is_match(section, name);
    }
    section.is("Files") && is_named(section, name, |path| Pattern::new(path).is_ok_and(|p| p.matches(name)))
}

fn is_of_url(section: &Directive, url: &str) -> bool {
    if section.is("LocationMatch") {
        return is_match(section, url);
    }
    let is_below = |path: &str| {
        let path = path.trim_end_matches('/');
        url.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    section.is("Location") && is_named(section, url, is_below)
}

/// A section by name, or by an expression after `~`.
fn is_named(section: &Directive, text: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let words = section.words();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["~", pattern] => is_regular(pattern, text),
        [name] => is_name(name),
        _ => false,
    }
}

fn is_match(section: &Directive, text: &str) -> bool {
    is_regular(&section.first(), text)
}

fn is_regular(pattern: &str, text: &str) -> bool {
    expression(pattern, false).is_some_and(|e| e.is_match(text).unwrap_or(false))
}

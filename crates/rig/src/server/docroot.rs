//! A docroot with pre-encoded variants beside its files: which there are, and a mirror of links for ways that need another arrangement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use walkdir::WalkDir;

use super::definition::Mirror;
use weigh_content::types::{self, VARIANTS};
use weigh_model::advised::Advised;
use weigh_model::way::WayKind;
use weigh_os::template;

/// The mirror's folder in an instance's private directory.
pub const MIRROR: &str = "docroot";

/// One variant in a map.
#[derive(Serialize)]
struct Variant {
    name: String,
    coding: &'static str,
}

/// A file as the templates of a mirror see it.
#[derive(Serialize)]
struct File<'a> {
    name: &'a str,
    extension: &'a str,
    r#type: &'static str,
    variants: Vec<Variant>,
}

/// Whether the file beside `path` that is its variant of this extension exists.
fn has_variant(path: &Path, extension: &str) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    Path::new(&name).is_file()
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

fn is_variant(path: &Path) -> bool {
    VARIANTS.iter().any(|(_, e)| *e == extension(path))
}

/// For each coding, the extensions all of whose files below the docroot have a variant of it. A dead link, or a file that cannot be
/// read, is not sent and does not count.
pub fn variants(docroot: &Path) -> BTreeMap<&'static str, Vec<String>> {
    let mut found: BTreeMap<&'static str, BTreeMap<String, bool>> = BTreeMap::new();
    for entry in WalkDir::new(docroot).follow_links(true) {
        let Ok(entry) = entry else { continue };
        let path = entry.path();
        if !entry.file_type().is_file() || is_variant(path) || extension(path).is_empty() {
            continue;
        }
        for (coding, suffix) in VARIANTS {
            let all = found.entry(coding).or_default().entry(extension(path).to_owned()).or_insert(true);
            *all &= has_variant(path, suffix);
        }
    }
    let whole =
        |all: BTreeMap<String, bool>| all.into_iter().filter(|(_, every)| *every).map(|(e, _)| e).collect();
    let by_coding = found.into_iter().map(|(coding, all)| (coding, whole(all)));
    by_coding.filter(|(_, extensions): &(_, Vec<String>)| !extensions.is_empty()).collect()
}

/// The extensions of the files below the docroot.
pub fn extensions(docroot: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in WalkDir::new(docroot).follow_links(true) {
        // Files that cannot be read are not sent.
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_file() && !is_variant(entry.path()) {
            found.insert(extension(entry.path()).to_owned());
        }
    }
    found
}

/// The extensions that each content coding's variants are to have: those of the rule's types that the docroot has files of.
pub fn extensions_of(advised: &Advised, docroot: &Path) -> BTreeMap<&'static str, Vec<String>> {
    // Of a folder that cannot be read nothing is known: all are meant.
    let present = extensions(docroot);
    let mut found: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for encoding in advised.rules.iter().filter(|encoding| encoding.kind == WayKind::PreEncoded) {
        let named = types::extensions(&encoding.types);
        let named: Vec<String> = named
            .into_iter()
            .filter(|e| present.is_empty() || present.contains(*e))
            .map(str::to_owned)
            .collect();
        let codings = VARIANTS.iter().filter(|(coding, _)| encoding.codings.iter().any(|c| c == coding));
        found.extend(codings.map(|(coding, _)| (*coding, named.clone())).filter(|(_, all)| !all.is_empty()));
    }
    found
}

/// Makes the mirror: the docroot's folders, with links to its files.
pub fn mirror(docroot: &Path, target: &Path, rule: &Mirror, map: Option<(&str, &str)>) -> Result<()> {
    let docroot = docroot.canonicalize()?;
    for entry in WalkDir::new(&docroot).follow_links(true) {
        let entry = entry.with_context(|| format!("cannot read {}", docroot.display()))?;
        let place = target.join(entry.path().strip_prefix(&docroot)?);
        if entry.file_type().is_dir() {
            fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
        } else {
            link(entry.path(), &place, rule, map)
                .with_context(|| format!("cannot make {}", place.display()))?;
        }
    }
    Ok(())
}

fn link(file: &Path, place: &Path, rule: &Mirror, map: Option<(&str, &str)>) -> Result<()> {
    let there: Vec<_> = VARIANTS.into_iter().filter(|(_, suffix)| has_variant(file, suffix)).collect();
    let Some(name) = file.file_name().and_then(|n| n.to_str()).filter(|_| !there.is_empty()) else {
        return Ok(symlink(file, place)?);
    };
    let view = |variants| File {
        name,
        extension: extension(file),
        r#type: types::of_extension(extension(file)),
        variants,
    };
    let plain = match &rule.plain {
        Some(template) => template::render("server.toml, plain", template, view(Vec::new()))?,
        None => name.to_owned(),
    };
    symlink(file, place.with_file_name(&plain))?;
    if let Some((template_name, template)) = map {
        let suffix = extension(Path::new(template_name));
        let text = map_text(name, &plain, &there, (template_name, template))?;
        fs::write(place.with_file_name(format!("{name}.{suffix}")), text)?;
    }
    Ok(())
}

/// A file's map by a template of this name: the file, which has the name `plain`, and its variants as content codings with what they add
/// to its name.
///
/// # Errors
/// The template cannot be rendered.
pub fn map_text(
    name: &str,
    plain: &str,
    there: &[(&'static str, &'static str)],
    (template_name, template): (&str, &str),
) -> Result<String> {
    let encoded =
        |(coding, suffix): &(&'static str, &str)| Variant { name: format!("{name}.{suffix}"), coding };
    let itself = Variant { name: plain.to_owned(), coding: "identity" };
    let extension = extension(Path::new(name));
    let variants = [itself].into_iter().chain(there.iter().map(encoded)).collect();
    let view = File { name, extension, r#type: types::of_extension(extension), variants };
    template::render(template_name, template, &view)
}

#[cfg(test)]
mod tests;

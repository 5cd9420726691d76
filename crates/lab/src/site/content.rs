//! The content of a site in strata: files of the document root, pages, with what is asked of each.

use std::path::Path;

use anyhow::{Result, bail};

use super::class;
use super::hits::{Asked, Hits};
use super::pages::Visited;
use super::strata::{Candidate, Strata};
use crate::content::user::{self, Links};
use crate::lab::Progress;
use crate::rig::server::types;
use weigh_model::site::Kind;
use weigh_model::text::clean_path;

/// Files between two lines of progress.
const OFTEN: u64 = 5000;

/// Adds the files of a document root that visitors ask for; gives how many there are. What is left out is said.
///
/// # Errors
/// One line: no such folder, or nothing in it that visitors ask for.
pub fn add_files(
    docroot: &Path,
    output: &Path,
    asked: Option<&Asked>,
    strata: &mut Strata,
    progress: &mut dyn Progress,
) -> Result<u64> {
    let named = clean_path(docroot);
    if !docroot.is_dir() {
        bail!(
            "--docroot {named}: there is no such folder; give the folder that the web server sends files from"
        );
    }
    let mut files = 0;
    let notes = user::visit(docroot, output, Links::Inside, &mut |file| {
        let Some(path) = file.path.strip_prefix(docroot).ok().and_then(Path::to_str) else {
            return Some("files whose names are not UTF-8");
        };
        let hits = asked.map(|asked| asked.of(path)).unwrap_or_default();
        if !hits.any() && is_variant(&file.path) {
            return Some("precompressed variants");
        }
        let class = match class::of(path, file.bytes, hits.any()) {
            Ok(class) => class,
            Err(what) => return Some(what),
        };
        let candidate = Candidate { path: path.to_owned(), bytes: file.bytes, requests: hits.requests };
        strata.add(class.kind, class.format, candidate, &hits);
        files += 1;
        if files % OFTEN == 0 {
            progress.doing(&format!("looking at {named}: {files} files"));
        }
        None
    });
    notes.iter().for_each(|note| progress.note(&format!("--docroot: {note}")));
    if files == 0 {
        bail!(
            "--docroot {named}: no file in it that visitors ask for; give the folder that the web server sends files from"
        );
    }
    Ok(files)
}

/// Whether it is what an encoder made of the file beside it.
fn is_variant(path: &Path) -> bool {
    let is_ending = types::VARIANTS.iter().any(|(_, ending)| path.extension().is_some_and(|e| e == *ending));
    is_ending && path.with_extension("").is_file()
}

/// Adds what the pages load, where there is no document root.
pub fn add_fetched(visited: &Visited, asked: Option<&Asked>, strata: &mut Strata) {
    for (path, body) in &visited.fetched {
        let bytes = body.len() as u64;
        let Ok(class) = class::of(path, bytes, true) else { continue };
        let hits = asked.map(|asked| asked.of(path)).unwrap_or_default();
        strata.add(
            class.kind,
            class.format,
            Candidate { path: path.clone(), bytes, requests: hits.requests },
            &hits,
        );
    }
}

/// Adds the pages that were fetched. `all`: what is asked of all pages of the site; what is not known of a page is shared evenly.
pub fn add_pages(visited: &Visited, asked: Option<&Asked>, all: Hits, strata: &mut Strata) {
    let known: Vec<Hits> = visited
        .pages
        .iter()
        .map(|page| asked.map(|asked| asked.of(&page.path)).unwrap_or_default())
        .collect();
    let sum = known.iter().fold(Hits::default(), |mut sum, hits| {
        sum.add(hits);
        sum
    });
    let rest = |all: f64, known: f64| (all - known).max(0.0) / visited.pages.len() as f64;
    let each = Hits {
        requests: rest(all.requests, sum.requests),
        bytes: rest(all.bytes, sum.bytes),
        not_modified: rest(all.not_modified, sum.not_modified),
        ranges: 0.0,
    };
    for (at, (page, mut hits)) in visited.pages.iter().zip(known).enumerate() {
        hits.add(&each);
        let candidate =
            Candidate { path: at.to_string(), bytes: page.body.len() as u64, requests: hits.requests };
        strata.add(Kind::Page, &page.format, candidate, &hits);
    }
}

//! The content of a site in strata: files of the document root, pages, with what is asked of each.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Result, bail};

use super::hits::{Hits, RequestsByPath};
use super::pages::{Page, Visited};
use super::scripts::{Answered, MADE, Made};
use super::served::{Counted, Served};
use super::strata::{Candidate, Strata};
use super::traffic::LoggedPage;
use weigh_content::class;
use weigh_content::types::{self, MediaTypes};
use weigh_content::user::{self, Found, Links};
use weigh_load::verify::is_text;
use weigh_model::site::{From, Kind};
use weigh_model::text::{clean, clean_path};
use weigh_model::units;
use weigh_run::lab::Progress;

/// Files between two lines of progress.
const OFTEN: u64 = 5000;
/// The share of requests for files elsewhere that is not worth a word.
const TOLERATED: f64 = 0.01;
/// Bytes at the end of a script or style sheet in which the comment stands that names its source map.
const END_OF_SCRIPT: u64 = 2048;

/// Adds the files of a site's folders that visitors ask for; gives how many there are. What is left out is said. Scripts of PHP alone make a site, too.
///
/// # Errors
/// One line: there is nothing in them that visitors ask for, and no script.
pub fn add_files(
    served: &Served,
    output: &Path,
    asked: Option<&RequestsByPath>,
    strata: &mut Strata,
    progress: &mut dyn Progress,
) -> Result<u64> {
    let mut sum = Sum::default();
    let counted = served.counted();
    for one in &counted {
        let links = if served.follows() { Links::Served(served.roots()) } else { Links::Inside };
        let notes = user::visit(&one.folder, output, links, &mut |file| {
            let left = add_file((served, one), &file, asked, strata, &mut sum);
            if left.is_none() && sum.files % OFTEN == 0 {
                progress.doing(&format!("looking at {}: {} files", clean_path(&one.folder), sum.files));
            }
            left
        });
        let flag =
            if one.begin.is_empty() { "--docroot".to_owned() } else { format!("/{}", clean(&one.begin)) };
        notes.iter().for_each(|note| progress.note(&format!("{flag}: {note}")));
    }
    if let Some(asked) = asked.filter(|_| served.follows()) {
        add_linked(served, asked, strata, &mut sum);
    }
    if let Some(asked) = asked.filter(|asked| asked.from == From::Counted) {
        tell_elsewhere(asked, sum.found, progress);
    }
    if sum.files == 0 && !sum.has_scripts {
        let named: Vec<String> = counted.iter().map(|one| clean_path(&one.folder)).collect();
        bail!(
            "--docroot {}: no file in it that visitors ask for; give the folder that the web server sends files from",
            named.join(", ")
        );
    }
    Ok(sum.files)
}

/// Files, and the requests for them.
#[derive(Default)]
struct Sum {
    files: u64,
    /// Whether there is a script of PHP.
    has_scripts: bool,
    found: f64,
    /// Those that are asked for.
    asked: HashSet<String>,
}

/// Adds files that are asked for and that a link leads to outside of the folders, which are not searched.
fn add_linked(served: &Served, asked: &RequestsByPath, strata: &mut Strata, sum: &mut Sum) {
    let mut paths: Vec<(&String, &Hits)> = asked.paths.iter().filter(|(_, hits)| hits.any()).collect();
    paths.sort_by_key(|(path, _)| *path);
    for (path, hits) in paths {
        if class::is_page(path) || sum.asked.contains(path) {
            continue;
        }
        let Ok((file, bytes)) = served.open(path) else { continue };
        let is_text = || begins_as_text(&file);
        let Ok(class) = class::classify_file(path, bytes, true, &served.types, &is_text) else { continue };
        if bytes > 0 {
            let candidate = Candidate { path: path.clone(), bytes, requests: hits.requests };
            strata.add(class.kind, &class.format, candidate, hits);
            sum.files += 1;
            sum.found += hits.requests;
        }
    }
}

/// Adds a file of a folder; else what such files are.
fn add_file(
    (served, of): (&Served, &Counted),
    file: &Found,
    asked: Option<&RequestsByPath>,
    strata: &mut Strata,
    sum: &mut Sum,
) -> Option<&'static str> {
    let Some(below) = file.path.strip_prefix(&of.folder).ok().and_then(Path::to_str) else {
        return Some("files whose names are not UTF-8");
    };
    let path = format!("{}{below}", of.begin);
    if served.locate(&path).as_deref() != Some(&file.path) {
        return Some("files that an alias hides");
    }
    let hits = asked.map(|asked| asked.of(&path)).unwrap_or_default();
    if of.asked_only && !hits.any() {
        return Some("files that all sites share, which nobody asks for");
    }
    if !hits.any() && is_variant(&file.path) {
        return Some("precompressed variants");
    }
    let is_asked = hits.any() || is_map_in_use(served, &path);
    let is_text = || served.open(&path).is_ok_and(|(file, _)| begins_as_text(&file));
    let class = match class::classify_file(&path, file.bytes, is_asked, &served.types, &is_text) {
        Ok(class) => class,
        Err(what) => {
            sum.has_scripts |= class::extension(&path).starts_with("php");
            return Some(what);
        }
    };
    if hits.any() {
        sum.asked.insert(path.clone());
    }
    let candidate = Candidate { path, bytes: file.bytes, requests: hits.requests };
    strata.add(class.kind, &class.format, candidate, &hits);
    sum.files += 1;
    sum.found += hits.requests;
    None
}

/// Whether a file's first bytes are text.
fn begins_as_text(mut file: &File) -> bool {
    let mut head = Vec::new();
    file.by_ref().take(512).read_to_end(&mut head).is_ok() && is_text(&head)
}

/// Whether it is the source map that the end of the script or style sheet beside it names.
fn is_map_in_use(served: &Served, path: &str) -> bool {
    let name = path.rsplit('/').next().filter(|name| name.ends_with(".map"));
    let end = || {
        let (mut file, length) = served.open(path.strip_suffix(".map")?).ok()?;
        let begin = length.saturating_sub(END_OF_SCRIPT);
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(begin)).ok()?;
        file.take(END_OF_SCRIPT).read_to_end(&mut end).ok()?;
        Some(String::from_utf8_lossy(&end).into_owned())
    };
    name.map(|name| format!("sourceMappingURL={name}"))
        .is_some_and(|comment| end().is_some_and(|end| end.contains(&comment)))
}

/// Says how much of what a log names is not a file here: another site's, or renamed since.
fn tell_elsewhere(asked: &RequestsByPath, found: f64, progress: &mut dyn Progress) {
    let files = asked.paths.iter().filter(|(path, _)| !class::is_page(path));
    let all: f64 = files.map(|(_, hits)| hits.requests).sum();
    if all - found > all * TOLERATED {
        let share = units::percent(1.0 - found / all);
        progress.note(&format!(
            "--log: {share} of the requests for files are for none of this document root, and left out"
        ));
    }
}

/// Whether it is what an encoder made of the file beside it.
fn is_variant(path: &Path) -> bool {
    let is_ending = types::VARIANTS.iter().any(|(_, ending)| path.extension().is_some_and(|e| e == *ending));
    is_ending && path.with_extension("").is_file()
}

/// Adds what the pages load and what a log names, where there is no document root.
pub fn add_fetched(visited: &Visited, asked: Option<&RequestsByPath>, strata: &mut Strata) {
    let types = MediaTypes::default();
    let named = asked.filter(|asked| asked.from == From::Counted).into_iter().flat_map(|asked| &asked.paths);
    for (path, hits) in
        named.filter(|(path, hits)| hits.requests > 0.0 && !visited.fetched.contains_key(*path))
    {
        let sent = (hits.bytes / hits.requests) as u64;
        let is_file = !class::is_page(path);
        let class = || class::classify_file(path, sent, true, &types, &|| false).ok();
        if let Some(class) = is_file.then(class).flatten() {
            strata.count(class.kind, &class.format, 1, sent, hits);
        }
    }
    for (path, body) in &visited.fetched {
        let bytes = body.len() as u64;
        let Ok(class) = class::classify_file(path, bytes, true, &types, &|| is_text(body)) else { continue };
        let hits = asked.map(|asked| asked.of(path)).unwrap_or_default();
        strata.add(
            class.kind,
            &class.format,
            Candidate { path: path.clone(), bytes, requests: hits.requests },
            &hits,
        );
    }
}

/// Adds pages that a log alone names: this many paths.
pub fn add_logged_pages(paths: u64, all: Hits, strata: &mut Strata) {
    if all.requests > 0.0 {
        strata.count(Kind::Page, "text/html", paths, (all.bytes / all.requests) as u64, &all);
    }
}

/// Adds what scripts answer that is not a page; those whose answers are here can stand for others.
pub fn add_made(made: &[Made], answers: &HashMap<String, Answered>, strata: &mut Strata) {
    for Made { key, kind, format, hits } in made.iter().filter(|one| one.hits.requests > 0.0) {
        match answers.get(key).filter(|answered| !answered.body.is_empty()) {
            Some(answered) => {
                let (path, bytes) = (format!("{MADE}{key}"), answered.body.len() as u64);
                strata.add(*kind, format, Candidate { path, bytes, requests: hits.requests }, hits);
            }
            None => strata.count(*kind, format, 1, (hits.bytes / hits.requests) as u64, hits),
        }
    }
}

/// Adds the pages that were fetched. `all`: what is asked of all pages of the site; `logged`: those that a log names. What is asked of others goes to those that are sent with about as
/// many bytes, as the log tells; where it does not, to all evenly.
pub fn add_pages(visited: &Visited, logged: &[LoggedPage], all: Hits, strata: &mut Strata) {
    let known = |page: &Page| logged.iter().find(|one| one.url == page.url).map(|one| one.hits);
    let known: Vec<Hits> = visited.pages.iter().map(|page| known(page).unwrap_or_default()).collect();
    let total = |all: &[Hits]| {
        all.iter().fold(Hits::default(), |mut sum, hits| {
            sum.add(hits);
            sum
        })
    };
    let near = nearest(visited, logged, &known);
    let (sum, near_sum) = (total(&known), total(&near));
    let part = |own: f64, sum: f64| if sum > 0.0 { own / sum } else { 1.0 / visited.pages.len() as f64 };
    for (at, (page, mut hits)) in visited.pages.iter().zip(known).enumerate() {
        let own = near[at];
        hits.add(&Hits {
            requests: (all.requests - sum.requests).max(0.0) * part(own.requests, near_sum.requests),
            bytes: (all.bytes - sum.bytes).max(0.0) * part(own.bytes, near_sum.bytes),
            not_modified: (all.not_modified - sum.not_modified).max(0.0)
                * part(own.not_modified, near_sum.not_modified),
            ranges: 0.0,
        });
        let candidate =
            Candidate { path: at.to_string(), bytes: page.body.len() as u64, requests: hits.requests };
        strata.add(Kind::Page, &page.format, candidate, &hits);
    }
}

/// For each page that was fetched, what is asked of pages that were not and that are sent with about as many bytes.
fn nearest(visited: &Visited, logged: &[LoggedPage], known: &[Hits]) -> Vec<Hits> {
    let mean = |hits: &Hits| (hits.requests > 0.0 && hits.bytes > 0.0).then(|| hits.bytes / hits.requests);
    let means: Vec<Option<f64>> = known.iter().map(mean).collect();
    let mut near = vec![Hits::default(); known.len()];
    let others = logged.iter().filter(|one| visited.pages.iter().all(|page| page.url != one.url));
    for LoggedPage { hits, .. } in others {
        let Some(own) = mean(hits) else { continue };
        let distance = |at: &usize| means[*at].map_or(f64::INFINITY, |mean| (mean / own).ln().abs());
        let best = (0..means.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(at) = best.filter(|at| means[*at].is_some()) {
            near[at].add(hits);
        }
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_not_fetched_go_to_those_of_their_length() {
        let hits = |requests: f64, each: f64| Hits { requests, bytes: requests * each, ..Hits::default() };
        let logged = [("/", 10.0, 3_000.0), ("/?p=1", 40.0, 15_000.0), ("/?p=9", 30.0, 13_000.0)];
        let logged = logged.map(|(url, n, each)| LoggedPage { url: url.into(), hits: hits(n, each) });
        let page = |url: &str, bytes: usize| Page {
            path: String::new(),
            url: url.into(),
            format: "text/html".into(),
            body: vec![b'a'; bytes],
            made_ms: 1.0,
        };
        let pages = vec![page("/", 9_000), page("/?p=1", 60_000)];
        let visited = Visited { pages, ..Visited::default() };
        let mut all = Hits::default();
        logged.iter().for_each(|one| all.add(&one.hits));
        let mut strata = Strata::default();
        add_pages(&visited, &logged, all, &mut strata);
        let found: Vec<_> = strata.0.values().map(|layer| (layer.hits.requests, layer.hits.bytes)).collect();
        assert_eq!(found, [(10.0, 30_000.0), (70.0, 990_000.0)]);
    }
}

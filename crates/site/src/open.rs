//! `site.toml` read back, with the files that it names: one that is gone or has changed is left out with a line, the rest goes on.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::choose::even_out;
use super::local::open_inside;
use super::served::Served;
use weigh_model::page::PageGraph;
use weigh_model::site::{Kind, LoadedPage, Sample, Site, Sources};
use weigh_model::text::{clean, clean_path};
use weigh_os::digest;
use weigh_os::regular;

/// The longest file that is read.
const LONGEST: u64 = 16 << 20;

/// What is said of a file that is not as it was.
const CHANGED: &str = "it has changed; look again with weigh site --force";

/// A site with its files.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The site; its samples are there, and their shares add up to 1.
    pub site: Site,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// What is left out: a line each.
    pub notes: Vec<String>,
}

/// Reads the file alone.
///
/// # Errors
/// One line: it cannot be read, or what is wrong in it.
pub fn read(file: &Path) -> Result<Site> {
    Site::parse(&text(file)?, &clean_path(file))
}

fn text(file: &Path) -> Result<String> {
    let named = clean_path(file);
    ensure!(file.exists(), "{named}: cannot be read; `weigh site` writes one");
    regular::text(file, LONGEST)
}

/// Reads the file and looks at the files that it names.
///
/// # Errors
/// Those of [`read`].
pub fn open(file: &Path) -> Result<Opened> {
    let text = text(file)?;
    let mut site = Site::parse(&text, &clean_path(file))?;
    let mut notes = Vec::new();
    let (served, beside) = (Served::of(&site.sources), folder_of(file));
    for stratum in &mut site.strata {
        let (kind, name) = (stratum.kind, stratum.name());
        stratum.sample.retain(|sample| {
            match check(
                Some(&served).filter(|_| is_served(&site.sources, &beside, kind, &sample.path)),
                &beside,
                sample,
            ) {
                Ok(()) => true,
                Err(error) => {
                    notes.push(format!("left out {} of the sample ({name}): {error:#}", clean(&sample.path)));
                    false
                }
            }
        });
        even_out(stratum.sample.iter_mut().map(|sample| &mut sample.share));
    }
    site.loaded.retain_mut(|loaded| match graph(&beside, loaded) {
        Ok(graph) => {
            loaded.graph = Some(graph);
            true
        }
        Err(error) => {
            notes.push(format!("left out the load of {}: {error:#}", clean(&loaded.page)));
            false
        }
    });
    Ok(Opened { site, sha256: digest::sha256(text.as_bytes()), notes })
}

/// What a page loads, from its file.
fn graph(beside: &Path, loaded: &LoadedPage) -> Result<PageGraph> {
    let found = open_inside(beside, &loaded.file, (&[], false))?;
    ensure!(loaded.bytes <= LONGEST, "it is too long");
    let mut text = Vec::new();
    unchanged(found, (loaded.bytes, &loaded.sha256), &mut text)?;
    let graph: PageGraph = serde_json::from_slice(&text).context("it is no graph of a page")?;
    graph.check()?;
    Ok(graph)
}

/// The folder that `site.toml` is in.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Whether the path of a sample is that of a URL; else it is below the folder of the site's file, as pages are and what scripts answer.
fn is_served(sources: &Sources, beside: &Path, kind: Kind, path: &str) -> bool {
    let has_files = sources.docroot.is_some() || !sources.aliases.is_empty();
    let is_there = |folder: &Path, rest: &str| folder.join(rest).is_file();
    let is_file = || sources.folder(path).is_some_and(|(folder, rest)| is_there(Path::new(folder), rest));
    has_files && matches!(kind, Kind::Asset | Kind::Download) && (!is_there(beside, path) || is_file())
}

/// Where the file of a sample of a kind lies; `beside` is the folder of the site's file.
pub fn located(sources: &Sources, beside: &Path, kind: Kind, path: &str) -> PathBuf {
    let folder = sources.folder(path).filter(|_| is_served(sources, beside, kind, path));
    folder.map_or_else(|| beside.join(path), |(folder, rest)| Path::new(folder).join(rest))
}

/// Makes sure that a file is there and is the one that was looked at.
fn check(served: Option<&Served>, beside: &Path, sample: &Sample) -> Result<()> {
    let found = match served {
        Some(served) => served.open(&sample.path)?,
        None => open_inside(beside, &sample.path, (&[], false))?,
    };
    unchanged(found, (sample.bytes, &sample.sha256), &mut std::io::sink())
}

/// Copies a file of this length if it is still the one with these bytes and this digest.
fn unchanged(
    (mut file, found): (File, u64),
    (bytes, sha256): (u64, &str),
    into: &mut dyn Write,
) -> Result<()> {
    ensure!(found == bytes, CHANGED);
    let sum = digest::copy(&mut file, into, bytes).context(CHANGED)?;
    ensure!(sum.sha256 == sha256.to_lowercase(), CHANGED);
    Ok(())
}

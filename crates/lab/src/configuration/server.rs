//! What is emitted for a web server: the parts that its folder names, for the rules that it carries out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Emitted, advised};
use crate::regression;
use crate::rig::guard::Place;
use crate::rig::server::Found;
use crate::rig::server::Site as Served;
use crate::rig::server::definition::WayRow;
use crate::rig::server::emission::{Emission, Snippet};
use crate::shelter::Shelter;
use weigh_model::advised::ADVISED;
use weigh_model::policy::Policy;
use weigh_model::setting::Setting;
use weigh_model::site::{Kind, Site};
use weigh_model::text::clean;

/// Where downloads are if the site does not say it.
pub(super) const DOWNLOADS: &str = "/srv/downloads";

/// The files for one server; none if the policy changes nothing that it does.
pub fn emit(policy: &Policy, site: &Site, found: &Found, place: Option<&Place>) -> Result<Vec<Emitted>> {
    let Some(emission) = &found.definition.policy else { return Ok(Vec::new()) };
    let serves = |kind| super::decision(policy, kind).is_some();
    if ![Kind::Asset, Kind::Page, Kind::Download].into_iter().any(serves) {
        return Ok(Vec::new());
    }
    let wish = advised(policy, site, &found.definition)?;
    let definition = found.definition.with_advised(&wish);
    let mut there = definition.at(found.program.clone());
    let rows = there.definition.rows_of(&wish);
    let modules = |snippet: &Snippet| -> Vec<String> {
        let is_for = |row: &&&WayRow| snippet.downloads == (wish.downloads.as_ref() == Some(&row.name));
        let of_rows = rows.iter().filter(is_for).flat_map(|row| row.modules.clone());
        let all: BTreeSet<String> = of_rows.chain(snippet.modules.clone()).collect();
        all.into_iter().collect()
    };
    let firsts: BTreeMap<String, Vec<String>> = emission
        .snippets
        .iter()
        .map(|s| {
            (s.template.clone(), first(&format!("config/{}", found.definition.name), emission, &modules(s)))
        })
        .collect();
    let room = Shelter::new().context("no temporary folder")?;
    let (parts, unchecked) = parts(&mut there, &served(site, room.path()), &downloads(site), place)?;
    let one = |(snippet, body): (&Snippet, String)| Emitted {
        what: what(policy, snippet),
        first: firsts.get(&snippet.template).cloned().unwrap_or_default(),
        unchecked: unchecked.clone(),
        tried: policy.trial.as_ref().map(regression::told),
        ..emitted(&found.definition.name, emission, snippet, body)
    };
    let is_written = |(snippet, _): &Part<'_>| {
        !policy.withholds(&regression::file(&found.definition.name, &snippet.template))
    };
    Ok(parts.into_iter().filter(is_written).map(one).collect())
}

/// The names of the files for one server, each with the kinds of content that it carries a decision out for.
///
/// # Errors
/// What of the policy the server cannot do.
pub fn carriers(policy: &Policy, site: &Site, found: &Found) -> Result<Vec<(String, Vec<Kind>)>> {
    let Some(emission) = &found.definition.policy else { return Ok(Vec::new()) };
    let kinds = |file: &Emitted| {
        let template = file.file.file_name().and_then(|name| name.to_str());
        let snippet = emission.snippets.iter().find(|snippet| template == Some(snippet.template.as_str()));
        match snippet {
            Some(snippet) if snippet.downloads => vec![Kind::Download],
            Some(snippet) if snippet.pages => vec![Kind::Page],
            Some(snippet) if snippet.dictionaries => Vec::new(),
            _ if emission.has_pages() => vec![Kind::Asset],
            _ => vec![Kind::Asset, Kind::Page],
        }
    };
    let untried = Policy { trial: None, ..policy.clone() };
    let files = emit(&untried, site, found, None)?;
    Ok(files.iter().map(|file| (file.file.to_string_lossy().into_owned(), kinds(file))).collect())
}

/// A part of a configuration with its text.
type Part<'f> = (&'f Snippet, String);

/// The parts of a server that has the policy among its ways, and why they were not checked, or what the server says against them.
pub(super) fn parts<'f>(
    there: &'f mut Found,
    served: &Served,
    offload: &Path,
    place: Option<&Place>,
) -> Result<(Vec<Part<'f>>, Option<String>)> {
    let lacks = there.ways.iter().find(|way| way.name == ADVISED).and_then(|way| way.missing.clone());
    let unchecked = match (lacks, place) {
        (Some(lacks), _) => Some(format!("{} cannot do it here: {lacks}", there.definition.name)),
        (None, None) => Some("it was not asked for".into()),
        (None, Some(place)) => there.lint(served, place)?,
    };
    // What is missing here is the user's to install: the file is the same.
    there.ways.iter_mut().for_each(|way| way.missing = None);
    Ok((there.parts(served, offload)?, unchecked))
}

pub(super) fn emitted(server: &str, emission: &Emission, snippet: &Snippet, body: String) -> Emitted {
    Emitted {
        file: PathBuf::from(server).join(&snippet.template),
        what: String::new(),
        first: Vec::new(),
        place: snippet.place.clone(),
        line: snippet.line.clone(),
        clash: if snippet.downloads { String::new() } else { emission.clash.clone() },
        check: emission.check.clone(),
        undo: format!("remove that line, then: {}", emission.reload),
        unchecked: None,
        tried: None,
        comment: "#",
        body,
    }
}

/// The decisions that a part carries out, in their own words.
fn what(policy: &Policy, snippet: &Snippet) -> String {
    let kinds: &[Kind] = match (snippet.downloads, snippet.pages) {
        (true, _) => &[Kind::Download],
        (_, true) => &[Kind::Page],
        _ => &[Kind::Asset, Kind::Page],
    };
    let told = kinds.iter().filter_map(|kind| super::decision(policy, *kind));
    told.map(|decision| clean(&decision.text)).collect::<Vec<_>>().join(" ")
}

pub(super) fn first(folder: &str, emission: &Emission, modules: &[String]) -> Vec<String> {
    let mut first = vec![format!("cp {folder}/* {}/", emission.home)];
    match &emission.enable {
        Some(enable) if !modules.is_empty() => first.push(format!("{enable} {}", modules.join(" "))),
        None if !modules.is_empty() => first.push(format!("it needs these modules: {}", modules.join(", "))),
        _ => {}
    }
    first
}

/// What a private instance serves while it is checked: the document root if it can be read, else an empty folder.
pub(super) fn served(site: &Site, room: &Path) -> Served {
    let docroot = site.sources.docroot.as_ref().map(PathBuf::from).filter(|docroot| docroot.is_dir());
    Served {
        docroot: docroot.unwrap_or_else(|| room.to_owned()),
        way: Some(Setting::bare(ADVISED)),
        offload: Some(room.to_owned()),
        ..Served::default()
    }
}

/// The folder that the site's downloads have in common.
pub(super) fn downloads(site: &Site) -> PathBuf {
    let samples = site.of(Kind::Download).flat_map(|stratum| &stratum.sample);
    let file = |path: &str| {
        let (folder, rest) = site.sources.folder(path).unwrap_or(("/", path));
        Path::new(folder).join(rest)
    };
    let folders = samples.filter_map(|sample| Some(file(&sample.path).parent()?.to_owned()));
    let common = folders
        .reduce(|one, other| one.ancestors().find(|a| other.starts_with(a)).unwrap_or(&one).to_owned());
    common.filter(|_| site.sources.docroot.is_some()).unwrap_or_else(|| DOWNLOADS.into())
}

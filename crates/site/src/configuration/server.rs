//! What is emitted for a web server: the parts that its folder names, for the rules that it carries out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::advised::advised;
use super::decided::decision;
use super::emitted::Emitted;
use super::here::WritingContext;
use super::own::{Clash, on_top};
use super::present::is_loaded;
use super::served::{beside_own, downloads, served};
use super::trial::{describe_trial, file};
use weigh_model::advised::ADVISED;
use weigh_model::policy::Policy;
use weigh_model::site::{Kind, Site};
use weigh_model::text::clean;
use weigh_os::guard::LaunchContext;
use weigh_os::shelter::Shelter;
use weigh_rig::server::Found;
use weigh_rig::server::Site as Served;
use weigh_rig::server::definition::WayRow;
use weigh_rig::server::emission::{Downloads, Emission, Snippet};
use weigh_serverconf::{Read, Syntax};

/// The files for one server; none if the policy changes nothing that it does.
pub fn emit(policy: &Policy, site: &Site, found: &Found, here: WritingContext<'_>) -> Result<Vec<Emitted>> {
    let Some(emission) = &found.definition.policy else { return Ok(Vec::new()) };
    let serves = |kind| decision(policy, kind).is_some();
    let has_cache = policy.page_cache.as_ref().is_some_and(|cache| !cache.keep);
    if !has_cache && ![Kind::Asset, Kind::Page, Kind::Download].into_iter().any(serves) {
        return Ok(Vec::new());
    }
    let wish = advised(policy, site, &found.definition, here.own)?;
    let definition = found.definition.with_advised(&wish);
    let mut there = definition.at(found.program.clone());
    let rows = there.definition.rows_of(&wish);
    let modules = |snippet: &Snippet| -> Vec<String> {
        let is_for = |row: &&&WayRow| snippet.downloads == (wish.downloads.as_ref() == Some(&row.name));
        let of_rows = rows.iter().filter(is_for).flat_map(|row| row.modules.clone());
        let all: BTreeSet<String> = of_rows.chain(snippet.modules.clone()).collect();
        all.into_iter().collect()
    };
    let doubled = doubled(policy, site, found, here)?;
    let firsts: BTreeMap<String, Vec<String>> = emission
        .snippets
        .iter()
        .map(|s| {
            let needed = modules(s);
            let mut first =
                first(&format!("config/{}", found.definition.name), emission, found, &needed, here);
            let is_for = |row: &&&WayRow| row.modules.iter().any(|module| needed.contains(module));
            let lacks = |module: &String| found.modules.contains_key(module) && found.program.is_some();
            let to_install = |row: &&WayRow| !row.modules.iter().all(lacks) || here.own.is_some();
            let missing = |row: &&WayRow| row.modules.iter().any(|module| !has(found, here, module));
            let rows = rows.iter().filter(is_for).copied().filter(to_install).filter(missing);
            let installs: BTreeSet<&String> = rows.filter_map(|row| row.remedy.as_ref()).collect();
            first.splice(1..1, installs.into_iter().cloned());
            first.extend(doubled.iter().filter(|_| !s.downloads).cloned());
            if s.line.is_empty() {
                first.remove(0);
            }
            (s.template.clone(), first)
        })
        .collect();
    let room = Shelter::new().context("no temporary folder")?;
    let is_named = wish.downloads.as_deref() == Some("x-sendfile");
    let downloads = match here.own.filter(|read| is_named && read.tree.syntax == Syntax::Assigned) {
        Some(read) => {
            let docroot = site.sources.docroot.as_deref().unwrap_or("/");
            beside_own(downloads(site), &read.tree.directives, docroot)
        }
        None => downloads(site),
    };
    let (parts, unchecked) = parts(&mut there, &served(site, room.path()), &downloads, here.place)?;
    // What the lab's configuration makes of a file says nothing where the site's own was tried with it.
    let is_untried = policy.trial.as_ref().is_none_or(|trial| trial.untried.is_some());
    let why = |snippet: &Snippet| {
        let inside = snippet.inside.as_ref().filter(|_| snippet.downloads && !is_untried)?;
        Some(format!("your configuration was tried without lines for downloads in {inside}"))
    };
    let one = |(snippet, body): (&Snippet, String)| {
        let plain = emitted(&found.definition.name, emission, snippet, body);
        let undo = match doubled.is_empty() || snippet.downloads {
            true => plain.undo.clone(),
            false => plain.undo.replacen("that line", "that line, and put back what was removed first", 1),
        };
        Emitted {
            what: what(policy, snippet),
            first: firsts.get(&snippet.template).cloned().unwrap_or_default(),
            unchecked: unchecked.clone().filter(|_| is_untried).or_else(|| why(snippet)),
            tried: policy.trial.as_ref().filter(|_| why(snippet).is_none()).map(describe_trial),
            undo,
            ..plain
        }
    };
    let is_written =
        |(snippet, _): &SnippetText<'_>| !policy.withholds(&file(&found.definition.name, &snippet.template));
    Ok(parts.into_iter().filter(is_written).map(one).collect())
}

/// The names of the files for one server, each with the kinds of content that it carries a decision out for.
///
/// # Errors
/// The parts of the policy that the server cannot do.
pub fn carriers(
    policy: &Policy,
    site: &Site,
    found: &Found,
    own: Option<&Read>,
) -> Result<Vec<(String, Vec<Kind>)>> {
    let Some(emission) = &found.definition.policy else { return Ok(Vec::new()) };
    let kinds = |file: &Emitted| {
        let template = file.file.file_name().and_then(|name| name.to_str());
        let snippet = emission.snippets.iter().find(|snippet| template == Some(snippet.template.as_str()));
        match snippet {
            Some(snippet) if snippet.downloads => vec![Kind::Download],
            Some(snippet) if snippet.pages => vec![Kind::Page],
            Some(snippet) if snippet.dictionaries || snippet.cache => Vec::new(),
            _ if emission.has_pages() => vec![Kind::Asset],
            _ => vec![Kind::Asset, Kind::Page],
        }
    };
    let untried = Policy { trial: None, ..policy.clone() };
    let files = emit(&untried, site, found, WritingContext { servers: &[], place: None, own })?;
    Ok(files.iter().map(|file| (file.file.to_string_lossy().into_owned(), kinds(file))).collect())
}

/// What to remove of the site's own configuration, where its server refuses a directive that stands twice in a block: the parts have it.
fn doubled(policy: &Policy, site: &Site, found: &Found, here: WritingContext<'_>) -> Result<Vec<String>> {
    let Some(read) = here.own.filter(|read| read.tree.syntax == Syntax::Blocks) else {
        return Ok(Vec::new());
    };
    let clashes = on_top(policy, site, found, read, None)?.clashes;
    let gone = clashes.into_iter().filter(|clash| !clash.stays);
    let told = |Clash { place, directive, shared, .. }: Clash| {
        let whose = if shared {
            "for this site alone (others include that file, too: include a copy here), "
        } else {
            ""
        };
        format!("{whose}remove {place}: {}", clean(&directive))
    };
    Ok(gone.map(told).collect())
}

/// A part of a configuration with its text.
type SnippetText<'f> = (&'f Snippet, String);

/// The parts of a server that has the policy among its ways, and why they were not checked, or what the server says against them.
pub(super) fn parts<'f>(
    there: &'f mut Found,
    served: &Served,
    downloads: &Downloads,
    place: Option<&LaunchContext>,
) -> Result<(Vec<SnippetText<'f>>, Option<String>)> {
    let lacks = there.ways.iter().find(|way| way.name == ADVISED).and_then(|way| way.missing.clone());
    let unchecked = match (lacks, place) {
        (Some(lacks), _) => Some(format!("{} cannot do it here: {lacks}", there.definition.name)),
        (None, None) => Some("it was not asked for".into()),
        (None, Some(place)) => there.lint(served, place)?,
    };
    // What is missing here is the user's to install: the file is the same.
    there.ways.iter_mut().for_each(|way| way.missing = None);
    Ok((there.parts(served, downloads)?, unchecked))
}

pub(super) fn emitted(server: &str, emission: &Emission, snippet: &Snippet, body: String) -> Emitted {
    Emitted {
        file: PathBuf::from(server).join(&snippet.template),
        place: snippet.place.clone(),
        line: snippet.line.clone(),
        clash: if snippet.downloads { String::new() } else { emission.clash.clone() },
        check: emission.check.clone(),
        undo: match snippet.line.as_str() {
            "" => format!("put back what was there, then: {}", emission.reload),
            _ => format!("remove that line, then: {}", emission.reload),
        },
        comment: "#",
        body,
        ..Emitted::default()
    }
}

/// The decisions that a part carries out, in their own words.
fn what(policy: &Policy, snippet: &Snippet) -> String {
    if let Some(cache) = policy.page_cache.as_ref().filter(|_| snippet.cache) {
        return clean(&cache.text);
    }
    let kinds: &[Kind] = match (snippet.downloads, snippet.pages) {
        (true, _) => &[Kind::Download],
        (_, true) => &[Kind::Page],
        _ => &[Kind::Asset, Kind::Page],
    };
    let told = kinds.iter().filter_map(|kind| decision(policy, *kind));
    let told = told.map(|decision| clean(&decision.text)).collect::<Vec<_>>().join(" ");
    if told.is_empty() { "What the other files say does not hold here.".to_owned() } else { told }
}

/// Whether the server has a module without anything to be done: it is built in, or the site's configuration loads it.
fn has(found: &Found, here: WritingContext<'_>, module: &str) -> bool {
    matches!(found.modules.get(module), Some(None))
        || here.own.is_some_and(|own| is_loaded(&own.tree, module))
}

/// What to do before the parts are included: copy them, and have the modules that the configuration does not load.
pub(super) fn first(
    folder: &str,
    emission: &Emission,
    found: &Found,
    modules: &[String],
    here: WritingContext<'_>,
) -> Vec<String> {
    let mut first = vec![format!("mkdir -p {0} && cp {folder}/* {0}/", emission.home)];
    let missing: Vec<&str> =
        modules.iter().map(String::as_str).filter(|module| !has(found, here, module)).collect();
    match (&emission.enable, &emission.load) {
        _ if missing.is_empty() => {}
        (Some(enable), _) => first.push(format!("{enable} {}", missing.join(" "))),
        (None, Some(load)) => first.extend(missing.iter().map(|module| load.replace("{}", module))),
        (None, None) => first.push(format!("it needs these modules: {}", missing.join(", "))),
    }
    first
}

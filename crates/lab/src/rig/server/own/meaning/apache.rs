//! Apache: sections merged in its order, rules of mod_rewrite as far as their conditions are known, and filters by type.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::filters::{cache_control, today};
use super::merged::Merged;
use super::nginx::expression;
use super::rules::Made;
use super::{Answer, Asked, Exists, Meaning, OURS, Said, Variants};
use crate::rig::server::own::Rules;
use crate::rig::server::own::places::places;
use crate::rig::server::own::site::Site;
use crate::rig::server::own::syntax::{Directive, Place};
use crate::rig::server::own::tree::{Tree, tidy};
use crate::rig::server::types;

/// Internal redirects at most.
const REDIRECTS: usize = 10;
/// The codings that a rule may look for, with the endings of their variants.
const VARIANTS: [(&str, &[&str]); 3] =
    [("br", &["br"]), ("zstd", &["zst", "zstd"]), ("gzip", &["gz", "gzip", "jgz"])];

/// A request with an Accept-Encoding, on its way.
pub(super) struct Way<'t, 'a> {
    rules: &'a Rules,
    tree: &'t Tree,
    pub(super) site: &'a Site,
    pub(super) asked: &'a Asked<'a>,
    pub(super) accept: &'a str,
    /// Rules whose conditions nobody knows.
    pub(super) unknown: Vec<Place>,
}

/// Where a request ends: the file, the URL path that it has then, what holds for it, and the type that a rule has given.
pub(super) struct End<'t> {
    pub(super) file: PathBuf,
    pub(super) url: String,
    pub(super) merged: Merged<'t>,
    status: Option<u16>,
    by: Option<Place>,
    forced: Option<String>,
    pub(super) no_gzip: bool,
}

pub fn meaning(rules: &Rules, tree: &Tree, site: &Site, asked: &Asked<'_>) -> Meaning {
    let way = |accept: &'static str| {
        let mut way = Way { rules, tree, site, asked, accept, unknown: Vec::new() };
        (way.follow(), way.unknown)
    };
    let (end, unknown) = way("");
    let mut answer = answer(&end, asked);
    // A part that stands alone has Weighbridge's PHP.
    if !tree.is_whole && end.url.ends_with(".php") && matches!(answer, Answer::File(_)) {
        answer = Answer::Php { at: OURS.to_owned(), script: end.url.clone() };
    }
    let media_type = match &answer {
        Answer::File(file) => media_type(&end, tree, file),
        Answer::Php { .. } => Some("text/html".to_owned()),
        _ => None,
    };
    let mut variants = Vec::new();
    for (coding, endings) in VARIANTS.iter().filter(|_| matches!(answer, Answer::File(_))) {
        let (other, _) = way(coding);
        let rest = other.file.to_string_lossy().strip_prefix(&*end.file.to_string_lossy()).map(str::to_owned);
        let ending = rest.and_then(|rest| rest.strip_prefix('.').map(str::to_owned)).unwrap_or_default();
        if endings.contains(&ending.as_str()) {
            let by = "mod_rewrite".to_owned();
            variants.push(Variants {
                coding: (*coding).to_owned(),
                ending,
                by,
                is_there: true,
                at: other.by,
            });
        }
    }
    let today = media_type.iter().flat_map(|of| today(&end, of)).collect::<Vec<_>>();
    let folders = end.merged.of_place.iter().rev().find_map(|(folder, d)| Some((folder.as_ref()?, d)));
    let block = folders.map(|(folder, d)| Said { value: folder.display().to_string(), at: Some(d.at) });
    Meaning {
        docroot: docroot(&end.merged, site),
        block,
        cache_control: cache_control(&end.merged, media_type.as_deref()),
        vary: !(today.is_empty() && variants.is_empty()),
        answer,
        media_type,
        today,
        variants,
        unknown: unknown.into_iter().chain(end.merged.conditions.iter().map(|d| d.at)).collect(),
    }
}

fn docroot(merged: &Merged<'_>, site: &Site) -> PathBuf {
    merged
        .of_server
        .iter()
        .rfind(|d| d.is("DocumentRoot"))
        .map_or_else(|| site.root.clone(), |d| PathBuf::from(d.first()))
}

impl<'t> Way<'t, '_> {
    /// From the URL to a file.
    fn follow(&mut self) -> End<'t> {
        let mut url = self.asked.path.to_owned();
        let (mut by, mut forced, mut no_gzip) = (None, None, false);
        for _ in 0..REDIRECTS {
            let file = self.file(&url);
            let merged = Merged::of(self.rules, self.tree, self.site, &file, &url);
            let mut made = self.rules_of_server(&merged, &url, &file);
            if made.is_none() {
                made = self.rules_of_folders(&merged, &url, &file);
            }
            if let Some(made) = made {
                by = Some(made.at);
                forced = made.forced.or(forced);
                no_gzip |= made.no_gzip;
                if made.status.is_some() || made.to.is_none() {
                    return End { file, url, merged, status: made.status, by, forced, no_gzip };
                }
                let to = made.to.unwrap_or_default();
                if to != url {
                    url = to;
                    continue;
                }
            }
            if let Some(index) = self.index(&merged, &url, &file) {
                url = index;
                continue;
            }
            return End { file, url, merged, status: None, by, forced, no_gzip };
        }
        let file = self.file(&url);
        let merged = Merged::of(self.rules, self.tree, self.site, &file, &url);
        End { file, url, merged, status: Some(500), by, forced, no_gzip }
    }

    /// The file of a URL path, by the first alias that fits, else below the document root.
    fn file(&self, url: &str) -> PathBuf {
        let merged = Merged::of(self.rules, self.tree, self.site, &self.site.root, url);
        for place in places(self.rules, self.tree, self.site) {
            let rest = url.strip_prefix(place.url.as_str());
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                return tidy(Path::new(&format!("{}{rest}", place.folder.display())));
            }
        }
        docroot(&merged, self.site).join(url.trim_start_matches('/'))
    }

    /// The index of a folder; a path that nothing is at goes to the fallback.
    fn index(&self, merged: &Merged<'t>, url: &str, file: &Path) -> Option<String> {
        match (self.asked.exists)(file) {
            Exists::Folder if url.ends_with('/') => {
                let names = merged.last("DirectoryIndex").map(Directive::words).unwrap_or_default();
                names
                    .iter()
                    .find(|name| (self.asked.exists)(&file.join(name)) == Exists::File)
                    .map(|name| format!("{url}{name}"))
            }
            Exists::Nothing => {
                let fallback = merged.last("FallbackResource").map(|d| d.first());
                fallback.filter(|to| to != url && to.starts_with('/'))
            }
            _ => None,
        }
    }

    /// Rules of the server and the site, on the whole path.
    fn rules_of_server(&mut self, merged: &Merged<'t>, url: &str, file: &Path) -> Option<Made> {
        let rules: Vec<&Directive> = merged
            .of_server
            .iter()
            .copied()
            .filter(|d| d.name.to_lowercase().starts_with("rewrite"))
            .collect();
        self.carried_out(&rules, url, "", (url, file))
    }

    /// Rules of the innermost folder that has some, on the path below it.
    fn rules_of_folders(&mut self, merged: &Merged<'t>, url: &str, file: &Path) -> Option<Made> {
        let is_rule = |d: &Directive| d.name.to_lowercase().starts_with("rewrite");
        let folder =
            merged.of_place.iter().rev().find(|(folder, d)| folder.is_some() && is_rule(d))?.0.clone()?;
        let own = merged.of_place.iter().filter(|(of, d)| of.as_ref() == Some(&folder) && is_rule(d));
        let rules: Vec<&Directive> = own.map(|(_, d)| *d).collect();
        let below = file.strip_prefix(&folder).ok()?.to_string_lossy().into_owned();
        let above = url.strip_suffix(&below).unwrap_or("/").to_owned();
        let base = rules.iter().rfind(|d| d.is("RewriteBase")).map(|d| d.first());
        let base = base.unwrap_or(above);
        self.carried_out(&rules, &below, &base, (url, file))
    }
}

/// Whether a handler is one for PHP.
fn is_php(handler: &str) -> bool {
    handler.contains("php") || handler.contains("fcgi:")
}

fn answer(end: &End<'_>, asked: &Asked<'_>) -> Answer {
    if let Some(status) = end.status {
        return Answer::Status(status);
    }
    let is_denied =
        end.merged.last("Require").is_some_and(|d| d.arguments.eq_ignore_ascii_case("all denied"));
    let there = (asked.exists)(&end.file);
    for proxy in end.merged.of_server.iter().filter(|d| d.is("ProxyPass") || d.is("ProxyPassMatch")) {
        let words = proxy.words();
        let [from, to, ..] = words.as_slice() else { continue };
        let fits = match proxy.is("ProxyPassMatch") {
            true => expression(from, false).is_some_and(|e| e.is_match(&end.url).unwrap_or(false)),
            false => end.url.starts_with(from.as_str()),
        };
        match (fits, to.as_str()) {
            (true, "!") => break,
            (true, to) if is_php(to) => return Answer::Php { at: to.to_owned(), script: end.url.clone() },
            (true, to) => return Answer::Elsewhere(to.to_owned()),
            (false, _) => {}
        }
    }
    let handler = handler(end);
    match (there, handler) {
        _ if is_denied => Answer::Status(403),
        (_, Some(at)) if is_php(&at) => Answer::Php { at, script: end.url.clone() },
        (_, Some(at)) if at.starts_with("proxy:") => Answer::Elsewhere(at),
        (_, Some(at)) if !["default-handler", "none", "type-map"].contains(&at.to_lowercase().as_str()) => {
            Answer::Unknown
        }
        (Exists::File, _) => Answer::File(end.file.clone()),
        (Exists::Folder, _) if !end.url.ends_with('/') => Answer::Status(301),
        (Exists::Folder, _) => Answer::Status(403),
        (Exists::Nothing, _) => Answer::Status(404),
    }
}

/// The handler that a section sets, or one of the file's extensions.
fn handler(end: &End<'_>) -> Option<String> {
    if let Some(set) = end.merged.last("SetHandler") {
        return Some(set.first()).filter(|handler| !handler.eq_ignore_ascii_case("none"));
    }
    let extensions = extensions(&end.file);
    let by_extension = |name: &str| {
        let all = end.merged.named(name).filter_map(|d| {
            let words = d.words();
            let (handler, rest) = words.split_first()?;
            let fits = rest.iter().any(|e| extensions.contains(&e.trim_start_matches('.').to_lowercase()));
            fits.then(|| handler.clone())
        });
        all.last()
    };
    let of_type = by_extension("AddType").filter(|of| of.contains("x-httpd-php"));
    by_extension("AddHandler").or(of_type)
}

/// The extensions of a file's name, in small letters.
pub(super) fn extensions(file: &Path) -> Vec<String> {
    let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    name.split('.').skip(1).map(str::to_owned).collect()
}

/// The type by `ForceType`, a rule, `AddType`, and the list of types; none: no type is sent.
fn media_type(end: &End<'_>, tree: &Tree, file: &Path) -> Option<String> {
    let forced =
        end.merged.last("ForceType").map(|d| d.first()).filter(|of| !of.eq_ignore_ascii_case("none"));
    if let Some(forced) = forced.or_else(|| end.forced.clone()) {
        return Some(bare(&forced));
    }
    let mut added: BTreeMap<String, String> = BTreeMap::new();
    for row in end.merged.named("AddType") {
        let words = row.words();
        let Some((of, rest)) = words.split_first() else { continue };
        added.extend(rest.iter().map(|e| (e.trim_start_matches('.').to_lowercase(), of.clone())));
    }
    let known = |extension: &String| {
        let listed = || match &tree.types {
            Some(types) => types.get(extension).cloned(),
            None => {
                Some(types::of_extension(extension).to_owned()).filter(|of| of != "application/octet-stream")
            }
        };
        added.get(extension).cloned().or_else(listed)
    };
    extensions(file).iter().rev().find_map(known).map(|of| bare(&of))
}

pub(super) fn bare(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_owned()
}

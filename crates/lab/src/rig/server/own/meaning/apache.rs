//! Apache: sections merged in its order, rules of mod_rewrite as far as their conditions are known, and filters by type.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::merged::Merged;
use super::nginx::expression;
use super::{Answer, Asked, Exists, Meaning, OURS, Said, Today, Variants, cache, rewrite};
use crate::rig::server::own::Rules;
use crate::rig::server::own::site::Site;
use crate::rig::server::own::syntax::{Directive, Place};
use crate::rig::server::own::tree::{Tree, tidy};
use crate::rig::server::types;

/// Internal redirects at most.
const REDIRECTS: usize = 10;
/// Filters that encode: name, coding, module.
const FILTERS: [(&str, &str, &str); 2] =
    [("DEFLATE", "gzip", "mod_deflate"), ("BROTLI_COMPRESS", "br", "mod_brotli")];
/// The codings that a rule may look for, with the endings of their variants.
const VARIANTS: [(&str, &[&str]); 3] =
    [("br", &["br"]), ("zstd", &["zst", "zstd"]), ("gzip", &["gz", "gzip", "jgz"])];

/// A request with an Accept-Encoding, on its way.
struct Way<'t, 'a> {
    rules: &'a Rules,
    tree: &'t Tree,
    site: &'a Site,
    asked: &'a Asked<'a>,
    accept: &'a str,
    unknown: Vec<Place>,
}

/// Where a request ends: the file, the URL path that it has then, what holds for it, and the type that a rule has given.
struct End<'t> {
    file: PathBuf,
    url: String,
    merged: Merged<'t>,
    status: Option<u16>,
    by: Option<Place>,
    forced: Option<String>,
    no_gzip: bool,
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
        for alias in merged.named("Alias") {
            let words = alias.words();
            let [from, to] = words.as_slice() else { continue };
            let rest = url.strip_prefix(from.as_str());
            if let Some(rest) =
                rest.filter(|rest| rest.is_empty() || from.ends_with('/') || rest.starts_with('/'))
            {
                return tidy(Path::new(&format!("{to}{rest}")));
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
        self.carried_out(&rules, url, "", url, file)
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
        self.carried_out(&rules, &below, &base, url, file)
    }

    fn carried_out(
        &mut self,
        rules: &[&Directive],
        path: &str,
        base: &str,
        url: &str,
        file: &Path,
    ) -> Option<Made> {
        if !rules.iter().rfind(|d| d.is("RewriteEngine"))?.first().eq_ignore_ascii_case("on") {
            return None;
        }
        let mut path = path.to_owned();
        let mut conditions: Vec<&Directive> = Vec::new();
        let (mut made, mut skip): (Option<Made>, usize) = (None, 0);
        for rule in rules {
            if rule.is("RewriteCond") {
                conditions.push(rule);
                continue;
            }
            let own = std::mem::take(&mut conditions);
            let words = rule.words();
            let (true, [pattern, to, ..]) = (rule.is("RewriteRule"), words.as_slice()) else { continue };
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let flags = words.get(2).map_or("", String::as_str).trim_matches(['[', ']']).to_owned();
            let flags: Vec<&str> = flags.split(',').map(str::trim).collect();
            let (is_not, pattern) =
                pattern.strip_prefix('!').map_or((false, pattern.as_str()), |p| (true, p));
            let Some(target) = rewrite::apply(pattern, is_not, to, &path) else { continue };
            match self.hold(&own, url, file) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    self.unknown.push(rule.at);
                    continue;
                }
            }
            let flag = |name: &str| {
                flags.iter().find_map(|f| {
                    f.split('=')
                        .next()
                        .filter(|n| n.eq_ignore_ascii_case(name))
                        .map(|_| f.split_once('=').map_or("", |(_, v)| v))
                })
            };
            let known = made.get_or_insert(Made {
                to: None,
                at: rule.at,
                status: None,
                forced: None,
                no_gzip: false,
            });
            known.forced = flag("T").map(str::to_owned).or(known.forced.take());
            known.no_gzip |= flags.iter().any(|f| f.to_lowercase().starts_with("e=no-gzip"));
            if let Some(skipped) = flag("S") {
                skip = skipped.parse().unwrap_or(0);
            }
            if flag("F").is_some() || flag("G").is_some() {
                known.status = Some(if flag("F").is_some() { 403 } else { 410 });
                return made;
            }
            if let Some(status) = flag("R").or_else(|| to.contains("://").then_some("")) {
                known.status = Some(status.parse().unwrap_or(302));
                return made;
            }
            if to != "-" {
                let target = self.filled(&target, url, file);
                let target = target.split('?').next().unwrap_or_default();
                let target = if target.starts_with('/') {
                    target.to_owned()
                } else {
                    format!("{}/{target}", base.trim_end_matches('/'))
                };
                path = if base.is_empty() {
                    target.clone()
                } else {
                    target.strip_prefix(base).unwrap_or(&target).to_owned()
                };
                known.to = Some(self.as_url(&target));
                known.at = rule.at;
            }
            if ["L", "END", "last"].iter().any(|name| flag(name).is_some()) {
                break;
            }
        }
        // A rule that names what is there already changes nothing.
        made.filter(|made| {
            made.status.is_some() || made.forced.is_some() || made.no_gzip || made.to.is_some()
        })
        .map(|made| Made { to: made.to.or_else(|| Some(url.to_owned())), ..made })
    }

    /// A rule may name a file below the document root by its whole path.
    fn as_url(&self, target: &str) -> String {
        let below = target.strip_prefix(&*self.site.root.to_string_lossy());
        below.filter(|rest| rest.starts_with('/')).unwrap_or(target).to_owned()
    }

    fn filled(&self, text: &str, url: &str, file: &Path) -> String {
        let file = file.to_string_lossy();
        let root = self.site.root.to_string_lossy();
        let known = [
            ("%{REQUEST_FILENAME}", &*file),
            ("%{SCRIPT_FILENAME}", &*file),
            ("%{REQUEST_URI}", url),
            ("%{DOCUMENT_ROOT}", &*root),
            ("%{REQUEST_METHOD}", "GET"),
            ("%{QUERY_STRING}", ""),
            ("%{ENV:REDIRECT_STATUS}", ""),
            ("%{HTTP:Accept-Encoding}", self.accept),
            ("%{HTTP:Accept-encoding}", self.accept),
            ("%{HTTP_ACCEPT_ENCODING}", self.accept),
        ];
        known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// Whether conditions hold; none: nobody knows.
    fn hold(&self, conditions: &[&Directive], url: &str, file: &Path) -> Option<bool> {
        let mut any: Option<bool> = Some(false);
        let mut all: Option<bool> = Some(true);
        for condition in conditions {
            let words = condition.words();
            let [text, pattern, ..] = words.as_slice() else { return None };
            let flags = words.get(2).map(|f| f.trim_matches(['[', ']']).to_lowercase()).unwrap_or_default();
            let has = |name: &str| flags.split(',').any(|flag| flag.trim() == name);
            let holds = self.holds(&self.filled(text, url, file), pattern, has("nc") || has("nocase"));
            any = or(any, holds);
            if has("or") || has("ornext") {
                continue;
            }
            all = and(all, any);
            any = Some(false);
        }
        all
    }

    fn holds(&self, text: &str, pattern: &str, any_case: bool) -> Option<bool> {
        if text.contains("%{") || text.contains("${") {
            return None;
        }
        let (is_not, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |p| (true, p));
        let there = || (self.asked.exists)(&tidy(Path::new(text)));
        let holds = match pattern {
            "-f" | "-s" => there() == Exists::File,
            "-d" => there() == Exists::Folder,
            "-l" | "-h" | "-x" => false,
            "" => text.is_empty(),
            pattern if pattern.starts_with('=') => text == pattern.trim_start_matches('=').trim_matches('"'),
            pattern => expression(pattern, any_case)?.is_match(text).ok()?,
        };
        Some(holds != is_not)
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    and(a.map(|a| !a), b.map(|b| !b)).map(|both| !both)
}

/// What rules make of a request.
struct Made {
    to: Option<String>,
    at: Place,
    status: Option<u16>,
    forced: Option<String>,
    no_gzip: bool,
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
fn extensions(file: &Path) -> Vec<String> {
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

fn bare(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_owned()
}

/// The filters that encode this type, in their order.
fn today(end: &End<'_>, media_type: &str) -> Vec<Today> {
    let extensions = extensions(&end.file);
    let mut switched: Vec<(&'static str, Option<Place>, Vec<String>)> = Vec::new();
    let mut add = |chain: &str, at: Place, types: &[String]| {
        for part in chain.split(';') {
            let Some((name, ..)) = FILTERS.iter().find(|(name, ..)| part.trim().eq_ignore_ascii_case(name))
            else {
                continue;
            };
            match switched.iter_mut().find(|(own, ..)| own == name) {
                Some((.., known)) => known.extend(types.iter().cloned()),
                None => switched.push((name, Some(at), types.to_vec())),
            }
        }
    };
    if let Some(set) = end.merged.last("SetOutputFilter") {
        add(&set.first(), set.at, &["*".to_owned()]);
    }
    for row in end.merged.named("AddOutputFilter") {
        let words = row.words();
        let Some((chain, rest)) = words.split_first() else { continue };
        if rest.iter().any(|e| extensions.contains(&e.trim_start_matches('.').to_lowercase())) {
            add(chain, row.at, &["*".to_owned()]);
        }
    }
    for row in end.merged.named("AddOutputFilterByType") {
        if let Some((chain, types)) = row.words().split_first() {
            add(chain, row.at, types);
        }
    }
    for row in end.merged.named("FilterProvider") {
        let words = row.words();
        let [_, provider, rest @ ..] = words.as_slice() else { continue };
        if filter_fits(&rest.join(" "), media_type) {
            add(provider, row.at, &[media_type.to_owned()]);
        }
    }
    if end.no_gzip || is_excepted(end) {
        return Vec::new();
    }
    let fits =
        |types: &[String]| types.iter().any(|of| of == "*" || bare(of).eq_ignore_ascii_case(media_type));
    let made = switched.into_iter().filter(|(.., types)| fits(types)).map(|(name, at, types)| {
        let (_, coding, by) = FILTERS.into_iter().find(|(own, ..)| *own == name).unwrap_or(FILTERS[0]);
        let number = |directive: &str| end.merged.last(directive).and_then(|d| d.first().parse().ok());
        let level = match coding {
            "gzip" => number("DeflateCompressionLevel").unwrap_or(6),
            _ => number("BrotliCompressionQuality").unwrap_or(5),
        };
        Today { coding: coding.into(), level: Some(level), by: by.into(), min_length: 0, types, at }
    });
    made.collect()
}

/// Whether the expression of a filter's provider names a type.
fn filter_fits(condition: &str, media_type: &str) -> bool {
    if let Some((_, pattern)) = condition.split_once("=~") {
        let pattern = pattern.trim().trim_matches(['"', '\'']).trim_start_matches('m');
        let pattern = pattern.trim_end_matches('i').trim_matches(['/', '#', '|']);
        return expression(pattern, true).is_some_and(|e| e.is_match(media_type).unwrap_or(false));
    }
    condition.contains(media_type)
}

/// Whether an environment variable keeps filters from encoding: `no-gzip`, set for the path.
fn is_excepted(end: &End<'_>) -> bool {
    let is_plain =
        |d: &Directive| d.words().first().is_some_and(|name| name == "no-gzip" || name == "no-brotli");
    let by_path = |d: &Directive, any_case: bool| {
        let words = d.words();
        words.first().is_some_and(|of| of == "Request_URI")
            && words.iter().skip(2).any(|set| set.split('=').next() == Some("no-gzip"))
            && words
                .get(1)
                .and_then(|p| expression(p, any_case))
                .is_some_and(|e| e.is_match(&end.url).unwrap_or(false))
    };
    end.merged.named("SetEnv").any(is_plain)
        || end.merged.named("SetEnvIf").any(|d| by_path(d, false))
        || end.merged.named("SetEnvIfNoCase").any(|d| by_path(d, true))
}

/// `Expires…`, then what `Header` makes of it.
fn cache_control(merged: &Merged<'_>, media_type: Option<&str>) -> Option<Said<String>> {
    let mut said: Option<Said<String>> = None;
    if merged.last("ExpiresActive").is_some_and(|d| d.first().eq_ignore_ascii_case("on")) {
        let of_type = merged
            .named("ExpiresByType")
            .filter(|d| media_type.is_some_and(|of| d.first().eq_ignore_ascii_case(of)))
            .last();
        let time = of_type.map(|d| (d.words().into_iter().skip(1).collect::<Vec<_>>(), d));
        let time = time.or_else(|| merged.last("ExpiresDefault").map(|d| (d.words(), d)));
        said = time
            .and_then(|(words, d)| Some(Said { value: cache::of_apache(&words.join(" "))?, at: Some(d.at) }));
    }
    for header in merged.named("Header") {
        let words = header.words();
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "always").collect();
        let [action, name, value, rest @ ..] = words.as_slice() else {
            if let ["unset", name] = words.as_slice()
                && name.eq_ignore_ascii_case("Cache-Control")
            {
                said = None;
            }
            continue;
        };
        if !name.eq_ignore_ascii_case("Cache-Control") || !rest.is_empty() {
            continue;
        }
        let before = said.take().map(|said| said.value);
        let value = match (*action, before) {
            ("append" | "merge" | "add", Some(before)) => format!("{before}, {value}"),
            ("setifempty", Some(before)) => before,
            _ => (*value).to_owned(),
        };
        said = Some(Said { value, at: Some(header.at) });
    }
    said
}

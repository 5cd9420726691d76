//! Caddy: routes in their order, each with its matchers and handlers; a handler that answers ends the way.

use std::path::{Path, PathBuf};

use super::{Answer, Asked, Exists, Meaning, Said, Today, Variants, extension};
use crate::rig::server::own::Rules;
use crate::rig::server::own::site::{self, Site};
use crate::rig::server::own::syntax::json::{get, string, strings};
use crate::rig::server::own::syntax::{Directive, Place};
use crate::rig::server::own::tree::{Tree, tidy};
use crate::rig::server::types;

/// The shortest response that `encode` encodes where nothing is said, in bytes.
const SHORTEST: u64 = 512;
/// Types that `encode` encodes where nothing is said.
const TYPES: [&str; 8] = [
    "text/*",
    "application/json*",
    "application/javascript*",
    "application/xhtml+xml*",
    "application/atom+xml*",
    "application/rss+xml*",
    "application/wasm*",
    "image/svg+xml*",
];
/// Types that Caddy knows by itself.
const KNOWN: [(&str, &str); 13] = [
    ("css", "text/css"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
    ("xml", "text/xml"),
    ("gif", "image/gif"),
    ("jpg", "image/jpeg"),
    ("png", "image/png"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
];
/// What a request's path is called.
const PATH: &str = "{http.request.uri.path}";
/// What the file that a matcher has found is called.
const FOUND: &str = "{http.matchers.file.relative}";

/// A request on its way.
struct Way<'t, 'a> {
    asked: &'a Asked<'a>,
    path: String,
    root: PathBuf,
    /// What `try_files` has found last, below the root.
    found: Option<String>,
    encode: Option<&'t Directive>,
    /// The file server that answers.
    server: Option<&'t Directive>,
    decided: Option<Said<String>>,
    cache: Option<Said<String>>,
    unknown: Vec<Place>,
}

/// What Caddy does with a URL.
pub fn meaning(rules: &Rules, tree: &Tree, site: &Site, asked: &Asked<'_>) -> Meaning {
    let mut way = Way {
        asked,
        path: asked.path.to_owned(),
        root: rules.docroot.clone(),
        found: None,
        encode: None,
        server: None,
        decided: None,
        cache: None,
        unknown: Vec::new(),
    };
    let routes = site::routes_of(tree, site).map(|(_, routes)| routes).unwrap_or_default();
    // Without an answer of a handler, Caddy sends an empty response.
    let answer = way.routes(&routes).unwrap_or(Answer::Status(200));
    let media_type = match &answer {
        Answer::File(file) => {
            let extension = extension(file);
            KNOWN.iter().find(|(known, _)| *known == extension).map(|(_, of)| (*of).to_owned())
        }
        Answer::Php { .. } => Some("text/html".to_owned()),
        _ => None,
    };
    let today: Vec<Today> =
        way.encode.iter().flat_map(|handler| encode(handler, media_type.as_deref())).collect();
    let variants: Vec<Variants> = match &answer {
        Answer::File(file) => way.server.iter().flat_map(|handler| variants(handler, file, asked)).collect(),
        _ => Vec::new(),
    };
    Meaning {
        vary: !today.is_empty() || !variants.is_empty(),
        docroot: way.root,
        block: way.decided,
        cache_control: way.cache,
        unknown: way.unknown,
        answer,
        media_type,
        today,
        variants,
    }
}

impl<'t> Way<'t, '_> {
    /// The first answer of routes; none: they have none.
    fn routes(&mut self, routes: &[&'t Directive]) -> Option<Answer> {
        let mut groups: Vec<String> = Vec::new();
        for route in routes.iter().copied() {
            let group = get(route, "group").and_then(string);
            if group.as_ref().is_some_and(|group| groups.contains(group)) {
                continue;
            }
            match self.matches(get(route, "match")) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    self.unknown.push(route.at);
                    continue;
                }
            }
            groups.extend(group);
            for handler in get(route, "handle").map(Directive::within).unwrap_or_default() {
                if let Some(answer) = self.handler(handler) {
                    return Some(answer);
                }
            }
            if get(route, "terminal").is_some_and(|value| value.arguments == "true") {
                return Some(Answer::Status(200));
            }
        }
        None
    }

    fn handler(&mut self, handler: &'t Directive) -> Option<Answer> {
        let name = get(handler, "handler").and_then(string).unwrap_or_default();
        let mut said = |answer: Answer| {
            self.decided = Some(Said { value: name.clone(), at: Some(handler.at) });
            Some(answer)
        };
        match name.as_str() {
            "subroute" => self.routes(&get(handler, "routes")?.within().iter().collect::<Vec<_>>()),
            "vars" => {
                if let Some(root) = get(handler, "root").and_then(string) {
                    self.root = tidy(Path::new(&root));
                }
                None
            }
            "encode" => {
                self.encode = Some(handler);
                None
            }
            "headers" => {
                let response = get(handler, "response")?;
                let fields = ["set", "add"].iter().filter_map(|kind| get(response, kind));
                let value =
                    fields.into_iter().find_map(|set| strings(set, "Cache-Control").into_iter().next());
                self.cache = value.map(|value| Said { value, at: Some(handler.at) }).or(self.cache.take());
                None
            }
            "rewrite" => {
                self.rewrite(handler);
                None
            }
            "file_server" => {
                let root = get(handler, "root").and_then(string).map(PathBuf::from);
                let root = root.unwrap_or_else(|| self.root.clone());
                let answer = self.file(&root, handler);
                self.server = Some(handler);
                self.decided = Some(Said { value: name.clone(), at: Some(handler.at) });
                Some(answer)
            }
            "reverse_proxy" => {
                let to = get(handler, "upstreams").and_then(|list| list.within().first());
                let at = to.and_then(|to| get(to, "dial")).and_then(string).unwrap_or_default();
                let script = self.path.clone();
                said(if is_fastcgi(handler) { Answer::Php { at, script } } else { Answer::Elsewhere(at) })
            }
            "static_response" | "error" => {
                let status = get(handler, "status_code")
                    .and_then(|code| code.arguments.trim_matches('"').parse().ok());
                said(Answer::Status(status.unwrap_or(if name == "error" { 500 } else { 200 })))
            }
            _ => None,
        }
    }

    fn rewrite(&mut self, handler: &Directive) {
        if let Some(prefix) = get(handler, "strip_path_prefix").and_then(string) {
            let rest = self.path.strip_prefix(&prefix).map(str::to_owned);
            self.path =
                rest.map_or_else(|| self.path.clone(), |rest| format!("/{}", rest.trim_start_matches('/')));
        }
        if let Some(uri) = get(handler, "uri").and_then(string) {
            let found = self.found.clone().unwrap_or_default();
            let uri =
                uri.split('?').next().unwrap_or_default().replace(FOUND, &found).replace(PATH, &self.path);
            if !uri.is_empty() && !uri.contains('{') {
                self.path = format!("/{}", uri.trim_start_matches('/'));
            }
        }
    }

    /// The file that a file server sends.
    fn file(&self, root: &Path, handler: &Directive) -> Answer {
        let file = tidy(&root.join(self.path.trim_start_matches('/')));
        match (self.asked.exists)(&file) {
            Exists::File => Answer::File(file),
            Exists::Folder => {
                let names = strings(handler, "index_names");
                let names =
                    if names.is_empty() { vec!["index.html".into(), "index.txt".into()] } else { names };
                let own = names.iter().map(|name| file.join(name));
                own.into_iter()
                    .find(|file| (self.asked.exists)(file) == Exists::File)
                    .map_or(Answer::Status(404), Answer::File)
            }
            Exists::Nothing => Answer::Status(404),
        }
    }

    /// Whether one of the matchers holds; none: that depends on more than path and host.
    fn matches(&mut self, matchers: Option<&Directive>) -> Option<bool> {
        let Some(matchers) = matchers else { return Some(true) };
        let mut is_known = true;
        for set in matchers.within() {
            match self.set(set) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(matchers.within().is_empty())
    }

    /// Whether all matchers of a set hold.
    fn set(&mut self, set: &Directive) -> Option<bool> {
        let mut is_known = true;
        for matcher in set.within() {
            match self.matcher(matcher) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => is_known = false,
            }
        }
        is_known.then_some(true)
    }

    fn matcher(&mut self, matcher: &Directive) -> Option<bool> {
        let listed = || matcher.within().iter().filter_map(string);
        match matcher.name.as_str() {
            // The site is one of these hosts.
            "host" => Some(true),
            "path" => Some(listed().any(|pattern| is_path(&pattern, &self.path))),
            "path_regexp" => {
                let pattern = get(matcher, "pattern").and_then(string)?;
                super::nginx::expression(&pattern, false)?.is_match(&self.path).ok()
            }
            "method" => Some(listed().any(|method| method == "GET")),
            "not" => {
                let mut is_known = true;
                for set in matcher.within() {
                    match self.set(set) {
                        Some(true) => return Some(false),
                        Some(false) => {}
                        None => is_known = false,
                    }
                }
                is_known.then_some(true)
            }
            "file" => Some(self.try_files(matcher)),
            _ => None,
        }
    }

    fn try_files(&mut self, matcher: &Directive) -> bool {
        let root = get(matcher, "root").and_then(string).map_or_else(|| self.root.clone(), PathBuf::from);
        let all = strings(matcher, "try_files");
        let all = if all.is_empty() { vec![PATH.to_owned()] } else { all };
        let split = strings(matcher, "split_path");
        for pattern in &all {
            let path = pattern.replace(PATH, &self.path);
            if path.starts_with('=') || path.contains('{') {
                continue;
            }
            let is_folder = path.ends_with('/');
            // What follows the script's name is no part of the file.
            let script =
                split.iter().find_map(|end| path.find(end.as_str()).map(|at| &path[..at + end.len()]));
            let file = tidy(&root.join(script.unwrap_or(&path).trim_start_matches('/')));
            let wanted = if is_folder { Exists::Folder } else { Exists::File };
            if (self.asked.exists)(&file) == wanted {
                self.found = Some(format!("/{}", path.trim_start_matches('/')));
                return true;
            }
        }
        false
    }
}

/// Whether a proxy speaks FastCGI, as that to PHP does.
pub fn is_fastcgi(handler: &Directive) -> bool {
    let protocol = get(handler, "transport").and_then(|transport| get(transport, "protocol"));
    protocol.and_then(string).is_some_and(|protocol| protocol == "fastcgi")
}

/// Whether a path is one that a matcher means: exact, or with `*` at either end; regardless of case.
fn is_path(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
    let is_open = pattern.len() > 1;
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), _) if pattern == "*" => true,
        (Some(rest), Some(_)) if is_open => path.contains(rest.trim_end_matches('*')),
        (Some(end), None) => path.ends_with(end),
        (None, Some(begin)) => path.starts_with(begin),
        _ => match glob::Pattern::new(&pattern) {
            Ok(glob) if pattern.contains(['*', '?', '[']) => {
                let options = glob::MatchOptions { require_literal_separator: true, ..Default::default() };
                glob.matches_with(&path, options)
            }
            _ => pattern == path,
        },
    }
}

/// What `encode` makes of responses of this type; none: the type is not known.
fn encode(handler: &Directive, media_type: Option<&str>) -> Vec<Today> {
    let Some(encodings) = get(handler, "encodings") else { return Vec::new() };
    let matched = get(handler, "match").and_then(|set| get(set, "headers"));
    let types = matched.map(|headers| strings(headers, "Content-Type")).filter(|types| !types.is_empty());
    let types = types.unwrap_or_else(|| TYPES.map(str::to_owned).to_vec());
    let fits = |of: &str| types.iter().any(|pattern| is_path(pattern, of));
    // One of the names that its lists of the machine may have.
    let is_meant = media_type.is_some_and(|of| {
        fits(of)
            || fits(&format!("{of}; charset=utf-8"))
            || of == "text/javascript" && fits("application/javascript")
    });
    let number = |key: &str| get(handler, key).and_then(|value| value.arguments.parse::<u64>().ok());
    let prefer = strings(handler, "prefer");
    let mut names: Vec<&Directive> = encodings.within().iter().filter(|_| is_meant).collect();
    names.sort_by_key(|one| prefer.iter().position(|name| *name == one.name).unwrap_or(usize::MAX));
    let level = |one: &Directive| {
        let said = get(one, "level").and_then(|value| value.arguments.parse().ok());
        said.or((one.name == "gzip").then_some(5))
    };
    let made = |one: &Directive| Today {
        coding: one.name.clone(),
        level: level(one),
        by: format!("http.encoders.{}", one.name),
        min_length: number("minimum_length").filter(|length| *length > 0).unwrap_or(SHORTEST),
        types: types.clone(),
        at: Some(handler.at),
    };
    names.into_iter().map(made).collect()
}

/// The variants that a file server looks for.
fn variants(handler: &Directive, file: &Path, asked: &Asked<'_>) -> Vec<Variants> {
    let Some(named) = get(handler, "precompressed") else { return Vec::new() };
    let order = strings(handler, "precompressed_order");
    let mut codings: Vec<&Directive> = named.within().iter().collect();
    codings.sort_by_key(|one| order.iter().position(|name| *name == one.name).unwrap_or(usize::MAX));
    let of = |one: &Directive| {
        let ending = Some(types::ending(&one.name)).filter(|ending| !ending.is_empty())?;
        let beside = PathBuf::from(format!("{}.{ending}", file.display()));
        Some(Variants {
            coding: one.name.clone(),
            ending: ending.to_owned(),
            by: "file_server".into(),
            is_there: (asked.exists)(&beside) == Exists::File,
            at: Some(named.at),
        })
    };
    codings.into_iter().filter_map(of).collect()
}

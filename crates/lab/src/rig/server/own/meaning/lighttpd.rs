//! lighttpd: conditions on the path and the host in their order, later ones in place of earlier ones; then rewrites, aliases, PHP by
//! extension, and files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Answer, Asked, Exists, Meaning, Said, Today, cache, rewrite};
use crate::rig::server::own::Rules;
use crate::rig::server::own::site::Site;
use crate::rig::server::own::syntax::assigned::Value;
use crate::rig::server::own::syntax::{Directive, Place};
use crate::rig::server::own::tree::{Tree, tidy};

/// Codings by the names that `deflate.allowed-encodings` has for them.
const CODINGS: [(&str, &str); 7] = [
    ("gzip", "gzip"),
    ("x-gzip", "gzip"),
    ("deflate", "deflate"),
    ("br", "br"),
    ("brotli", "br"),
    ("zstd", "zstd"),
    ("x-zstd", "zstd"),
];
/// Smaller content is sent as it is, in bytes.
const SMALLEST: u64 = 256;
/// What hands requests to other programs than PHP.
const ELSEWHERE: [&str; 5] =
    ["proxy.server", "scgi.server", "sockproxy.server", "wstunnel.server", "cgi.assign"];
/// Rewrites, in the server's order; the second: only where there is no file.
const REWRITES: [(&str, bool); 7] = [
    ("url.rewrite-once", false),
    ("url.rewrite", false),
    ("url.rewrite-final", false),
    ("url.rewrite-repeat", false),
    ("url.rewrite-if-not-file", true),
    ("url.rewrite-once-if-not-file", true),
    ("url.rewrite-repeat-if-not-file", true),
];

/// What is in force: of each name the last value whose conditions hold.
struct Force<'t> {
    values: BTreeMap<&'t str, (Value, Place)>,
    unknown: Vec<Place>,
}

impl<'t> Force<'t> {
    fn of(directives: &'t [Directive], path: &str, site: &Site) -> Force<'t> {
        let mut force = Force { values: BTreeMap::new(), unknown: Vec::new() };
        force.take(directives, path, site);
        force
    }

    fn take(&mut self, directives: &'t [Directive], path: &str, site: &Site) {
        for directive in directives.iter().filter(|d| d.block.is_none()) {
            if let Some(value) = Value::of(directive) {
                self.values.insert(&directive.name, (value, directive.at));
            }
        }
        let mut is_taken = false;
        for directive in directives.iter().filter(|d| d.block.is_some()) {
            let is_else = directive.name == "else";
            is_taken &= is_else;
            if is_taken {
                continue;
            }
            let head = if is_else { directive.arguments.clone() } else { directive.text() };
            match holds(&head, path, site) {
                Some(true) => {
                    is_taken = true;
                    self.take(directive.within(), path, site);
                }
                Some(false) => {}
                None => self.unknown.push(directive.at),
            }
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    fn word(&self, name: &str) -> Option<String> {
        self.value(name).map(Value::word).filter(|word| !word.is_empty())
    }

    fn words(&self, name: &str) -> Vec<String> {
        let list = self.value(name).map(Value::entries).unwrap_or_default();
        list.iter().map(|(_, value)| value.word()).collect()
    }

    fn at(&self, name: &str) -> Option<Place> {
        self.values.get(name).map(|(_, at)| *at)
    }
}

/// Whether a condition holds; none: it depends on more than path and host. An empty one always does.
fn holds(head: &str, path: &str, site: &Site) -> Option<bool> {
    let head = head.trim();
    if head.is_empty() {
        return Some(true);
    }
    let (of, rest) = head.split_at(head.find(']')? + 1);
    let (operator, value) = rest.trim().split_once(' ')?;
    let value = Value::of(&Directive {
        name: String::new(),
        arguments: value.into(),
        at: Place::default(),
        block: None,
    })?;
    let value = value.word();
    let subject = match of {
        "$HTTP[\"url\"]" => path.to_owned(),
        "$HTTP[\"host\"]" => site.host()?.to_owned(),
        "$HTTP[\"request-method\"]" => "GET".to_owned(),
        "$HTTP[\"query-string\"]" | "$HTTP[\"querystring\"]" => String::new(),
        "$SERVER[\"socket\"]" => return Some(false),
        _ => return None,
    };
    let matches =
        || Some(super::nginx::expression(&value, of.contains("host"))?.is_match(&subject).unwrap_or(false));
    Some(match operator {
        "==" => subject == value,
        "!=" => subject != value,
        "=^" => subject.starts_with(&value),
        "=$" => subject.ends_with(&value),
        "=~" => matches()?,
        "!~" => !matches()?,
        _ => return None,
    })
}

/// What lighttpd does with a URL.
pub fn meaning(rules: &Rules, tree: &Tree, site: &Site, asked: &Asked<'_>) -> Meaning {
    let mut path = asked.path.to_owned();
    let mut force = Force::of(&tree.directives, &path, site);
    if let Some(to) = rewritten(&force, rules, &path, asked) {
        path = to;
        force = Force::of(&tree.directives, &path, site);
    }
    let docroot = docroot(&force, rules);
    let (answer, decided) = answer(&force, &docroot, &path, asked, true);
    let media_type = match &answer {
        Answer::File(file) => Some(media_type(&force, file)),
        Answer::Php { .. } => Some("text/html".to_owned()),
        _ => None,
    };
    let is_streamed =
        force.word("server.stream-response-body").is_some_and(|word| word != "0" && word != "disable");
    let is_whole = !(is_streamed && matches!(answer, Answer::Php { .. }));
    let today =
        media_type.iter().filter(|_| is_whole).flat_map(|of| today(&force, tree, of)).collect::<Vec<_>>();
    Meaning {
        cache_control: cache_control(&force, &path),
        docroot,
        block: decided.map(|(name, at)| Said { value: name.to_owned(), at }),
        vary: !today.is_empty(),
        media_type,
        today,
        variants: Vec::new(),
        unknown: force.unknown,
        answer,
    }
}

fn docroot(force: &Force<'_>, rules: &Rules) -> PathBuf {
    force.word("server.document-root").map_or_else(|| rules.docroot.clone(), |root| tidy(Path::new(&root)))
}

/// The file of a path.
fn file(force: &Force<'_>, docroot: &Path, path: &str) -> PathBuf {
    let aliases = force.value("alias.url").map(Value::entries).unwrap_or_default();
    let alias = aliases.iter().find_map(|(from, to)| Some((path.strip_prefix(from.as_deref()?)?, to.word())));
    match alias {
        Some((rest, to)) => tidy(Path::new(&format!("{to}{rest}"))),
        None => tidy(&docroot.join(path.trim_start_matches('/'))),
    }
}

/// The path after the first rewrite that applies, without its query.
fn rewritten(force: &Force<'_>, rules: &Rules, path: &str, asked: &Asked<'_>) -> Option<String> {
    let is_file = (asked.exists)(&file(force, &docroot(force, rules), path)) == Exists::File;
    for (name, _) in REWRITES.iter().filter(|(_, if_none)| !(*if_none && is_file)) {
        for (pattern, to) in force.value(name).map(Value::entries).unwrap_or_default() {
            let to = to.word().replace("${url.path}", path).replace("${qsa}", "");
            if let Some(to) = rewrite::apply(pattern.as_deref().unwrap_or_default(), false, &to, path) {
                return Some(to.split('?').next().unwrap_or_default().to_owned());
            }
        }
    }
    None
}

/// Who answers, and what decides that.
fn answer(
    force: &Force<'_>,
    docroot: &Path,
    path: &str,
    asked: &Asked<'_>,
    is_first: bool,
) -> (Answer, Option<(&'static str, Option<Place>)>) {
    let by = |name: &'static str| Some((name, force.at(name)));
    let redirects = force.value("url.redirect").map(Value::entries).unwrap_or_default();
    let is_redirected = |(pattern, _): &(Option<String>, Value)| {
        rewrite::apply(pattern.as_deref().unwrap_or_default(), false, "", path).is_some()
    };
    if redirects.iter().any(is_redirected) {
        return (Answer::Status(301), by("url.redirect"));
    }
    if force.words("url.access-deny").iter().any(|end| path.ends_with(end.as_str())) {
        return (Answer::Status(403), by("url.access-deny"));
    }
    let is_for = |key: &str| match key {
        "" => true,
        key if key.starts_with('/') => path.starts_with(key),
        key => path.ends_with(key) || path.contains(&format!("{key}/")),
    };
    for name in ELSEWHERE {
        let found = force.value(name).map(Value::entries).unwrap_or_default();
        if found.iter().any(|(key, _)| is_for(key.as_deref().unwrap_or_default())) {
            return (Answer::Elsewhere(name.to_owned()), by(name));
        }
    }
    let own = file(force, docroot, path);
    let is_there = (asked.exists)(&own);
    let backends = force.value("fastcgi.server").map(Value::entries).unwrap_or_default();
    let backend = backends.iter().find(|(key, _)| is_for(key.as_deref().unwrap_or_default()));
    if let Some((key, backend)) = backend {
        let text = backend.text();
        let is_checked = !text.contains("\"check-local\" => \"disable\"");
        if is_there == Exists::File || !is_checked {
            let at = key.clone().unwrap_or_default();
            let answer = match is_php(&at, &text) {
                true => Answer::Php { at, script: path.to_owned() },
                false => Answer::Elsewhere(at),
            };
            return (answer, by("fastcgi.server"));
        }
    }
    if is_there == Exists::File {
        return (Answer::File(own), None);
    }
    if is_there == Exists::Folder && is_first {
        let slash = if path.ends_with('/') { "" } else { "/" };
        for index in force.words("index-file.names") {
            let path = format!("{path}{slash}{index}");
            if (asked.exists)(&file(force, docroot, &path)) == Exists::File {
                return answer(force, docroot, &path, asked, false);
            }
        }
    }
    let handler = ["server.error-handler-404", "server.error-handler"]
        .into_iter()
        .find(|name| force.value(name).is_some());
    if let Some((name, script)) =
        handler.filter(|_| is_first).and_then(|name| Some((name, force.word(name)?)))
    {
        let script = script.split('?').next().unwrap_or_default().to_owned();
        let (answer, _) = answer(force, docroot, &script, asked, false);
        return (answer, by(name));
    }
    (Answer::Status(404), None)
}

/// Whether a backend of `fastcgi.server` is a PHP.
pub fn is_php(key: &str, backend: &str) -> bool {
    key.contains("php") || backend.to_lowercase().contains("php")
}

/// The media type of a file, without parameters: the first ending of the list that fits.
fn media_type(force: &Force<'_>, file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let rows = force.value("mimetype.assign").map(Value::entries).unwrap_or_default();
    let ends = |(ending, _): &&(Option<String>, Value)| {
        ending.as_deref().is_some_and(|e| name.ends_with(&e.to_lowercase()))
    };
    let found = rows.iter().find(ends).map(|(_, of)| of.word());
    let of = found.unwrap_or_else(|| "application/octet-stream".to_owned());
    of.split(';').next().unwrap_or_default().trim().to_owned()
}

/// What `mod_deflate` makes of responses of this type.
fn today(force: &Force<'_>, tree: &Tree, media_type: &str) -> Vec<Today> {
    let has = |name: &str| tree.modules.as_ref().is_some_and(|modules| modules.contains(name));
    // `compress.*` are the names of its predecessor.
    let named = |rest: &str| {
        let name = format!("deflate.{rest}");
        if force.value(&name).is_some() { name } else { format!("compress.{rest}") }
    };
    let types = force.words(&named(if force.value("deflate.mimetypes").is_some() {
        "mimetypes"
    } else {
        "filetype"
    }));
    if !(has("deflate") || has("compress"))
        || !types.iter().any(|of| media_type.starts_with(of.split(';').next().unwrap_or_default()))
    {
        return Vec::new();
    }
    let number = |rest: &str| force.word(&named(rest)).and_then(|word| word.parse::<u64>().ok());
    let params = force.value("deflate.params");
    let param = |name: &str| params.and_then(|all| all.get(name)).and_then(|value| value.word().parse().ok());
    let allowed = named("allowed-encodings");
    let mut made: Vec<Today> = Vec::new();
    for name in force.words(&allowed) {
        let Some((_, coding)) = CODINGS.iter().find(|(own, _)| *own == name) else { continue };
        if made.iter().any(|known| known.coding == *coding) {
            continue;
        }
        let level = match *coding {
            "br" => param("BROTLI_PARAM_QUALITY").unwrap_or(5),
            "zstd" => param("ZSTD_c_compressionLevel").unwrap_or(3),
            _ => number("compression-level").and_then(|level| i32::try_from(level).ok()).unwrap_or(6),
        };
        made.push(Today {
            coding: (*coding).to_owned(),
            level: Some(level),
            by: "mod_deflate".into(),
            min_length: number("min-compress-size").unwrap_or(SMALLEST),
            types: types.clone(),
            at: force.at(&allowed),
        });
    }
    made
}

fn cache_control(force: &Force<'_>, path: &str) -> Option<Said<String>> {
    for name in ["setenv.set-response-header", "setenv.add-response-header"] {
        let said = force.value(name).and_then(|all| all.get("Cache-Control")).map(Value::word);
        if let Some(value) = said {
            return Some(Said { value, at: force.at(name) });
        }
    }
    let rows = force.value("expire.url").map(Value::entries).unwrap_or_default();
    let row = rows.iter().find(|(begin, _)| begin.as_deref().is_some_and(|begin| path.starts_with(begin)));
    let value = row.and_then(|(_, time)| cache::of_apache(&time.word()))?;
    Some(Said { value, at: force.at("expire.url") })
}

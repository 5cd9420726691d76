//! nginx: locations in its order, inner directives in place of outer ones, and internal redirects.

use std::path::{Path, PathBuf};

use fancy_regex::{Regex, RegexBuilder};

use super::rewrite;
use super::{Answer, Asked, Exists, Meaning, OURS, Said, Today, Variants, cache, extension};
use crate::rig::server::own::Rules;
use crate::rig::server::own::site::{self, Site};
use crate::rig::server::own::syntax::Directive;
use crate::rig::server::own::tree::{Tree, tidy};

/// Internal redirects at most, as in the server.
const REDIRECTS: usize = 10;
/// What makes a coding for each response: name of the switch, coding, default level, module. In the order in which they take effect.
const FILTERS: [(&str, &str, i32, &str); 3] = [
    ("brotli", "br", 6, "ngx_brotli"),
    ("zstd", "zstd", 1, "zstd-nginx-module"),
    ("gzip", "gzip", 1, "ngx_http_gzip_module"),
];
/// What sends variants: the switch, coding, ending, module.
const STATICS: [(&str, &str, &str, &str); 3] = [
    ("brotli_static", "br", "br", "ngx_brotli"),
    ("zstd_static", "zstd", "zst", "zstd-nginx-module"),
    ("gzip_static", "gzip", "gz", "ngx_http_gzip_static_module"),
];
/// What hands requests to other programs than PHP.
const PASSES: [&str; 5] = ["proxy_pass", "uwsgi_pass", "scgi_pass", "grpc_pass", "memcached_pass"];

/// Blocks from the outermost to the innermost.
type Chain<'t> = Vec<&'t [Directive]>;

/// A request on its way.
struct Way<'t, 'a> {
    rules: &'a Rules,
    asked: &'a Asked<'a>,
    base: Chain<'t>,
    site: &'a Site,
    sets: Vec<(String, String)>,
    unknown: Vec<crate::rig::server::own::syntax::Place>,
}

/// Where a request ends.
struct End<'t> {
    answer: Answer,
    chain: Chain<'t>,
    block: Option<&'t Directive>,
}

/// What nginx does with a URL.
pub fn meaning(rules: &Rules, tree: &Tree, site: &Site, asked: &Asked<'_>) -> Meaning {
    let http = site::around(rules, tree);
    let server = http.iter().find(|d| d.block.is_some() && Some(d.at) == site.at);
    let base: Chain<'_> = [Some(http), server.map(Directive::within)].into_iter().flatten().collect();
    let sets = server.iter().flat_map(|d| d.within()).filter_map(site::set_of).collect();
    let mut way = Way { rules, asked, base, site, sets, unknown: Vec::new() };
    let mut end = way.follow();
    // To a part that stands alone and has no PHP, Weighbridge's is added.
    let has_none = !way.base.iter().any(|block| has_php(block));
    if !tree.is_whole
        && has_none
        && asked.path.ends_with(".php")
        && !matches!(end.answer, Answer::Status(301..400))
    {
        end.answer = Answer::Php { at: OURS.to_owned(), script: asked.path.to_owned() };
    }
    let docroot = way.root(&end.chain);
    let chain = &end.chain;
    let file = match &end.answer {
        Answer::File(file) => Some(file.clone()),
        _ => None,
    };
    let media_type = match (&end.answer, &file) {
        (_, Some(file)) => Some(media_type(chain, file, tree.is_whole)),
        (Answer::Php { .. }, None) => Some("text/html".to_owned()),
        _ => None,
    };
    let variants = file.iter().flat_map(|file| variants(chain, file, asked)).collect();
    let today: Vec<Today> = media_type.iter().flat_map(|of| today(chain, of)).collect();
    let vary = is_on(chain, "gzip_vary") && !(today.is_empty() && Vec::is_empty(&variants));
    let block = end.block.map(|d| Said { value: d.text(), at: Some(d.at) });
    Meaning {
        cache_control: cache_control(chain, matches!(end.answer, Answer::Php { .. })),
        answer: end.answer,
        docroot,
        block,
        media_type,
        today,
        variants,
        vary,
        unknown: way.unknown,
    }
}

/// Whether any block hands requests to PHP.
pub fn has_php(block: &[Directive]) -> bool {
    block.iter().any(|d| d.is("fastcgi_pass") || has_php(d.within()))
}

impl<'t> Way<'t, '_> {
    /// From the URL to who answers.
    fn follow(&mut self) -> End<'t> {
        let mut uri = self.asked.path.to_owned();
        let server: &'t [Directive] = self.base.last().copied().unwrap_or_default();
        if let Some(status) = self.rewritten(server, &mut uri).0 {
            return End { answer: Answer::Status(status), chain: self.base.clone(), block: None };
        }
        let mut named: Option<String> = None;
        for turn in 0..REDIRECTS {
            let (mut chain, mut block) = (self.base.clone(), None);
            match named.take() {
                Some(name) => {
                    let found = server.iter().find(|d| d.is("location") && d.arguments == name);
                    chain.extend(found.map(Directive::within));
                    block = found;
                }
                None => {
                    let mut found = Vec::new();
                    find(server, &uri, &mut found);
                    chain.extend(found.iter().map(|d| d.within()));
                    block = found.last().copied().or(block);
                }
            }
            let inner = if block.is_some() { chain.last().copied().unwrap_or_default() } else { &[] };
            if turn == 0 && inner.iter().any(|d| d.is("internal")) {
                return End { answer: Answer::Status(404), chain, block };
            }
            let (status, is_new) = self.rewritten(inner, &mut uri);
            if let Some(status) = status {
                return End { answer: Answer::Status(status), chain, block };
            }
            if is_new {
                continue;
            }
            let own = if block.is_some() { inner } else { server };
            match self.content(&chain, own, &mut uri) {
                Step::End(answer) => return End { answer, chain, block },
                Step::Named(name) => named = Some(name),
                Step::Again => {}
            }
        }
        End { answer: Answer::Status(500), chain: self.base.clone(), block: None }
    }

    /// What the directives of the rewrite module make of a path: a status, and whether locations are looked for again.
    fn rewritten(&mut self, block: &[Directive], uri: &mut String) -> (Option<u16>, bool) {
        for directive in block {
            let words = directive.words();
            match directive.name.as_str() {
                "return" => return (Some(words.first().and_then(|w| w.parse().ok()).unwrap_or(302)), false),
                "rewrite" => {
                    let flag = words.get(2).map_or("", String::as_str);
                    let (Some(from), Some(to)) = (words.first(), words.get(1)) else { continue };
                    let Some(target) = rewrite::apply(from, false, to, uri) else { continue };
                    if to.starts_with("http://") || to.starts_with("https://") || flag == "redirect" {
                        return (Some(302), false);
                    }
                    if flag == "permanent" {
                        return (Some(301), false);
                    }
                    let target = self.filled(&target, uri);
                    if target.contains('$') {
                        self.unknown.push(directive.at);
                        continue;
                    }
                    *uri = target.split('?').next().unwrap_or_default().to_owned();
                    if flag == "last" || flag == "break" {
                        return (None, flag == "last");
                    }
                }
                "if" => self.unknown.push(directive.at),
                _ => {}
            }
        }
        (None, false)
    }

    /// A text with the values that are known.
    fn filled(&self, text: &str, uri: &str) -> String {
        let known = [
            ("$uri", uri),
            ("$document_uri", uri),
            ("$fastcgi_script_name", uri),
            ("$is_args", ""),
            ("$args", ""),
            ("$query_string", ""),
            ("$request_uri", self.asked.path),
        ];
        let mut sets = self.sets.clone();
        sets.extend(known.map(|(name, value)| (name.to_owned(), value.to_owned())));
        site::with_sets(text, &sets)
    }

    fn root(&self, chain: &[&[Directive]]) -> PathBuf {
        let said = effective(chain, "root").map(|d| site::with_sets(&d.first(), &self.sets));
        match said.filter(|root| !root.contains('$')) {
            Some(root) => tidy(&self.rules.prefix.join(root)),
            None => self.site.root.clone(),
        }
    }

    /// The file of a path.
    fn file(&self, chain: &[&[Directive]], block: &[Directive], uri: &str) -> PathBuf {
        let alias = block.iter().find(|d| d.is("alias"));
        let of = alias.and_then(|alias| {
            let (kind, location) = self.location_of(block)?;
            let to = site::with_sets(&alias.first(), &self.sets);
            let to = match kind {
                "~" | "~*" => {
                    let pattern = expression(&location, kind == "~*")?;
                    with_groups(&to, &pattern.captures(uri).ok()??)
                }
                _ => format!("{to}{}", uri.strip_prefix(location.as_str())?),
            };
            (!to.contains('$')).then(|| tidy(&self.rules.prefix.join(to)))
        });
        of.unwrap_or_else(|| self.root(chain).join(uri.trim_start_matches('/')))
    }

    /// What the location that has this content is for.
    fn location_of(&self, block: &[Directive]) -> Option<(&'static str, String)> {
        fn within(list: &[Directive], block: &[Directive]) -> Option<(&'static str, String)> {
            list.iter().find_map(|d| match std::ptr::eq(d.within(), block) {
                true => matched(d),
                false => within(d.within(), block),
            })
        }
        within(self.base.last()?, block)
    }

    /// The content phase.
    fn content(&mut self, chain: &[&[Directive]], block: &[Directive], uri: &mut String) -> Step {
        if let Some(tries) = block.iter().find(|d| d.is("try_files")) {
            let words = tries.words();
            let Some((last, first)) = words.split_last() else { return Step::End(Answer::Unknown) };
            let found = first.iter().find(|word| {
                let file = self.file(chain, block, &self.filled(word, uri));
                // What the word ends with says what is looked for, not what its value does.
                let wanted = if word.ends_with('/') { Exists::Folder } else { Exists::File };
                (self.asked.exists)(&file) == wanted
            });
            let found = found.map(|word| self.filled(word, uri));
            match (found, last.strip_prefix('=')) {
                (Some(path), _) => *uri = path,
                (None, Some(status)) => return Step::End(Answer::Status(status.parse().unwrap_or(404))),
                (None, None) if last.starts_with('@') => return Step::Named(last.clone()),
                (None, None) => {
                    let target = self.filled(last, uri);
                    *uri = target.split('?').next().unwrap_or_default().to_owned();
                    return Step::Again;
                }
            }
        }
        if let Some(pass) = block.iter().find(|d| d.is("fastcgi_pass")) {
            return Step::End(Answer::Php { at: pass.arguments.clone(), script: uri.clone() });
        }
        if let Some(pass) = block.iter().find(|d| PASSES.iter().any(|name| d.is(name))) {
            return Step::End(Answer::Elsewhere(pass.arguments.clone()));
        }
        if uri.ends_with('/') {
            let names =
                effective(chain, "index").map_or_else(|| vec!["index.html".to_owned()], Directive::words);
            let index = names.iter().map(|name| match name.strip_prefix('/') {
                Some(_) => name.clone(),
                None => format!("{uri}{name}"),
            });
            let index = index
                .into_iter()
                .find(|path| (self.asked.exists)(&self.file(chain, block, path)) == Exists::File);
            return match index {
                Some(path) => {
                    *uri = path;
                    Step::Again
                }
                None => Step::End(Answer::Status(403)),
            };
        }
        let file = self.file(chain, block, uri);
        match (self.asked.exists)(&file) {
            _ if is_denied(chain) => Step::End(Answer::Status(403)),
            Exists::File => Step::End(Answer::File(file)),
            Exists::Folder => Step::End(Answer::Status(301)),
            Exists::Nothing => Step::End(Answer::Status(404)),
        }
    }
}

enum Step {
    End(Answer),
    Named(String),
    Again,
}

/// A refusal of everybody.
fn is_denied(chain: &[&[Directive]]) -> bool {
    let access = |block: &&&[Directive]| block.iter().any(|d| d.is("allow") || d.is("deny"));
    let inner = chain.iter().rev().find(access);
    let first = inner.and_then(|block| block.iter().find(|d| d.is("allow") || d.is("deny")));
    first.is_some_and(|d| d.is("deny") && d.arguments == "all")
}

/// The kind of a location and what follows it; nginx takes them with and without a space between.
pub fn matched(location: &Directive) -> Option<(&'static str, String)> {
    const KINDS: [&str; 4] = ["~*", "^~", "~", "="];
    let words = location.words();
    match words.as_slice() {
        [one] => Some(match KINDS.iter().find_map(|kind| Some((*kind, one.strip_prefix(kind)?))) {
            Some((kind, rest)) => (kind, rest.to_owned()),
            None => ("", one.clone()),
        }),
        [kind, rest] => Some((KINDS.iter().find(|known| *known == kind)?, rest.clone())),
        _ => None,
    }
}

/// Finds the location of a path in a list and what is in it; whether it is a final one.
fn find<'t>(list: &'t [Directive], uri: &str, found: &mut Vec<&'t Directive>) -> bool {
    let locations = || list.iter().filter(|d| d.is("location"));
    let (mut best, mut is_last): (Option<(&Directive, usize)>, bool) = (None, false);
    for location in locations() {
        let Some((kind, prefix)) = matched(location) else { continue };
        match kind {
            "=" if uri == prefix => {
                found.push(location);
                return true;
            }
            "" | "^~"
                if uri.starts_with(prefix.as_str())
                    && best.is_none_or(|(_, length)| prefix.len() > length) =>
            {
                best = Some((location, prefix.len()));
                is_last = kind == "^~";
            }
            _ => {}
        }
    }
    let begin = found.len();
    if let Some((location, _)) = best {
        found.push(location);
        if find(location.within(), uri, found) {
            return true;
        }
        is_last |= found.len() > begin + 1
            && found.last().is_some_and(|d| matched(d).is_some_and(|(kind, _)| kind == "^~"));
    }
    if is_last {
        return false;
    }
    for location in locations() {
        let Some((kind @ ("~" | "~*"), pattern)) = matched(location) else { continue };
        if expression(&pattern, kind == "~*").is_some_and(|e| e.is_match(uri).unwrap_or(false)) {
            found.truncate(begin);
            found.push(location);
            find(location.within(), uri, found);
            return true;
        }
    }
    false
}

/// A regular expression of a configuration; none: it is none, or one that this program cannot carry out.
pub fn expression(pattern: &str, any_case: bool) -> Option<Regex> {
    RegexBuilder::new(pattern).case_insensitive(any_case).backtrack_limit(100_000).build().ok()
}

/// A text with the groups of an expression in place of `$1` and the like.
fn with_groups(text: &str, groups: &fancy_regex::Captures<'_, str>) -> String {
    (1..groups.len().min(10)).fold(text.to_owned(), |text, at| {
        text.replace(&format!("${at}"), groups.get(at).map_or("", |group| group.as_str()))
    })
}

/// The directive that is in force: the innermost block that has one decides.
fn effective<'t>(chain: &[&'t [Directive]], name: &str) -> Option<&'t Directive> {
    chain.iter().rev().find_map(|block| block.iter().rfind(|d| d.is(name)))
}

fn is_on(chain: &[&[Directive]], name: &str) -> bool {
    effective(chain, name).is_some_and(|d| matches!(d.first().as_str(), "on" | "always"))
}

fn today(chain: &[&[Directive]], media_type: &str) -> Vec<Today> {
    let made =
        FILTERS.into_iter().filter(|(switch, ..)| is_on(chain, switch)).map(|(switch, coding, level, by)| {
            let number = |name: &str| effective(chain, &format!("{switch}_{name}")).map(|d| d.first());
            let types =
                effective(chain, &format!("{switch}_types")).map(Directive::words).unwrap_or_default();
            let level = number("comp_level").and_then(|level| level.parse().ok()).unwrap_or(level);
            Today {
                coding: coding.to_owned(),
                level: Some(level),
                by: by.to_owned(),
                min_length: number("min_length").and_then(|n| size(&n)).unwrap_or(20),
                types: std::iter::once("text/html".to_owned()).chain(types).collect(),
                at: effective(chain, switch).map(|d| d.at),
            }
        });
    made.filter(|made| made.types.iter().any(|of| of == "*" || of.eq_ignore_ascii_case(media_type))).collect()
}

/// A number of bytes: `1k`, `2m`.
fn size(text: &str) -> Option<u64> {
    let (number, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1 << 10),
        (at, 'm' | 'M') => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

fn variants(chain: &[&[Directive]], file: &Path, asked: &Asked<'_>) -> Vec<Variants> {
    let on = STATICS.into_iter().filter(|(switch, ..)| is_on(chain, switch));
    let variant = |(switch, coding, ending, by): (&str, &str, &str, &str)| {
        let beside = PathBuf::from(format!("{}.{ending}", file.display()));
        Variants {
            coding: coding.to_owned(),
            ending: ending.to_owned(),
            by: by.to_owned(),
            is_there: (asked.exists)(&beside) == Exists::File,
            at: effective(chain, switch).map(|d| d.at),
        }
    };
    on.map(variant).collect()
}

/// The type by the innermost `types`; without any, the server's own three, and of a part that stands alone Weighbridge's.
fn media_type(chain: &[&[Directive]], file: &Path, is_whole: bool) -> String {
    let extension = extension(file);
    let blocks = chain.iter().rev().map(|block| block.iter().filter(|d| d.is("types")).collect::<Vec<_>>());
    let types = blocks.into_iter().find(|types| !types.is_empty()).unwrap_or_default();
    let mut rows = types.iter().flat_map(|d| d.within());
    // The last that names an extension decides.
    let of = rows.rfind(|row| row.words().iter().any(|e| e.eq_ignore_ascii_case(&extension)));
    let default = || match effective(chain, "default_type") {
        Some(said) => said.first(),
        None if is_whole => "text/plain".to_owned(),
        None => "application/octet-stream".to_owned(),
    };
    match (of, extension.as_str()) {
        (Some(row), _) => row.name.trim_matches(['"', '\'']).to_owned(),
        (None, _) if !is_whole && types.is_empty() => {
            match crate::rig::server::types::of_extension(&extension) {
                "application/octet-stream" => default(),
                known => known.to_owned(),
            }
        }
        (None, "html") if types.is_empty() => "text/html".to_owned(),
        (None, "gif") if types.is_empty() => "image/gif".to_owned(),
        (None, "jpg") if types.is_empty() => "image/jpeg".to_owned(),
        _ => default(),
    }
}

/// `expires`, and what `add_header` says; of PHP's responses only the latter is the server's.
fn cache_control(chain: &[&[Directive]], is_php: bool) -> Option<Said<String>> {
    let expires = effective(chain, "expires");
    let of_expires = expires.and_then(|d| cache::of_nginx(&d.words()));
    let headers = chain.iter().rev().find(|block| block.iter().any(|d| d.is("add_header")));
    let added = headers.into_iter().flat_map(|block| block.iter().filter(|d| d.is("add_header")));
    let added = added.filter(|d| d.first().eq_ignore_ascii_case("Cache-Control"));
    let words: Vec<(String, &Directive)> =
        added.filter_map(|d| Some((d.words().get(1)?.clone(), d))).collect();
    if is_php || words.iter().any(|(word, _)| word.contains('$')) {
        return None;
    }
    let at = expires.or(words.first().map(|(_, d)| *d)).map(|d| d.at);
    let all: Vec<String> = of_expires.into_iter().chain(words.into_iter().map(|(word, _)| word)).collect();
    (!all.is_empty()).then(|| Said { value: all.join(", "), at })
}

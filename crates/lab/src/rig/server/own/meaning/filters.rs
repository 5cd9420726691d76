//! Apache's filters: which encode a response, and what its headers say of caches.

use super::apache::{End, bare, extensions};
use super::merged::Merged;
use super::nginx::expression;
use super::{Said, Today, cache};
use crate::rig::server::own::syntax::{Directive, Place};

/// Filters that encode: name, coding, module.
const FILTERS: [(&str, &str, &str); 2] =
    [("DEFLATE", "gzip", "mod_deflate"), ("BROTLI_COMPRESS", "br", "mod_brotli")];

/// mod_deflate leaves shorter bodies alone (seen with 2.4; no directive says it).
const SHORTEST: u64 = 69;

/// The filters that encode this type, in their order.
pub fn today(end: &End<'_>, media_type: &str) -> Vec<Today> {
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
        let min_length = if coding == "gzip" { SHORTEST } else { 0 };
        Today { coding: coding.into(), level: Some(level), by: by.into(), min_length, types, at }
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
pub fn cache_control(merged: &Merged<'_>, media_type: Option<&str>) -> Option<Said<String>> {
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

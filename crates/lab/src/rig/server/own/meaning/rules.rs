//! Rules of mod_rewrite, as far as their conditions are known.

use std::path::Path;

use super::apache::Way;
use super::nginx::expression;
use super::{Exists, rewrite};
use crate::rig::server::own::syntax::{Directive, Place};
use crate::rig::server::own::tree::tidy;

/// What rules make of a request.
pub struct Made {
    /// The URL path; none: the same.
    pub to: Option<String>,
    /// The rule that decided.
    pub at: Place,
    /// A status that ends the request.
    pub status: Option<u16>,
    /// The media type that a rule gives.
    pub forced: Option<String>,
    /// Whether filters are kept from encoding.
    pub no_gzip: bool,
}

/// What stands in brackets after a rule: names with their values.
struct Flags(Vec<(String, String)>);

impl Flags {
    fn of(word: Option<&String>) -> Flags {
        let text = word.map_or("", String::as_str).trim_matches(['[', ']']);
        let flag = |flag: &str| {
            let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
            (name.trim().to_lowercase(), value.trim().to_owned())
        };
        Flags(text.split(',').map(flag).collect())
    }

    /// The value of a flag by any of its names; none: it is not there.
    fn get(&self, names: &[&str]) -> Option<&str> {
        self.0.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value.as_str())
    }
}

impl Way<'_, '_> {
    /// Carries out the rules of one place. `path` is what they are compared with, `base` what stands before a relative result.
    pub(super) fn carried_out(
        &mut self,
        rules: &[&Directive],
        path: &str,
        base: &str,
        (url, file): (&str, &Path),
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
            if !rule.is("RewriteRule") {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let Some(target) = self.target(rule, &own, &path, (url, file)) else { continue };
            let known = made.get_or_insert(Made {
                to: None,
                at: rule.at,
                status: None,
                forced: None,
                no_gzip: false,
            });
            let flags = Flags::of(rule.words().get(2));
            skip = flags.get(&["s", "skip"]).and_then(|count| count.parse().ok()).unwrap_or(0);
            known.flagged(&flags, &target);
            if known.status.is_some() {
                return made;
            }
            if target != "-" {
                let target = target.split('?').next().unwrap_or_default();
                let whole = match target.starts_with('/') {
                    true => target.to_owned(),
                    false => format!("{}/{target}", base.trim_end_matches('/')),
                };
                path = whole.strip_prefix(base).unwrap_or(&whole).to_owned();
                (known.to, known.at) = (Some(self.as_url(&whole)), rule.at);
            }
            if flags.get(&["l", "last", "end"]).is_some() {
                break;
            }
        }
        made.map(|made| Made { to: made.to.or_else(|| Some(url.to_owned())), ..made })
    }

    /// What a rule makes of a path; none: it does not apply, or nobody knows, which is kept in mind.
    fn target(
        &mut self,
        rule: &Directive,
        conditions: &[&Directive],
        path: &str,
        (url, file): (&str, &Path),
    ) -> Option<String> {
        let words = rule.words();
        let [pattern, to, ..] = words.as_slice() else { return None };
        let (is_not, pattern) = pattern.strip_prefix('!').map_or((false, pattern.as_str()), |p| (true, p));
        let target = rewrite::apply(pattern, is_not, to, path)?;
        match self.hold(conditions, url, file) {
            Some(true) => Some(self.filled(&target, url, file)),
            Some(false) => None,
            None => {
                self.unknown.push(rule.at);
                None
            }
        }
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

impl Made {
    fn flagged(&mut self, flags: &Flags, target: &str) {
        if let Some(of) = flags.get(&["t", "type"]) {
            self.forced = Some(of.to_owned());
        }
        let mut sets = flags.0.iter().filter(|(name, _)| name == "e" || name == "env");
        self.no_gzip |= sets.any(|(_, set)| set.to_lowercase().starts_with("no-gzip"));
        let redirect = flags.get(&["r", "redirect"]).or_else(|| target.contains("://").then_some(""));
        self.status = match (flags.get(&["f", "forbidden"]), flags.get(&["g", "gone"]), redirect) {
            (Some(_), ..) => Some(403),
            (_, Some(_), _) => Some(410),
            (.., Some(status)) => Some(status.parse().unwrap_or(302)),
            _ => None,
        };
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

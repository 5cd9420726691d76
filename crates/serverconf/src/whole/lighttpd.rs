//! Which parts of lighttpd's printed configuration differ for an instance: conditions that only another address or site meets, programs behind
//! it, and folders.

use std::path::Path;

use super::super::notes::{Kind, Notes};
use super::super::rules::{Rules, is};
use super::super::site::{Site, is_always, with_host};
use super::super::syntax::Directive;
use super::super::syntax::assigned::{Value, in_quotes};
use super::super::tree::tidy;
use weigh_model::way::{FPM, TREE, UPSTREAM};

/// What hands requests to programs by their path.
const BACKENDS: [&str; 5] =
    ["fastcgi.server", "proxy.server", "scgi.server", "sockproxy.server", "wstunnel.server"];
/// What of a PHP behind FastCGI stays.
const KEPT: [&str; 6] = [
    "broken-scriptfilename",
    "check-local",
    "fix-root-scriptname",
    "mode",
    "strip-request-uri",
    "x-sendfile",
];

/// Whether a backend of `fastcgi.server` is a PHP.
fn is_php(key: &str, backend: &str) -> bool {
    key.contains("php") || backend.to_lowercase().contains("php")
}

/// The directives of an instance with this site alone.
pub fn private(rules: &Rules, directives: &[Directive], site: &Site, notes: &mut Notes) -> Vec<Directive> {
    let is_secure = has_tls(directives);
    let mut work = Work { rules, site, is_secure, notes };
    work.list(directives)
}

/// Whether any address of lighttpd answers over TLS: visitors come to that one.
pub fn has_tls(directives: &[Directive]) -> bool {
    let is_on = |d: &Directive| d.name == "ssl.engine" && d.arguments.contains("enable");
    directives.iter().any(|d| is_on(d) || has_tls(d.within()))
}

struct Work<'w> {
    rules: &'w Rules,
    site: &'w Site,
    is_secure: bool,
    notes: &'w mut Notes,
}

impl Work<'_> {
    /// A list with its chains of conditions, as far as they can be decided.
    fn list(&mut self, directives: &[Directive]) -> Vec<Directive> {
        let mut kept: Vec<Directive> = Vec::new();
        let (mut is_taken, mut is_open) = (false, false);
        for directive in directives {
            let Some(block) = &directive.block else {
                kept.push(self.one(directive));
                continue;
            };
            let is_else = directive.name == "else";
            if !is_else {
                (is_taken, is_open) = (false, false);
            }
            let decided = if is_taken { Some(false) } else { self.decided(directive) };
            let own = || Directive { block: Some(Vec::new()), ..directive.clone() };
            let mut made = match (decided, is_else && !is_open) {
                (Some(false), _) => continue,
                (Some(true), _) if is_else && is_open => Directive { arguments: String::new(), ..own() },
                (Some(true), _) => is_always(&own()),
                (None, false) => own(),
                // What stood before it is gone.
                (None, true) => {
                    let end = directive.arguments.find(']').map_or(0, |at| at + 1);
                    let (name, arguments) = directive.arguments.split_at(end);
                    Directive { name: name.into(), arguments: arguments.trim().into(), ..own() }
                }
            };
            is_taken = decided == Some(true);
            is_open = true;
            made.block = Some(self.list(block));
            kept.push(made);
        }
        kept
    }

    /// Whether a condition holds in the instance; none: the server has to see.
    fn decided(&mut self, block: &Directive) -> Option<bool> {
        if block.name == "else" && block.arguments.is_empty() {
            return Some(true);
        }
        if with_host(block).is_some() {
            let is_own = self.site.at == Some(block.at);
            if !is_own {
                self.notes.add(Kind::Site, "$HTTP[\"host\"]", block.at);
            }
            return Some(is_own);
        }
        let head = if block.name == "else" { block.arguments.clone() } else { block.text() };
        if head.starts_with("$SERVER[\"socket\"]") {
            self.notes.add(Kind::Mine, "$SERVER[\"socket\"]", block.at);
            return Some(self.is_secure && has_tls(block.within()));
        }
        if let Some(rest) = head.strip_prefix("$HTTP[\"scheme\"]").filter(|_| self.is_secure) {
            let is_https = rest.contains("https");
            return Some(is_https != rest.trim_start().starts_with('!'));
        }
        None
    }

    fn one(&mut self, directive: &Directive) -> Directive {
        let name = directive.name.as_str();
        let value = match (name, Value::of(directive)) {
            ("server.modules", Some(value)) => self.modules(directive, &value),
            ("alias.url", Some(value)) => {
                self.notes.add(Kind::Copied, name, directive.at);
                folders(&value)
            }
            (name, Some(value)) if BACKENDS.contains(&name) => self.backends(directive, &value),
            _ => return directive.clone(),
        };
        Directive { arguments: format!("= {}", value.text()), ..directive.clone() }
    }

    /// The modules but those that are left out.
    fn modules(&mut self, directive: &Directive, value: &Value) -> Value {
        let mut kept = Vec::new();
        for (key, module) in value.entries() {
            match is(&self.rules.without, &module.word()) || kept.iter().any(|(_, known)| known == module) {
                true => self.notes.add(Kind::Without, &module.word(), directive.at),
                false => kept.push((key.clone(), module.clone())),
            }
        }
        Value::List(kept)
    }

    /// Programs by path: PHP is the private pool, others are nobody.
    fn backends(&mut self, directive: &Directive, value: &Value) -> Value {
        let mut made = Vec::new();
        for (key, backend) in value.entries() {
            let at = key.clone().unwrap_or_default();
            let is_own = directive.name == "fastcgi.server" && is_php(&at, &backend.text());
            let kind = if is_own { Kind::Swapped } else { Kind::Elsewhere };
            self.notes.add(kind, &directive.name, directive.at);
            let socket = if is_own { FPM.to_owned() } else { UPSTREAM.to_owned() };
            let mut row = vec![(Some("socket".to_owned()), Value::Word(in_quotes(&socket)))];
            let first = backend.entries().first().map(|(_, first)| first);
            let options = first.map(Value::entries).unwrap_or_default();
            let is_kept = |(name, _): &&(Option<String>, Value)| {
                name.as_deref().is_some_and(|name| KEPT.contains(&name))
            };
            row.extend(options.iter().filter(|_| is_own).filter(is_kept).cloned());
            let docroot =
                options.iter().find(|(name, _)| is_own && name.as_deref() == Some("x-sendfile-docroot"));
            row.extend(docroot.map(|(name, value)| (name.clone(), folders(value))));
            made.push((key.clone(), Value::List(vec![(None, Value::List(row))])));
        }
        Value::List(made)
    }
}

/// Folders in the private copy.
fn folders(value: &Value) -> Value {
    match value {
        Value::List(entries) => {
            Value::List(entries.iter().map(|(key, value)| (key.clone(), folders(value))).collect())
        }
        word => {
            let path = word.word();
            let slash = if path.ends_with('/') && path.len() > 1 { "/" } else { "" };
            Value::Word(in_quotes(&format!("{TREE}{}{slash}", tidy(&Path::new("/").join(path)).display())))
        }
    }
}

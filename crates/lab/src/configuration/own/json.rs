//! A policy's parts in Caddy's JSON: `encode` handlers at the begin of the site, variants in every file server.

use anyhow::{Context, Result, anyhow};

use super::{OURS, Work};
use crate::rig::server::Found;
use crate::rig::server::emission::Snippet;
use crate::rig::server::own::Rules;
use crate::rig::server::own::syntax::json::{directive, get, string};
use crate::rig::server::own::syntax::{Directive, Place as At};
use crate::rig::server::own::tree::Tree;

/// What a file server looks for beside a file.
const PRECOMPRESSED: &str = "precompressed";
/// The order of that.
const ORDER: &str = "precompressed_order";

/// The handlers that Caddy makes of a part.
pub fn part(rules: &Rules, found: &Found, snippet: &Snippet, text: &str) -> Result<Vec<Directive>> {
    let text = match &snippet.inside {
        Some(directive) => format!(":80 {{\n{directive} {{\n{text}\n}}\n}}\n"),
        None => format!(":80 {{\n{text}\n}}\n"),
    };
    let work = tempfile::tempdir().context("no temporary folder")?;
    let file = work.path().join(&snippet.template);
    std::fs::write(&file, &text).context("no temporary file")?;
    let tree = Tree::read(rules, found.program.as_deref(), &file, &text)
        .map_err(|error| anyhow!("{}: {error:#}", snippet.template))?;
    let mut handlers = Vec::new();
    tree.directives.iter().for_each(|d| handlers_in(d, &mut handlers));
    handlers.iter_mut().for_each(ours);
    Ok(handlers)
}

/// Handlers that are no lists of others.
fn handlers_in(within: &Directive, found: &mut Vec<Directive>) {
    match name(within).as_deref() {
        Some(name) if name != "subroute" => found.push(within.clone()),
        _ => within.within().iter().for_each(|inner| handlers_in(inner, found)),
    }
}

fn ours(directive: &mut Directive) {
    directive.at = At { file: OURS, line: 0 };
    directive.block.iter_mut().flatten().for_each(ours);
}

fn name(of: &Directive) -> Option<String> {
    get(of, "handler").and_then(string)
}

/// `encode gzip zstd`.
fn spoken(name: &str, codings: Option<&Directive>) -> String {
    let names = codings.map(Directive::within).unwrap_or_default().iter().map(|one| one.name.as_str());
    std::iter::once(name).chain(names).collect::<Vec<_>>().join(" ")
}

impl Work<'_> {
    /// Puts handlers into a site: what stands in a file server into each of them, others before all.
    pub(super) fn put_json(&mut self, block: &mut Vec<Directive>, inside: Option<&str>, ours: &[Directive]) {
        if inside.is_some() {
            let own = ours.iter().find(|handler| name(handler).as_deref() == inside);
            let (Some(inside), Some(own)) = (inside, own) else { return };
            block.iter_mut().for_each(|d| self.beside_files(d, inside, own));
            return;
        }
        if ours.iter().any(|handler| name(handler).as_deref() == Some("encode")) {
            self.take_encoders(block, false);
        }
        let list = |block: &mut Vec<Directive>, key: &str| block.iter().position(|d| d.name == key);
        match (list(block, "handle"), list(block, "routes")) {
            (Some(at), _) => {
                block[at].block.get_or_insert_default().splice(0..0, ours.iter().cloned()).for_each(drop)
            }
            (None, Some(at)) => {
                let mut handle = directive("handle", &serde_json::json!([]), At { file: OURS, line: 0 });
                handle.block = Some(ours.to_vec());
                let mut route = directive("", &serde_json::json!({}), handle.at);
                route.block = Some(vec![handle]);
                block[at].block.get_or_insert_default().insert(0, route);
            }
            (None, None) => {}
        }
    }

    /// Takes the user's own encoders out; those that hold under a condition stay. `is_bound`: they do.
    fn take_encoders(&mut self, block: &mut Vec<Directive>, is_bound: bool) {
        let is_encoder = |d: &Directive| name(d).as_deref() == Some("encode") && d.at.file != OURS;
        for handler in block.iter().filter(|d| is_encoder(d)) {
            self.clash_as(handler.at, spoken("encode", get(handler, "encodings")), is_bound);
        }
        if !is_bound {
            block.retain(|d| !is_encoder(d));
        }
        for entry in block.iter_mut().filter(|d| !is_encoder(d)) {
            let is_bound = is_bound || entry.name.is_empty() && get(entry, "match").is_some();
            if let Some(inner) = &mut entry.block {
                self.take_encoders(inner, is_bound);
            }
        }
    }

    fn beside_files(&mut self, of: &mut Directive, inside: &str, own: &Directive) {
        let is_it = name(of).as_deref() == Some(inside);
        let Some(block) = &mut of.block else { return };
        if !is_it {
            return block.iter_mut().for_each(|d| self.beside_files(d, inside, own));
        }
        if let Some(theirs) = block.iter().find(|d| d.name == PRECOMPRESSED) {
            self.clash_as(theirs.at, spoken(PRECOMPRESSED, Some(theirs)), false);
        }
        let is_ours = |d: &Directive| d.name == PRECOMPRESSED || d.name == ORDER;
        block.retain(|d| !is_ours(d));
        block.extend(own.within().iter().filter(|d| is_ours(d)).cloned());
    }
}

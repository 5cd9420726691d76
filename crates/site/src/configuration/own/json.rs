//! A policy's parts in Caddy's JSON: `encode` handlers after the site's own, which compress what these leave; variants in every file server.

use anyhow::{Context, Result, anyhow};

use super::super::sections::OURS;
use super::Work;
use weigh_rig::server::Found;
use weigh_rig::server::emission::Snippet;
use weigh_serverconf::Rules;
use weigh_serverconf::syntax::json::{directive, get, string};
use weigh_serverconf::syntax::{Directive, SourcePosition};
use weigh_serverconf::tree::Tree;

const ENCODE: &str = "encode";
/// What a file server looks for beside a file.
const PRECOMPRESSED: &str = "precompressed";
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

/// Handlers that are not lists of others; a route that holds for some requests, as a list of its own.
fn handlers_in(within: &Directive, found: &mut Vec<Directive>) {
    match name(within).as_deref() {
        Some(name) if name != "subroute" => found.push(within.clone()),
        None if get(within, "match").is_some() => {
            let mut routes = directive("routes", &serde_json::json!([]), within.at);
            routes.block = Some(vec![within.clone()]);
            let mut list = directive("", &serde_json::json!({"handler": "subroute"}), within.at);
            list.block.get_or_insert_default().push(routes);
            found.push(list);
        }
        _ => within.within().iter().for_each(|inner| handlers_in(inner, found)),
    }
}

fn ours(directive: &mut Directive) {
    directive.at = SourcePosition { file: OURS, line: 0 };
    directive.block.iter_mut().flatten().for_each(ours);
}

fn name(of: &Directive) -> Option<String> {
    get(of, "handler").and_then(string)
}

/// Puts encoders after the last that holds for all of the site, and what is for some requests before it; whether there is one.
fn after_encoder(block: &mut Vec<Directive>, ours: &[Directive]) -> bool {
    let is_encoder = |d: &Directive| name(d).as_deref() == Some(ENCODE);
    if let Some(at) = block.iter().rposition(is_encoder) {
        let (encoders, first): (Vec<_>, Vec<_>) = ours.iter().cloned().partition(is_encoder);
        block.splice(at + 1..at + 1, encoders);
        block.splice(at..at, first);
        return true;
    }
    let is_bound = |d: &Directive| d.name.is_empty() && get(d, "match").is_some();
    let inner = block.iter_mut().filter(|d| !is_bound(d)).filter_map(|d| d.block.as_mut());
    inner.into_iter().any(|inner| after_encoder(inner, ours))
}

/// A list of the lab's with what the user's has beside it.
fn joined(mut one: Directive, theirs: &[Directive]) -> Directive {
    let of_theirs =
        theirs.iter().find(|other| other.name == one.name).map(Directive::within).unwrap_or_default();
    let known: Vec<String> = one.within().iter().map(Directive::text).collect();
    let new = of_theirs.iter().filter(|d| !known.contains(&d.text())).cloned();
    one.block.get_or_insert_default().extend(new);
    one
}

/// `encode gzip zstd`.
fn spoken(name: &str, codings: Option<&Directive>) -> String {
    let names = codings.map(Directive::within).unwrap_or_default().iter().map(|one| one.name.as_str());
    std::iter::once(name).chain(names).collect::<Vec<_>>().join(" ")
}

impl Work<'_> {
    /// Puts handlers into a site: what stands in a file server into each of them, others after the site's own encoder, else before all.
    pub(super) fn put_json(&mut self, block: &mut Vec<Directive>, inside: Option<&str>, ours: &[Directive]) {
        if inside.is_some() {
            let own = ours.iter().find(|handler| name(handler).as_deref() == inside);
            let (Some(inside), Some(own)) = (inside, own) else { return };
            block.iter_mut().for_each(|d| self.beside_files(d, inside, own));
            return;
        }
        if ours.iter().any(|handler| name(handler).as_deref() == Some(ENCODE)) && after_encoder(block, ours) {
            return;
        }
        let list = |block: &mut Vec<Directive>, key: &str| block.iter().position(|d| d.name == key);
        match (list(block, "handle"), list(block, "routes")) {
            (Some(at), _) => {
                block[at].block.get_or_insert_default().splice(0..0, ours.iter().cloned()).for_each(drop)
            }
            (None, Some(at)) => {
                let mut handle =
                    directive("handle", &serde_json::json!([]), SourcePosition { file: OURS, line: 0 });
                handle.block = Some(ours.to_vec());
                let mut route = directive("", &serde_json::json!({}), handle.at);
                route.block = Some(vec![handle]);
                block[at].block.get_or_insert_default().insert(0, route);
            }
            (None, None) => {}
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
        let theirs: Vec<Directive> = block.extract_if(.., |d| is_ours(d)).collect();
        let ours = own.within().iter().filter(|d| is_ours(d)).cloned();
        block.extend(ours.map(|one| joined(one, &theirs)));
    }
}

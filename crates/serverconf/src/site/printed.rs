//! The sites of what lighttpd and Caddy print.

use std::path::{Path, PathBuf};

use super::Site;
use crate::rules::Rules;
use crate::syntax::Directive;
use crate::syntax::assigned::Value;
use crate::syntax::json::{get, string, strings};
use crate::tree::{Tree, tidy};

/// A condition of lighttpd on the host.
const HOST: &str = "$HTTP[\"host\"]";
const ROOT: &str = "server.document-root";
/// The condition that holds for every request.
const ALWAYS: (&str, &str) = ("$HTTP[\"url\"]", "=^ \"/\"");

/// A block whose condition always holds.
pub fn is_always(block: &Directive) -> Directive {
    let (name, arguments) = ALWAYS;
    Directive { name: name.into(), arguments: arguments.into(), ..block.clone() }
}

/// What a block's condition on the host says; none: it has none.
fn condition(block: &Directive) -> Option<String> {
    let head = if block.name == "else" { block.arguments.clone() } else { block.text() };
    Some(head.strip_prefix(HOST)?.trim().to_owned())
}

/// The host that a condition is for.
fn host_of(condition: &str) -> Option<String> {
    Some(condition.strip_prefix("==")?.trim().trim_matches('"').to_owned())
}

/// What a block's condition on the host says; none: it has none, or no document root of its own.
pub fn with_host(block: &Directive) -> Option<String> {
    let condition = condition(block)?;
    let mut roots = Vec::new();
    roots_in(block.within(), &mut roots);
    (block.block.is_some() && !roots.is_empty()).then_some(condition)
}

/// The document roots of lighttpd, and of each condition on a host those within it.
pub fn of_lighttpd(rules: &Rules, tree: &Tree) -> Vec<Site> {
    let all = &tree.directives;
    let mut outside: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    for directive in all {
        match with_host(directive) {
            Some(condition) => {
                let mut roots = Vec::new();
                roots_in(directive.within(), &mut roots);
                found.push(Site {
                    at: Some(directive.at),
                    names: host_of(&condition).into_iter().collect(),
                    root: roots[0].clone(),
                    roots,
                    is_secure: false,
                });
            }
            None => roots_in(std::slice::from_ref(directive), &mut outside),
        }
    }
    let is_alone = found.is_empty();
    if !outside.is_empty() || is_alone {
        let root = outside.first().cloned().unwrap_or_else(|| rules.docroot.clone());
        let roots = if outside.is_empty() { vec![root.clone()] } else { outside };
        // Hosts that have directives of their own there.
        let names = all.iter().filter(|one| with_host(one).is_none()).filter_map(condition);
        let names = names.filter_map(|condition| host_of(&condition)).collect();
        found.insert(0, Site { at: None, names, root, roots, is_secure: false });
    }
    found
}

fn roots_in(block: &[Directive], found: &mut Vec<PathBuf>) {
    let own = block.iter().filter(|d| d.name == ROOT).filter_map(Value::of).map(|value| value.word());
    found.extend(own.map(|root| tidy(Path::new(&root))));
    block.iter().for_each(|d| roots_in(d.within(), found));
}

/// The servers of Caddy's HTTP app.
fn servers(tree: &Tree) -> Vec<&Directive> {
    let named = |list: &'_ [Directive], key: &str| list.iter().position(|one| one.name == key);
    let apps = named(&tree.directives, "apps").map(|at| &tree.directives[at]);
    let servers = apps.and_then(|apps| get(apps, "http")).and_then(|http| get(http, "servers"));
    servers.map(|servers| servers.within().iter().collect()).unwrap_or_default()
}

/// The server of Caddy that a site is in, with the routes that are the site's.
pub fn routes_of<'t>(tree: &'t Tree, site: &Site) -> Option<(&'t Directive, Vec<&'t Directive>)> {
    let all = |server: &'t Directive| get(server, "routes").map(Directive::within).unwrap_or_default();
    let own = |server: &'t Directive| -> Vec<&'t Directive> {
        match site.at == Some(server.at) {
            true => all(server).iter().filter(|route| !is_of_host(route)).collect(),
            false => all(server).iter().filter(|route| site.at == Some(route.at)).collect(),
        }
    };
    servers(tree).into_iter().map(|server| (server, own(server))).find(|(_, routes)| !routes.is_empty())
}

/// Whether a route is for some hosts.
fn is_of_host(route: &Directive) -> bool {
    get(route, "match").is_some_and(|sets| sets.within().iter().any(|set| get(set, "host").is_some()))
}

/// The routes of Caddy that are for hosts; those of a server without any are one site.
pub fn of_caddy(rules: &Rules, tree: &Tree) -> Vec<Site> {
    let mut found = Vec::new();
    for server in servers(tree) {
        let Some(routes) = get(server, "routes") else { continue };
        let is_secure = strings(server, "listen").iter().any(|at| at.ends_with(":443"));
        let mut add = |at: &Directive, names: Vec<String>, within: &Directive| {
            if only_answers(within) {
                return;
            }
            let mut roots = Vec::new();
            json_roots(within, &mut roots);
            let root = roots.first().cloned().unwrap_or_else(|| rules.docroot.clone());
            roots.push(root.clone());
            found.push(Site { at: Some(at.at), names, root, roots, is_secure });
        };
        let (hosts, others): (Vec<&Directive>, Vec<&Directive>) =
            routes.within().iter().partition(|route| is_of_host(route));
        for route in hosts {
            let sets = get(route, "match").map(Directive::within).unwrap_or_default();
            add(route, sets.iter().flat_map(|set| strings(set, "host")).collect(), route);
        }
        if !others.is_empty() {
            add(
                server,
                Vec::new(),
                &Directive { block: Some(others.into_iter().cloned().collect()), ..routes.clone() },
            );
        }
    }
    found
}

/// Whether nothing but ready answers is in it: a redirect, a text.
fn only_answers(within: &Directive) -> bool {
    let sends = |handler: &str| ["file_server", "reverse_proxy"].contains(&handler);
    !has_handler(within, &sends)
}

fn has_handler(within: &Directive, is_it: &dyn Fn(&str) -> bool) -> bool {
    let own = get(within, "handler").and_then(string);
    own.is_some_and(|name| is_it(&name)) || within.within().iter().any(|inner| has_handler(inner, is_it))
}

fn json_roots(within: &Directive, found: &mut Vec<PathBuf>) {
    let is_handler =
        get(within, "handler").and_then(string).is_some_and(|name| name == "vars" || name == "file_server");
    let root = get(within, "root").and_then(string).filter(|root| is_handler && !root.contains('{'));
    found.extend(root.map(|root| tidy(Path::new(&root))));
    within.within().iter().for_each(|inner| json_roots(inner, found));
}

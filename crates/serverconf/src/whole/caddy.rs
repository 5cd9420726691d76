//! Which parts of Caddy's JSON differ for an instance: one site on the instance's own address, without certificates, logs and an admin address;
//! programs behind it, and folders.

use serde_json::json;

use super::super::notes::{Kind, Notes};
use super::super::site::{Site, routes_of};
use super::super::syntax::json::{directive, get, string};
use super::super::syntax::{Directive, SourcePosition, Wrong};
use super::super::tree::Tree;
use super::OURS;
use weigh_model::way::{FPM, UPSTREAM};

/// Handlers that only read a request or answer it from files. Others contact hosts, write files, run programs, or are unknown.
const KEPT: [&str; 16] = [
    "subroute",
    "vars",
    "encode",
    "headers",
    "rewrite",
    "file_server",
    "static_response",
    "error",
    "map",
    "templates",
    "request_body",
    "copy_response",
    "copy_response_headers",
    "push",
    "invoke",
    "intercept",
];
/// What of a proxy to PHP stays.
const OF_PROXY: [&str; 5] = ["handler", "handle_response", "headers", "flush_interval", "rewrite"];
/// What part of its transport stays.
const OF_TRANSPORT: [&str; 5] = ["protocol", "root", "split_path", "env", "resolve_root_symlink"];
/// What part of a server stays.
const OF_SERVER: [&str; 7] = [
    "idle_timeout",
    "read_timeout",
    "read_header_timeout",
    "write_timeout",
    "keepalive_interval",
    "max_header_bytes",
    "strict_sni_host",
];

/// The configuration of an instance with this site alone.
///
/// # Errors
/// The site is not there.
pub fn private(tree: &Tree, site: &Site, notes: &mut Notes) -> Result<Vec<Directive>, Wrong> {
    let Some((server, own)) = routes_of(tree, site) else {
        return Err(Wrong::at(SourcePosition::default(), "the site has no route"));
    };
    for directive in tree.directives.iter().filter(|d| d.name != "apps") {
        notes.add(Kind::Mine, &directive.name, directive.at);
    }
    let apps = tree.directives.iter().filter(|d| d.name == "apps").flat_map(Directive::within);
    for app in apps.filter(|app| app.name != "http") {
        let kind = if app.name == "tls" || app.name == "pki" { Kind::Mine } else { Kind::Without };
        notes.add(kind, &app.name, app.at);
    }
    let others = get(server, "routes").map(Directive::within).unwrap_or_default();
    for route in others.iter().filter(|route| own.iter().all(|own| own.at != route.at)) {
        notes.add(Kind::Site, "route", route.at);
    }
    let ready = json!({
        "match": [{"path": ["@WEIGH-READY@"]}],
        "handle": [{"handler": "static_response", "body": "@WEIGH-TOKEN@", "status_code": 200}],
        "terminal": true,
    });
    let mut routes = vec![directive("", &ready, OURS)];
    routes.extend(own.into_iter().map(|route| without_hosts(&handled(route, notes))));
    let mut made = vec![directive("listen", &json!(["@WEIGH-HOST@:@WEIGH-PORT@"]), OURS)];
    made.push(directive("automatic_https", &json!({"disable": true}), OURS));
    for entry in server.within() {
        match entry.name.as_str() {
            "routes" => made.push(Directive { block: Some(std::mem::take(&mut routes)), ..entry.clone() }),
            "errors" => made.push(handled(entry, notes)),
            name if OF_SERVER.contains(&name) => made.push(entry.clone()),
            name => notes.add(Kind::Mine, name, entry.at),
        }
    }
    let block = |name: &str, within| Directive { block: Some(within), ..directive(name, &json!({}), OURS) };
    let servers = block("servers", vec![block("own", made)]);
    let mut whole: Vec<Directive> = [
        ("admin", json!({"disabled": true})),
        ("storage", json!({"module": "file_system", "root": "@WEIGH-DIR@/data"})),
        ("logging", json!({"logs": {"default": {"writer": {"output": "stderr"}, "level": "WARN"}}})),
    ]
    .iter()
    .map(|(name, value)| directive(name, value, OURS))
    .collect();
    whole.push(block("apps", vec![block("http", vec![servers])]));
    Ok(whole)
}

/// A route for any host: it is the only site.
fn without_hosts(route: &Directive) -> Directive {
    let set = |set: &Directive| {
        let kept = set.within().iter().filter(|matcher| matcher.name != "host").cloned().collect();
        Directive { block: Some(kept), ..set.clone() }
    };
    let entry = |entry: &Directive| match entry.name.as_str() {
        "match" => Directive { block: Some(entry.within().iter().map(set).collect()), ..entry.clone() },
        _ => entry.clone(),
    };
    Directive { block: Some(route.within().iter().map(entry).collect()), ..route.clone() }
}

/// What becomes of handlers, at any depth.
fn handled(of: &Directive, notes: &mut Notes) -> Directive {
    let Some(block) = &of.block else { return of.clone() };
    let mut kept = Vec::new();
    for entry in block {
        let name = get(entry, "handler").and_then(string);
        match name.as_deref() {
            Some("reverse_proxy") => kept.extend(proxied(entry, notes)),
            Some(name) if KEPT.contains(&name) => kept.push(handled(entry, notes)),
            Some(name) => notes.add(Kind::Without, name, entry.at),
            None => kept.push(handled(entry, notes)),
        }
    }
    Directive { block: Some(kept), ..of.clone() }
}

/// Whether a proxy speaks FastCGI, as that to PHP does.
fn is_fastcgi(handler: &Directive) -> bool {
    let protocol = get(handler, "transport").and_then(|transport| get(transport, "protocol"));
    protocol.and_then(string).is_some_and(|protocol| protocol == "fastcgi")
}

/// A proxy: to PHP it is that to the private pool, to others that to what stands for them; none: it asks who a visitor is.
fn proxied(proxy: &Directive, notes: &mut Notes) -> Option<Directive> {
    let is_php = is_fastcgi(proxy);
    // `forward_auth` asks another program about each request.
    if !is_php && get(proxy, "rewrite").is_some() && get(proxy, "handle_response").is_some() {
        notes.add(Kind::Without, "forward_auth", proxy.at);
        return None;
    }
    let (kind, name, socket) = match is_php {
        true => (Kind::Swapped, "reverse_proxy to PHP", FPM),
        false => (Kind::Elsewhere, "reverse_proxy", UPSTREAM),
    };
    notes.add(kind, name, proxy.at);
    let mut kept: Vec<Directive> = Vec::new();
    for entry in proxy.within() {
        match entry.name.as_str() {
            "transport" if is_php => {
                let own = entry.within().iter().filter(|one| OF_TRANSPORT.contains(&one.name.as_str()));
                kept.push(Directive { block: Some(own.cloned().collect()), ..entry.clone() });
            }
            name if OF_PROXY.contains(&name) => kept.push(handled(entry, notes)),
            _ => {}
        }
    }
    kept.push(directive("upstreams", &json!([{"dial": format!("unix/{socket}")}]), proxy.at));
    Some(Directive { block: Some(kept), ..proxy.clone() })
}

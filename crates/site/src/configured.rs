//! What a web server's configuration says of a site: its server, its names, its document root and the folders beside it.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use regex::Regex;

use weigh_content::types::MediaTypes;
use weigh_model::text::{clean, clean_path};
use weigh_os::programs::first_of;
use weigh_rig::server::Definition;
use weigh_rig::server::own::{self, recognise};
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::Home;
use weigh_serverconf::places::{UrlFolder, places};
use weigh_serverconf::site::{self, Site, Wanted};
use weigh_serverconf::syntax::{self, Directive};
use weigh_serverconf::tree::{self, Tree};
use weigh_serverconf::whole;
use weigh_serverconf::{Rules, expression};

/// A configuration that was read.
pub struct Configured {
    pub server: String,
    /// The document root, if there is such a folder.
    pub docroot: Option<PathBuf>,
    rules: Rules,
    tree: Tree,
    site: Site,
}

/// Directives that name a proxy in front: of nginx, Apache (mod_remoteip), lighttpd and Caddy.
const FORWARDED: [&str; 7] = [
    "set_real_ip_from",
    "RemoteIPHeader",
    "RemoteIPTrustedProxy",
    "RemoteIPInternalProxy",
    "RemoteIPProxyProtocol",
    "extforward.forwarder",
    "trusted_proxies",
];

impl Configured {
    /// Reads a configuration with what it includes, and finds the site that is meant.
    ///
    /// # Errors
    /// One line: what cannot be read, or which sites there are to choose from.
    pub fn read(home: &Home, file: &Path, server: Option<&str>, wanted: &Wanted) -> Result<Configured> {
        let named = format!("--server-config {}", clean_path(file));
        let text = tree::text(file).map_err(|error| anyhow::anyhow!("{named}: {error:#}"))?;
        let definitions = Definition::load(&home.definitions)?;
        let definition = match server {
            Some(name) => own::named(&definitions, name)?,
            None => recognise(&definitions, file, &text)?,
        };
        let Some(rules) = definition.own.clone() else {
            bail!("{named}: a configuration of {} is not read yet; give --url", definition.name);
        };
        let program = first_of(&definition.programs);
        let read = |file: &Path| -> Result<(Tree, Site)> {
            let tree = Tree::read(&rules, program.as_deref(), file, &text)?;
            let site = site::choose(&rules, &tree, wanted)?;
            Ok((tree, site))
        };
        let (tree, site) = read(file).map_err(|error| anyhow::anyhow!("{named}: {error:#}"))?;
        let root = Some(site.root.clone()).filter(|root| root.is_dir());
        Ok(Configured { server: definition.name.clone(), docroot: root, rules, tree, site })
    }

    /// Whether the site answers over TLS.
    pub fn is_secure(&self) -> bool {
        // Conditions of lighttpd hold for addresses, not for sites.
        self.site.is_secure || whole::has_tls(&self.tree.directives)
    }

    /// The document root as the configuration says, on this machine or not.
    pub fn root(&self) -> &Path {
        &self.site.root
    }

    /// The file that a part is read without; none: it is whole.
    pub fn missing_root(&self) -> Option<&str> {
        (!self.tree.is_whole).then_some(self.rules.root.as_str())
    }

    /// The line that switches a method of this server on, if there is exactly one that can: `nginx.conf:31`.
    pub fn line_of(&self, definition: Option<&Definition>, method: &str) -> Option<String> {
        let name = method.strip_prefix("server/")?;
        let directive = definition?.ways.iter().find(|way| way.name == name)?.directive.as_ref()?;
        let directive = expression(directive).ok()?;
        let mut lines = Vec::new();
        lines_of(&self.tree.directives, &directive, &mut lines);
        match lines.as_slice() {
            [one] => self.tree.word(*one).rsplit('/').next().map(str::to_owned),
            _ => None,
        }
    }

    pub fn types(&self) -> MediaTypes {
        MediaTypes(self.tree.media_types())
    }

    /// The folders that are sent at paths of their own.
    pub fn places(&self) -> Vec<UrlFolder> {
        places(&self.rules, &self.tree, &self.site)
    }

    /// A proxy or CDN in front, as directives tell that take the visitor's address from what it forwards: `a proxy (set_real_ip_from, nginx.conf:12)`.
    pub fn front(&self) -> Option<String> {
        fn found<'d>(
            within: &'d [Directive],
            is_other: &dyn Fn(&Directive) -> bool,
        ) -> Option<&'d Directive> {
            let is_told = |one: &Directive| FORWARDED.iter().any(|name| one.is(name));
            let mut own = within.iter().filter(|one| !is_other(one));
            own.find_map(|one| if is_told(one) { Some(one) } else { found(one.within(), is_other) })
        }
        let is_other = |one: &Directive| one.is(&self.rules.site) && Some(one.at) != self.site.at;
        let one = found(&self.tree.directives, &is_other)?;
        let place = self.tree.word(one.at);
        Some(clean(&format!("a proxy ({}, {})", one.name, place.rsplit('/').next().unwrap_or_default())))
    }

    /// The names of the site's hosts, as the configuration writes them.
    pub fn hosts(&self) -> &[String] {
        &self.site.names
    }

    /// Whether a `location` of nginx that a path below the site's root falls into leaves its requests out of the log.
    pub fn is_unlogged(&self, path: &str) -> bool {
        fn is_off(all: &[Directive], path: &str) -> bool {
            all.iter().any(|one| {
                let is_meant = !one.is("location") || is_in(&one.words(), path);
                let off = || one.within().iter().any(|d| d.is("access_log") && d.first() == "off");
                is_meant && (one.is("location") && off() || is_off(one.within(), path))
            })
        }
        is_off(&self.tree.directives, &format!("/{path}"))
    }
}

/// The places of directives that are such, at any depth.
fn lines_of(directives: &[Directive], wanted: &Regex, found: &mut Vec<syntax::SourcePosition>) {
    for directive in directives {
        if wanted.is_match(&directive.text()) && !found.contains(&directive.at) {
            found.push(directive.at);
        }
        lines_of(directive.within(), wanted, found);
    }
}

/// Whether the words behind `location` mean a path.
fn is_in(words: &[String], path: &str) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let matches = |expression: &str| {
        fancy_regex::Regex::new(expression).and_then(|one| one.is_match(path)).unwrap_or(false)
    };
    match words.as_slice() {
        ["~", expression] => matches(expression),
        ["~*", expression] => matches(&format!("(?i){expression}")),
        ["=", whole] => path == *whole,
        ["^~", begin] | [begin] => path.starts_with(begin),
        _ => false,
    }
}

/// The method of a server that sends this content coding, as a study names it.
pub fn method(server: Option<&str>, coding: &str, is_static: bool) -> String {
    let way = match (server, coding) {
        (Some("apache"), _) if is_static => return "server/rewrite".into(),
        (Some("caddy"), _) if is_static => return format!("server/precompressed,coding={coding}"),
        (Some("apache"), "gzip") => "mod_deflate",
        (Some("apache"), "br") => "mod_brotli",
        (_, "br") => "brotli",
        (_, other) => other,
    };
    format!("server/{way}{}", if is_static { "_static" } else { "" })
}

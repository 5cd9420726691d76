//! The sites of a configuration, and the one that is meant.

mod printed;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::rules::Rules;
use super::syntax::{Directive, SourcePosition, Syntax};
use super::tree::{Tree, tidy};
use weigh_model::text::{clean, clean_path};

pub use printed::{is_always, routes_of, with_host};

/// Sites that a message lists at most.
const LISTED: usize = 12;

#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A name of the site.
    pub name: Option<String>,
    pub docroot: Option<PathBuf>,
}

/// A site of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where it begins; none: it is all that stands outside of sites.
    pub at: Option<SourcePosition>,
    pub names: Vec<String>,
    /// Its document root, as its configuration says.
    pub root: PathBuf,
    /// Every document root in it, the first one its own.
    roots: Vec<PathBuf>,
    /// Whether it answers over TLS.
    pub is_secure: bool,
}

impl Site {
    /// The host that its visitors ask for: the one of its names that it redirects to, as `text` says, or the first; none: it has no name of its own.
    pub fn host(&self, text: &str) -> Option<&str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        let is_target =
            |name: &&str| text.split(&format!("://{name}")).skip(1).any(|rest| !rest.starts_with(is_part));
        let names = || self.names.iter().map(|name| name.trim_start_matches('.'));
        let mut hosts: Vec<&str> =
            names().filter(|name| name.contains('.') && name.chars().all(is_part)).collect();
        hosts.sort_by_key(|name| !is_target(name));
        hosts.first().copied()
    }

    /// Every document root in it, the first one its own.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    fn word(&self, tree: &Tree) -> String {
        let name = self.names.first().map_or("a site without a name", String::as_str);
        let at = self.at.map_or(String::new(), |at| format!(", {}", tree.word(at)));
        format!("{} ({}{at})", clean(name), clean_path(&self.root))
    }

    /// Whether a folder is its root.
    fn is_of(&self, docroot: &Path) -> bool {
        real(&self.root) == real(docroot)
    }

    /// Whether a folder is one of its roots, or one of them lies in the other.
    fn has(&self, docroot: &Path) -> bool {
        let docroot = real(docroot);
        self.roots
            .iter()
            .map(|root| real(root))
            .any(|root| root.starts_with(&docroot) || docroot.starts_with(&root))
    }
}

/// The sites of a tree but those that only redirect, where any other is.
pub fn sites(rules: &Rules, tree: &Tree) -> Vec<Site> {
    match tree.syntax {
        Syntax::Assigned => return printed::of_lighttpd(rules, tree),
        Syntax::Json => return printed::of_caddy(rules, tree),
        Syntax::Blocks | Syntax::Sections => {}
    }
    let around = around(rules, tree);
    let outside = rules.base_of_roots(around).or_else(|| rules.base_of_roots(&tree.directives));
    let blocks: Vec<&Directive> = around.iter().filter(|d| d.block.is_some() && d.is(&rules.site)).collect();
    let serve = || blocks.iter().filter(|d| !only_redirects(d.within(), is_secure(d.within())));
    let found: Vec<&&Directive> =
        if serve().next().is_some() { serve().collect() } else { blocks.iter().collect() };
    // Apache answers without any; a part of nginx's configuration may be what stands in one.
    let is_all = rules.syntax == Syntax::Sections
        || rules.around.as_ref().is_some_and(|name| !tree.directives.iter().any(|d| d.is(name)));
    if found.is_empty() && is_all {
        return vec![site(rules, around, None, None)];
    }
    found.into_iter().map(|d| site(rules, d.within(), Some(d.at), outside.as_deref())).collect()
}

/// The block that sites stand in.
pub fn around<'t>(rules: &Rules, tree: &'t Tree) -> &'t [Directive] {
    let name = rules.around.as_deref();
    let block = tree.directives.iter().find(|d| d.block.is_some() && name.is_some_and(|name| d.is(name)));
    block.map_or(tree.directives.as_slice(), Directive::within)
}

/// The site that is meant.
///
/// # Errors
/// None or several are: one line that lists those to choose from.
pub fn choose(rules: &Rules, tree: &Tree, wanted: &Wanted) -> Result<Site> {
    let all = sites(rules, tree);
    let of_file = |site: &&Site| tree.only.is_none_or(|only| site.at.is_some_and(|at| at.file == only));
    let mut found: Vec<&Site> = all.iter().filter(of_file).collect();
    if found.is_empty() {
        found = all.iter().collect();
    }
    if found.is_empty() {
        bail!("it has no site: no {} {{ }} is in it or in what it includes", rules.site);
    }
    if let Some(name) = &wanted.name {
        found.retain(|site| {
            site.names.iter().any(|own| own.trim_start_matches('.').eq_ignore_ascii_case(name))
        });
        if found.is_empty() {
            bail!("no site is named {}; {}", clean(name), list(tree, &all));
        }
    }
    if let Some(docroot) = wanted.docroot.as_deref().filter(|_| found.len() > 1) {
        // The very folder says more than one around it or within.
        let of = |is_own: fn(&Site, &Path) -> bool| -> Vec<&Site> {
            found.iter().copied().filter(|site| is_own(site, docroot)).collect()
        };
        let own = [of(Site::is_of), of(Site::has)].into_iter().find(|own| !own.is_empty());
        found = own.unwrap_or(found);
    }
    // One site by HTTP and by HTTPS: visitors are sent to the latter.
    if let [first, ..] = found.as_slice()
        && found.iter().all(|site| site.names.first() == first.names.first() && site.root == first.root)
        && let Some(secure) = found.iter().find(|site| site.is_secure).or(found.first())
    {
        let mut site = (*secure).clone();
        // Caddy has a root for each of its routes; those for some paths come first.
        let is_meant = |root: &&PathBuf| wanted.docroot.as_deref().is_some_and(|own| real(own) == real(root));
        if tree.syntax == Syntax::Json
            && let Some(root) = site.roots.iter().find(is_meant).cloned()
        {
            site.root = root;
        }
        return Ok(site);
    }
    bail!("it has {} sites; add --site NAME, or the --docroot of one: {}", found.len(), list(tree, &all));
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn list(tree: &Tree, sites: &[Site]) -> String {
    let words: Vec<String> = sites.iter().take(LISTED).map(|site| site.word(tree)).collect();
    let more = sites.len().saturating_sub(LISTED);
    words.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn site(rules: &Rules, block: &[Directive], at: Option<SourcePosition>, outside: Option<&Path>) -> Site {
    let names = block.iter().filter(|d| d.is("server_name") || d.is("ServerName") || d.is("ServerAlias"));
    let names: Vec<String> =
        names.flat_map(Directive::words).filter(|name| !name.is_empty() && name != "_").collect();
    let sets: Vec<(String, String)> = block.iter().filter_map(set_of).collect();
    let mut roots = Vec::new();
    roots_in(rules, block, &sets, &mut roots);
    let own =
        rules.base_of_roots(block).or_else(|| outside.map(Path::to_owned)).or_else(|| roots.first().cloned());
    let folders = block.iter().filter(|d| d.is("Directory") && d.block.is_some()).map(Directive::first);
    let folder = folders
        .filter(|path| path.starts_with('/') && !path.contains(['*', '?', '[']))
        .find(|path| path != "/");
    let root =
        own.unwrap_or_else(|| folder.map_or_else(|| rules.docroot.clone(), |path| tidy(Path::new(&path))));
    roots.insert(0, root.clone());
    Site { at, names, root, roots, is_secure: is_secure(block) }
}

fn is_secure(block: &[Directive]) -> bool {
    block.iter().any(|d| {
        d.is("listen") && d.words().iter().any(|w| w == "ssl" || w.ends_with(":443") || w == "443")
            || d.is("SSLEngine") && d.first().eq_ignore_ascii_case("on")
    })
}

/// `set $name value;` without variables in the value.
pub fn set_of(directive: &Directive) -> Option<(String, String)> {
    let mut words = directive.words().into_iter().filter(|_| directive.name == "set");
    Some((words.next()?, words.next().filter(|value| !value.contains('$'))?))
}

/// A text with the values that a site has set.
pub fn with_sets(text: &str, sets: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in sets {
        let braced = format!("${{{}}}", name.trim_start_matches('$'));
        text = text.replace(&braced, value);
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(name.as_str()) {
            let after = &rest[at + name.len()..];
            let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            out.push_str(&rest[..at]);
            out.push_str(if goes_on { name } else { value });
            rest = after;
        }
        text = out + rest;
    }
    text
}

fn roots_in(rules: &Rules, block: &[Directive], sets: &[(String, String)], found: &mut Vec<PathBuf>) {
    for directive in block {
        let words = directive.words();
        let path = match directive.name.to_lowercase().as_str() {
            "root" | "documentroot" => words.first(),
            "alias" => words.last(),
            _ => None,
        };
        if let Some(path) = path {
            let root = with_sets(path, sets);
            found.extend((!root.contains('$')).then(|| tidy(&rules.prefix.join(root))));
        }
        roots_in(rules, directive.within(), sets, found);
    }
}

fn returns(directive: &Directive) -> bool {
    directive.within().iter().any(|d| d.is("return"))
}

/// Whether a location has answers of its own, other than refusals and those by which a host shows that it is the owner's.
fn serves(directive: &Directive) -> bool {
    let is_proof = || directive.words().iter().any(|word| word.contains(".well-known"));
    let refuses = || directive.within().iter().any(|d| d.is("deny"));
    directive.is("location") && !returns(directive) && !refuses() && !is_proof()
}

/// Whether a site only leads to another one, or refuses: by a word that holds for every request.
fn only_redirects(block: &[Directive], is_secure: bool) -> bool {
    block.iter().any(|d| {
        let words = d.words();
        let is_everything = |word: &String| word == "/";
        match d.name.to_lowercase().as_str() {
            "return" => true,
            "redirect" | "redirectpermanent" => words.iter().take(2).any(is_everything),
            "rewriterule" => !is_secure && words.get(1).is_some_and(|to| to.starts_with("https://")),
            "location" => words.first().is_some_and(is_everything) && returns(d) && !block.iter().any(serves),
            _ => false,
        }
    })
}

impl Rules {
    /// The document root that a list of directives itself says.
    pub(super) fn base_of_roots(&self, block: &[Directive]) -> Option<PathBuf> {
        let sets: Vec<(String, String)> = block.iter().filter_map(set_of).collect();
        let own = block.iter().filter(|d| d.is("root") || d.is("DocumentRoot"));
        let root = own.map(|d| with_sets(&d.first(), &sets)).find(|root| !root.contains('$'))?;
        Some(tidy(&self.prefix.join(root)))
    }
}

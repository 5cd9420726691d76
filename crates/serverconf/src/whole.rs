//! A configuration as a private instance runs it: whole, and rewritten only where it would listen, write, ask or read outside of the
//! instance, or refuse the lab's own requests.
//!
//! What is rewritten and left out stands in `server.toml`; here is what happens to each directive. Every change has its place in the notes.

mod caddy;
mod lighttpd;

pub use lighttpd::has_tls;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use regex::Regex;

use super::notes::{Kind, Notes};
use super::places::places;
use super::rules::{InstalledServer, Rules, expression, expressions, is};
use super::site::{self, Site};
use super::syntax::assigned::in_quotes;
use super::syntax::{Directive, SourcePosition, Syntax, Written, Wrong, quoted};
use super::tree::{Tree, tidy};
use weigh_model::text::clean_path;
use weigh_model::way::{DIR, FPM, TREE};

/// The place of directives that are the lab's own.
const OURS: SourcePosition = SourcePosition { file: u32::MAX, line: 0 };
/// What Apache takes only in a folder's own file, or in a section for one.
const OF_FOLDERS: &str = "RewriteBase";

/// A configuration for a private instance.
#[derive(Debug)]
pub struct Whole {
    /// Its text, in which placeholders stand for what an instance has of its own.
    pub written: Written,
    /// What was left out or replaced, one line each.
    pub notes: Vec<String>,
}

/// Rewrites a tree with this site alone.
///
/// # Errors
/// A wrong definition, or one line with the place of what cannot be run.
pub fn whole(rules: &Rules, server: &InstalledServer<'_>, tree: &Tree, site: &Site) -> Result<Whole> {
    let mut writer = Writer::new(rules, server, tree, site)?;
    let mut directives = match tree.syntax {
        Syntax::Blocks | Syntax::Sections => tree.directives.clone(),
        Syntax::Assigned => lighttpd::private(rules, &tree.directives, site, &mut writer.notes),
        Syntax::Json => caddy::private(tree, site, &mut writer.notes).map_err(|wrong| tree.error(&wrong))?,
    };
    if matches!(tree.syntax, Syntax::Blocks | Syntax::Sections) {
        writer.leave_sites(&mut directives, site);
    }
    let rewritten = writer.list(&directives, "").map_err(|wrong| tree.error(&wrong))?;
    let written = rules.syntax.write(&rewritten);
    Ok(Whole { written, notes: writer.notes.lines(tree) })
}

/// The file of a folder, `.htaccess`, as a private instance has it.
///
/// # Errors
/// As [`whole`].
pub fn of_folder(
    rules: &Rules,
    server: &InstalledServer<'_>,
    tree: &Tree,
    site: &Site,
    directives: &[Directive],
) -> Result<Whole> {
    let mut writer = Writer::new(rules, server, tree, site)?;
    let rewritten = writer.block(directives).map_err(|wrong| tree.error(&wrong))?;
    Ok(Whole { written: rules.syntax.write(&rewritten), notes: writer.notes.lines(tree) })
}

/// A directive of the lab's own.
fn ours(name: &str, arguments: impl Into<String>, block: Option<Vec<Directive>>) -> Directive {
    Directive { name: name.to_owned(), arguments: arguments.into(), at: OURS, block }
}

/// Whether any block hands requests to PHP.
fn has_php(block: &[Directive]) -> bool {
    block.iter().any(|d| d.is("fastcgi_pass") || has_php(d.within()))
}

/// Those of these directives that a list has none of.
fn missing(defaults: &[String], list: &[Directive]) -> Vec<Directive> {
    let split = defaults.iter().map(|text| text.split_once(' ').unwrap_or((text, "")));
    let missing = split.filter(|(name, _)| !list.iter().any(|d| d.is(name)));
    missing.map(|(name, arguments)| ours(name, arguments, None)).collect()
}

/// Puts around a part that stands alone what its server needs.
pub fn frame(rules: &Rules, tree: &mut Tree, site: &mut Site) {
    let directives = std::mem::take(&mut tree.directives);
    let include = |file: &String| ours("include", format!("\"{DIR}/{file}\""), None);
    let wrap = rules.wrap.iter().map(include);
    tree.directives = match &rules.around {
        Some(around) => {
            let has_site = directives.iter().any(|d| d.is(&rules.site));
            let has_php = has_php(&directives);
            let is_outer = |d: &Directive| has_site || is(&rules.outer, &d.name);
            let (mut outer, mut inner): (Vec<_>, Vec<_>) = directives.into_iter().partition(is_outer);
            let alone = missing(&rules.alone, &outer);
            outer.splice(0..0, wrap.chain(alone));
            if !has_site {
                outer.push(ours(&rules.site, "", Some(std::mem::take(&mut inner))));
                site.at = Some(OURS);
            }
            let sites = outer.iter_mut().filter(|d| !has_php && d.is(&rules.site));
            let php = rules.php.iter().map(include).collect::<Vec<_>>();
            sites.filter_map(|d| d.block.as_mut()).for_each(|block| block.extend(php.clone()));
            vec![ours("events", "", Some(Vec::new())), ours(around, "", Some(outer))]
        }
        None => {
            let is_of_folder = tree.files.first().is_some_and(|file| file.ends_with(&rules.folder_file))
                || directives.iter().any(|d| d.is(OF_FOLDERS) || d.within().iter().any(|d| d.is(OF_FOLDERS)));
            let root = quoted(&site.root.to_string_lossy());
            let directives = match is_of_folder {
                true => vec![ours("Directory", root, Some(directives))],
                false => directives,
            };
            wrap.chain(directives).collect()
        }
    };
}

/// Folders that the system's administrator alone installs into: packages, and servers that were built from source.
const SYSTEM: [&str; 2] = ["/usr", "/opt"];
/// Whether configurations may load code from anywhere.
static IS_TRUSTED: AtomicBool = AtomicBool::new(false);

/// Lets configurations load code from anywhere: the user knows who made them.
pub fn trust() {
    IS_TRUSTED.store(true, Ordering::SeqCst);
}

struct Writer<'w> {
    rules: &'w Rules,
    server: &'w InstalledServer<'w>,
    /// The document root and the folders of aliases.
    roots: Vec<PathBuf>,
    swap: Vec<(Regex, &'w str)>,
    paths: Vec<Regex>,
    values: Vec<Regex>,
    load: Regex,
    /// Values that the site gives to names.
    sets: Vec<(String, String)>,
    notes: Notes,
}

impl<'w> Writer<'w> {
    fn new(
        rules: &'w Rules,
        server: &'w InstalledServer<'w>,
        tree: &Tree,
        site: &'w Site,
    ) -> Result<Writer<'w>> {
        let swap = rules.swap.iter().map(|(from, to)| Ok((expression(from)?, to.as_str())));
        let blocks = site::around(rules, tree).iter().filter(|d| Some(d.at) == site.at);
        let sets = blocks.flat_map(Directive::within).filter_map(site::set_of).collect();
        let folders = places(rules, tree, site).into_iter().map(|place| place.folder);
        Ok(Writer {
            rules,
            server,
            roots: std::iter::once(site.root.clone()).chain(folders).collect(),
            swap: swap.collect::<Result<_>>()?,
            paths: expressions(&rules.paths)?,
            values: expressions(&rules.values)?,
            load: expression(&rules.load)?,
            sets,
            notes: Notes::default(),
        })
    }

    /// Takes the other sites away.
    fn leave_sites(&mut self, directives: &mut Vec<Directive>, site: &Site) {
        let around = self.rules.around.as_deref();
        let is_other = |d: &Directive| d.block.is_some() && d.is(&self.rules.site) && Some(d.at) != site.at;
        let mut left = Vec::new();
        for directive in directives.iter_mut().filter(|d| around.is_some_and(|name| d.is(name))) {
            left.extend(directive.block.iter_mut().flat_map(|block| block.extract_if(.., |d| is_other(d))));
        }
        left.extend(directives.extract_if(.., |d| is_other(d)));
        left.into_iter().for_each(|d| self.notes.add(Kind::Site, &d.name, d.at));
    }

    /// What becomes of a list; `parent` is the block that it stands in.
    fn list(&mut self, directives: &[Directive], parent: &str) -> Result<Vec<Directive>, Wrong> {
        let mut kept = self.block(directives)?;
        let names = |name: &String| name.eq_ignore_ascii_case(parent);
        let defaults = self.rules.defaults.iter().filter(|(block, _)| names(block));
        let mut begin: Vec<Directive> = defaults.flat_map(|(_, all)| missing(all, &kept)).collect();
        // Without a block for the site, it is all of the server.
        let is_all = parent.is_empty() && self.rules.around.is_none();
        let has_site = directives.iter().any(|d| d.block.is_some() && d.is(&self.rules.site));
        let inserted = self.rules.inserts.iter().filter(|(block, _)| {
            names(block) || is_all && !has_site && block.eq_ignore_ascii_case(&self.rules.site)
        });
        let include = |file: &String| ours("include", format!("\"{DIR}/{file}\""), None);
        begin.extend(inserted.map(|(_, file)| include(file)));
        kept.splice(0..0, begin);
        kept.extend(self.rules.end.iter().filter(|_| parent.is_empty()).map(include));
        Ok(kept)
    }

    fn block(&mut self, directives: &[Directive]) -> Result<Vec<Directive>, Wrong> {
        let mut kept = Vec::new();
        for directive in directives {
            kept.extend(self.one(directive)?);
        }
        Ok(kept)
    }

    fn one(&mut self, directive: &Directive) -> Result<Option<Directive>, Wrong> {
        let Directive { name, at, .. } = directive;
        let left = [(&self.rules.mine, Kind::Mine), (&self.rules.without, Kind::Without)];
        if let Some((_, kind)) = left.into_iter().find(|(names, _)| is(names, name)) {
            self.notes.add(kind, name, *at);
            return Ok(None);
        }
        let text = directive.text();
        let text = self.rewritten(&text, name, *at);
        if text.is_empty() {
            return Ok(None);
        }
        let text = match self.load.captures(&text).and_then(|found| found.get(1)) {
            Some(file) => match self.module(file.as_str(), *at)? {
                Some(path) => format!("{}{path}", &text[..file.start()]),
                None => return Ok(None),
            },
            None => text,
        };
        let (name, arguments) = match text == directive.text() {
            true => (name.as_str(), directive.arguments.as_str()),
            false => text.split_once(char::is_whitespace).unwrap_or((&text, "")),
        };
        let block = match &directive.block {
            Some(block) if is(&self.rules.data, name) => Some(block.clone()),
            Some(block) => Some(self.list(block, name)?),
            None => None,
        };
        Ok(Some(Directive { name: name.to_owned(), arguments: arguments.to_owned(), at: *at, block }))
    }

    /// The text of a directive in the instance; empty: it is left out.
    fn rewritten(&mut self, text: &str, name: &str, at: SourcePosition) -> String {
        let swap = self.swap.iter().find_map(|(from, to)| Some((from.captures(text)?, *to)));
        if let Some((found, to)) = swap {
            let mut out = String::new();
            found.expand(&to.replace("{line}", &at.line.to_string()), &mut out);
            // What is handed to the private pool is answered.
            let is_elsewhere = is(&self.rules.elsewhere, name) && !out.contains(FPM);
            let kind = match (out.is_empty(), is_elsewhere) {
                (true, _) => Kind::Without,
                (false, true) => Kind::Elsewhere,
                (false, false) => Kind::Swapped,
            };
            if out != text && !is(&self.rules.data, name) && name != self.rules.site {
                self.notes.add(kind, name, at);
            }
            return out;
        }
        let group = |patterns: &[Regex]| -> Option<Range<usize>> {
            patterns.iter().find_map(|pattern| Some(pattern.captures(text)?.get(1)?.range()))
        };
        let served = group(&self.paths);
        let Some(range) = served.clone().or_else(|| group(&self.values)) else { return text.to_owned() };
        let word = text[range.clone()].trim_matches(['"', '\'']);
        let word = site::with_sets(word, &self.sets);
        let path = match word.starts_with('$') {
            // What its name stands for is not known: it is taken for the document root.
            true if served.is_some() && !word.starts_with("$document_root") => self.roots[0].clone(),
            true => return text.to_owned(),
            false => self.rules.prefix.join(&word),
        };
        let is_below = |root: &PathBuf| {
            let rest = word.strip_prefix(&*root.to_string_lossy());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '$', '%']))
        };
        if served.is_none() && !self.roots.iter().any(is_below) {
            return text.to_owned();
        }
        if served.is_some() {
            self.notes.add(Kind::Copied, name, at);
        }
        let slash = if word.ends_with('/') && word.len() > 1 { "/" } else { "" };
        let path = format!("{TREE}{}{slash}", tidy(&path).display());
        let path = match self.rules.syntax {
            Syntax::Assigned | Syntax::Json => in_quotes(&path),
            Syntax::Blocks | Syntax::Sections => quoted(&path),
        };
        format!("{}{path}{}", &text[..range.start], &text[range.end..])
    }

    /// The file of a module that is loaded; none: it is built in.
    fn module(&mut self, file: &str, at: SourcePosition) -> Result<Option<String>, Wrong> {
        let path = Path::new(file.trim_matches(['"', '\'']));
        if path.is_absolute() && path.is_file() {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let is_system = SYSTEM.iter().any(|folder| real.starts_with(folder));
            if !is_system && !IS_TRUSTED.load(Ordering::SeqCst) {
                let what = clean_path(&real);
                return Err(Wrong::at(
                    at,
                    format!(
                        "it loads code from outside the system's folders: {what}; if you trust who made it, add --trust-config"
                    ),
                ));
            }
            return Ok(Some(quoted(&path.to_string_lossy())));
        }
        let pattern = self.server.module_file.unwrap_or("{}");
        let (begin, end) = pattern.split_once("{}").unwrap_or_default();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_prefix(begin).and_then(|name| name.strip_suffix(end)).unwrap_or(name);
        match self.server.modules.get(name) {
            Some(Some(path)) => Ok(Some(quoted(&path.to_string_lossy()))),
            Some(None) => Ok(None),
            None => {
                let package = self.rules.package.replace("{}", &name.replace('_', "-"));
                Err(Wrong::at(at, format!("the module {name} is not installed here: apt install {package}")))
            }
        }
    }
}

//! A policy on top of the user's own configuration: its parts where their lines would stand, and what is in their way taken out, in a
//! private copy. The user's files are read, never written.

mod json;

use anyhow::{Context, Result, anyhow};

use super::advised::advised;
use super::present::is_loaded;
use super::sections::OURS;
use super::served::{downloads, served};
use super::trial::file;
use crate::server_config::Configured;
use weigh_model::advised::ADVISED;
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::way::{CONFIG, OwnConfig};
use weigh_os::guard::LaunchContext;
use weigh_rig::server::Found;
use weigh_rig::server::Site as Served;
use weigh_rig::server::emission::{Emission, Snippet};
use weigh_serverconf::syntax::{Directive, SourcePosition, Syntax};
use weigh_serverconf::tree::Tree;
use weigh_serverconf::{Read, whole, with_types};

/// The user's configuration with a policy.
#[derive(Clone, Debug)]
pub struct OnTop {
    /// What a private instance runs as the method `advised`, beside the user's own as `config`.
    pub config: OwnConfig,
    /// The same with the parts of the site before everything else of it, where that may differ: of nginx's locations the first that matches holds.
    pub first: Option<OwnConfig>,
    /// Directives of the user's that the policy's meet, in their order.
    pub clashes: Vec<Clash>,
    /// What the server says against it; none: it accepts it, or was not asked.
    pub refused: Option<String>,
}

/// A directive of the user's that one of the policy's meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// Its file and line: `/etc/nginx/sites-enabled/shop:12`.
    pub place: String,
    pub directive: String,
    /// Whether it may stay, and then holds in its own block; else it has to go.
    pub stays: bool,
    /// Whether its line is included elsewhere, too.
    pub shared: bool,
}

/// Puts a policy on top of a configuration that was read, and lets the server check it if there is a place for that.
///
/// # Errors
/// One line: the parts of the policy that the server cannot carry out, or the parts of the configuration that cannot run.
pub fn on_top(
    policy: &Policy,
    site: &Site,
    found: &Found,
    read: &Read,
    place: Option<&LaunchContext>,
) -> Result<OnTop> {
    let (name, definition) = (&found.definition.name, &found.definition);
    let emission =
        definition.policy.as_ref().with_context(|| format!("{name}: no policy can be written for it"))?;
    let rules =
        definition.own.as_ref().with_context(|| format!("{name}: it has no configuration of the user's"))?;
    let wish = advised(policy, site, definition, Some(read))?;
    let mut there = definition.with_advised(&wish).at(found.program.clone());
    there.ways.iter_mut().for_each(|way| way.missing = None);
    let room = tempfile::tempdir().context("no temporary folder")?;
    let parts = there.parts(&served(site, room.path()), &downloads(site))?;
    let mut work = Work { emission, tree: &read.tree, clashes: Vec::new() };
    let mut tree = read.tree.clone();
    for (snippet, text) in &parts {
        let block = match snippet.around {
            true => around(&mut tree.directives, rules.around.as_deref()),
            false => block_at(&mut tree.directives, read.site.at)
                .context("the site is not in the configuration")?,
        };
        // Downloads are measured with the lab's configuration.
        let inside = snippet.inside.as_deref();
        let is_withheld = policy.withholds(&file(name, &snippet.template));
        if is_withheld || inside.is_some() && snippet.downloads {
            continue;
        }
        if rules.syntax == Syntax::Json {
            let part = json::part(rules, found, snippet, text)?;
            work.put_json(block, inside, &part);
            continue;
        }
        let ours = rules
            .syntax
            .parse(text, OURS)
            .map_err(|wrong| anyhow!("{}: {}", snippet.template, wrong.what))?;
        work.put(block, snippet, &ours);
    }
    let rows = there.definition.rows_of(&wish);
    let of_rows = rows.iter().flat_map(|row| &row.modules);
    let needed = of_rows.chain(parts.iter().flat_map(|(snippet, _)| &snippet.modules));
    let mut modules = read.config.modules.clone();
    modules.extend(needed.filter(|module| !is_loaded(&read.tree, module)).cloned());
    modules.sort();
    modules.dedup();
    let config = |tree: &Tree| -> Result<OwnConfig> {
        let written = whole::whole(rules, &found.installed(), tree, &read.site)?.written;
        let (text, modules) = (with_types(&written.text, &read.tree), modules.clone());
        let way = ADVISED.to_owned();
        Ok(OwnConfig { way, text, origins: written.origins, modules, ..read.config.clone() })
    };
    let last = config(&tree)?;
    let first = (rules.syntax == Syntax::Blocks).then(|| {
        let block = block_at(&mut tree.directives, read.site.at).into_iter();
        block.for_each(|block| block.sort_by_key(|d| d.at.file != OURS));
        config(&tree)
    });
    let (config, first) = (last, first.transpose()?);
    let refused = place.map(|place| refused(found, &config, place)).transpose()?.flatten();
    Ok(OnTop { config, first, clashes: work.clashes, refused })
}

/// The server with another configuration in place of the site's.
pub(crate) fn instead(own: &Configured, config: OwnConfig) -> Configured {
    let config = OwnConfig { way: CONFIG.to_owned(), ..config };
    let mut definition = own.found.definition.clone();
    definition.ways.retain(|way| way.name != CONFIG);
    definition.mine.retain(|own| own.way != CONFIG);
    let config = OwnConfig { text: with_types(&config.text, &own.read.tree), ..config };
    let found = definition.with_own([&config]).find();
    Configured { read: Read { config, ..own.read.clone() }, found }
}

/// What the server says against a configuration.
fn refused(found: &Found, config: &OwnConfig, place: &LaunchContext) -> Result<Option<String>> {
    let there = found.definition.with_own([config]).at(found.program.clone());
    let room = tempfile::tempdir_in(&place.root).context("no temporary folder")?;
    let below = config.root.strip_prefix("/").unwrap_or(&config.root);
    std::fs::create_dir_all(room.path().join(below)).context("no temporary folder")?;
    let served = Served { docroot: room.path().to_owned(), ..Served::default() };
    there.lint_in(None, &served, place)
}

struct Work<'w> {
    emission: &'w Emission,
    tree: &'w Tree,
    clashes: Vec<Clash>,
}

impl Work<'_> {
    /// Puts a part into its blocks.
    fn put(&mut self, block: &mut Vec<Directive>, snippet: &Snippet, ours: &[Directive]) {
        let Some(beside) = &snippet.beside else { return self.add_to(block, ours) };
        let inner = block.iter_mut().filter_map(|d| d.block.as_mut());
        inner.for_each(|inner| self.put(inner, snippet, ours));
        if block.iter().any(|d| d.is(beside)) {
            self.add_to(block, ours);
        }
    }

    fn add_to(&mut self, block: &mut Vec<Directive>, ours: &[Directive]) {
        // What is added to a list leaves it as it is.
        let replaces = |own: &Directive, d: &Directive| own.is(&d.name) && !own.arguments.starts_with("+=");
        let meets =
            |d: &Directive| d.block.is_none() && d.at.file != OURS && ours.iter().any(|own| replaces(own, d));
        if self.emission.once {
            let gone: Vec<Directive> = block.extract_if(.., |d| meets(d)).collect();
            gone.iter().for_each(|d| self.clash(d, false));
            block.iter().flat_map(Directive::within).for_each(|d| self.deeper(d, &meets));
        }
        block.extend_from_slice(ours);
    }

    /// What stands in a block within, which holds there.
    fn deeper(&mut self, directive: &Directive, meets: &impl Fn(&Directive) -> bool) {
        if meets(directive) {
            self.clash(directive, true);
        }
        directive.within().iter().for_each(|d| self.deeper(d, meets));
    }

    fn clash(&mut self, directive: &Directive, stays: bool) {
        self.clash_as(directive.at, directive.text(), stays);
    }

    fn clash_as(&mut self, at: SourcePosition, directive: String, stays: bool) {
        let shared = times(&self.tree.directives, at, &directive) > 1;
        let clash = Clash { place: self.tree.word(at), directive, stays, shared };
        // One that a later part takes out does not stay.
        self.clashes.retain(|known| (&known.place, &known.directive) != (&clash.place, &clash.directive));
        self.clashes.push(clash);
    }
}

/// How often a directive of a file is part of a configuration.
fn times(directives: &[Directive], at: SourcePosition, text: &str) -> usize {
    let is_it = |d: &Directive| d.at == at && d.text() == text;
    directives.iter().map(|d| usize::from(is_it(d)) + times(d.within(), at, text)).sum()
}

/// The block of what all sites have in common; all of it where there is none.
fn around<'d>(directives: &'d mut Vec<Directive>, name: Option<&str>) -> &'d mut Vec<Directive> {
    match directives.iter().position(|d| name.is_some_and(|name| d.is(name)) && d.block.is_some()) {
        Some(at) => directives[at].block.get_or_insert_default(),
        None => directives,
    }
}

/// The block that begins there; all of it where the site is not a block.
fn block_at(directives: &mut Vec<Directive>, at: Option<SourcePosition>) -> Option<&mut Vec<Directive>> {
    let Some(at) = at else { return Some(directives) };
    for directive in directives {
        let is_it = directive.at == at;
        let Some(block) = &mut directive.block else { continue };
        if is_it {
            return Some(block);
        }
        if let Some(found) = block_at(block, Some(at)) {
            return Some(found);
        }
    }
    None
}

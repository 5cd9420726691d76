//! What the user's configuration has where a policy's parts go: lists that the parts go on from, and modules that it loads.

use weigh_serverconf::Read;
use weigh_serverconf::syntax::{Directive, SourcePosition};
use weigh_serverconf::tree::Tree;

/// The blocks that hold where a part goes, the innermost first.
pub(super) struct Present<'r>(Vec<Vec<&'r [Directive]>>);

impl<'r> Present<'r> {
    /// What holds in the site, or in those of its blocks that have the directive `beside`.
    pub fn of(read: &'r Read, beside: Option<&str>) -> Present<'r> {
        let mut around = Vec::new();
        if !path_to(&read.tree.directives, read.site.at, &mut around) {
            around = vec![read.tree.directives.as_slice()];
        }
        let site = around.last().copied().unwrap_or_default();
        let mut inner = Vec::new();
        beside.iter().for_each(|beside| blocks_with(site, beside, &mut inner));
        let outer = around.into_iter().rev().map(|block| vec![block]);
        Present([inner].into_iter().chain(outer).collect())
    }

    /// Whether a block of the site has the directive that the part goes beside.
    pub fn has_blocks(&self) -> bool {
        self.0.first().is_some_and(|blocks| !blocks.is_empty())
    }

    /// What directives of this name say, in every block that holds there.
    pub fn words(&self, name: &str) -> Vec<String> {
        self.levels(name).into_iter().flatten().collect()
    }

    /// The entries of lists of this name, which are values or, as in JSON, blocks somewhere below the site.
    pub fn list(&self, name: &str) -> Vec<String> {
        let mut found = self.words(name);
        self.0.iter().skip(1).take(1).flatten().for_each(|block| keys(block, name, &mut found));
        found
    }

    /// What the innermost one says; none: there is none.
    pub fn in_force(&self, name: &str) -> Option<Vec<String>> {
        self.levels(name).into_iter().next()
    }

    fn levels(&self, name: &str) -> Vec<Vec<String>> {
        let named = |blocks: &Vec<&'r [Directive]>| -> Vec<String> {
            let own = blocks.iter().copied().flatten().filter(|d| d.is(name) && d.block.is_none());
            own.flat_map(|d| d.words()).map(|word| plain(&word)).filter(|word| !word.is_empty()).collect()
        };
        self.0.iter().map(named).filter(|words| !words.is_empty()).collect()
    }
}

/// A word of a list without the marks around it.
fn plain(word: &str) -> String {
    word.trim_matches(|c: char| "(),=+:\"".contains(c)).to_owned()
}

/// The blocks around the one that begins there, and that one; whether it was found.
fn path_to<'r>(block: &'r [Directive], at: Option<SourcePosition>, path: &mut Vec<&'r [Directive]>) -> bool {
    path.push(block);
    let is_here = |d: &Directive| d.block.is_some() && Some(d.at) == at;
    if let Some(found) = block.iter().find(|d| is_here(d)) {
        path.push(found.within());
        return true;
    }
    if block.iter().any(|d| d.block.is_some() && path_to(d.within(), at, path)) {
        return true;
    }
    path.pop();
    false
}

/// The names of what is in blocks of this name.
fn keys(block: &[Directive], name: &str, found: &mut Vec<String>) {
    for d in block.iter().filter(|d| d.block.is_some()) {
        match d.is(name) {
            true => found.extend(d.within().iter().map(|key| key.name.clone())),
            false => keys(d.within(), name, found),
        }
    }
}

/// The blocks below that have a directive of this name.
fn blocks_with<'r>(block: &'r [Directive], name: &str, found: &mut Vec<&'r [Directive]>) {
    if block.iter().any(|d| d.is(name)) {
        found.push(block);
    }
    block.iter().for_each(|d| blocks_with(d.within(), name, found));
}

/// Whether a configuration loads a module itself.
pub(super) fn is_loaded(tree: &Tree, module: &str) -> bool {
    let names = |d: &Directive| d.is("load_module") && d.arguments.contains(module);
    tree.modules.as_ref().is_some_and(|modules| modules.contains(module)) || tree.directives.iter().any(names)
}

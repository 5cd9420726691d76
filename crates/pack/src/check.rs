//! Whether a tree is packed: every file and every variant is read. Nothing is written.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;

use super::each::each;
use super::folders::folders;
use super::manifest::Entry;
use super::map;
use super::names::{MAP_ENDING, append_ending, is_coded};
use super::outcome::{PackOutcome, Problem, Wrong};
use super::plan::content;
use super::run::{PackRequest, Run};
use super::source::Source;
use super::sum::{Sum, short, sum};
use super::write::{ExistingEntry, there};
use weigh_model::text::clean_path;
use weigh_os::interrupt::Interrupt;
use weigh_os::regular::plain_error;

/// Checks a tree.
///
/// # Errors
/// One line: the tree cannot be used.
pub fn check(ask: PackRequest<'_>, interrupt: &Interrupt) -> Result<PackOutcome> {
    let mut run =
        Run::begin(PackRequest { dry_run: true, ..ask }, folders(ask.tree, ask.out, false)?, interrupt)?;
    let sources = run.all()?;
    let mut problems = Vec::new();
    let (checked, root) = (&run, run.root.clone());
    let (mut failures, mut refused, settings) = (Vec::new(), Vec::new(), ask.settings);
    each(
        ask.jobs,
        &sources,
        || (),
        |(), source| {
            let found = content(&root, &source.path, settings.trial(source))?;
            let read = Source { is_worth: settings.is_worth(source, Some(found.saving)), ..source.clone() };
            let is_refused =
                settings.wanted(source).next().is_some() && settings.wanted(&read).next().is_none();
            let refusal = is_refused.then(|| settings.refusal(&read));
            Ok::<_, io::Error>((checked.wrong(&read, &found.sum), refusal))
        },
        |source, found| {
            match found {
                Ok((found, refusal)) => {
                    problems.extend(found);
                    refused.extend(refusal.map(|why| (Arc::clone(&source.path), why)));
                }
                Err(error) => failures.push((Arc::clone(&source.path), plain_error(&error))),
            }
            !interrupt.is_set()
        },
    );
    failures.into_iter().for_each(|(path, why)| run.outcome.fail(&path, why));
    run.outcome.files -= refused.len() as u64;
    refused.into_iter().for_each(|(path, why)| run.outcome.leave(&path, why));
    problems.extend(run.examine());
    for (path, entry) in run.manifest.entries.iter().filter(|(_, entry)| !entry.is_there) {
        let left = entry.variants.iter().filter(|one| one.sum.is_some());
        let left = left.map(|one| (&one.ending, there(&run.target, &append_ending(path, &one.ending))));
        let left = left.filter(|(_, there)| *there != ExistingEntry::Nothing);
        problems.extend(left.map(|(ending, _)| problem(path, ending, Wrong::Stale)));
    }
    problems.sort_by(|one, other| one.path.cmp(&other.path));
    run.outcome.problems = problems;
    run.outcome.interrupted = interrupt.is_set();
    run.outcome.count(&run.manifest);
    Ok(run.outcome)
}

fn problem(path: &Path, ending: &str, what: Wrong) -> Problem {
    Problem { path: clean_path(&append_ending(path, ending)), what }
}

impl Run<'_> {
    /// What stands where a variant of a file goes.
    fn there(&self, source: &Source, ending: &str) -> ExistingEntry {
        there(&self.target, &append_ending(&source.path, ending))
    }

    /// Every file that should have variants, or has some.
    fn all(&mut self) -> Result<Vec<Source>> {
        // No inode is 0: every file looks different.
        self.manifest.entries.values_mut().for_each(|entry| entry.seen.inode = 0);
        self.look()
    }

    /// What is wrong with a file's variants.
    fn wrong(&self, source: &Source, content: &Sum) -> Vec<Problem> {
        let settings = self.ask.settings;
        let mut found = Vec::new();
        let entry = self.manifest.entries.get(&source.path);
        let say = |ending: &str, what| problem(&source.path, ending, what);
        for at in settings.wanted(source) {
            let recipe = &settings.recipes[at];
            let ending = recipe.ending(&source.path);
            let is_saving = |bytes| settings.saves(source.seen.bytes, bytes);
            let variant = entry.and_then(|entry| entry.variant(&ending));
            let is_stale = entry.is_some_and(|entry| entry.sum != *content);
            let what = match variant {
                // One that stands there is kept; whether it is right is looked at apart.
                None => (self.there(source, &ending) == ExistingEntry::Nothing).then_some(Wrong::Missing),
                Some(_) if is_stale => Some(Wrong::Stale),
                Some(one) if one.is_theirs => None,
                Some(one) if *one.by != *recipe.by(&source.path) => Some(Wrong::Stale),
                Some(one) if one.sum.is_none() => is_saving(one.bytes).then_some(Wrong::Missing),
                Some(one) => match self.there(source, &ending) {
                    ExistingEntry::Nothing => Some(Wrong::Missing),
                    ExistingEntry::File(found) if Some(found) == one.sum => None,
                    _ => Some(Wrong::Damaged),
                },
            };
            found.extend(what.map(|what| say(&ending, what)));
        }
        found.extend(entry.into_iter().flat_map(|entry| self.unwanted(source, entry)));
        found.extend(entry.and_then(|entry| self.wrong_map(source, entry)));
        found
    }

    /// What is wrong with a file's type map, if it should have one.
    fn wrong_map(&self, source: &Source, entry: &Entry) -> Option<Problem> {
        let template = self.ask.settings.type_map.as_ref()?;
        let text = map::text(&source.path, entry, template).ok().flatten()?;
        let what = match (entry.variant(MAP_ENDING), self.there(source, MAP_ENDING)) {
            (Some(map), _) if map.is_theirs => None,
            (_, ExistingEntry::Nothing) | (None, _) => Some(Wrong::Missing),
            (_, ExistingEntry::File(found)) if found == short(&sum(text.as_bytes())) => None,
            _ => Some(Wrong::Damaged),
        };
        what.map(|what| problem(&source.path, MAP_ENDING, what))
    }

    /// Variants that nobody asks for.
    fn unwanted(&self, source: &Source, entry: &Entry) -> Vec<Problem> {
        let settings = self.ask.settings;
        let is_wanted = |ending: &str| {
            settings.wanted(source).any(|at| settings.recipes[at].ending(&source.path) == *ending)
        };
        let stale = entry.variants.iter().filter(|one| one.sum.is_some() && is_coded(&one.ending));
        let stale = stale.filter(|one| !is_wanted(&one.ending));
        stale.map(|one| problem(&source.path, &one.ending, Wrong::Stale)).collect()
    }
}

//! Precompresses a tree: each file that is worth it gets variants beside it, or in a tree that mirrors it, as servers expect them.
//!
//! What was written for which content is in a manifest, so that a run makes only what is missing, removes only what is its own, and can be
//! killed at any instant. To make another kind of variant, write a [`recipe::Recipe`].
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod against;
mod check;
mod clean;
mod each;
mod folders;
mod foreign;
mod lock;
mod manifest;
mod map;
mod names;
mod outcome;
mod plan;
pub mod recipe;
mod run;
mod settings;
mod source;
mod sum;
pub mod walk;
mod watch;
mod work;
mod write;

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;

use anyhow::{Result, anyhow};

pub use check::check;
pub use clean::clean;
pub use folders::real;
pub use lock::Busy;
pub use outcome::{Coding, Failure, Listed, PackOutcome, Problem, Wrong};
pub use run::{Done, PackRequest};
pub use settings::{Effort, MIN_BYTES, MIN_SAVING, Settings, Usual};
pub use watch::Watch;

use self::folders::folders;
use self::lock::Lock;
use self::manifest::{Journal, Variant};
use self::names::{MAP_ENDING, append_ending};
use self::plan::{Job, Pending, open_source};
use self::run::Run;
use self::source::Source;
use self::sum::Short;
use self::write::{ExistingEntry, there};
use weigh_model::text::clean_path;
use weigh_os::interrupt::Interrupt;

/// Files that are worked on at a time.
const AT_A_TIME: usize = 20_000;
impl Run<'_> {
    /// Apache's type maps of what was just packed.
    fn maps(&mut self, pending: &[Pending]) -> io::Result<()> {
        let Some(template) = &self.ask.settings.type_map else { return Ok(()) };
        let file = Arc::clone(&self.file);
        let journal = Journal::of(&file);
        for one in pending {
            let path = &one.source.path;
            let Some(entry) = self.manifest.entries.get(path) else { continue };
            let former = entry.variant(MAP_ENDING).cloned();
            let text = match map::text(path, entry, template) {
                Ok(Some(text)) => text,
                Ok(None) => {
                    former.iter().for_each(|variant| self.remove(path, variant));
                    self.manifest.entries.get_mut(path).into_iter().for_each(|entry| entry.drop(MAP_ENDING));
                    continue;
                }
                Err(error) => {
                    self.outcome.fail(path, format!("{error:#}"));
                    continue;
                }
            };
            let (mut variant, sum) = map::variant(&mut self.manifest, &text);
            variant.former =
                former.iter().flat_map(|one| one.sum.iter().chain(&one.former)).copied().collect();
            match self.put_map(one, &text, variant, sum, &journal) {
                Err(error) if work::is_full(&error) => return Err(error),
                Err(error) => self.outcome.fail(path, format!("its type map cannot be written: {error}")),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn put_map(
        &mut self,
        one: &Pending,
        text: &str,
        mut variant: Variant,
        sum: Short,
        journal: &Journal<'_>,
    ) -> io::Result<()> {
        let path = &one.source.path;
        let place = append_ending(path, MAP_ENDING);
        let like = open_source(&self.root, path)?.metadata()?;
        match there(&self.target, &place) {
            ExistingEntry::File(found) if found == sum => write::refresh(&self.target, &place, &like)?,
            ExistingEntry::File(found) if !variant.is_own(&found) => variant.is_theirs = true,
            ExistingEntry::Other => variant.is_theirs = true,
            found => {
                journal.append(path, &one.sum, &variant)?;
                write::put(&self.target, &place, text.as_bytes(), &like, found != ExistingEntry::Nothing)?;
                self.outcome.written += 1;
            }
        }
        if variant.is_theirs {
            self.outcome.kept.add(&place);
            variant.sum = None;
        }
        variant.former.clear();
        self.manifest.entries.get_mut(path).into_iter().for_each(|entry| entry.put(variant.clone()));
        Ok(())
    }

    /// Makes what is missing and removes what is stale: the largest files first, in parts, so that memory grows little with the tree.
    fn carry_out(&mut self, mut changed: Vec<Source>, tell: &mut dyn FnMut(&Done)) -> io::Result<()> {
        changed.sort_by_key(|source| Reverse(source.seen.bytes));
        let mut done = Done { files: changed.len(), ..Done::default() };
        for some in changed.chunks(AT_A_TIME) {
            let pending = self.read(some);
            if self.interrupt.is_set() {
                return Ok(());
            }
            let jobs = self.jobs(&pending);
            if self.ask.dry_run {
                let files = |jobs: &mut dyn Iterator<Item = &Job>| {
                    jobs.map(|job| job.files.len() as u64).sum::<u64>()
                };
                self.outcome.written += files(&mut jobs.iter());
                self.outcome.taken += files(&mut jobs.iter().filter(|job| job.known.is_some()));
                continue;
            }
            self.work(&pending, &jobs, &mut done, tell)?;
            if self.interrupt.is_set() {
                return Ok(());
            }
            self.maps(&pending)?;
        }
        self.prune();
        Ok(())
    }
}

/// Packs a tree; `tell` hears how far it is.
///
/// # Errors
/// One line: the tree cannot be used, another run is at work, or the disk is full. What was written until then is whole, and known to the
/// next run.
pub fn pack(ask: PackRequest<'_>, interrupt: &Interrupt, tell: &mut dyn FnMut(&Done)) -> Result<PackOutcome> {
    let places = folders(ask.tree, ask.out, !ask.dry_run)?;
    let _lock = if ask.dry_run { None } else { Some(Lock::of(&places.1)?) };
    let mut run = Run::begin(ask, places, interrupt)?;
    let changed = match run.look() {
        Ok(changed) => changed,
        Err(_) if interrupt.is_set() => return Ok(run.interrupted()),
        Err(error) => return Err(error),
    };
    let done = run.carry_out(changed, tell);
    if ask.dry_run {
        run.outcome.count(&run.manifest);
        return Ok(run.outcome);
    }
    // Of a full disk the first error is the one to tell.
    let noted = if run.manifest.is_changed { run.manifest.write(&run.file, &run.target) } else { Ok(()) };
    if let Err(error) = done {
        let place = clean_path(run.target.path());
        return Err(anyhow!(
            "{place}: {error}; {} variants were written before, and nothing is half-written; make room and run it again",
            run.outcome.written
        ));
    }
    noted?;
    run.outcome.problems = run.examine();
    run.outcome.interrupted = interrupt.is_set();
    run.outcome.count(&run.manifest);
    Ok(run.outcome)
}

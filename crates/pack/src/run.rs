//! A run on a tree: what is asked for, what is known of the tree, and how far it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use super::manifest::{Manifest, ManifestFile};
use super::outcome::PackOutcome;
use super::settings::Settings;
use weigh_model::text::clean_path;
use weigh_os::interrupt::Interrupt;
use weigh_os::open_folder::OpenFolder;

#[derive(Clone, Copy, Debug)]
pub struct PackRequest<'a> {
    pub tree: &'a Path,
    /// Where the variants go; none: beside the files.
    pub out: Option<&'a Path>,
    pub settings: &'a Settings,
    pub jobs: usize,
    pub dry_run: bool,
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub struct Done {
    pub variants: usize,
    /// All files that look different.
    pub files: usize,
    /// Bytes of the files whose variants were written, a file once for each.
    pub from_bytes: u64,
    /// Bytes of the variants.
    pub to_bytes: u64,
}

pub(super) struct Run<'a> {
    pub(super) ask: PackRequest<'a>,
    pub(super) root: PathBuf,
    /// Where the variants are; open from begin to end.
    pub(super) target: Arc<OpenFolder>,
    pub(super) manifest: Manifest,
    pub(super) file: Arc<ManifestFile>,
    pub(super) outcome: PackOutcome,
    /// What has the name of a variant of a file of the tree, below the tree.
    pub(super) beside: Vec<PathBuf>,
    pub(super) interrupt: &'a Interrupt,
}

impl<'a> Run<'a> {
    pub(super) fn begin(
        ask: PackRequest<'a>,
        (root, target): (PathBuf, PathBuf),
        interrupt: &'a Interrupt,
    ) -> Result<Run<'a>> {
        let mut outcome = PackOutcome::of(ask.tree, ask.out.unwrap_or(ask.tree));
        outcome.dry_run = ask.dry_run;
        ask.settings.left_out.iter().flatten().for_each(|(path, why)| outcome.leave(path, *why));
        let file = Arc::new(ManifestFile::of(&target)?);
        let target = OpenFolder::open(&target)
            .with_context(|| format!("{}: cannot be opened", clean_path(&target)))?;
        let target = Arc::new(target);
        let manifest = Manifest::read(&file, &target, &mut |note| outcome.notes.push(note))?;
        Ok(Run { ask, root, target, manifest, file, outcome, beside: Vec::new(), interrupt })
    }

    pub(super) fn interrupted(mut self) -> PackOutcome {
        self.outcome.interrupted = true;
        self.outcome
    }
}

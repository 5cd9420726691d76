//! The runs of a folder, each with what it comes to.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::{Result, ensure};

use super::kept::FoundSummary;
use super::summary::Summary;
use weigh_model::text::clean_path;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_run::list::kept_folders;

/// The history of a folder of runs.
#[derive(Debug)]
pub struct History {
    pub(super) folder: PathBuf,
    pub(super) runs: Vec<Entry>,
}

/// A run of a folder with what it comes to.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) summary: Summary,
}

impl History {
    /// Reads the summaries of a folder's runs, those that have none that is true are read whole, in parallel, and get one. `progress` is told how many
    /// runs of how many are done where any was; `note` takes what the user should know.
    ///
    /// # Errors
    /// The user wants an end.
    pub fn read(
        folder: &Path,
        note: &mut dyn FnMut(&str),
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<History> {
        let there = kept_folders(folder);
        let (mut runs, mut done, mut refused) = (Vec::new(), 0, None);
        let interrupt = Interrupt::caught();
        in_parallel(&there, &|path| FoundSummary::of(path), &mut |at, kept: FoundSummary| {
            ensure!(!interrupt.is_set(), INTERRUPTED);
            done += 1;
            if kept.is_new {
                progress(done, there.len());
            }
            refused = refused.take().or(kept.refused);
            let (name, path) = there[at].clone();
            runs.push(Entry { name, path, summary: kept.summary });
            Ok(())
        })?;
        if let Some(why) = refused {
            let shown = clean_path(folder);
            note(&format!(
                "{shown}: summaries of runs cannot be kept ({why}); the runs are read for this once"
            ));
        }
        runs.sort_by(|a, b| (&b.summary.started, &b.name).cmp(&(&a.summary.started, &a.name)));
        Ok(History { folder: folder.to_owned(), runs })
    }
}

/// Does something for each folder by as many threads as there are processors; `take` gets each as it comes, with its position.
fn in_parallel<T: Send>(
    folders: &[(String, PathBuf)],
    work: &(dyn Fn(&Path) -> T + Sync),
    take: &mut dyn FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(folders.len());
    let next = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // A bounded queue: what was read waits in memory for nobody.
        let (sender, receiver) = mpsc::sync_channel(threads.max(1));
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((_, path)) = folders.get(at) else { break };
                    // Nobody receives any more: something went wrong there.
                    if sender.send((at, work(path))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(|(at, found)| take(at, found))
    })
}

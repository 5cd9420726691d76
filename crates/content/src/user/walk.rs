//! What a folder holds that can be measured: its regular files in order, and what is left out with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::{Note, special};
use weigh_model::text::clean;

/// The most files of one folder or list that are taken one and all.
pub(super) const MOST_FILES: usize = 200_000;
/// What those beyond are left out as.
pub(super) const BEYOND: &str = "files beyond the first 200000";
/// The most unreadable paths that are named one by one.
const MOST_NAMED: usize = 50;

/// A regular file with content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// Its length in bytes when it was seen.
    pub bytes: u64,
}

/// What becomes of symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links<'a> {
    /// None is followed, so there are no loops and nothing outside the folder.
    LeaveOut,
    /// Those to regular files inside the folder are such files; others are left out.
    Inside,
    /// Those to files and folders in one of these folders, which are real paths, are followed, each to a folder once; others are left out.
    Served(&'a [PathBuf]),
}

/// Shows every regular file with content, by name within each folder, and gives what is left out. `each` takes a file, or says what the
/// files are that it leaves out.
pub fn visit(
    folder: &Path,
    output: &Path,
    links: Links<'_>,
    each: &mut dyn FnMut(Found) -> Option<&'static str>,
) -> Vec<Note> {
    let mut skipped = Skipped::default();
    let mut unreadable = Vec::new();
    let output = output.canonicalize().unwrap_or_else(|_| output.to_owned());
    let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut entered = BTreeSet::new();
    let follows = matches!(links, Links::Served(_));
    let mut walk = WalkDir::new(folder).follow_links(follows).sort_by_file_name().into_iter();
    while let Some(next) = walk.next() {
        let entry = match next {
            Ok(entry) => entry,
            Err(error) if follows && error.path().is_some_and(Path::is_symlink) => {
                let what = if error.loop_ancestor().is_some() {
                    "symbolic links in a circle"
                } else {
                    "symbolic links to nothing"
                };
                skipped.add(what, error.path().unwrap_or(folder));
                continue;
            }
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                let why = error.io_error().map_or_else(|| error.to_string(), super::plain_error);
                unreadable.push(Note::Unreadable { path, why: clean(&why) });
                continue;
            }
        };
        let is_again = follows
            && entry.path_is_symlink()
            && entry.file_type().is_dir()
            && entry.depth() > 0
            && !entry.path().canonicalize().is_ok_and(|target| entered.insert(target));
        let again = is_again.then_some("symbolic links to a folder that another one leads to");
        if let Some(what) = unwanted(&entry, &output, &root, links).or(again) {
            skipped.add(what, entry.path());
            if entry.file_type().is_dir() {
                walk.skip_current_dir();
            }
            continue;
        }
        if entry.file_type().is_dir() {
            continue;
        }
        // Of a link that is followed, the file it leads to.
        match fs::metadata(entry.path()) {
            Ok(meta) if !meta.is_file() => skipped.add(special(&meta), entry.path()),
            Ok(meta) if meta.len() == 0 => skipped.add("empty files", entry.path()),
            Ok(meta) => {
                if let Some(what) = each(Found { path: entry.path().to_owned(), bytes: meta.len() }) {
                    skipped.add(what, entry.path());
                }
            }
            Err(error) => {
                let why = clean(&error.to_string());
                unreadable.push(Note::Unreadable { path: entry.into_path(), why });
            }
        }
    }
    let mut notes = skipped.notes();
    let more = unreadable.len().saturating_sub(MOST_NAMED) as u64;
    if let (Some(Note::Unreadable { path, .. }), true) = (unreadable.get(MOST_NAMED), more > 0) {
        notes.push(Note::Skipped { count: more, what: "further unreadable files", example: path.clone() });
    }
    unreadable.truncate(MOST_NAMED);
    notes.append(&mut unreadable);
    notes
}

/// What a symbolic link is left out as; none for one to a regular file inside the folder, or into a folder that is served.
fn link(path: &Path, root: &Path, links: Links<'_>) -> Option<&'static str> {
    match (path.canonicalize(), links) {
        (Err(_), _) => Some("symbolic links to nothing"),
        (Ok(target), Links::Served(roots)) => match roots.iter().any(|root| target.starts_with(root)) {
            true => None,
            false => Some("symbolic links out of the folders that are served"),
        },
        (Ok(target), _) if !target.starts_with(root) => Some("symbolic links out of the folder"),
        (Ok(target), _) if target.is_dir() => Some("symbolic links to folders"),
        (Ok(_), _) => None,
    }
}

/// Why an entry is left out whatever it holds.
fn unwanted(entry: &DirEntry, output: &Path, root: &Path, links: Links<'_>) -> Option<&'static str> {
    if entry.depth() == 0 {
        return None;
    }
    let name = entry.file_name().to_string_lossy();
    let is_dir = entry.file_type().is_dir();
    if entry.path_is_symlink() && links == Links::LeaveOut {
        return Some("symbolic links");
    }
    if is_dir && matches!(&*name, ".git" | ".hg" | ".svn" | ".bzr" | "CVS" | "_darcs") {
        return Some("folders of a version control system");
    }
    if name.starts_with('.') {
        return Some("hidden files and folders");
    }
    if entry.path_is_symlink() {
        return link(entry.path(), root, links);
    }
    let is_own = is_dir && entry.path().canonicalize().is_ok_and(|path| output.starts_with(path));
    is_own.then_some("folders that this program writes to")
}

/// Counts what is left out, by what it is.
#[derive(Default)]
pub(super) struct Skipped(BTreeMap<&'static str, (u64, PathBuf)>);

impl Skipped {
    pub fn add(&mut self, what: &'static str, path: &Path) {
        let plural = match what {
            "a named pipe" => "named pipes",
            "a socket" => "sockets",
            "a device" => "devices",
            "a folder" => "folders",
            other => other,
        };
        self.0.entry(plural).or_insert_with(|| (0, path.to_owned())).0 += 1;
    }

    pub fn notes(self) -> Vec<Note> {
        let note = |(what, (count, example))| Note::Skipped { count, what, example };
        self.0.into_iter().map(note).collect()
    }
}

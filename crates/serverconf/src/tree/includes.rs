//! Which files an include names, as the server finds them: on this machine, or among those that a server printed.

use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::Reader;
use crate::syntax::{Directive, Wrong};
use weigh_model::text::clean_path;

/// The most files that one include names.
const MOST: usize = 1000;

/// As the C library's glob.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

impl Reader<'_> {
    /// nginx: `include` at any depth.
    pub(super) fn expand_blocks(&mut self, directives: Vec<Directive>) -> Result<Vec<Directive>, Wrong> {
        let mut found = Vec::new();
        for mut directive in directives {
            if directive.name == "include" {
                found.extend(self.included(&directive, false)?);
                continue;
            }
            if let Some(block) = directive.block.take() {
                directive.block = Some(self.expand_blocks(block)?);
            }
            found.push(directive);
        }
        Ok(found)
    }

    /// The tree with the part that was asked for at the end of the sites, where no include has brought it.
    pub(super) fn with_part(&mut self, mut directives: Vec<Directive>) -> Result<Vec<Directive>, Wrong> {
        let Some(part) = self.part.take() else { return Ok(directives) };
        if self.files.iter().any(|file| file.canonicalize().is_ok_and(|real| real == part)) {
            return Ok(directives);
        }
        let own = self.file(&part, None, None)?;
        let own = self.expand(own)?;
        let around = self.rules.around.as_deref();
        let block = directives.iter_mut().filter(|d| around.is_some_and(|name| d.is(name)));
        match block.filter_map(|d| d.block.as_mut()).next() {
            Some(block) => block.extend(own),
            None => directives.extend(own),
        }
        Ok(directives)
    }

    /// The files that an include names, in the server's order.
    pub(super) fn matching(&self, directive: &Directive, is_optional: bool) -> Result<Vec<PathBuf>, Wrong> {
        let named = directive.first();
        let wrong = |what: String| Wrong::at(directive.at, format!("`{}`: {what}", directive.text()));
        let path = self.place_of(Path::new(&named));
        let is_pattern = named.contains(['*', '?', '[']);
        let found = match (&self.printed, is_pattern) {
            (None, false) if path.is_dir() => below(&path),
            (_, false) => vec![path.clone()],
            (Some(printed), true) => {
                let pattern = Pattern::new(&path.to_string_lossy()).map_err(|e| wrong(e.to_string()))?;
                printed.keys().filter(|file| pattern.matches_path_with(file, OPTIONS)).cloned().collect()
            }
            (None, true) => {
                let all =
                    glob::glob_with(&path.to_string_lossy(), OPTIONS).map_err(|e| wrong(e.to_string()))?;
                all.flatten().take(MOST + 1).collect()
            }
        };
        if found.len() > MOST {
            return Err(wrong(format!("it names more than {MOST} files")));
        }
        let is_there = |file: &PathBuf| match &self.printed {
            Some(printed) => printed.contains_key(file),
            None => file.exists(),
        };
        match found.iter().find(|file| !is_there(file)) {
            Some(_) if is_optional => Ok(found.into_iter().filter(is_there).collect()),
            Some(file) => Err(wrong(format!("there is no {}", clean_path(file)))),
            None => Ok(found),
        }
    }

    /// Where a file of the configuration is. One that a copied tree names by the server's usual folder is that beside the root file; one
    /// that is not beside a root file that came alone, such as `mime.types`, is that of the usual folder.
    fn place_of(&self, name: &Path) -> PathBuf {
        let named = tidy(&self.base.join(name));
        let copied = self.rules.homes.iter().filter(|home| !self.home.starts_with(home));
        let mut copied = copied.filter_map(|home| Some(self.home.join(named.strip_prefix(home).ok()?)));
        let is_there = |path: &PathBuf| {
            let first = path.strip_prefix(&self.home).ok().and_then(|rest| rest.components().next());
            self.printed.is_none() && first.is_some_and(|first| self.home.join(first).exists())
        };
        let mut usual = self.rules.homes.iter().map(|home| tidy(&home.join(name)));
        let is_alone = self.printed.is_none() && self.base == self.home && !named.exists();
        copied.find(is_there).or_else(|| usual.find(|path| is_alone && path.is_file())).unwrap_or(named)
    }
}

/// All files below a folder, as Apache includes one, by name.
fn below(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).max_depth(8).sort_by_file_name().into_iter().flatten();
    walk.filter(|entry| entry.file_type().is_file())
        .take(MOST + 1)
        .map(walkdir::DirEntry::into_path)
        .collect()
}

/// A path without `.` and `..`, which need not be there.
pub fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

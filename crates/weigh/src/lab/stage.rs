//! Staging: the contents that a plan names, brought into one folder, each once however often it is named.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::content::user::{self, Limits};
use crate::content::{Library, Names, resolve};
use crate::payload::Payload;

/// The most items a corpus content is cut into: each costs a call and a line of the request.
const MAX_ITEMS: u64 = 8192;

/// Brings contents into a folder.
#[derive(Debug)]
pub struct Stager<'a> {
    library: &'a Library,
    into: PathBuf,
    names: Names,
    staged: HashMap<(String, Option<u64>), Vec<Payload>>,
    notes: Vec<String>,
}

impl<'a> Stager<'a> {
    /// Contents go below `into`.
    pub fn new(library: &'a Library, into: &Path) -> Stager<'a> {
        let (names, staged, notes) = (Names::new(), HashMap::new(), Vec::new());
        Stager { library, into: into.to_owned(), names, staged, notes }
    }

    /// The payloads that a content name of a study stands for.
    ///
    /// # Errors
    /// A name that nothing answers to, or a file that cannot be copied.
    pub fn corpus(&mut self, name: &str, block: Option<u64>) -> Result<Vec<Payload>> {
        let key = (name.to_owned(), block);
        if let Some(payloads) = self.staged.get(&key) {
            return Ok(payloads.clone());
        }
        let mut payloads = Vec::new();
        for resolved in resolve(self.library, name)? {
            // The same content under two names, say its own and a set's, is one payload.
            let own = (resolved.id.clone(), block);
            let payload = match self.staged.get(&own).and_then(|p| p.first()) {
                Some(payload) => payload.clone(),
                None => {
                    if let Some(why) = &resolved.stand_in {
                        self.notes.push(format!("{why}: synthetic content stands in for it"));
                    }
                    let payload = resolved.stage(self.library, &self.into, &mut self.names)?;
                    block.map_or(payload.clone(), |bytes| cut(payload, bytes))
                }
            };
            self.staged.insert(own, vec![payload.clone()]);
            payloads.push(payload);
        }
        self.staged.insert(key, payloads.clone());
        Ok(payloads)
    }

    /// A file or folder of the user's as a payload.
    ///
    /// # Errors
    /// One line: which path, what was wrong with it, what to do.
    pub fn path(&mut self, path: &Path, block: Option<u64>) -> Result<Payload> {
        let limits = Limits { block, ..Limits::default() };
        let staged = user::stage(path, &self.into, &limits, &mut self.names)?;
        self.notes.extend(staged.notes.iter().map(ToString::to_string));
        Ok(staged.payload)
    }

    /// What the user should know of what was staged: one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Cuts a payload into items of this length; it is bytes from then on, not a PHP value.
fn cut(payload: Payload, bytes: u64) -> Payload {
    let bytes = bytes.max(payload.bytes.div_ceil(MAX_ITEMS)).max(1);
    let whole = usize::try_from(payload.bytes / bytes).unwrap_or(0);
    let mut items = vec![bytes; whole];
    items.extend(Some(payload.bytes % bytes).filter(|rest| *rest > 0));
    Payload { name: format!("{}@{bytes}", payload.name), items, value: None, ..payload }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_staged_once_and_cut_on_request() {
        let (cache, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let library = Library::open(cache.path()).unwrap();
        let mut stager = Stager::new(&library, into.path());
        let first = stager.corpus("value:rows-4k", None).unwrap();
        assert_eq!(first, stager.corpus("value:rows-4k", None).unwrap());
        assert!(first[0].value.is_some());
        let cut = stager.corpus("value:rows-4k", Some(1000)).unwrap();
        assert_eq!(cut[0].name, format!("{}@1000", cut[0].name.trim_end_matches("@1000")));
        assert_eq!(cut[0].items.iter().sum::<u64>(), cut[0].bytes);
        assert!(cut[0].items.len() > 1 && cut[0].value.is_none());
        assert!(
            stager.notes().iter().any(|n| n.contains("synthetic content stands in")),
            "{:?}",
            stager.notes()
        );
    }
}

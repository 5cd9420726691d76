//! Staging: the contents that a plan names, brought into one folder, each once however often it is named.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use weigh_content::user::{self, Limits, Wanted};
use weigh_content::{Library, Names, resolve};
use weigh_model::payload::{Origin, Payload, cuts_of};
use weigh_os::{digest, regular};

/// The most items a corpus content is cut into: each costs a call and a line of the request.
const MAX_ITEMS: u64 = 8192;
/// A content of a study that is a file or folder, by its path: `file:/srv/shop/app.js`.
pub const FILE: &str = "file:";
/// What happens to content that is not there.
const STAND_IN: &str = "synthetic content is used instead; `weigh lab corpus fetch` gets the real one";

/// What was asked for: a name of contents, the length of the blocks that they are cut into, and whether small ones are families.
type ContentKey = (String, Option<u64>, bool);

/// Brings contents into a folder.
#[derive(Debug)]
pub struct Stager<'a> {
    library: &'a Library,
    into: PathBuf,
    names: Names,
    staged: HashMap<ContentKey, Vec<Payload>>,
    /// The user's own, as asked for, with the length of blocks.
    paths: Vec<(Wanted, Option<u64>, Payload)>,
    stand_ins: Vec<String>,
    notes: Vec<String>,
}

impl<'a> Stager<'a> {
    /// Contents go below `into`.
    pub fn new(library: &'a Library, into: &Path) -> Stager<'a> {
        let (names, staged, paths) = (Names::new(), HashMap::new(), Vec::new());
        let (into, stand_ins, notes) = (into.to_owned(), Vec::new(), Vec::new());
        Stager { library, into, names, staged, paths, stand_ins, notes }
    }

    /// The payloads that a content name of a study stands for, each one content.
    pub fn corpus(&mut self, name: &str, block: Option<u64>) -> Result<Vec<Payload>> {
        self.contents(name, block, false)
    }

    /// The payloads that a content name of a study stands for, small ones as families of their shape; cut into blocks, they are one each.
    pub fn families(&mut self, name: &str, block: Option<u64>) -> Result<Vec<Payload>> {
        self.contents(name, block, block.is_none())
    }

    fn contents(&mut self, name: &str, block: Option<u64>, family: bool) -> Result<Vec<Payload>> {
        let key = (name.to_owned(), block, family);
        if let Some(payloads) = self.staged.get(&key) {
            return Ok(payloads.clone());
        }
        if let Some(path) = name.strip_prefix(FILE) {
            return Ok(vec![self.path(Path::new(path), block)?]);
        }
        let mut payloads = Vec::new();
        for resolved in resolve(self.library, name)? {
            // The same content under two names, say its own and a set's, is one payload; cut or not, it is one blob.
            let own = (resolved.id.clone(), None, family);
            let whole = match self.staged.get(&own).and_then(|p| p.first()) {
                Some(payload) => payload.clone(),
                None => {
                    if resolved.stand_in.is_some() {
                        self.stand_ins.push(resolved.id.clone());
                    }
                    resolved.stage(self.library, &self.into, &mut self.names, family)?
                }
            };
            self.staged.insert(own, vec![whole.clone()]);
            payloads.push(block.map_or(whole.clone(), |bytes| cut(whole, bytes)));
        }
        self.staged.insert(key, payloads.clone());
        Ok(payloads)
    }

    /// What client workers make by themselves, such as `integer` and `record:40`: a payload that is its name.
    pub fn made(&mut self, name: &str) -> Result<Payload> {
        let bytes = name.as_bytes();
        let blob = self.into.join(format!("made-{}", name.replace(':', "-")));
        std::fs::write(&blob, bytes).with_context(|| format!("{name}: cannot be staged"))?;
        let length = bytes.len() as u64;
        Ok(Payload {
            name: name.to_owned(),
            kind: "made".into(),
            blob,
            sha256: digest::sha256(bytes),
            bytes: length,
            items: vec![length],
            family: false,
            value: None,
            parts: Vec::new(),
            origin: Origin::Made,
        })
    }

    /// The payloads that a content name of a study stands for, or `bytes` cut out of each: shorter ones are whole.
    pub fn cuts(&mut self, name: &str, bytes: Option<u64>) -> Result<Vec<Payload>> {
        self.corpus(name, None)?.into_iter().map(|payload| self.cut_off(payload, bytes)).collect()
    }

    /// A payload that was staged, or `bytes` cut out of it, few of them at several places that are evenly apart, as a family: a shorter one
    /// is whole.
    pub fn cut_off(&mut self, payload: Payload, bytes: Option<u64>) -> Result<Payload> {
        let Some(bytes) = bytes.filter(|bytes| *bytes < payload.bytes) else { return Ok(payload) };
        let name = format!("{}@{bytes}", payload.name);
        let doing = || format!("{}: cannot be cut to {bytes} bytes", payload.name);
        let rest = payload.bytes - bytes;
        let count = (cuts_of(bytes) as u64).min(rest + 1);
        let mut cuts = Vec::new();
        let mut file = regular::open(&payload.blob).with_context(doing)?;
        for at in 0..count {
            let begin = (at * rest).checked_div(count - 1).unwrap_or(0);
            file.seek(SeekFrom::Start(begin)).with_context(doing)?;
            file.by_ref().take(bytes).read_to_end(&mut cuts).with_context(doing)?;
        }
        let mut blob = payload.blob.clone().into_os_string();
        blob.push(format!("@{bytes}"));
        let blob = PathBuf::from(blob);
        std::fs::write(&blob, &cuts).with_context(doing)?;
        let sha256 = digest::sha256(&cuts);
        let items = vec![bytes; count as usize];
        let (bytes, family) = (cuts.len() as u64, count > 1);
        Ok(Payload { name, blob, sha256, bytes, items, family, value: None, ..payload })
    }

    /// A file or folder of the user's as a payload.
    ///
    /// # Errors
    /// One line: which path, what was wrong with it, what to do.
    pub fn path(&mut self, path: &Path, block: Option<u64>) -> Result<Payload> {
        self.wanted(&Wanted::path(path), block)
    }

    /// Content of the user's as a payload, cut into blocks where that is asked for.
    ///
    /// # Errors
    /// As of [`Stager::path`].
    pub fn wanted(&mut self, wanted: &Wanted, block: Option<u64>) -> Result<Payload> {
        // Two blocks of a study that name it mean the same payload.
        let mut known = self.paths.iter();
        if let Some((_, _, payload)) = known.find(|(one, cut, _)| (one, *cut) == (wanted, block)) {
            return Ok(payload.clone());
        }
        let limits = Limits { block, ..Limits::default() };
        let staged = user::stage(wanted, &self.into, &limits, &mut self.names)?;
        self.notes.extend(staged.notes.iter().map(ToString::to_string));
        self.paths.push((wanted.clone(), block, staged.payload.clone()));
        Ok(staged.payload)
    }

    /// What the user should know of what was staged: one line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        notes.extend(match self.stand_ins.as_slice() {
            [] => None,
            [one] => Some(format!("{one} is not in the cache: {STAND_IN}")),
            [first, rest @ ..] => {
                Some(format!("{first} and {} more are not in the cache: {STAND_IN}", rest.len()))
            }
        });
        notes
    }
}

/// Cuts a payload into items of this length; it is bytes from then on, not a PHP value.
fn cut(payload: Payload, bytes: u64) -> Payload {
    let bytes = bytes.max(payload.bytes.div_ceil(MAX_ITEMS)).max(1);
    let whole = usize::try_from(payload.bytes / bytes).unwrap_or(0);
    let mut items = vec![bytes; whole];
    items.extend(Some(payload.bytes % bytes).filter(|rest| *rest > 0));
    Payload { name: format!("{}@{bytes}", payload.name), items, family: false, value: None, ..payload }
}

#[cfg(test)]
mod tests;

//! Deltas (RFC 9842): each file against its version of the last deployment, for clients that have that version; pages against one dictionary
//! of what they have in common.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};

use super::folders::real;
use super::recipe::Recipe;
use super::source::Source;
use super::walk::{self, TreeEntry};
use weigh_codec::delta::{self, Coding, Digest};
use weigh_codec::{Coder, Error, Params, codecs};
use weigh_content::types;
use weigh_model::text::clean_path;
use weigh_os::regular::{open_itself, whole};
use weigh_rig::server::dictionaries::{PAGES, ending, id, is_for_deltas, pattern};

/// The largest file that serves as a dictionary, in bytes: browsers keep none beyond some 100 MB, and it is held in memory.
pub const LARGEST: u64 = 16 << 20;
/// A delta takes at most this share of what zstd makes of the file alone: below it, one more file is not worth its place.
const SHARE: f64 = 0.8;
/// Pages that a dictionary is trained on, at least.
const FEWEST: usize = 8;
/// Bytes of pages that a dictionary is trained on.
const SAMPLE: usize = 32 << 20;
/// A trained dictionary takes at most this part of its pages, and this many bytes, which each visitor fetches once.
const PART: usize = 8;
const LONGEST: usize = 64 << 10;
/// What the file alone is encoded with, to compare.
const ALONE: i32 = 9;
/// The largest number of former versions with one pattern that are compared.
const CANDIDATES: usize = 8;

#[derive(Clone, Debug)]
struct Former {
    path: PathBuf,
    digest: Digest,
}

/// The files of a tree that have a version of before which their clients may still have.
#[derive(Debug, Default)]
pub struct Previous {
    by_path: HashMap<Arc<Path>, Former>,
    /// Files without a delta, and why; those that did not change are none of them.
    pub left_out: BTreeMap<Arc<Path>, &'static str>,
}

impl Previous {
    /// The versions of before in a folder: the file of the same path; where there is none, that whose name differs only in the part that
    /// changes with the content, such as `app.3f2a1b.js`. Of several, the one against which the delta is smallest.
    ///
    /// # Errors
    /// One line: a folder that cannot be read.
    pub fn of(tree: &Path, previous: &Path) -> Result<Previous> {
        let (tree, previous) = (real(tree)?, real(previous)?);
        let mut by_name: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for (source, _) in texts(&previous).into_iter().filter(|(_, why)| why.is_none()) {
            if let Some(name) = pattern(&url(&source.path)) {
                by_name.entry(name).or_default().push(source.path.to_path_buf());
            }
        }
        let mut found = Previous::default();
        for (source, why) in texts(&tree) {
            if let Some(why) = why {
                found.left_out.insert(source.path, why);
                continue;
            }
            let same = previous.join(&source.path);
            let named = || by_name.get(&pattern(&url(&source.path))?).cloned();
            let candidates =
                if same.is_file() { vec![source.path.to_path_buf()] } else { named().unwrap_or_default() };
            if candidates.is_empty() {
                found.left_out.insert(source.path, "no delta: the last deployment has no version of it");
                continue;
            }
            let paths = candidates.into_iter().take(CANDIDATES).map(|path| previous.join(path)).collect();
            if let Some(former) = nearest(&tree.join(&source.path), paths) {
                found.by_path.insert(source.path, former);
            }
        }
        Ok(found)
    }

    /// One dictionary for all pages of a tree.
    ///
    /// # Errors
    /// One line: the dictionary cannot be read.
    pub fn shared(tree: &Path, dictionary: &Path) -> Result<Previous> {
        let named = || clean_path(dictionary);
        let content = load(dictionary).with_context(|| format!("{}: cannot be read", named()))?;
        ensure!(!content.is_empty(), "{} is empty; remove it, and it is trained anew", named());
        let former = Former { path: dictionary.to_owned(), digest: delta::digest(&content) };
        let pages = pages(tree).into_iter().map(|page| (page.path, former.clone()));
        Ok(Previous { by_path: pages.collect(), left_out: BTreeMap::new() })
    }

    /// Whether no file has one.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }
}

/// The files of a tree whose types are those of deltas, with the reason where one cannot have any.
fn texts(tree: &Path) -> Vec<(Source, Option<&'static str>)> {
    let mut found = Vec::new();
    let Ok(()) = walk::walk(tree, None, &mut |met| -> Result<(), Infallible> {
        if let TreeEntry::Source(source) = met
            && types::is_compressible(&source.format)
        {
            let why = match source.path.to_str() {
                None => Some("no delta: its name is not UTF-8"),
                Some(_) if source.seen.bytes > LARGEST => Some("no delta: it is larger than 16 MB"),
                Some(_) if !is_for_deltas(&url(&source.path)) => {
                    Some("no delta: its name has a question mark or a control character")
                }
                Some(_) => None,
            };
            found.push((source, why));
        }
        Ok(())
    });
    found
}

/// The pages of a tree.
fn pages(tree: &Path) -> Vec<Source> {
    let fit = texts(tree).into_iter().filter(|(source, why)| source.format == PAGES && why.is_none());
    fit.map(|(source, _)| source).collect()
}

/// A dictionary of what the pages of a tree have in common.
///
/// # Errors
/// One line: they are too few, or have nothing in common.
pub fn train(tree: &Path) -> Result<Vec<u8>> {
    let mut pages = pages(tree);
    ensure!(
        pages.len() >= FEWEST,
        "{} has {} pages; a dictionary is trained on {FEWEST} or more",
        clean_path(tree),
        pages.len()
    );
    // All parts of the tree alike, where it has more than are read.
    pages.sort_by_key(|page| delta::digest(page.path.as_os_str().as_encoded_bytes()));
    let mut samples = Vec::new();
    let mut total = 0;
    for page in pages {
        if total >= SAMPLE {
            break;
        }
        let Ok(content) = load(&tree.join(&page.path)) else { continue };
        total += content.len();
        samples.push(content);
    }
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    let zstd = codecs::find("zstd").ok_or_else(|| anyhow!("this program has no zstd"))?;
    Ok(zstd.train(&samples, (total / PART).min(LONGEST))?)
}

/// The path by which a client asks for a file; one that no URL can name as it is has no deltas.
fn url(path: &Path) -> String {
    format!("/{}", path.to_string_lossy())
}

/// The version of before against which the delta is smallest; none if there is none, or if it is the same.
fn nearest(file: &Path, former: Vec<PathBuf>) -> Option<Former> {
    let content = load(file).ok()?;
    let is_one = former.len() == 1;
    let tried = former.into_iter().filter_map(|path| {
        let dictionary =
            load(&path).ok().filter(|dictionary| !dictionary.is_empty() && *dictionary != content)?;
        let length = match is_one {
            true => 0,
            false => delta::encode(Coding::Dcz, &dictionary, &content, 1).ok()?.len(),
        };
        Some((length, Former { digest: delta::digest(&dictionary), path }))
    });
    tried.min_by_key(|(length, _)| *length).map(|(_, former)| former)
}

fn load(path: &Path) -> Result<Vec<u8>> {
    Ok(whole(open_itself(path)?, LARGEST)?)
}

/// A delta of one coding.
#[derive(Clone, Debug)]
pub struct Delta {
    pub coding: Coding,
    /// The versions of before.
    pub previous: Arc<Previous>,
    /// The smallest file in bytes.
    pub min_bytes: u64,
}

impl Delta {
    fn former(&self, path: &Path) -> Result<(&Former, Vec<u8>)> {
        let former = self.previous.by_path.get(path).ok_or_else(|| anyhow!("it has no version of before"))?;
        let dictionary =
            load(&former.path).with_context(|| format!("{}: cannot be read", clean_path(&former.path)))?;
        if delta::digest(&dictionary) != former.digest {
            return Err(anyhow!("{} changed meanwhile", clean_path(&former.path)));
        }
        Ok((former, dictionary))
    }
}

impl Recipe for Delta {
    fn coding(&self) -> &'static str {
        self.coding.name()
    }

    fn ending(&self, path: &Path) -> Cow<'static, str> {
        let digest = self.previous.by_path.get(path).map_or([0; 32], |former| former.digest);
        ending(&digest, self.coding).into()
    }

    fn by(&self, path: &Path) -> String {
        let against = self.previous.by_path.get(path).map_or_else(String::new, |former| id(&former.digest));
        format!("{}:{} against {against}", self.coding.name(), self.coding.best_level())
    }

    fn min_bytes(&self) -> u64 {
        self.min_bytes
    }

    fn takes(&self, source: &Source) -> bool {
        let is_worth = source.is_worth != Some(false) && source.seen.bytes >= self.min_bytes;
        is_worth && self.previous.by_path.contains_key(&source.path)
    }

    fn coder(&self, path: &Path, _bytes: u64) -> Result<Box<dyn Coder>> {
        let (_, dictionary) = self.former(path)?;
        let alone = codecs::find("zstd").ok_or_else(|| anyhow!("this program has no zstd"))?;
        let alone = alone.coder(&Params { level: Some(ALONE), ..Params::default() })?;
        Ok(Box::new(Against { coding: self.coding, dictionary, alone }))
    }

    fn keeps_coders(&self) -> bool {
        false
    }

    fn decode(&self, path: &Path, encoded: &[u8], expected: usize) -> Result<Vec<u8>> {
        let (_, dictionary) = self.former(path)?;
        Ok(delta::decode_independently(self.coding, &dictionary, encoded, expected)?.0)
    }

    fn seconds(&self, bytes: u64) -> f64 {
        let rate = match self.coding {
            Coding::Dcb => 0.6e6,
            Coding::Dcz => 2e6,
        };
        bytes as f64 / rate
    }

    fn memory(&self, bytes: u64) -> u64 {
        // The version of before is about as long.
        (40 * bytes).min(120 << 20) + 4 * bytes
    }
}

/// Encodes one file against one dictionary.
struct Against {
    coding: Coding,
    dictionary: Vec<u8>,
    alone: Box<dyn Coder>,
}

impl Coder for Against {
    /// The content itself if the delta is hardly smaller than the file alone, for then it saves nothing.
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.alone.encode(input, out)?;
        let most = (out.len() as f64 * SHARE) as usize;
        *out = delta::encode(self.coding, &self.dictionary, input, self.coding.best_level())?;
        if out.len() > most {
            input.clone_into(out);
        }
        Ok(())
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        *out = delta::decode(self.coding, &self.dictionary, input, expected)?;
        Ok(())
    }
}

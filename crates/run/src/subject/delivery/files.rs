//! The files of a run's deliveries, in its private scratch folder: contents by name, the docroot with PHP's entry scripts, and a
//! docroot for each set of pre-encoded variants. Each is made when it is needed first.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

mod own;
pub use own::below;

use super::deltas;
use super::variants::{self, Variant};
use walkdir::WalkDir;

use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::way::{By, OwnConfig, WayKind};
use weigh_os::digest::sha256;
use weigh_os::user::OwnUser;
use weigh_os::{regular, umask};

/// Where contents lie, below the root: PHP reads them there, and a server told by PHP to send one.
const CONTENTS: &str = "contents";
/// The docroot of PHP's entry scripts.
const SCRIPTS: &str = "www";
/// The docroot of files without variants.
const PLAIN: &str = "files";

#[derive(Debug)]
pub struct Files {
    root: PathBuf,
    php_home: PathBuf,
    /// Who reads them, where that is not the lab's own user.
    user: Option<OwnUser>,
    made: HashSet<PathBuf>,
    /// The user's configurations, by server.
    own: Vec<(String, OwnConfig)>,
    /// Of each family that was sent, by the payload's name.
    digests: HashMap<String, Vec<String>>,
    /// The last version of each instance that deltas were made for, by the payload's name.
    previous: HashMap<String, Vec<Arc<[u8]>>>,
}

impl Files {
    /// Files below `root`, which is there; the PHP side lies in `php_home`, and another user has a copy of it.
    pub fn new(root: &Path, php_home: &Path, user: Option<OwnUser>) -> Result<Files> {
        let real =
            |path: &Path| path.canonicalize().with_context(|| format!("{}: cannot be used", path.display()));
        let (root, mut php_home) = (real(root)?, real(php_home)?);
        if let Some(user) = user {
            php_home = copy(&php_home, &root.join("php"))?;
            user.share(&php_home).with_context(|| format!("{}: cannot be shared", php_home.display()))?;
        }
        let (made, digests, previous) = (HashSet::new(), HashMap::new(), HashMap::new());
        Ok(Files { root, php_home, user, made, own: Vec::new(), digests, previous })
    }

    /// The same for a plan that has configurations of the user's among its methods.
    #[must_use]
    pub fn with_own(self, plan: &Plan) -> Files {
        let own = plan.servers.iter().flat_map(|s| s.own.iter().map(|own| (s.name.clone(), own.clone())));
        Files { own: own.collect(), ..self }
    }

    /// The folder of contents, which PHP knows as `WEIGH_CONTENTS`, and from which servers send what PHP offloads.
    pub fn contents(&self) -> PathBuf {
        self.root.join(CONTENTS)
    }

    /// The PHP side, which PHP knows as `WEIGH_PHP_HOME`.
    pub fn php_home(&self) -> &Path {
        &self.php_home
    }

    /// The docroot that a cell is served from, with all that it needs in it and in the contents.
    pub fn prepare(&mut self, cell: &Cell, payload: &Payload, blob: &Path) -> Result<PathBuf> {
        let Some(delivery) = &cell.delivery else { return Ok(self.root.clone()) };
        if let Some(own) = self.own_of(cell).cloned() {
            return self.prepare_own(&own, cell, payload, blob);
        }
        let variants = match delivery.kind {
            WayKind::PreEncoded => variants::wanted(&cell.setting, &delivery.accept),
            _ => Vec::new(),
        };
        let deltas = match delivery.kind {
            WayKind::Delta => deltas::wanted(&cell.setting, &delivery.accept),
            _ => Vec::new(),
        };
        let is_in_contents =
            delivery.by == By::Php || cell.subject == Subject::PAGE || delivery.kind == WayKind::Transparent;
        // Servers look at what lies beside a file, so that every set of variants has a docroot of its own, and every content.
        let words = variants.iter().map(Variant::word);
        let words: Vec<String> = words.chain(deltas.iter().map(|coding| coding.name().to_owned())).collect();
        let folder = match words.as_slice() {
            _ if is_in_contents => self.contents(),
            [] => self.root.join(PLAIN),
            words => self.root.join(format!("{}.{}", words.join("."), file_name(payload))),
        };
        let previous = if deltas.is_empty() { Vec::new() } else { self.previous(payload, blob)? };
        for (at, instance) in instances(payload).into_iter().enumerate() {
            self.write(&folder.join(&instance.name), || instance.read(blob))?;
            for variant in &variants {
                let path = folder.join(format!("{}.{}", instance.name, variant.ending));
                self.write(&path, || variant.encode(&instance.read(blob)?))?;
            }
            for coding in &deltas {
                let ending = deltas::name_ending(*coding, &previous[at]);
                let path = folder.join(format!("{}.{ending}", instance.name));
                self.write(&path, || deltas::encode(*coding, &previous[at], &instance.read(blob)?))?;
            }
        }
        if is_in_contents { self.scripts() } else { Ok(folder) }
    }

    /// What the clients of a cell have of each instance of its content; none where they have nothing.
    pub fn dictionaries(&mut self, cell: &Cell, payload: &Payload, blob: &Path) -> Result<Vec<Arc<[u8]>>> {
        if cell.is_delta() { self.previous(payload, blob) } else { Ok(Vec::new()) }
    }

    /// The last version of each instance of a content.
    fn previous(&mut self, payload: &Payload, blob: &Path) -> Result<Vec<Arc<[u8]>>> {
        if let Some(known) = self.previous.get(&payload.name) {
            return Ok(known.clone());
        }
        let of = |instance: Instance| Ok(deltas::previous(&instance.read(blob)?).into());
        let all: Vec<Arc<[u8]>> = instances(payload).into_iter().map(of).collect::<Result<_>>()?;
        Ok(self.previous.entry(payload.name.clone()).or_insert(all).clone())
    }

    /// The SHA-256 of each instance of a family, hexadecimal, in their order; none of any other content, which is its payload.
    pub fn digests(&mut self, payload: &Payload, blob: &Path) -> Result<Vec<String>> {
        if !payload.family {
            return Ok(Vec::new());
        }
        if let Some(known) = self.digests.get(&payload.name) {
            return Ok(known.clone());
        }
        let digest = |file: Instance| Ok(sha256(&file.read(blob)?));
        let digests: Vec<String> = instances(payload).into_iter().map(digest).collect::<Result<_>>()?;
        Ok(self.digests.entry(payload.name.clone()).or_insert(digests).clone())
    }

    /// The docroot with copies of PHP's entry scripts.
    pub fn scripts(&mut self) -> Result<PathBuf> {
        let docroot = self.root.join(SCRIPTS);
        self.scripts_in(&docroot)?;
        Ok(docroot)
    }

    fn scripts_in(&mut self, docroot: &Path) -> Result<()> {
        let from = self.php_home.join("delivery");
        let entries = fs::read_dir(&from).with_context(|| format!("{}: cannot be read", from.display()))?;
        for entry in entries.flatten() {
            self.write(&docroot.join(entry.file_name()), || regular::read(&entry.path(), regular::TEXT))?;
        }
        Ok(())
    }

    /// Writes a file, once in a run.
    pub fn write(&mut self, to: &Path, bytes: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
        if !self.made.insert(to.to_owned()) {
            return Ok(());
        }
        let doing = || format!("{}: cannot be written", to.display());
        let folder = to.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).with_context(doing)?;
        if let Err(error) = fs::write(to, bytes()?) {
            // What is there in part has taken room that others need, and is not content.
            let _ = fs::remove_file(to);
            self.made.remove(to);
            return Err(error).with_context(doing);
        }
        match self.user {
            Some(user) => user.share(folder).with_context(doing),
            None => Ok(()),
        }
    }
}

/// Copies a folder; where the copy is.
fn copy(from: &Path, to: &Path) -> Result<PathBuf> {
    for entry in WalkDir::new(from).follow_links(true) {
        let entry = entry.with_context(|| format!("{}: cannot be read", from.display()))?;
        let target = to.join(entry.path().strip_prefix(from)?);
        let doing = || format!("{}: cannot be written", target.display());
        match entry.file_type().is_dir() {
            true => fs::create_dir_all(&target).with_context(doing)?,
            false => drop(umask::copy(entry.path(), &target).with_context(doing)?),
        }
    }
    Ok(to.to_owned())
}

/// A file that a content is sent as: the content itself, or one of its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The name that it is sent under.
    pub name: String,
    /// Where it begins in the payload's blob, bytes.
    begin: u64,
    /// Its length in bytes.
    bytes: u64,
}

/// The files that a content is sent as.
pub fn instances(payload: &Payload) -> Vec<Instance> {
    let name = file_name(payload);
    if payload.instances() == 1 {
        return vec![Instance { name, begin: 0, bytes: payload.bytes }];
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, "bin"));
    let mut begin = 0;
    let instance = |(at, bytes): (usize, &u64)| {
        let instance = Instance { name: format!("{stem}-{at}.{extension}"), begin, bytes: *bytes };
        begin += bytes;
        instance
    };
    payload.items.iter().enumerate().map(instance).collect()
}

impl Instance {
    /// Its bytes, out of the payload's blob.
    pub fn read(&self, blob: &Path) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = regular::open(blob).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.begin))?;
            file.take(self.bytes).read_to_end(&mut bytes)
        });
        let read = read.with_context(|| format!("{}: cannot be read", blob.display()))?;
        ensure!(read as u64 == self.bytes, "{}: it is shorter than it was", blob.display());
        Ok(bytes)
    }
}

/// The name that a content is sent under: the payload's, with the extension that servers know its type by.
pub fn file_name(payload: &Payload) -> String {
    let extension = match payload.kind.as_str() {
        "text" => "txt",
        "image" => "jpg",
        "font" => "woff2",
        kind @ ("html" | "css" | "js" | "json" | "xml" | "svg" | "map" | "wasm" | "pdf") => kind,
        _ => "bin",
    };
    let safe: String = payload.name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match safe.rsplit_once('.') {
        Some((_, end)) if end == extension => safe,
        _ => format!("{safe}.{extension}"),
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

#[cfg(test)]
mod tests;

//! The files of a run's deliveries, in its private scratch folder: contents by name, the docroot with PHP's entry scripts, and a
//! docroot for each set of pre-encoded variants. Each is made when it is needed first.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::variants::{self, Variant};
use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::Payload;
use weigh_model::way::{By, WayKind};

/// Where contents lie, below the root: PHP reads them there, and a server told by PHP to send one.
const CONTENTS: &str = "contents";
/// The docroot of PHP's entry scripts.
const SCRIPTS: &str = "www";
/// The docroot of files without variants.
const PLAIN: &str = "files";

/// The files of one run.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
    php_home: PathBuf,
    made: HashSet<PathBuf>,
}

impl Files {
    /// Files below `root`, which is there; the PHP side lies in `php_home`.
    pub fn new(root: &Path, php_home: &Path) -> Result<Files> {
        let real =
            |path: &Path| path.canonicalize().with_context(|| format!("{}: cannot be used", path.display()));
        Ok(Files { root: real(root)?, php_home: real(php_home)?, made: HashSet::new() })
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
        let name = file_name(payload);
        let Some(delivery) = &cell.delivery else { return Ok(self.root.clone()) };
        let variants = match delivery.kind {
            WayKind::PreEncoded => variants::wanted(&cell.setting, &delivery.accept),
            _ => Vec::new(),
        };
        if delivery.by == By::Php || cell.subject == Subject::PAGE {
            self.copy(blob, &self.contents().join(&name))?;
            self.encode(blob, &self.contents(), &name, &variants)?;
            return self.scripts();
        }
        if delivery.kind == WayKind::Transparent {
            self.copy(blob, &self.contents().join(&name))?;
            return self.scripts();
        }
        // Servers look at what lies beside a file, so that every set of variants has a docroot of its own, and every file.
        let words: Vec<String> = variants.iter().map(Variant::word).collect();
        let docroot = match words.as_slice() {
            [] => self.root.join(PLAIN),
            words => self.root.join(format!("{}.{}", words.join("."), name)),
        };
        self.copy(blob, &docroot.join(&name))?;
        self.encode(blob, &docroot, &name, &variants)?;
        Ok(docroot)
    }

    /// The docroot with copies of PHP's entry scripts.
    pub fn scripts(&mut self) -> Result<PathBuf> {
        let docroot = self.root.join(SCRIPTS);
        let from = self.php_home.join("delivery");
        let entries = fs::read_dir(&from).with_context(|| format!("{}: cannot be read", from.display()))?;
        for entry in entries.flatten() {
            self.copy(&entry.path(), &docroot.join(entry.file_name()))?;
        }
        Ok(docroot)
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<()> {
        if !self.made.insert(to.to_owned()) {
            return Ok(());
        }
        let doing = || format!("{}: cannot be written", to.display());
        fs::create_dir_all(to.parent().unwrap_or(&self.root)).with_context(doing)?;
        fs::copy(from, to).with_context(doing).map(drop)
    }

    fn encode(&mut self, blob: &Path, folder: &Path, name: &str, variants: &[Variant]) -> Result<()> {
        for variant in variants {
            let path = folder.join(format!("{name}.{}", variant.ending));
            if self.made.insert(path.clone()) {
                let bytes = fs::read(blob).with_context(|| format!("{}: cannot be read", blob.display()))?;
                let encoded = variant.encode(&bytes)?;
                fs::write(&path, encoded)
                    .with_context(|| format!("{}: cannot be written", path.display()))?;
            }
        }
        Ok(())
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

//! The definitions embedded in the binary, with a folder of the user's laid over them.
//!
//! `studies/`, `servers/`, `stores/`, `runtimes/`, `links/` and `php/` travel inside the program, so that one file runs anywhere. A folder given with
//! `--defs DIR` may hold folders of the same names: its files are added, or replace those of the same path.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use include_dir::{Dir, DirEntry, include_dir};
use sha2::{Digest, Sha256};

use weigh_model::link::LinkSpec;
use weigh_model::suggest::nearest_hint;
use weigh_os::digest::hex;
use weigh_os::regular;

static STUDIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/studies");
static SERVERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/servers");
static STORES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/stores");
static RUNTIMES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/runtimes");
static LINKS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/links");
static PHP: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/php");
/// What drives clusters; a user's folder replaces nothing of it.
static ENGINE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/engines/ray");

/// A definition larger than this is taken for a mistake.
const MAX_BYTES: u64 = 4 << 20;

/// All definitions by relative path, such as `studies/cache-levels.toml` and `php/worker.php`.
#[derive(Clone, Debug)]
pub struct Definitions {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Definitions {
    /// The embedded definitions, with `overlay` laid over them.
    pub fn load(overlay: Option<&Path>) -> Result<Definitions> {
        let mut files = BTreeMap::new();
        let roots = [
            ("studies", &STUDIES),
            ("servers", &SERVERS),
            ("stores", &STORES),
            ("runtimes", &RUNTIMES),
            ("links", &LINKS),
            ("php", &PHP),
        ];
        for (root, dir) in roots {
            embed(Path::new(root), dir, &mut files);
        }
        if let Some(folder) = overlay {
            if !folder.is_dir() {
                bail!("--defs {}: not a folder; give one that has studies/ or php/", folder.display());
            }
            for (root, _) in roots {
                overlay_folder(&folder.join(root), Path::new(root), &mut files)?;
            }
        }
        Ok(Definitions { files })
    }

    /// The names of the built-in studies and those of the overlay, sorted.
    pub fn study_names(&self) -> Vec<String> {
        self.names("studies")
    }

    /// The names of the files below a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let paths = self.files.keys().filter(|p| p.starts_with(folder));
        let mut names: Vec<String> =
            paths.filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned())).collect();
        // `3g-fast.toml` comes before `3g.toml`.
        names.sort();
        names
    }

    /// The text of `ROOT/NAME.toml` and where it stands; none where there is no such file.
    fn text(&self, root: &str, name: &str) -> Result<Option<(&str, String)>> {
        let path = format!("{root}/{name}.toml");
        let Some(bytes) = self.files.get(Path::new(&path)) else { return Ok(None) };
        Ok(Some((std::str::from_utf8(bytes).with_context(|| format!("{path} is not UTF-8"))?, path)))
    }

    /// The folders of a root, such as `servers`: by the folder's name its files by theirs. PHP files and what lies deeper are the PHP
    /// side's, and left out.
    ///
    /// # Errors
    /// One line: a file that stands in no folder, or is not UTF-8.
    pub fn folders(&self, root: &str) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
        let mut folders: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (path, bytes) in self.files.iter().filter(|(path, _)| path.starts_with(root)) {
            let parts: Vec<&str> = path.iter().skip(1).filter_map(|part| part.to_str()).collect();
            match parts.as_slice() {
                [folder, file] => {
                    let text = std::str::from_utf8(bytes);
                    let text = text.with_context(|| format!("{} is not UTF-8", path.display()))?;
                    folders.entry((*folder).into()).or_default().insert((*file).into(), text.into());
                }
                [_, _, ..] if path.extension().is_some_and(|e| e == "php") => {}
                _ => bail!("{}: it is a folder of files, {root}/NAME/FILE", path.display()),
            }
        }
        Ok(folders)
    }

    /// The text of the study of that name, and where it stands.
    pub fn study(&self, name: &str) -> Result<(&str, String)> {
        let names = self.study_names();
        let known = || nearest_hint(name, names.iter().map(String::as_str));
        self.text("studies", name)?.with_context(|| format!("no study `{name}`{}", known()))
    }

    /// The names of the link profiles, sorted.
    pub fn link_names(&self) -> Vec<String> {
        self.names("links")
    }

    /// The link profile of that name, or the link that a text such as `100mbit/20ms` describes.
    pub fn link(&self, name: &str) -> Result<LinkSpec> {
        if name.contains('/') {
            return LinkSpec::parse(name);
        }
        let Some((text, path)) = self.text("links", name)? else {
            let names = self.link_names();
            let with_trip = format!("{name}/20ms");
            if LinkSpec::parse(&with_trip).is_ok() {
                bail!("no link `{name}`: a link needs a round-trip time too, such as `{with_trip}`");
            }
            bail!("no link `{name}`{}", nearest_hint(name, names.iter().map(String::as_str)));
        };
        LinkSpec::read(name, text, &path)
    }

    /// The text that says of a distribution by that name which of its suites have PHP, and where it stands.
    pub fn runtime_source(&self, name: &str) -> Result<(&str, String)> {
        let known = || self.names("runtimes").join(", ");
        let found = self.text("runtimes", name)?;
        found.with_context(|| {
            format!("no source of runtimes `{name}`; write SOURCE:SUITE with one of: {}", known())
        })
    }

    /// Writes the PHP side below `parent` and returns its folder. The folder's name holds the digest of its
    /// content, so that a second call finds it there, and an older program's folder is never mixed in.
    pub fn write_php(&self, parent: &Path) -> Result<PathBuf> {
        // The drivers of stores stand beside them, as `stores/NAME/drivers/DRIVER.php`.
        let is_driver = |p: &Path| p.starts_with("stores") && p.extension().is_some_and(|e| e == "php");
        let files: Vec<_> = self.files.iter().filter(|(p, _)| p.starts_with("php") || is_driver(p)).collect();
        write_once(parent, "php", &files)
    }

    /// Writes the engine of clusters below `parent` and returns its folder, as [`Definitions::write_php`] does.
    pub fn write_engine(&self, parent: &Path) -> Result<PathBuf> {
        let mut files = BTreeMap::new();
        embed(Path::new("engine"), &ENGINE, &mut files);
        let files: Vec<_> =
            files.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "py")).collect();
        write_once(parent, "engine", &files)
    }
}

/// Writes files into a folder below `parent` that is named after `root`, without it, and the digest of its content.
fn write_once(parent: &Path, root: &str, files: &[(&PathBuf, &Vec<u8>)]) -> Result<PathBuf> {
    let mut digest = Sha256::new();
    for (path, bytes) in files {
        digest.update(path.to_string_lossy().as_bytes());
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    }
    let digest = hex(&digest.finalize()[..8]);
    let home = parent.join(format!("{root}-{digest}"));
    if home.is_dir() {
        return Ok(home);
    }
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    let draft = tempfile::Builder::new().prefix(&format!(".{root}-")).tempdir_in(parent)?;
    for (path, bytes) in files {
        let target = draft.path().join(path.strip_prefix(root).unwrap_or(path));
        fs::create_dir_all(target.parent().unwrap_or(draft.path()))?;
        fs::write(&target, bytes).with_context(|| format!("cannot write {}", target.display()))?;
    }
    let draft = draft.keep();
    if let Err(error) = fs::rename(&draft, &home) {
        fs::remove_dir_all(&draft).ok();
        // Another process may have been faster with the same content.
        if !home.is_dir() {
            return Err(error).with_context(|| format!("cannot create {}", home.display()));
        }
    }
    Ok(home)
}

/// A crate, and what tests and installs the library and the extension: workers need nothing of them.
const NOT_FOR_WORKERS: [&str; 4] = ["php/extension", "php/library/tests", "php/library/bin", "php/rules"];

fn embed(root: &Path, dir: &Dir<'_>, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in dir.entries() {
        match entry {
            DirEntry::Dir(inner)
                if NOT_FOR_WORKERS.iter().any(|not| root.join(inner.path()) == Path::new(not)) => {}
            DirEntry::Dir(inner) => embed(root, inner, files),
            DirEntry::File(file) => {
                files.insert(root.join(file.path()), file.contents().to_vec());
            }
        }
    }
}

fn overlay_folder(folder: &Path, root: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let (path, name) = (entry.path(), root.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            overlay_folder(&path, &name, files)?;
        } else if kind.is_file() {
            files.insert(name, regular::read(&path, MAX_BYTES)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_link_is_valid_and_says_whence() {
        let definitions = Definitions::load(None).unwrap();
        let names = definitions.link_names();
        for name in ["loopback", "data-centre", "cross-zone", "cable", "fibre", "4g", "3g"] {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
        for name in names {
            let spec = definitions.link(&name).unwrap();
            assert!(spec.name == name && spec.source.len() > 5, "{spec:?}");
            assert_eq!(spec.is_loopback(), name == "loopback");
        }
        assert_eq!(definitions.link("100mbit/20ms").unwrap().rtt_ms, 20.0);
        let error = definitions.link("cabel").unwrap_err();
        assert_eq!(error.to_string(), "no link `cabel`; did you mean `cable`?");
    }

    #[test]
    fn a_mistyped_study_names_the_nearest() {
        let error = Definitions::load(None).unwrap().study("cache-level").unwrap_err();
        assert_eq!(error.to_string(), "no study `cache-level`; did you mean `cache-levels`?");
    }

    #[test]
    fn a_folder_is_laid_over() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("php/codecs")).unwrap();
        fs::write(folder.path().join("php/codecs/mine.php"), "<?php return array();").unwrap();
        let plain = Definitions::load(None).unwrap();
        let laid = Definitions::load(Some(folder.path())).unwrap();
        let home = tempfile::tempdir().unwrap();
        let (a, b) = (plain.write_php(home.path()).unwrap(), laid.write_php(home.path()).unwrap());
        assert_ne!(a, b);
        assert!(a.join("lib/Accept.php").is_file() && !a.join("extension").exists());
        assert!(b.join("codecs/mine.php").is_file() && !a.join("codecs/mine.php").exists());
        assert_eq!(laid.write_php(home.path()).unwrap(), b);
    }
}

//! A fetched runtime: a folder with unpacked packages and a `runtime.json` that says how to start what is in it.
//!
//! Its programs run with its own dynamic loader and libraries, never with the system's; extensions are loaded by
//! arguments, because unpacking enables none, and no ini file of the system is read.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use weigh_model::text::clean_path;
use weigh_os::regular;
use weigh_os::user::RUNTIME_FILE as FILE;

/// The version of the form of `runtime.json`.
const SCHEMA: u32 = 1;

/// What is in a prefix; paths are relative to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefix {
    schema: u32,
    /// `php8.4`.
    pub name: String,
    /// As queried: `8.4.24`.
    pub version: String,
    /// Where it came from: `debian:trixie`.
    pub source: String,
    pub loader: PathBuf,
    pub libraries: Vec<PathBuf>,
    pub cli: PathBuf,
    pub fpm: Option<PathBuf>,
    /// The folder of extensions.
    pub extension_dir: PathBuf,
    /// Extensions of the engine, such as opcache.
    pub zend_extensions: Vec<String>,
    /// All others, in the order in which they are loaded.
    pub extensions: Vec<String>,
    /// Bytes that were downloaded.
    pub bytes: u64,
}

impl Prefix {
    /// Looks through unpacked packages for `php` (`php8.4`), which says where its extensions are: packages of another may lie beside it. Extensions
    /// come sorted; version and bytes are not known yet.
    pub fn inspect(root: &Path, php: &str, source: &str) -> Result<Prefix> {
        let fail = || format!("the packages hold no {php} with its loader and extensions");
        let libraries = library_folders(root);
        let loader = libraries.iter().find_map(|folder| loader_in(root, folder)).with_context(fail)?;
        let fpm = PathBuf::from(format!("usr/sbin/{}", php.replacen("php", "php-fpm", 1)));
        let mut prefix = Prefix {
            schema: SCHEMA,
            name: php.to_owned(),
            version: String::new(),
            source: source.to_owned(),
            loader,
            libraries,
            cli: PathBuf::from(format!("usr/bin/{php}")),
            fpm: Some(fpm).filter(|fpm| root.join(fpm).is_file()),
            extension_dir: PathBuf::new(),
            zend_extensions: Vec::new(),
            extensions: Vec::new(),
            bytes: 0,
        };
        let (said, _) =
            super::ask(&prefix.cli_command(root), "echo PHP_EXTENSION_DIR;").with_context(fail)?;
        let folder = Path::new(said.trim()).strip_prefix("/").with_context(fail)?;
        let is_zend = |name: &String| name == "opcache" || name == "xdebug";
        let all: Vec<String> = names_in(&root.join(folder))
            .iter()
            .filter_map(|name| name.strip_suffix(".so"))
            .map(str::to_owned)
            .collect();
        ensure!(!all.is_empty(), fail());
        (prefix.zend_extensions, prefix.extensions) = all.into_iter().partition(is_zend);
        prefix.extension_dir = folder.to_owned();
        Ok(prefix)
    }

    /// Reads the prefix at `root`; `None` when there is none.
    pub fn read(root: &Path) -> Result<Option<Prefix>> {
        let path = root.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = regular::read(&path, regular::TEXT)?;
        let prefix: Prefix =
            serde_json::from_slice(&bytes).with_context(|| format!("{} is not valid", clean_path(&path)))?;
        if prefix.schema != SCHEMA {
            bail!(
                "{}: schema {} is not known; remove the runtime and add it again",
                clean_path(&path),
                prefix.schema
            );
        }
        Ok(Some(prefix))
    }

    /// The prefix that a program lies in, with its folder.
    pub fn around(program: &Path) -> Option<(PathBuf, Prefix)> {
        // usr/bin/php8.4 and usr/sbin/php-fpm8.4 are both three below.
        let root = program.ancestors().nth(3)?;
        Some((root.to_owned(), Prefix::read(root).ok()??))
    }

    pub fn write(&self, root: &Path) -> Result<()> {
        let path = root.join(FILE);
        fs::write(&path, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("cannot write {}", clean_path(&path)))
    }

    /// The program and leading arguments that start the command line binary.
    pub fn cli_command(&self, root: &Path) -> Vec<OsString> {
        self.command(root, &self.cli)
    }

    pub fn fpm_command(&self, root: &Path) -> Option<Vec<OsString>> {
        self.fpm.as_ref().map(|fpm| self.command(root, fpm))
    }

    fn command(&self, root: &Path, program: &Path) -> Vec<OsString> {
        let folders: Vec<PathBuf> = self.libraries.iter().map(|folder| root.join(folder)).collect();
        let mut paths = OsString::new();
        for (i, folder) in folders.iter().enumerate() {
            paths.push(if i > 0 { ":" } else { "" });
            paths.push(folder);
        }
        let mut extension_dir = OsString::from("extension_dir=");
        extension_dir.push(root.join(&self.extension_dir));
        let mut command: Vec<OsString> = vec![root.join(&self.loader).into(), "--library-path".into(), paths];
        command.extend([root.join(program).into(), "-n".into(), "-d".into(), extension_dir]);
        for name in &self.zend_extensions {
            command.extend(["-d".into(), format!("zend_extension={name}.so").into()]);
        }
        for name in &self.extensions {
            command.extend(["-d".into(), format!("extension={name}.so").into()]);
        }
        command
    }
}

/// Folders with the C library, and those of the same name beside them.
fn library_folders(root: &Path) -> Vec<PathBuf> {
    let bases = [Path::new("usr/lib"), Path::new("lib")];
    let holds =
        |name: &&String| bases.iter().any(|base| root.join(base).join(name).join("libc.so.6").exists());
    let names: Vec<String> = bases.iter().flat_map(|base| names_in(&root.join(base))).collect();
    let Some(name) = names.iter().find(holds) else { return Vec::new() };
    bases.iter().map(|base| base.join(name)).filter(|folder| root.join(folder).is_dir()).collect()
}

/// The loader in a folder; a link that leaves the prefix is none, for it would lead to the system's.
fn loader_in(root: &Path, folder: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let names = names_in(&root.join(folder));
    let loaders = names.iter().filter(|name| name.starts_with("ld-") && name.contains(".so"));
    let mut inside = loaders.map(|name| folder.join(name));
    inside.find(|path| {
        root.join(path).canonicalize().is_ok_and(|real| real.starts_with(&root) && real.is_file())
    })
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;

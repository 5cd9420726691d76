//! The folder of fetched runtimes. Adding one: download, unpack, start, and only then a name.
//!
//! Downloads are kept in a hidden folder of their own until the runtime is whole, so that an interrupted call goes on
//! where it was. A runtime gets its name only when its PHP has said its version.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::apt::{self, Download, PrivateApt};
use super::definition::RuntimeSource;
use super::sources::{self, Archive, archives, candidates};
use crate::runtime::prefix::Prefix;
use crate::runtime::{self, PhpRuntime, prefixes, short_name};
use weigh_model::text::clean_path;

/// How often arrived bytes are looked at.
const GLANCE: Duration = Duration::from_millis(200);

/// What a started but unfinished runtime's folder begins with.
const DRAFT: &str = ".draft-";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A step begins, such as `reading the list of packages of trixie`.
    Step(String),
    /// So much is to be downloaded.
    Need {
        packages: usize,
        /// Bytes.
        bytes: u64,
    },
    /// This many bytes of it have arrived.
    Arrived(u64),
}

#[derive(Debug)]
pub struct Added {
    pub runtime: PhpRuntime,
    /// Its packages' length in bytes; `None` when it was there before.
    pub downloaded: Option<u64>,
    /// Extensions that are there but could not be loaded.
    pub left_out: Vec<String>,
}

/// Adds the PHP of a suite, such as `debian:trixie` or one of several, `debian:experimental/8.5`, to the runtimes in `folder`. `etc` is the machine's apt folder.
///
/// # Errors
/// The name is none, the machine has no such archive, the suite has no PHP, or a download or program failed: with what
/// it said.
pub fn add(
    name: &str,
    source: &RuntimeSource,
    etc: &Path,
    folder: &Path,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Added> {
    let (suite, version) = suite_of(name)?;
    let _lock = lock(folder)?;
    if let Some((root, prefix)) = prefixes(folder).into_iter().find(|(_, prefix)| prefix.source == name) {
        return Ok(Added {
            runtime: PhpRuntime::fetched(&root, &prefix),
            downloaded: None,
            left_out: Vec::new(),
        });
    }
    let work = folder.join(format!(".fetch-{}", name.replace([':', '/'], "-")));
    let apt = reach(suite, source, etc, &work, progress)?;
    let (php, packages) =
        source.choose(&apt.names()?, version).with_context(|| format!("{name} cannot be used"))?;
    let bytes = download(&apt, &packages, progress)?;

    let draft = tempfile::Builder::new().prefix(DRAFT).tempdir_in(folder);
    let draft = draft.with_context(|| format!("cannot write in {}", clean_path(folder)))?;
    unpack_all(&apt, draft.path(), progress)?;
    progress(Progress::Step(format!("starting {php}")));
    let mut prefix = Prefix::inspect(draft.path(), &php, name)?;
    prefix.extensions = source.order(prefix.extensions);
    prefix.zend_extensions = source.order(prefix.zend_extensions);
    let left_out = leave_out_broken(&mut prefix, draft.path())?;
    prefix.version = runtime::version(&prefix.cli_command(draft.path()))?;
    prefix.name = free_name(&prefix.version, folder);
    prefix.bytes = bytes;
    prefix.write(draft.path())?;
    let root = folder.join(&prefix.name);
    fs::rename(draft.keep(), &root).with_context(|| format!("cannot write {}", clean_path(&root)))?;
    fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", clean_path(&work)))?;
    Ok(Added { runtime: PhpRuntime::fetched(&root, &prefix), downloaded: Some(bytes), left_out })
}

/// Unpacks packages of a suite with all that they depend on below `into`, as the root of a system would have them; what is downloaded stays in
/// `work` for the next time. Gives the bytes of all packages.
///
/// # Errors
/// As [`add`].
pub fn unpack(
    name: &str,
    source: &RuntimeSource,
    packages: &[String],
    etc: &Path,
    (work, into): (&Path, &Path),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<u64> {
    let apt = reach(suite_of(name)?.0, source, etc, work, progress)?;
    let bytes = download(&apt, packages, progress)?;
    unpack_all(&apt, into, progress)?;
    Ok(bytes)
}

fn unpack_all(apt: &PrivateApt, into: &Path, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<()> {
    progress(Progress::Step("unpacking".into()));
    for package in apt.archives()? {
        apt.unpack(&package, into)?;
    }
    // Unpacking gives the folder the mode that packages have for the root of a system.
    fs::set_permissions(into, fs::Permissions::from_mode(0o700)).context("cannot close the folder")
}

/// `trixie` of `debian:trixie`, and `8.4` of `debian:trixie/8.4`.
///
/// # Errors
/// There is no suite, or one that is not a name.
pub fn suite_of(name: &str) -> Result<(&str, Option<&str>)> {
    let named = name.split_once(':').map_or("", |(_, suite)| suite);
    let (suite, version) = named.split_once('/').map_or((named, None), |(suite, php)| (suite, Some(php)));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    if suite.is_empty() || suite.len() > 40 || suite.starts_with(['-', '.']) || !suite.chars().all(plain) {
        bail!("`{name}` names no suite; give one such as debian:trixie");
    }
    let is_version =
        |text: &str| text.split('.').count() == 2 && text.split('.').all(|part| part.parse::<u16>().is_ok());
    if !version.is_none_or(is_version) {
        bail!("`{name}` names no PHP; give one such as {}/8.4", name.split('/').next().unwrap_or(name));
    }
    Ok((suite, version))
}

/// The first of the machine's archives that has the suite, signed, and is of the origin wanted.
fn reach(
    suite: &str,
    source: &RuntimeSource,
    etc: &Path,
    work: &Path,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<PrivateApt> {
    let found = candidates(archives(etc), source);
    let mut failures = Vec::new();
    let settings = sources::settings_of_machine();
    for archive in &found {
        progress(Progress::Step(format!("reading the list of packages of {suite}")));
        match update(archive, suite, source, work, &settings) {
            Ok(apt) => return Ok(apt),
            Err(error) => failures.push(format!("{error:#}")),
        }
    }
    // What was downloaded before stays for when the network is back; a suite that is not there leaves nothing.
    let packages = fs::read_dir(work.join("cache/archives")).into_iter().flatten().flatten();
    if !packages.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|e| e == "deb")) {
        let _ = fs::remove_dir_all(work);
    }
    if failures.is_empty() {
        bail!(
            "{} names no archive of {}; a runtime is fetched from the archive that the machine uses itself",
            clean_path(&etc.join("sources.list.d")),
            source.origin
        );
    }
    bail!("{suite} could not be had from the machine's archive: {}", failures.join("; "))
}

fn update(
    archive: &Archive,
    suite: &str,
    source: &RuntimeSource,
    work: &Path,
    settings: &str,
) -> Result<PrivateApt> {
    let apt = PrivateApt::prepare(work, archive, &source.with_needed(suite), &source.component, settings)?;
    apt.update()?;
    let origin = apt.origin()?;
    if origin != source.origin {
        bail!("the archive says that it is of `{origin}`, not of `{}`", source.origin);
    }
    Ok(apt)
}

/// Downloads while another thread tells how much has arrived. Gives the bytes of all packages.
fn download(
    apt: &PrivateApt,
    packages: &[String],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<u64> {
    let wanted = apt.needed(packages)?;
    let all: u64 = wanted.iter().map(|d: &Download| d.bytes).sum();
    progress(Progress::Need { packages: wanted.len(), bytes: all });
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Acquire) {
                progress(Progress::Arrived(apt::arrived(&apt.folder(), &wanted)));
                std::thread::sleep(GLANCE);
            }
        });
        let result = apt.download(packages);
        ended.store(true, Ordering::Release);
        result
    })?;
    let lengths = apt.archives()?.into_iter().map(|path| fs::metadata(path).map_or(0, |m| m.len()));
    Ok(lengths.sum())
}

/// Takes extensions off the list that cannot be loaded, as PHP says at its start. Gives their names.
fn leave_out_broken(prefix: &mut Prefix, root: &Path) -> Result<Vec<String>> {
    let (_, stderr) = runtime::ask(&prefix.cli_command(root), "exit(0);")?;
    let broken = unloadable(&stderr);
    prefix.extensions.retain(|name| !broken.contains(name));
    prefix.zend_extensions.retain(|name| !broken.contains(name));
    Ok(broken)
}

/// The names in `Unable to load dynamic library 'x.so'` and `Failed loading /…/x.so`.
fn unloadable(stderr: &str) -> Vec<String> {
    let quoted = |line: &str| {
        let starts = ["Unable to load dynamic library '", "Failed loading Zend extension '"];
        let (_, rest) = starts.iter().find_map(|start| line.split_once(start))?;
        Some(rest.split('\'').next()?.to_owned())
    };
    let plain = |line: &str| Some(line.split_once("Failed loading ")?.1.split(':').next()?.to_owned());
    let paths = stderr.lines().filter_map(|line| quoted(line).or_else(|| plain(line)));
    let mut names: Vec<String> = paths
        .filter_map(|path| Path::new(&path).file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Removes a fetched runtime, by the name it has in `folder`.
pub fn remove(name: &str, folder: &Path) -> Result<()> {
    let known = prefixes(folder);
    let Some((root, _)) = known.iter().find(|(_, prefix)| prefix.name == name) else {
        let names: Vec<&str> = known.iter().map(|(_, prefix)| prefix.name.as_str()).collect();
        let there = if names.is_empty() {
            "there is none".into()
        } else {
            format!("there are: {}", names.join(", "))
        };
        bail!("no fetched runtime is called `{name}`; {there}");
    };
    let _lock = lock(folder)?;
    // Out of sight first: what is removed in part must not be taken for a runtime.
    let gone = tempfile::Builder::new().prefix(DRAFT).tempdir_in(folder);
    let gone = gone.with_context(|| format!("cannot write in {}", clean_path(folder)))?;
    fs::rename(root, gone.path().join("gone"))
        .with_context(|| format!("cannot remove {}", clean_path(root)))?;
    gone.close().with_context(|| format!("cannot remove all of {name}"))
}

/// The right to change the folder; what an ended call left unfinished is cleared away.
fn lock(folder: &Path) -> Result<File> {
    use rustix::fs::{FlockOperation, flock};
    let fail = || format!("cannot make the folder of runtimes {}", clean_path(folder));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(fail)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).with_context(fail)?;
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(".lock"));
    let file = file.with_context(fail)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!("another `weigh lab runtime` is at work in {}; wait until it has ended", clean_path(folder));
    }
    for entry in fs::read_dir(folder).with_context(fail)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(DRAFT) {
            fs::remove_dir_all(entry.path())
                .with_context(|| format!("cannot remove {}", clean_path(&entry.path())))?;
        }
    }
    Ok(file)
}

/// A name that no fetched runtime and no program on `PATH` has.
fn free_name(version: &str, folder: &Path) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut taken: Vec<String> = prefixes(folder).into_iter().map(|(_, prefix)| prefix.name).collect();
    let short = short_name(version, &[]);
    if runtime::named(Path::new(&short), &path).is_some() {
        taken.push(short);
    }
    short_name(version, &taken)
}

#[cfg(test)]
mod tests;

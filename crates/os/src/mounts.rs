//! A mount namespace for a program that has a user of its own: folders of root's are shown to it read-only at their own paths, whatever the
//! folders above them let through. It ends with the last process in it, and nothing outside of it changes.
//!
//! A folder above that is closed to others is covered by an empty one, in which only what is shown has a place.

use std::collections::BTreeSet;
use std::fs;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::umask;

use crate::open_folder::OpenFolder;
use crate::permissions::first_closed;
use crate::regular::{self, place_of, regular};

/// Symbolic links on the way to a folder that are followed at most.
const MOST_LINKS: usize = 40;
/// What a namespace takes that is not there.
pub const REMEDY: &str = "give the container CAP_SYS_ADMIN";

/// What a folder begins with that is not shown itself: each of its files stands in place of the one that has its path below it.
pub const IN_PLACE: &str = "=";
/// What stands between a folder that begins like that and the one in whose place it stands as a whole, both absolute.
const STANDS_FOR: &str = "=>";

/// What is shown for `copy` to stand in place of `folder`.
pub fn instead(copy: &Path, folder: &Path) -> PathBuf {
    format!("{IN_PLACE}{}{STANDS_FOR}{}", copy.display(), folder.display()).into()
}

/// Moves this process into a mount namespace of its own in which `user`, a number, finds these folders and may write to none of them.
/// A folder that holds the working directory is left as it is; see also [`IN_PLACE`]. To be called as root, and before there are threads.
///
/// # Errors
/// The machine allows no mount namespace, or a folder is not there.
pub fn show(folders: &[PathBuf], user: u32) -> Result<()> {
    unshare(CloneFlags::CLONE_NEWNS).context("root may make no mount namespace here")?;
    // What the machine unmounts meanwhile is not kept in use by this namespace.
    change("/".as_ref(), MsFlags::MS_SLAVE | MsFlags::MS_REC)?;
    let working = std::env::current_dir().unwrap_or_default();
    let in_place =
        |folder: &PathBuf| folder.to_str().and_then(|one| one.strip_prefix(IN_PLACE)).map(PathBuf::from);
    let (whole, replacing): (Vec<PathBuf>, Vec<PathBuf>) =
        folders.iter().filter_map(in_place).partition(|one| one.to_string_lossy().contains(STANDS_FOR));
    let folders: Vec<&PathBuf> = folders.iter().filter(|folder| in_place(folder).is_none()).collect();
    let mut links = Vec::new();
    folders.iter().for_each(|folder| links_to(folder, &mut links));
    let real = folders
        .iter()
        .map(|folder| folder.canonicalize().with_context(|| format!("{} cannot be shown", folder.display())));
    let mut real = real.collect::<Result<BTreeSet<PathBuf>>>()?;
    real.retain(|folder| !working.starts_with(folder));
    // What another one holds is shown with it.
    let outermost: Vec<&PathBuf> =
        real.iter().filter(|one| !one.ancestors().skip(1).any(|above| real.contains(above))).collect();
    // Opened before anything is covered.
    let handles = outermost.iter().map(|path| held(path)).collect::<Result<Vec<File>>>()?;
    let above = outermost.iter().filter_map(|path| path.parent());
    let closed: BTreeSet<PathBuf> = above.filter_map(|path| first_closed(path, Some(user))).collect();
    let mask = umask(Mode::from_raw_mode(0o066));
    closed.iter().try_for_each(|folder| cover(folder))?;
    for (path, handle) in outermost.iter().zip(&handles) {
        let source = by_handle(handle);
        // In what is covered nobody else writes; elsewhere a path may have become another's since.
        let target = match closed.iter().any(|folder| path.starts_with(folder)) {
            true => fs::create_dir_all(path).map(|()| path.to_path_buf()).context("no mount point")?,
            false => source.clone(),
        };
        let none = None::<&str>;
        mount(Some(&source), &target, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)
            .with_context(|| format!("{} cannot be shown", path.display()))?;
    }
    for (link, target) in
        links.iter().filter(|(link, _)| closed.iter().any(|folder| link.starts_with(folder)))
    {
        if link.symlink_metadata().is_err() {
            link.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| symlink(target, link))?;
        }
    }
    umask(mask);
    whole.iter().try_for_each(|pair| stand_for(pair))?;
    replacing.iter().try_for_each(|folder| replace(folder))?;
    let is_shown =
        |point: &&PathBuf| closed.contains(*point) || outermost.iter().any(|one| point.starts_with(one));
    let read_only = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let points = mount_points()?;
    points
        .iter()
        .filter(is_shown)
        .try_for_each(|point| change(point, MsFlags::MS_REMOUNT | MsFlags::MS_BIND | read_only))
}

/// Puts a folder in place of another.
fn stand_for(pair: &Path) -> Result<()> {
    let pair = pair.to_string_lossy();
    let (copy, folder) = pair.split_once(STANDS_FOR).context("no folder is named")?;
    let none = None::<&str>;
    mount(Some(copy), &by_handle(&held(Path::new(folder))?), none, MsFlags::MS_BIND, none)
        .with_context(|| format!("{folder} cannot be replaced"))
}

/// Puts the files of a folder in place of those that have their paths below it, where these are.
fn replace(folder: &Path) -> Result<()> {
    let root = OpenFolder::open(Path::new("/"))?;
    for entry in walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok) {
        let below = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        if !entry.file_type().is_file() {
            continue;
        }
        let there = root.of_file(below).and_then(|(folder, name)| folder.handle(name));
        if let Ok(there) = there.and_then(|there| regular(&there.metadata()?).map(|()| there)) {
            let none = None::<&str>;
            mount(Some(entry.path()), &by_handle(&there), none, MsFlags::MS_BIND, none)
                .with_context(|| format!("/{} cannot be replaced", below.display()))?;
        }
    }
    Ok(())
}

/// A folder by its real path, open: none that took its place since.
fn held(folder: &Path) -> Result<File> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = open(folder, flags, Mode::empty()).map_err(anyhow::Error::from).map(File::from);
    let held = held.with_context(|| format!("{} cannot be shown", folder.display()))?;
    ensure!(place_of(&held)? == folder, "{} became another folder meanwhile", folder.display());
    Ok(held)
}

/// A path that leads to what is open, whatever has its name.
fn by_handle(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Changes a mount: its flags, or how it follows others.
fn change(point: &Path, flags: MsFlags) -> Result<()> {
    let none = None::<&str>;
    mount(none, point, none, flags, none)
        .with_context(|| format!("{} cannot be mounted anew", point.display()))
}

/// Covers a folder by an empty one that lets everybody through.
fn cover(folder: &Path) -> Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("weigh"), &by_handle(&held(folder)?), Some("tmpfs"), flags, Some("mode=711,size=1m"))
        .with_context(|| format!("{} cannot be covered", folder.display()))
}

/// The symbolic links on the way to a path, each at its real place, with where it leads.
fn links_to(path: &Path, found: &mut Vec<(PathBuf, PathBuf)>) {
    let mut above: Vec<&Path> = path.ancestors().collect();
    above.reverse();
    for part in above {
        let (Ok(target), Some(name)) = (fs::read_link(part), part.file_name()) else { continue };
        let Some(Ok(parent)) = part.parent().map(Path::canonicalize) else { continue };
        let link = parent.join(name);
        if found.len() < MOST_LINKS && found.iter().all(|(known, _)| *known != link) {
            let leads_to = parent.join(&target);
            found.push((link, target));
            links_to(&leads_to, found);
        }
    }
}

/// Where something is mounted in this process's namespace; see proc_pid_mountinfo(5).
fn mount_points() -> Result<BTreeSet<PathBuf>> {
    let text =
        regular::read("/proc/self/mountinfo".as_ref(), regular::TEXT).context("/proc is not mounted")?;
    let fields = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    Ok(fields.map(|field| PathBuf::from(std::ffi::OsString::from_vec(unescaped(field)))).collect())
}

/// `\040` is a space, and so on.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let digits =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_with_spaces_are_read() {
        assert_eq!(unescaped(br"/srv/my\040site\134x\04"), br"/srv/my site\x\04");
        assert!(mount_points().unwrap().contains(Path::new("/")));
    }

    #[test]
    fn links_on_the_way_are_found_with_those_that_they_lead_through() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("releases/5/public")).unwrap();
        symlink("releases/5", home.join("current")).unwrap();
        symlink(home.join("current"), home.join("live")).unwrap();
        let mut found = Vec::new();
        links_to(&home.join("live/public"), &mut found);
        let names: Vec<_> = found.iter().map(|(link, _)| link.strip_prefix(&home).unwrap()).collect();
        assert_eq!(names, [Path::new("live"), Path::new("current")]);
    }
}

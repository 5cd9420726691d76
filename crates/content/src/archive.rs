//! Archives: the regular files inside, one after the other, bounded.
//!
//! A visitor sees a member's path and a reader; nothing is written here. Links, devices and paths that lead elsewhere
//! are never shown. Refuses to trust any length an archive states.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use flate2::read::GzDecoder;

use super::client::Clients;
use super::source::{Registry, is_safe_path};
use weigh_model::text::clean_path;
use weigh_os::command::wait;
use weigh_os::interrupt::Interrupt;
use weigh_os::regular;

/// The most bytes that come out of one archive, members that nobody wants included.
const MOST_BYTES: u64 = 1 << 30;
const MOST_MEMBERS: usize = 200_000;

/// Whether to go on to the next member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    More,
    /// That was all that is wanted.
    Done,
}

/// Called with the path and the content of each regular file.
pub type Visitor<'a> = dyn FnMut(&str, &mut dyn Read) -> Result<Next> + 'a;

/// Visits the files of an archive; paths are without npm's leading folder and Debian's leading `./`.
/// Debian's are opened by a client.
pub fn visit(archive: &Path, registry: Registry, clients: &Clients, visitor: &mut Visitor<'_>) -> Result<()> {
    let open = || regular::open(archive).with_context(|| format!("cannot read {}", clean_path(archive)));
    let done = match registry {
        Registry::Npm => visit_tar(GzDecoder::new(open()?), &without_first_folder, visitor),
        Registry::Pypi => visit_zip(open()?, visitor),
        Registry::Deb => visit_deb(archive, clients, visitor),
    };
    done.with_context(|| format!("the archive {} cannot be unpacked", clean_path(archive)))
}

/// npm's archives have everything in one folder, mostly `package`.
fn without_first_folder(path: &str) -> Option<&str> {
    if is_safe_path(path) { path.split_once('/').map(|(_, rest)| rest) } else { None }
}

fn visit_tar(
    stream: impl Read,
    inner: &dyn Fn(&str) -> Option<&str>,
    visitor: &mut Visitor<'_>,
) -> Result<()> {
    let mut tar = tar::Archive::new(Bounded { inner: stream, left: MOST_BYTES });
    for (count, member) in tar.entries()?.enumerate() {
        let mut member = member?;
        if count >= MOST_MEMBERS {
            bail!("it has more than {MOST_MEMBERS} members");
        }
        if !member.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&member.path_bytes()).into_owned();
        let Some(path) = inner(&path).filter(|path| is_safe_path(path)) else { continue };
        if visitor(path, &mut member)? == Next::Done {
            break;
        }
    }
    Ok(())
}

fn visit_zip(file: File, visitor: &mut Visitor<'_>) -> Result<()> {
    let mut zip = zip::ZipArchive::new(file)?;
    if zip.len() > MOST_MEMBERS {
        bail!("it has more than {MOST_MEMBERS} members");
    }
    let mut left = MOST_BYTES;
    for index in 0..zip.len() {
        let member = zip.by_index(index)?;
        if !member.is_file() {
            continue;
        }
        let path = member.name()?.into_owned();
        if !is_safe_path(&path) {
            continue;
        }
        let mut bounded = Bounded { inner: member, left };
        let next = visitor(&path, &mut bounded)?;
        left = bounded.left;
        if next == Next::Done {
            break;
        }
    }
    Ok(())
}

fn visit_deb(archive: &Path, clients: &Clients, visitor: &mut Visitor<'_>) -> Result<()> {
    let [dpkg_deb, leading @ ..] = clients.dpkg_deb.as_slice() else { bail!("no dpkg-deb is configured") };
    let mut child = Command::new(dpkg_deb)
        .args(leading)
        .arg("--fsys-tarfile")
        .arg(archive)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {dpkg_deb}"))?;
    let Some(stream) = child.stdout.take() else { bail!("{dpkg_deb} has no output") };
    let mut done = false;
    // Once the visitor is served the rest of the stream is of no use, and nobody listens.
    let (visited, ended) = std::thread::scope(|scope| {
        let end = scope.spawn(|| wait(&mut child, Instant::now() + clients.patience, &Interrupt::caught()));
        let visited =
            visit_tar(stream, &|path| Some(path.strip_prefix("./").unwrap_or(path)), &mut |path, read| {
                let next = visitor(path, read)?;
                done = next == Next::Done;
                Ok(next)
            });
        (visited, end.join())
    });
    let Some(status) = ended.map_err(|_| anyhow!("{dpkg_deb} is not waited for"))?? else {
        bail!("{dpkg_deb} did not end within {} s", clients.patience.as_secs());
    };
    visited?;
    if !done && !status.success() {
        bail!("{dpkg_deb} could not read it");
    }
    Ok(())
}

/// A reader that fails once too much came out of it.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        let Some(left) = self.left.checked_sub(got as u64) else {
            return Err(io::Error::other(format!("more than {MOST_BYTES} bytes come out of it")));
        };
        self.left = left;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_end_is_given_up() {
        let mut endless = Bounded { inner: io::repeat(0), left: 100_000 };
        let error = io::copy(&mut endless, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("come out of it"), "{error}");
    }

    #[test]
    fn garbage_is_an_error_that_names_the_archive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("garbage");
        std::fs::write(&path, b"this is no archive of any kind").unwrap();
        for registry in [Registry::Npm, Registry::Pypi, Registry::Deb] {
            let clients = Clients { dpkg_deb: vec!["false".into()], ..Clients::default() };
            let error = visit(&path, registry, &clients, &mut |_, _| Ok(Next::More)).unwrap_err();
            assert!(format!("{error:#}").contains("garbage"), "{error:#}");
        }
    }
}

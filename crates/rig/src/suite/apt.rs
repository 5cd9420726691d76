//! An apt with folders of its own: it shares the archive with the machine's apt, and nothing else.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::sources::{self, Archive};
use weigh_model::text::{clean, clean_path};
use weigh_os::command::run_within;
use weigh_os::lifeline;
use weigh_os::regular;

/// The longest that one step may take.
const PATIENCE: Duration = Duration::from_secs(1800);

/// An apt below one folder.
#[derive(Debug)]
pub struct PrivateApt {
    home: PathBuf,
}

/// What is to be downloaded.
#[derive(Debug, PartialEq, Eq)]
pub struct Download {
    /// The file's name in the folder of archives.
    pub file: String,
    pub bytes: u64,
}

impl PrivateApt {
    /// Makes the folders and the configuration; what an interrupted call left is taken up. `machine` holds those
    /// settings of the machine's apt that say how the network is reached, as `apt-config dump` prints them.
    pub fn prepare(
        home: &Path,
        archive: &Archive,
        suite: &str,
        component: &str,
        machine: &str,
    ) -> Result<PrivateApt> {
        let fail = || format!("cannot write in {}", clean_path(home));
        for folder in ["state/lists/partial", "cache/archives/partial", "etc/apt.conf.d", "etc/preferences.d"]
        {
            fs::create_dir_all(home.join(folder)).with_context(fail)?;
        }
        fs::write(home.join("status"), "").with_context(fail)?;
        fs::write(home.join("etc/sources.sources"), sources::source_text(archive, suite, component))
            .with_context(fail)?;
        fs::write(home.join("apt.conf"), sources::configuration(home, machine)?).with_context(fail)?;
        Ok(PrivateApt { home: home.to_owned() })
    }

    /// Fetches the suite's list of packages; apt verifies its signature.
    pub fn update(&self) -> Result<()> {
        self.run("apt-get", &["-q", "--error-on=any", "update"]).map(drop)
    }

    /// What the archive says that it is, from the signed Release file.
    pub fn origin(&self) -> Result<String> {
        let lists = self.home.join("state/lists");
        let entries = fs::read_dir(&lists).with_context(|| format!("cannot read {}", clean_path(&lists)))?;
        let mut releases = entries.flatten().map(|e| e.path());
        let release =
            releases.find(|p| p.to_string_lossy().ends_with("Release")).context("no Release file came")?;
        let text =
            regular::system(&release).with_context(|| format!("cannot read {}", clean_path(&release)))?;
        let origin = text.lines().find_map(|line| line.strip_prefix("Origin:"));
        Ok(origin.unwrap_or("").trim().to_owned())
    }

    /// The names of all packages.
    pub fn names(&self) -> Result<BTreeSet<String>> {
        let php = self.run("apt-cache", &["pkgnames", "php"])?;
        let libraries = self.run("apt-cache", &["pkgnames", "lib"])?;
        Ok(php.lines().chain(libraries.lines()).map(str::to_owned).collect())
    }

    /// What the packages need that is not here yet, with its length.
    pub fn needed(&self, packages: &[String]) -> Result<Vec<Download>> {
        let uris = self.install(&["--print-uris"], packages)?;
        Ok(uris.lines().filter_map(download).collect())
    }

    /// Downloads the packages with what they need, and verifies each.
    pub fn download(&self, packages: &[String]) -> Result<()> {
        self.install(&["--download-only"], packages).map(drop)
    }

    pub fn archives(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(self.folder())
            .with_context(|| format!("cannot read {}", clean_path(&self.folder())))?;
        let mut found: Vec<_> = entries.flatten().map(|e| e.path()).collect();
        found.retain(|path| path.extension().is_some_and(|e| e == "deb"));
        found.sort();
        Ok(found)
    }

    pub fn folder(&self) -> PathBuf {
        self.home.join("cache/archives")
    }

    /// Unpacks one package; no script of it runs.
    pub fn unpack(&self, package: &Path, into: &Path) -> Result<()> {
        let args: [&OsStr; 3] = ["--extract".as_ref(), package.as_os_str(), into.as_os_str()];
        self.run("dpkg-deb", &args).map(drop)
    }

    fn install(&self, flags: &[&str], packages: &[String]) -> Result<String> {
        let mut args = vec!["-qq", "-y", "--no-install-recommends"];
        args.extend(flags);
        args.push("install");
        args.extend(packages.iter().map(String::as_str));
        self.run("apt-get", &args)
    }

    /// Runs a program of apt's with this configuration, and gives what it printed. It ends with this process.
    fn run(&self, program: &str, args: &[impl AsRef<OsStr>]) -> Result<String> {
        let mut command = lifeline::launcher();
        command
            .arg(program)
            .args(args)
            .env("APT_CONFIG", self.home.join("apt.conf"))
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive");
        let end = run_within(&mut command, PATIENCE);
        let end = end.with_context(|| format!("cannot start {program}"))?;
        match end.status {
            Some(status) if status.success() => Ok(end.stdout),
            Some(_) => Err(failure(program, &end.stderr)),
            None => {
                bail!("{program} did not finish within {} minutes and was ended", PATIENCE.as_secs() / 60)
            }
        }
    }
}

/// One line of `--print-uris`: `'URI' FILE BYTES HASH`.
fn download(line: &str) -> Option<Download> {
    let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
    let mut words = rest.split(' ');
    let (file, bytes) = (words.next()?, words.next()?.parse().ok()?);
    Some(Download { file: file.to_owned(), bytes })
}

/// What apt said, with what would fix it.
fn failure(program: &str, stderr: &str) -> anyhow::Error {
    let lines = || stderr.lines().map(str::trim).filter(|l| !l.is_empty());
    let telling =
        lines().find(|l| l.starts_with("E:")).or_else(|| lines().next_back()).unwrap_or("it said nothing");
    let short: String = clean(telling).chars().take(300).collect();
    let remedy = if stderr.contains("NO_PUBKEY")
        || stderr.contains("not signed")
        || stderr.contains("invalid signature")
    {
        "; the suite's key is not among those of this machine's source: apt install debian-archive-keyring"
    } else if stderr.contains("does not have a Release file") || stderr.contains("404") {
        "; the mirror of this machine does not have that suite"
    } else if stderr.contains("Could not resolve")
        || stderr.contains("Could not connect")
        || stderr.contains("Temporary failure")
    {
        "; type the command again when there is a network, and it goes on where it was"
    } else {
        ""
    };
    anyhow!("{program}: {short}{remedy}")
}

/// Bytes that arrived, whole files and parts.
pub fn arrived(folder: &Path, wanted: &[Download]) -> u64 {
    let length = |path: PathBuf| fs::metadata(path).map_or(0, |m| m.len());
    let of = |d: &Download| length(folder.join(&d.file)).max(length(folder.join("partial").join(&d.file)));
    wanted.iter().map(|d| of(d).min(d.bytes)).sum()
}

#[cfg(test)]
mod tests;

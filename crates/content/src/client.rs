//! Package clients: one archive at a time, through the client that people use by hand.
//!
//! Each runs without a shell, without scripts of the package, with a private cache, in an empty folder, and within a
//! time. Owns how they are called and how their failures read; refuses to look into what they bring.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use weigh_os::command::{Ended, run_within};

use super::source::{Package, Registry};
use weigh_model::text::clean;

/// The clients and how long one may take.
#[derive(Clone, Debug)]
pub struct Clients {
    /// `npm` and leading arguments.
    pub npm: Vec<String>,
    /// `pip` and leading arguments.
    pub pip: Vec<String>,
    /// `apt-get` and leading arguments.
    pub apt: Vec<String>,
    /// `dpkg-deb`, which unpacks, and leading arguments.
    pub dpkg_deb: Vec<String>,
    /// The longest one download may take.
    pub patience: Duration,
}

impl Default for Clients {
    fn default() -> Clients {
        Clients {
            npm: vec!["npm".into()],
            pip: vec!["python3".into(), "-m".into(), "pip".into()],
            apt: vec!["apt-get".into()],
            dpkg_deb: vec!["dpkg-deb".into()],
            patience: Duration::from_secs(300),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    pub path: PathBuf,
    /// The version in its file name: for a Debian package it may be a newer one than asked for.
    pub version: String,
}

/// Why a client brought nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ClientError {
    pub reason: String,
    pub remedy: Option<String>,
    /// The client or its registry is out of reach: it will fail for every other package too.
    pub unreachable: bool,
}

impl Clients {
    /// Downloads a package's archive into `work`, an empty folder.
    pub fn download(&self, package: &Package, work: &Path) -> Result<Archive, ClientError> {
        let into = work.join("got");
        fs::create_dir_all(&into).map_err(|e| ClientError::plain(format!("cannot make a folder: {e}")))?;
        let run = |list: &[String], args: Vec<String>| self.client(list, args, &into);
        match package.registry {
            Registry::Npm => run(&self.npm, npm_arguments(package, &into, work))?,
            Registry::Pypi => run(&self.pip, pip_arguments(package, &into))?,
            Registry::Deb => {
                let exact = format!("{}={}", package.name, package.version);
                let asked = run(&self.apt, apt_arguments(&exact, work));
                // A superseded version is gone from the mirrors; what is there now may hold the same files.
                if asked.as_ref().is_err_and(|e| !e.unreachable) {
                    run(&self.apt, apt_arguments(&package.name, work))?;
                } else {
                    asked?;
                }
            }
        }
        brought(package, &into)
    }

    fn client(&self, list: &[String], args: Vec<String>, into: &Path) -> Result<(), ClientError> {
        let [program, leading @ ..] = list else {
            return Err(ClientError::plain("no package client is configured".into()));
        };
        let mut command = Command::new(program);
        command.args(leading).args(args).current_dir(into);
        let ended = run_within(&mut command, self.patience);
        match ended {
            Ok(Ended { status: Some(status), .. }) if status.success() => Ok(()),
            Ok(Ended { status: Some(_), stderr, .. }) => Err(failure(program, &stderr)),
            Ok(Ended { status: None, .. }) => Err(ClientError::plain(format!(
                "{program} did not finish within {} s and was ended",
                self.patience.as_secs()
            ))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ClientError {
                reason: format!("{program} is not installed"),
                remedy: Some(remedy(program)),
                unreachable: true,
            }),
            Err(error) => Err(ClientError::plain(format!("cannot start {program}: {error}"))),
        }
    }
}

impl ClientError {
    fn plain(reason: String) -> ClientError {
        ClientError { reason, remedy: None, unreachable: false }
    }
}

fn npm_arguments(package: &Package, into: &Path, work: &Path) -> Vec<String> {
    let spec = format!("{}@{}", package.name, package.version);
    let path = |p: &Path| p.to_string_lossy().into_owned();
    let mut args = vec!["pack".into(), spec];
    args.extend(["--pack-destination".into(), path(into), "--cache".into(), path(&work.join("npm"))]);
    // Its own patience is minutes for each try; one more try, soon, is enough.
    for flag in ["--ignore-scripts", "--loglevel=error", "--update-notifier=false", "--fetch-retries=1"] {
        args.push(flag.into());
    }
    args.extend(["--fetch-retry-mintimeout=500".into(), "--fetch-retry-maxtimeout=2000".into()]);
    args
}

fn pip_arguments(package: &Package, into: &Path) -> Vec<String> {
    let spec = format!("{}=={}", package.name, package.version);
    let mut args: Vec<String> = vec!["download".into(), spec];
    // A source distribution would be run to learn its name; a wheel is only an archive.
    for flag in ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--retries=1"] {
        args.push(flag.into());
    }
    args.extend(["--disable-pip-version-check".into(), "--quiet".into(), "--timeout=30".into()]);
    args.extend(["--dest".into(), into.to_string_lossy().into_owned()]);
    args
}

fn apt_arguments(spec: &str, work: &Path) -> Vec<String> {
    let cache = format!("Dir::Cache={}", work.join("apt").to_string_lossy());
    let options = [cache, "Acquire::Retries=1".into(), "Acquire::http::Timeout=30".into()];
    let mut args: Vec<String> = vec!["download".into(), "-q".into()];
    for option in options {
        args.extend(["-o".into(), option]);
    }
    args.push(spec.into());
    args
}

fn brought(package: &Package, into: &Path) -> Result<Archive, ClientError> {
    let extension = package.registry.extension();
    let entries = fs::read_dir(into).map_err(|e| ClientError::plain(format!("cannot read a folder: {e}")))?;
    let mut archives = entries.flatten().map(|entry| entry.path()).filter(|path| {
        path.extension().is_some_and(|e| e == extension)
            && fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
    });
    let (Some(path), None) = (archives.next(), archives.next()) else {
        return Err(ClientError::plain(format!(
            "the client ended well but left no single .{extension} file"
        )));
    };
    // NAME_VERSION_ARCH.deb, with the signs that do not fit a file name escaped.
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace("%3a", ":");
    let version = match package.registry {
        Registry::Deb => stem.split('_').nth(1).unwrap_or("of an unknown version").to_owned(),
        _ => package.version.clone(),
    };
    Ok(Archive { path, version: clean(&version) })
}

/// The line of a client's stderr that tells most.
fn failure(program: &str, stderr: &str) -> ClientError {
    let unreachable = [
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ETIMEDOUT",
        "ENETUNREACH",
        "ECONNRESET",
        "Temporary failure",
        "Could not resolve",
        "Could not connect",
        "Failed to establish",
        "Network is unreachable",
        "Connection refused",
        "No module named pip",
    ]
    .iter()
    .any(|sign| stderr.contains(sign));
    // npm begins with codes and ends with advice, pip and apt begin with warnings: what went wrong is said between.
    let noise = ["warning", "w:", "npm warn", "npm error code", "npm error errno", "npm error syscall"];
    let telling = |line: &&str| {
        let low = line.to_lowercase();
        (low.contains("error") || low.starts_with("e:")) && !noise.iter().any(|word| low.starts_with(word))
    };
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.clone().find(telling).or_else(|| lines.next_back()).unwrap_or("it said nothing");
    let short: String = line.chars().take(200).collect();
    let remedy = match program {
        _ if stderr.contains("No module named pip") => Some(remedy("pip")),
        _ if unreachable => Some("fetch again when there is a network".into()),
        _ if stderr.contains("Unable to locate package") => Some("apt-get update, then fetch again".into()),
        _ => None,
    };
    ClientError { reason: format!("{program}: {}", clean(&short)), remedy, unreachable }
}

fn remedy(program: &str) -> String {
    match program {
        "python3" | "pip" => "apt install python3-pip".into(),
        "apt-get" => "nothing: this content is only fetched on Debian and systems made from it".into(),
        other => format!("install {other}, such as with apt install {other}"),
    }
}

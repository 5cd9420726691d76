//! PHP runtimes: where binaries are found, how a worker is started on one, and what it is called.

pub mod prefix;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use prefix::Prefix;
use weigh_model::text::clean_path;
use weigh_os::command::answer;
use weigh_os::process::WorkerSpec;
use weigh_os::programs::numbered;

/// A PHP that can be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhpRuntime {
    /// `php8.4`: unique among those that were looked for together.
    pub name: String,
    /// As queried: `8.4.24`.
    pub version: String,
    /// The program and leading arguments of the command line; more arguments may follow.
    pub cli: Vec<OsString>,
    /// The same of its PHP-FPM; none: there is none.
    pub fpm: Option<Vec<OsString>>,
    pub origin: Origin,
}

/// Where a PHP comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A program of the system's, or one that a user built.
    Program(PathBuf),
    /// Fetched by `weigh lab runtime add`.
    Fetched {
        /// Such as `debian:trixie`.
        source: String,
        prefix: PathBuf,
    },
}

impl PhpRuntime {
    /// The PHP whose command line binary this is; one in a fetched prefix is known by where it lies.
    pub fn of(binary: &Path) -> Result<PhpRuntime> {
        if let Some((root, prefix)) = Prefix::around(binary) {
            return Ok(PhpRuntime::fetched(&root, &prefix));
        }
        let cli = vec![binary.as_os_str().to_owned()];
        let version = version(&cli)?;
        let fpm = fpm_beside(binary, &version).map(|fpm| vec![fpm.into_os_string()]);
        let name = short_name(&version, &[]);
        Ok(PhpRuntime { name, version, cli, fpm, origin: Origin::Program(binary.to_owned()) })
    }

    pub fn fetched(root: &Path, prefix: &Prefix) -> PhpRuntime {
        PhpRuntime {
            name: prefix.name.clone(),
            version: prefix.version.clone(),
            cli: prefix.cli_command(root),
            fpm: prefix.fpm_command(root),
            origin: Origin::Fetched { source: prefix.source.clone(), prefix: root.to_owned() },
        }
    }

    /// The binary of its PHP-FPM, without the loader before it; none: there is none.
    pub fn fpm_binary(&self) -> Option<PathBuf> {
        self.fpm.as_deref().map(|fpm| PathBuf::from(program(fpm)))
    }

    /// What brings the PHP-FPM of its version.
    pub fn fpm_remedy(&self) -> String {
        let numbers: Vec<&str> = self.version.split('.').take(2).collect();
        format!("apt install php{}-fpm", numbers.join("."))
    }

    /// Those on `path`, then those fetched into `folder`; one that does not say its version is left out.
    pub fn all(path: &OsStr, folder: &Path) -> Vec<PhpRuntime> {
        let mut found: Vec<PhpRuntime> = Vec::new();
        let programs = on_path(path).into_iter().filter_map(|binary| PhpRuntime::of(&binary).ok());
        let fetched = prefixes(folder).into_iter().map(|(root, prefix)| PhpRuntime::fetched(&root, &prefix));
        for mut runtime in programs.chain(fetched) {
            let taken: Vec<String> = found.iter().map(|r| r.name.clone()).collect();
            if taken.contains(&runtime.name) {
                runtime.name = short_name(&runtime.version, &taken);
            }
            found.push(runtime);
        }
        found
    }
}

/// The fetched prefixes below a folder, by name. What is not a whole prefix is left out.
pub fn prefixes(folder: &Path) -> Vec<(PathBuf, Prefix)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let visible = |path: &PathBuf| path.file_name().is_some_and(|n| !n.to_string_lossy().starts_with('.'));
    let mut found: Vec<_> =
        entries.filter(visible).filter_map(|root| Some((root.clone(), Prefix::read(&root).ok()??))).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// The program and leading arguments of a command line binary: itself, or in a fetched prefix with its loader.
fn command(binary: &Path) -> Vec<OsString> {
    match Prefix::around(binary) {
        Some((root, prefix)) => prefix.cli_command(&root),
        None => vec![binary.as_os_str().to_owned()],
    }
}

/// The version that a PHP says.
pub fn version(cli: &[OsString]) -> Result<String> {
    let (stdout, stderr) = ask(cli, "echo PHP_VERSION;")?;
    let version = stdout.lines().next_back().unwrap_or("").trim();
    if !version.starts_with(|c: char| c.is_ascii_digit()) || version.len() > 40 {
        let said = stderr
            .lines()
            .rfind(|l| !l.trim().is_empty())
            .or(stdout.lines().next_back())
            .unwrap_or("nothing");
        bail!("{} does not say its version, but: {}", clean_path(Path::new(program(cli))), said.trim());
    }
    Ok(version.to_owned())
}

/// Runs a line of PHP with startup errors shown on stderr. Gives stdout and stderr.
pub fn ask(cli: &[OsString], code: &str) -> Result<(String, String)> {
    let [first, leading @ ..] = cli else { bail!("no program") };
    let mut command = Command::new(first);
    command.args(leading).args(["-d", "display_startup_errors=1", "-d", "display_errors=stderr", "-r", code]);
    let end = answer(&mut command)?;
    Ok((end.stdout, end.stderr))
}

/// What is run: behind a loader its program is the fourth word.
fn program(cli: &[OsString]) -> &OsStr {
    let behind_loader = cli.get(1).is_some_and(|word| word == "--library-path");
    cli.get(if behind_loader { 3 } else { 0 }).map_or(OsStr::new("php"), OsString::as_os_str)
}

/// The PHP-FPM of the same version: `php-fpm8.2` or `php-fpm`, beside the binary or in the `sbin` next to it.
fn fpm_beside(binary: &Path, version: &str) -> Option<PathBuf> {
    // The link that is on PATH may lie elsewhere than what it leads to.
    let real = binary.canonicalize().ok()?;
    let series: Vec<&str> = version.splitn(3, '.').take(2).collect();
    let folders = [real.parent()?.to_owned(), real.parent()?.parent()?.join("sbin")];
    let numbered = format!("php-fpm{}", series.join("."));
    // A build of one's own has no number in its name; the system's `php-fpm` may be of another version.
    let own = !real.starts_with("/usr/bin");
    let names = [Some(numbered.as_str()), own.then_some("php-fpm")];
    let mut paths =
        folders.iter().flat_map(|folder| names.iter().flatten().map(move |name| folder.join(name)));
    paths.find(|path| path.is_file())
}

/// PHP binaries on `PATH`: see [`numbered`].
pub fn on_path(path: &OsStr) -> Vec<PathBuf> {
    numbered("php", std::env::split_paths(path).filter(|folder| folder.is_absolute()))
}

/// The binary a user named: a path, or a name to look up on `PATH`.
pub fn named(binary: &Path, path: &OsStr) -> Option<PathBuf> {
    if binary.components().count() > 1 {
        return binary.is_file().then(|| binary.to_owned());
    }
    std::env::split_paths(path).map(|f| f.join(binary)).find(|b| b.is_file())
}

/// The binary of the fetched runtime of that name.
pub fn fetched(name: &Path, folder: &Path) -> Option<PathBuf> {
    let (root, prefix) = prefixes(folder).into_iter().find(|(_, prefix)| Path::new(&prefix.name) == name)?;
    Some(root.join(prefix.cli))
}

/// How to start a worker's script on a PHP binary, with these settings of PHP's ini.
pub fn worker(name: &str, binary: &Path, ini: &[String], script: &Path, log: PathBuf) -> WorkerSpec {
    let mut words = command(binary).into_iter();
    let program = words.next().unwrap_or_else(|| binary.into());
    let ini = ini.iter().flat_map(|setting| ["-d".into(), setting.into()]);
    let arguments = words.chain(ini).chain(worker_arguments(script)).collect();
    WorkerSpec::program(name, program, arguments, log)
}

/// The arguments that start the worker on a PHP binary.
///
/// The user's own ini files stay in force, because the extensions that they load are what is measured; a
/// profiler or debugger is switched off, because it would be measured instead. Output must be the worker's alone.
pub fn worker_arguments(worker: &Path) -> Vec<OsString> {
    let settings = [
        "xdebug.mode=off",
        "pcov.enabled=0",
        "display_errors=stderr",
        "log_errors=0",
        "html_errors=0",
        "output_buffering=0",
        "zlib.output_compression=0",
        "implicit_flush=0",
        "max_execution_time=0",
        "memory_limit=-1",
        "auto_prepend_file=",
        "auto_append_file=",
    ];
    let pairs = settings.into_iter().flat_map(|setting| ["-d".into(), setting.into()]);
    pairs.chain([worker.into()]).collect()
}

/// `php8.2` from `8.2.36`, made unique among `taken` by a further part of the version or a number.
pub fn short_name(version: &str, taken: &[String]) -> String {
    let mut parts = version.split('.');
    let short = match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) => format!("php{major}.{minor}"),
        _ => format!("php{version}"),
    };
    let full = format!("php{version}");
    let numbered = (2..).map(|n| format!("{full}#{n}"));
    [short, full.clone()].into_iter().chain(numbered).find(|n| !taken.contains(n)).unwrap_or(full)
}

#[cfg(test)]
mod tests;

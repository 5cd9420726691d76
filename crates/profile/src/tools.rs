//! Which profiler a PHP has, which arguments and variables turn it on, and where it writes.
//!
//! A profiler that is installed and not enabled is loaded for the one run; the system's configuration stays as it is.

mod excimer;
mod xdebug;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use weigh_model::profile::Profile;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::Invocation;
use weigh_rig::runtime::{self, PhpRuntime};

/// A way to profile PHP, the one that sees most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Profiler {
    /// Xdebug: every call, exactly counted; slows scripts with many small calls most.
    Xdebug,
    /// excimer: a sample of the stack each millisecond.
    Excimer,
}

impl Profiler {
    /// All, the one that sees most first.
    pub const ALL: [Profiler; 2] = [Profiler::Xdebug, Profiler::Excimer];

    pub fn name(self) -> &'static str {
        match self {
            Profiler::Xdebug => "xdebug",
            Profiler::Excimer => "excimer",
        }
    }
}

/// A profiler that a PHP can be run under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub profiler: Profiler,
    pub version: String,
    /// Whether it must be loaded for the run.
    is_loaded_by_us: bool,
    prepend: PathBuf,
    /// What the user's own configuration puts before every script.
    own_prepend: String,
}

/// Variables that would turn Xdebug on or off whatever the arguments say: a profiled run has none of them.
pub const UNSET: [&str; 4] = ["XDEBUG_MODE", "XDEBUG_CONFIG", "XDEBUG_TRIGGER", "XDEBUG_SESSION"];

/// What a PHP says of its profilers.
#[derive(Clone, Debug, Default, Deserialize)]
struct Says {
    xdebug: Option<String>,
    excimer: Option<String>,
    xdebug_there: bool,
    excimer_there: bool,
    prepend: String,
}

const QUESTION: &str = r#"$d = ini_get("extension_dir"); $v = function ($n) { return phpversion($n) ?: null; };
echo "\n", json_encode(array("xdebug" => $v("xdebug"), "excimer" => $v("excimer"), "xdebug_there" => is_file("$d/xdebug.so"),
"excimer_there" => is_file("$d/excimer.so"), "prepend" => (string) ini_get("auto_prepend_file")));"#;

/// The profiler of a PHP that was asked for, or else the one that sees most. `php_home` is the folder of the PHP side.
///
/// # Errors
/// The PHP does not answer, or there is none: with why, and what would fix it.
pub fn for_php(php: &PhpRuntime, php_home: &Path, wanted: Option<Profiler>) -> Result<Tool> {
    let says = ask(php, &[])?;
    let mut missing = Vec::new();
    for profiler in Profiler::ALL.into_iter().filter(|profiler| wanted.is_none_or(|w| w == *profiler)) {
        let looked = match profiler {
            Profiler::Xdebug => extension(php, &says.xdebug, says.xdebug_there, xdebug::LOAD, |s| s.xdebug),
            Profiler::Excimer => {
                extension(php, &says.excimer, says.excimer_there, excimer::LOAD, |s| s.excimer)
            }
        };
        match looked {
            Ok((version, is_loaded_by_us)) => {
                let prepend = php_home.join("profile/excimer.php");
                return Ok(Tool { profiler, version, is_loaded_by_us, prepend, own_prepend: says.prepend });
            }
            Err(why) => missing.push(format!("{}: {why}; {}", profiler.name(), remedy(profiler))),
        }
    }
    bail!("nothing to profile with: {}", missing.join(" · "))
}

/// The version of an extension that is loaded, or can be.
fn extension(
    php: &PhpRuntime,
    loaded: &Option<String>,
    is_there: bool,
    load: &str,
    of: impl Fn(Says) -> Option<String>,
) -> Result<(String, bool), String> {
    if let Some(version) = loaded {
        return Ok((version.clone(), false));
    }
    if !is_there {
        return Err(format!("{} does not have it", php.name));
    }
    match ask(php, &["-d", load, "-d", "xdebug.mode=off"]).map(of) {
        Ok(Some(version)) => Ok((version, true)),
        Ok(None) => Err(format!("{} has it and cannot load it", php.name)),
        Err(why) => Err(format!("{why:#}")),
    }
}

fn remedy(profiler: Profiler) -> &'static str {
    match profiler {
        Profiler::Xdebug => "apt install php-xdebug (then phpdismod xdebug: it is loaded where it is needed)",
        Profiler::Excimer => "apt install php-excimer",
    }
}

fn ask(php: &PhpRuntime, arguments: &[&str]) -> Result<Says> {
    let mut cli = php.cli.clone();
    cli.extend(arguments.iter().map(OsString::from));
    let (stdout, stderr) = runtime::ask(&cli, QUESTION)?;
    let line = stdout.lines().next_back().unwrap_or("");
    serde_json::from_str(line).with_context(|| {
        let said = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
        format!("{} does not say what profilers it has, but: {said}", php.name)
    })
}

impl Tool {
    /// What turns it on; it writes into `place`, a private folder.
    pub fn invocation(&self, place: &Path) -> Invocation {
        match self.profiler {
            Profiler::Xdebug => xdebug::invocation(place, &self.version, self.is_loaded_by_us),
            Profiler::Excimer => {
                excimer::invocation(place, &self.prepend, &self.own_prepend, self.is_loaded_by_us)
            }
        }
    }

    /// What an unprofiled run needs: Xdebug, where the user's configuration loads it, does nothing.
    pub fn plain() -> Invocation {
        Invocation { arguments: settings(["xdebug.mode=off"]), ..Invocation::default() }
    }

    /// The file that it wrote; `pid` is the process that ran.
    pub fn output(&self, place: &Path, pid: u32) -> Result<PathBuf> {
        let file = match self.profiler {
            Profiler::Xdebug => place.join(format!("cachegrind.out.{pid}")),
            Profiler::Excimer => place.join(excimer::FILE),
        };
        let name = self.profiler.name();
        match file.metadata() {
            Ok(data) if data.len() > 0 => {}
            Ok(_) if self.profiler == Profiler::Excimer => {
                bail!("excimer took no sample: the script was over too soon; xdebug sees every call")
            }
            _ => bail!("{name} wrote nothing; what PHP said is above"),
        }
        Ok(file)
    }

    pub fn read(&self, file: &Path, interrupt: &Interrupt) -> Result<Profile> {
        let mut profile = super::read(file, interrupt)?;
        profile.creator.get_or_insert(format!("{} {}", self.profiler.name(), self.version));
        Ok(profile)
    }

    /// What it sees, where that is less than one would think.
    pub fn remark(&self) -> Option<&'static str> {
        match self.profiler {
            Profiler::Xdebug => None,
            Profiler::Excimer => {
                Some("a sample of the stack each millisecond: shares are estimates, calls are not counted")
            }
        }
    }
}

/// `-d` before each setting.
fn settings<S: AsRef<OsStr>>(list: impl IntoIterator<Item = S>) -> Vec<OsString> {
    list.into_iter().flat_map(|setting| [OsString::from("-d"), setting.as_ref().to_owned()]).collect()
}

/// `name=PATH` as a setting.
fn setting(name: &str, path: &Path) -> OsString {
    let mut setting = OsString::from(name);
    setting.push("=");
    setting.push(path);
    setting
}

//! PHP within the processes of another server: uWSGI with its PHP plugin, which is asked by FastCGI as a pool is.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{PoolSpec, config};
use crate::runtime::{Origin, PhpRuntime, named};
use weigh_model::text::clean_path;
use weigh_os::command::answer;
use weigh_os::programs::Query;
use weigh_os::template;

/// How its programs are called: `uwsgi`, `uwsgi-core`.
const NAME: &str = "uwsgi";
/// The settings, below its directory, where PHP looks for more.
pub const FILE: &str = "settings.ini";
/// The number by which uWSGI knows requests for PHP.
const MODIFIER: &str = "14";

/// Whether a program is one, by its name.
pub fn is_embedded(binary: &Path) -> bool {
    binary.file_name().is_some_and(|name| name.to_string_lossy().starts_with(NAME))
}

/// One that has PHP within.
///
/// # Errors
/// It is not there, or has no PHP.
pub fn find(binary: &Path, path: &OsStr) -> Result<PhpRuntime> {
    let named = named(binary, path);
    let program = named.with_context(|| format!("{}: there is no such program", clean_path(binary)))?;
    let query = Query { args: vec!["--version".into()], pattern: r"^([0-9]\S*)".into() };
    let version = query.ask(&program)?.into_iter().next().unwrap_or_default();
    let said = answer(std::process::Command::new(&program).args(["--plugin", "php", "--plugins-list"]))?;
    let has_php = (said.stdout + &said.stderr).lines().any(|line| line == format!("{MODIFIER}: php"));
    ensure!(has_php, "{} has no PHP: apt install uwsgi-plugin-php", clean_path(binary));
    let fpm = Some(vec![program.clone().into_os_string()]);
    let version = format!("uWSGI {version}");
    Ok(PhpRuntime { name: NAME.into(), version, cli: Vec::new(), fpm, origin: Origin::Program(program) })
}

/// The settings as PHP reads them: those that begin with a letter are quoted, as PHP-FPM quotes what it is given after `-d`.
pub fn settings(spec: &PoolSpec) -> String {
    let line = |(name, value): (&str, &str)| match value
        .starts_with(|c: char| c.is_ascii_digit() || "\"'".contains(c))
    {
        true => format!("{name}={value}\n"),
        false => format!("{name}=\"{}\"\n", value.replace('"', "")),
    };
    config::settings(spec).map(line).collect()
}

/// The command line. Servers name the script as SCRIPT_NAME, where uWSGI looks for it in PATH_INFO.
pub fn command(spec: &PoolSpec, dir: &Path) -> Result<Vec<OsString>> {
    let socket = format!("{}/{}", template::path_text(dir)?, config::SOCKET);
    let workers = spec.workers.to_string();
    let arguments = [
        "--plugin",
        "php",
        "--fastcgi-socket",
        &socket,
        "--chmod-socket=600",
        "--fastcgi-modifier1",
        MODIFIER,
        "--buffer-size",
        "65535",
        "--master",
        "--workers",
        &workers,
        "--disable-logging",
        "--route-run",
        "setpathinfo:${SCRIPT_NAME}${PATH_INFO}",
    ];
    Ok(spec.program.iter().cloned().chain(arguments.iter().map(Into::into)).collect())
}

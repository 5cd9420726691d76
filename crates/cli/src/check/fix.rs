//! `weigh check --fix`: installs the packages that are missing, by apt, after asking; no service is started.

use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::exit::OrRefuse;
use crate::terminal;
use weigh_os::command::answer;
use weigh_os::shelter::Shelter;
use weigh_rig::runtime;

/// What keeps services from starting; `scripts/setup` calls it too.
const INSTALL: &str = include_str!("install.sh");

/// Installs packages; false: there is nothing to install, or the user does not want it.
///
/// # Errors
/// Refused: there is no apt, the user is not root, or nobody can be asked. Or apt failed.
pub fn install(packages: &[&str], is_agreed: bool) -> Result<bool> {
    if packages.is_empty() {
        terminal::note("Nothing is missing that a package would bring.");
        return Ok(false);
    }
    may(packages).or_usage_error()?;
    let known = available(packages)?;
    if known.is_empty() {
        return Ok(false);
    }
    let shelter = Shelter::new()?;
    let script = shelter.path().join("install.sh");
    std::fs::write(&script, INSTALL)?;
    let shown = answer(Command::new("sh").arg(&script).arg("--show").args(&known))?;
    terminal::print(&format!("{}\n", shown.stdout.trim()))?;
    if !is_agreed && !confirm_installation().or_usage_error()? {
        terminal::note("Nothing was installed.");
        return Ok(false);
    }
    let status = watched(Command::new("sh").arg(&script).args(&known))?;
    ensure!(status.success(), "apt-get failed ({status}); its last lines say why");
    Ok(true)
}

/// Whether anything may be installed here.
fn may(packages: &[&str]) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let lacks = |program: &&str| runtime::named(Path::new(program), &path).is_none();
    if let Some(program) = ["apt-get", "apt-cache"].iter().find(|program| lacks(program)) {
        bail!(
            "no {program} here; install these with the system's own package manager: {}",
            packages.join(" ")
        );
    }
    if let Some(odd) = packages.iter().find(|name| !is_name(name)) {
        bail!("`{odd}` is no name of a package; correct the definition that names it");
    }
    ensure!(
        rustix::process::geteuid().is_root(),
        "packages are installed by root; type: sudo weigh check --fix"
    );
    Ok(())
}

/// Debian's rule for names; nothing else reaches a command line.
fn is_name(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) && name.chars().all(is_inner)
}

/// Those that the system's sources have; the others are named. A new system has no lists yet: they are fetched once.
fn available<'p>(packages: &[&'p str]) -> Result<Vec<&'p str>> {
    let mut known = listed(packages)?;
    if known.is_empty() {
        terminal::print("apt-get update -q\n")?;
        let status = watched(Command::new("apt-get").args(["update", "-q"]).stdout(Stdio::null()))?;
        ensure!(status.success(), "apt-get update failed ({status}); its last lines say why");
        known = listed(packages)?;
    }
    let unknown: Vec<&str> = packages.iter().copied().filter(|name| !known.contains(name)).collect();
    if !unknown.is_empty() {
        terminal::note(&format!("Not in this system's package sources: {}", unknown.join(", ")));
    }
    Ok(known)
}

fn listed<'p>(packages: &[&'p str]) -> Result<Vec<&'p str>> {
    let mut found = Vec::new();
    for name in packages {
        if answer(Command::new("apt-cache").args(["show", "--no-all-versions", name]))?.is_fine() {
            found.push(*name);
        }
    }
    Ok(found)
}

/// Runs what the user asked for and looks at, who ends it if it takes too long.
#[allow(clippy::disallowed_methods, reason = "an installation takes as long as its downloads")]
fn watched(command: &mut Command) -> Result<ExitStatus> {
    let program = command.get_program().display().to_string();
    command.stdin(Stdio::null()).status().with_context(|| format!("{program} cannot be started"))
}

/// Asks at the terminal; Enter is yes.
fn confirm_installation() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(anyhow!(
            "nobody can be asked here; to install without a question: weigh check --fix --yes"
        ));
    }
    terminal::tell("Install them? No service is started. [Y/n] ");
    let mut answer = String::new();
    let is_open = std::io::stdin().lock().read_line(&mut answer)? > 0;
    Ok(is_open && !answer.trim_start().starts_with(['n', 'N']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_packages_reach_a_command_line() {
        for name in ["libsnappy1v5", "php8.2-fpm", "g++", "nginx-light"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-o=x", "A", "a b", "a;b", "./x.deb", "a/b", "a=1"] {
            assert!(!is_name(name), "{name}");
        }
    }
}

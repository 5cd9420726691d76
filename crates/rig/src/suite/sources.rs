//! What this machine's apt is configured with (its sources, in both of their forms (sources.list(5)), and how it reaches the network), and the
//! files that a private apt is configured by: its one source, and where its folders are.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow};
use weigh_model::text::clean_path;
use weigh_os::command::answer;
use weigh_os::regular;

use super::definition::RuntimeSource;

/// One archive that the machine takes packages from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    pub uri: String,
    /// The suites of it that are used.
    pub suites: Vec<String>,
    /// The components of it that are used.
    pub components: Vec<String>,
    /// Keyring, fingerprints or the key itself, as the field has it; none: the keys that apt trusts for all.
    pub signed_by: Option<String>,
}

/// The archives in `sources.list` and `sources.list.d` of an apt folder, in apt's order. A file that cannot be read, or
/// an entry that is none, is left out, as it would serve no one.
pub fn archives(etc: &Path) -> Vec<Archive> {
    let read = |path: &Path| regular::system(path).unwrap_or_default();
    let mut found = one_line_entries(&read(&etc.join("sources.list")));
    let parts = fs::read_dir(etc.join("sources.list.d")).into_iter().flatten().flatten();
    let mut parts: Vec<_> = parts.map(|entry| entry.path()).collect();
    parts.sort();
    for path in parts {
        match path.extension().and_then(|e| e.to_str()) {
            Some("list") => found.extend(one_line_entries(&read(&path))),
            Some("sources") => found.extend(stanzas(&read(&path))),
            _ => {}
        }
    }
    found
}

/// Those that may be the archive of a distribution: one of its suites, with its component, by network.
pub fn candidates(archives: Vec<Archive>, source: &RuntimeSource) -> Vec<Archive> {
    let mut candidates: Vec<Archive> = Vec::new();
    for archive in archives {
        let suite = archive.suites.iter().any(|s| source.suites.contains(s));
        let usable =
            suite && archive.components.contains(&source.component) && !archive.uri.starts_with("cdrom");
        if usable && !candidates.iter().any(|known| known.uri == archive.uri) {
            candidates.push(archive);
        }
    }
    candidates
}

/// `deb [ option=value … ] uri suite component…` a line.
fn one_line_entries(text: &str) -> Vec<Archive> {
    text.lines().filter_map(one_line_entry).collect()
}

fn one_line_entry(line: &str) -> Option<Archive> {
    let line = line.split('#').next().unwrap_or("").trim();
    let mut rest = line.strip_prefix("deb")?;
    if !rest.starts_with([' ', '\t', '[']) {
        return None;
    }
    rest = rest.trim_start();
    let mut signed_by = None;
    if let Some(options) = rest.strip_prefix('[') {
        let (options, after) = options.split_once(']')?;
        signed_by = options.split_whitespace().find_map(|o| o.strip_prefix("signed-by=")).map(str::to_owned);
        rest = after;
    }
    let mut words = rest.split_whitespace().map(str::to_owned);
    let (uri, suite) = (words.next()?, words.next()?);
    Some(Archive { uri, suites: vec![suite], components: words.collect(), signed_by })
}

/// Stanzas of fields, with empty lines between them.
fn stanzas(text: &str) -> Vec<Archive> {
    let mut all = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            all.extend(archives_of(&std::mem::take(&mut fields)));
        } else if line.starts_with('#') {
            continue;
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
    }
    all
}

fn archives_of(fields: &[(String, String)]) -> Vec<Archive> {
    let field = |name: &str| fields.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
    let words = |name: &str| -> Vec<String> {
        field(name).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let off = field("enabled").is_some_and(|e| ["no", "false", "0"].contains(&e.to_lowercase().as_str()));
    if off || !words("types").iter().any(|t| t == "deb") {
        return Vec::new();
    }
    let archive = |uri| Archive {
        uri,
        suites: words("suites"),
        components: words("components"),
        signed_by: field("signed-by").filter(|s| !s.trim().is_empty()),
    };
    words("uris").into_iter().map(archive).collect()
}

/// The machine's settings that say how the network is reached: `Acquire::http`, `https` and the choice of addresses.
/// Empty where there is no apt.
pub(super) fn settings_of_machine() -> String {
    let Ok(said) = answer(Command::new("apt-config").arg("dump")) else { return String::new() };
    let kept = [
        "Acquire::http::",
        "Acquire::https::",
        "Acquire::ForceIPv4",
        "Acquire::ForceIPv6",
        "Acquire::Check-Valid-Until",
    ];
    let lines = said.stdout.lines().filter(|line| kept.iter().any(|k| line.starts_with(k)));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The one source, in the form that can hold a key.
pub(super) fn source_text(archive: &Archive, suite: &str, component: &str) -> String {
    let uri = &archive.uri;
    let mut text = format!("Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: {component}\n");
    if let Some(keys) = &archive.signed_by {
        text.push_str(&format!("Signed-By: {keys}\n"));
    }
    text
}

pub(super) fn configuration(home: &Path, machine: &str) -> Result<String> {
    let folder = home.to_str().filter(|text| !text.contains(['"', '\\', '\n']));
    let folder = folder.ok_or_else(|| {
        anyhow!("apt cannot work in {}: set WEIGH_CACHE to a plainer path", clean_path(home))
    })?;
    let mut text = machine.to_owned();
    for (name, value) in [
        ("Dir::State", format!("{folder}/state")),
        ("Dir::State::status", format!("{folder}/status")),
        ("Dir::Cache", format!("{folder}/cache")),
        ("Dir::Etc", format!("{folder}/etc")),
        ("Dir::Etc::sourcelist", format!("{folder}/etc/sources.sources")),
        ("Dir::Etc::sourceparts", "-".into()),
        ("Dir::Etc::trusted", "/etc/apt/trusted.gpg".into()),
        ("Dir::Etc::trustedparts", "/etc/apt/trusted.gpg.d".into()),
        ("Dir::Log", folder.into()),
        ("APT::Install-Recommends", "false".into()),
        ("APT::Sandbox::User", "root".into()),
        ("APT::Get::AllowUnauthenticated", "false".into()),
        ("Acquire::AllowInsecureRepositories", "false".into()),
        ("Acquire::Languages", "none".into()),
        ("Acquire::Retries", "2".into()),
        ("Debug::NoLocking", "true".into()),
    ] {
        text.push_str(&format!("{name} \"{value}\";\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;

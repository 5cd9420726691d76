//! What this machine's apt is configured with (its sources, in both of their forms (sources.list(5)), and how it reaches the network), and the
//! files that a private apt is configured by: its one source, and where its folders are.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow};
use weigh_model::text::clean_path;

use super::definition::RuntimeSource;

/// One archive that the machine takes packages from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Its address.
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
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
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
    let Ok(output) = Command::new("apt-config").arg("dump").output() else { return String::new() };
    let kept = ["Acquire::http::", "Acquire::https::", "Acquire::ForceIPv4", "Acquire::ForceIPv6"];
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| kept.iter().any(|k| line.starts_with(k)));
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
mod tests {
    use super::*;

    fn debian() -> RuntimeSource {
        RuntimeSource::parse(include_str!("../../../../../runtimes/debian.toml"), "debian.toml").unwrap()
    }

    fn machine(files: &[(&str, &str)]) -> Vec<Archive> {
        let etc = tempfile::tempdir().unwrap();
        fs::create_dir(etc.path().join("sources.list.d")).unwrap();
        for (name, text) in files {
            fs::write(etc.path().join(name), text).unwrap();
        }
        archives(etc.path())
    }

    #[test]
    fn lines_with_and_without_options_are_read() {
        let text = "# deb http://old.example/debian buster main\n\
            deb-src http://a.example/debian bookworm main\n\
            deb [arch=amd64 signed-by=/k/a.gpg] http://a.example/debian bookworm main contrib # comment\n\
            deb\thttp://b.example/debian/ trixie main\n\
            deb http://nothing.example\n\
            deb [ broken\n";
        let found = machine(&[("sources.list", text)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].uri, "http://a.example/debian");
        assert_eq!(found[0].signed_by.as_deref(), Some("/k/a.gpg"));
        assert_eq!(found[0].components, ["main", "contrib"]);
        assert_eq!((found[1].uri.as_str(), &found[1].signed_by), ("http://b.example/debian/", &None));
    }

    #[test]
    fn stanzas_are_read_with_keys_inside() {
        let text = "Types: deb deb-src\n# note\nURIs: http://a.example/debian http://b.example/debian\n\
            Suites: bookworm bookworm-updates\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n\
            \nTypes: deb\nEnabled: no\nURIs: http://off.example\nSuites: trixie\nComponents: main\n\
            \nTypes: deb-src\nURIs: http://src.example\nSuites: trixie\nComponents: main\n";
        let found = machine(&[("sources.list.d/x.sources", text), ("sources.list.d/y.disabled", text)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1].uri, "http://b.example/debian");
        assert_eq!(found[0].suites, ["bookworm", "bookworm-updates"]);
        let key = found[0].signed_by.as_deref().unwrap();
        assert_eq!(key, "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc");
    }

    #[test]
    fn only_an_archive_with_a_suite_of_the_distribution_is_a_candidate_and_once() {
        let text = "deb http://a.example/debian bookworm main\ndeb http://a.example/debian sid main\n\
            deb http://a.example/debian-security bookworm-security main\ndeb cdrom:[x]/ bookworm main\n\
            deb http://docker.example bookworm stable\ndeb http://pg.example bookworm-pgdg main\n";
        let found = candidates(machine(&[("sources.list", text)]), &debian());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].uri, "http://a.example/debian");
        assert_eq!(candidates(machine(&[]), &debian()), []);
    }

    fn archive() -> Archive {
        Archive {
            uri: "http://a.example/debian".into(),
            suites: vec!["bookworm".into()],
            components: vec!["main".into()],
            signed_by: Some("/k/a.gpg".into()),
        }
    }

    #[test]
    fn the_source_is_the_archive_with_its_keys_and_another_suite() {
        let text = source_text(&archive(), "trixie", "main");
        let wanted = "Types: deb\nURIs: http://a.example/debian\nSuites: trixie\nComponents: main\nSigned-By: /k/a.gpg\n";
        assert_eq!(text, wanted);
        let unnamed = Archive { signed_by: None, ..archive() };
        assert!(!source_text(&unnamed, "trixie", "main").contains("Signed-By"));
    }

    #[test]
    fn the_folders_are_private_and_nothing_unsigned_is_taken() {
        let text = configuration(Path::new("/c/x"), "Acquire::http::Proxy \"http://p:1\";\n").unwrap();
        assert!(text.starts_with("Acquire::http::Proxy \"http://p:1\";\n"), "{text}");
        assert!(text.contains("APT::Get::AllowUnauthenticated \"false\";"), "{text}");
        assert!(text.contains("Dir::State \"/c/x/state\";"), "{text}");
        assert!(configuration(Path::new("/c/\"x"), "").is_err());
    }
}

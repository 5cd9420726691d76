//! The files that a private apt is configured by: its one source, and where its folders are.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow};

use super::config::Archive;
use weigh_model::text::clean_path;

/// The machine's settings that say how the network is reached: `Acquire::http`, `https` and the choice of addresses.
/// Empty where there is no apt.
pub(super) fn of_machine() -> String {
    let Ok(output) = Command::new("apt-config").arg("dump").output() else { return String::new() };
    let kept = ["Acquire::http::", "Acquire::https::", "Acquire::ForceIPv4", "Acquire::ForceIPv6"];
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| kept.iter().any(|k| line.starts_with(k)));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The one source, in the form that can hold a key.
pub(super) fn source(archive: &Archive, suite: &str, component: &str) -> String {
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
        let text = source(&archive(), "trixie", "main");
        let wanted = "Types: deb\nURIs: http://a.example/debian\nSuites: trixie\nComponents: main\nSigned-By: /k/a.gpg\n";
        assert_eq!(text, wanted);
        let unnamed = Archive { signed_by: None, ..archive() };
        assert!(!source(&unnamed, "trixie", "main").contains("Signed-By"));
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

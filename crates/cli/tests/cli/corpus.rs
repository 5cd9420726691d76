//! `weigh lab corpus list` and `site`; fetching is tested with its clients where they are.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::lab::{Lab, has};

#[test]
fn everything_is_listed_with_its_licence() {
    let lab = Lab::new();
    let list = lab.told(&["lab", "corpus", "list", "--json"]);
    assert_eq!(list["schema"], 1);
    assert_eq!(list["cache"].as_str(), lab.cache().to_str());
    let contents = list["contents"].as_array().unwrap();
    assert!(contents.len() > 50);
    for content in contents {
        assert!(!content["licence"].as_str().unwrap().is_empty(), "{content}");
        assert_eq!(content["cached"], false, "{content}");
    }
    let text = lab.fine(&["lab", "corpus", "list"]);
    assert_eq!(text.lines().filter(|l| l.ends_with(" no")).count(), contents.len(), "{text}");
    assert!(text.contains("corpus:jquery-3.7.1.min"));
}

#[test]
fn an_unknown_content_is_refused_with_the_nearest() {
    let lab = Lab::new();
    let line = lab.refused(&["lab", "corpus", "fetch", "corpus:jquery-3.7.1.mni"]);
    assert!(line.contains("corpus:jquery-3.7.1.min"), "{line}");
}

/// Every file and folder below one, with its mode.
fn modes(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let data = entry.metadata().unwrap();
        found.push((entry.path(), data.permissions().mode()));
        if data.is_dir() {
            found.extend(modes(&entry.path()));
        }
    }
    found
}

#[test]
fn a_sample_site_is_open_to_its_servers_alone_and_they_take_its_configurations() {
    let lab = Lab::new();
    let text = lab.fine(&["lab", "corpus", "site", "site"]);
    let next = text.lines().find(|line| line.starts_with("Next: weigh site ")).unwrap();
    assert!(next.contains(lab.path("site/public").to_str().unwrap()), "{next}");
    let found = modes(&lab.work());
    assert!(found.len() > 150, "{}", found.len());
    for (path, mode) in found {
        let below = path.strip_prefix(lab.path("site")).unwrap();
        let is_served = ["public", "pages", "values"].iter().any(|folder| below.starts_with(folder));
        let expected = match (path.is_dir(), is_served) {
            (true, true) => 0o040_755,
            (false, true) => 0o100_644,
            (true, false) if below.as_os_str().is_empty() => 0o040_711,
            (true, false) => 0o040_700,
            (false, false) => 0o100_600,
        };
        assert_eq!(mode, expected, "{}", path.display());
    }
    let line = lab.refused(&["lab", "corpus", "site", "site"]);
    assert!(line.contains("is not empty"), "{line}");
    for (program, arguments, config) in [
        ("nginx", ["-t", "-q", "-c"].as_slice(), "nginx.conf"),
        ("apache2", &["-t", "-f"], "apache.conf"),
        ("lighttpd", &["-tt", "-f"], "lighttpd.conf"),
        ("caddy", &["adapt", "--config"], "Caddyfile"),
    ] {
        if has(program, "apt install nginx-light apache2 lighttpd lighttpd-mod-deflate caddy") {
            let config = lab.path("site").join(config);
            lab.command(program).args(arguments).arg(config).assert().success();
        }
    }
}

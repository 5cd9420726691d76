//! What the templates make: each server's configuration in full for the plain way, and for every other way the lines that it adds.

use std::collections::BTreeSet;

use super::emission::Downloads;
use super::fixture::complete;
use super::render::{Attempt, Values};
use super::*;
use crate::server::definition::Php;
use crate::service::{Draft, FolderDefinition, command};
use weigh_content::defs::Definitions;
use weigh_content::types;
use weigh_model::advised::{Advised, Encoding};
use weigh_model::setting::Setting;
use weigh_model::way::WayKind;
use weigh_os::guard::LaunchContext;

fn render(found: &Found, site: &Site) -> String {
    let home = tempfile::tempdir().unwrap();
    let place = LaunchContext::new(home.path(), home.path().join("log"));
    let mut draft = Draft::new("x", "x", &place).unwrap();
    let dir = draft.path().to_owned();
    let attempt =
        Attempt { dir: &dir, address: "127.0.0.1:8080".parse().unwrap(), token: "TOKEN", root: false };
    let values = Values::new(found, site, &attempt).unwrap();
    values.write(found, site, &mut draft).unwrap();
    let text: String = draft.files().iter().map(|(name, text)| format!("==== {name}\n{text}")).collect();
    let words = command(None, "", &found.definition.run, &values).unwrap();
    let words: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let command = format!("{}\n", words.join(" "));
    let shown = format!("==== command\n{command}{text}");
    let served = site.docroot.canonicalize().unwrap();
    shown.replace(&served.display().to_string(), "/www").replace(&dir.display().to_string(), "/run/x")
}

fn snapshot(name: &str) {
    let docroot = tempfile::tempdir().unwrap();
    for file in ["lib.js", "lib.js.gz", "lib.js.br", "photo.png", "cert.pem"] {
        std::fs::write(docroot.path().join(file), "x").unwrap();
    }
    let servers = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    let definition = servers.iter().find(|s| s.name == name).unwrap();
    let found = complete(definition);
    let plain = Site {
        docroot: docroot.path().into(),
        fpm: (definition.php == Php::Fpm).then(|| "/run/php.sock".into()),
        offload: Some(docroot.path().into()),
        cpus: vec![0],
        ..Site::default()
    };
    let text = render(&found, &plain);
    let known: BTreeSet<&str> = text.lines().collect();
    let mut shown = text.clone();
    let mut add = |title: String, site: &Site| {
        let other = render(&found, site);
        let new: String = other.lines().filter(|l| !known.contains(l)).map(|l| format!("{l}\n")).collect();
        shown.push_str(&format!("\n#### {title} adds\n{new}"));
    };
    for row in definition.ways.iter().filter(|row| row.name != "plain") {
        let level = row.levels.as_ref().map(|l| l.max);
        let way = Setting { level, ..Setting::bare(row.name.as_str()) };
        add(way.to_string(), &Site { way: Some(way), ..plain.clone() });
    }
    for (option, word) in definition.options.iter().flat_map(|o| o.words.iter().skip(1).map(move |w| (o, w)))
    {
        let mut way = Setting::bare("plain");
        way.options.insert(option.name.clone(), word.clone());
        add(way.to_string(), &Site { way: Some(way), ..plain.clone() });
    }
    let pem = docroot.path().join("cert.pem");
    let certificate = Certificate { chain: pem.clone(), key: pem };
    add("HTTPS".into(), &Site { tls: Some(certificate), ..plain.clone() });
    add("no PHP".into(), &Site { fpm: None, ..plain.clone() });
    insta::assert_snapshot!(name, shown);
}

#[test]
fn nginx_is_configured_like_this() {
    snapshot("nginx");
}

#[test]
fn apache_is_configured_like_this() {
    snapshot("apache");
}

#[test]
fn lighttpd_is_configured_like_this() {
    snapshot("lighttpd");
}

#[test]
fn caddy_is_configured_like_this() {
    snapshot("caddy");
}

#[test]
fn the_server_of_php_is_configured_like_this() {
    snapshot("php-builtin");
}

/// The directives of a text, without comments and indentation.
fn directives(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_policy_of_one_rule_is_written_as_the_method_is_measured() {
    let docroot = tempfile::tempdir().unwrap();
    for file in ["lib.js", "lib.js.gz", "lib.js.br", "lib.js.zst", "lib.js.zz", "lib.js.Z"] {
        std::fs::write(docroot.path().join(file), "x").unwrap();
    }
    let mut seen = 0;
    for definition in Definition::load(&Definitions::load(None).unwrap()).unwrap() {
        let Some(emission) = &definition.policy else { continue };
        // A policy has no deltas: their configuration is written by `weigh pack`.
        let is_of_policies = |row: &&WayRow| !matches!(row.kind, WayKind::Plain | WayKind::Delta);
        for row in definition.ways.iter().filter(is_of_policies) {
            let encodes = matches!(row.kind, WayKind::OnTheFly | WayKind::PreEncoded);
            let known = types::PREFERRED.into_iter().filter(|c| row.codings.iter().any(|own| own == c));
            let rule = Encoding {
                method: row.name.clone(),
                kind: row.kind,
                level: row.levels.as_ref().map(|l| l.max),
                codings: known.map(str::to_owned).collect(),
                types: types::compressible().into_iter().map(str::to_owned).collect(),
                ..Encoding::default()
            };
            let advised = Advised {
                rules: encodes.then_some(rule).into_iter().collect(),
                pages: None,
                downloads: (!encodes).then(|| row.name.clone()),
                page_cache: None,
                aliases: Vec::new(),
                own: None,
            };
            let way =
                Setting { level: row.levels.as_ref().map(|l| l.max), ..Setting::bare(row.name.as_str()) };
            let site = Site {
                docroot: docroot.path().into(),
                fpm: Some("/run/php.sock".into()),
                way: Some(way),
                offload: Some(docroot.path().into()),
                ..Site::default()
            };
            let measured = directives(&render(&complete(&definition), &site));
            let found = complete(&definition.with_advised(&advised));
            let downloads = Downloads { folders: vec!["/www".into()], refused: Vec::new() };
            let parts = found.parts(&site, &downloads).unwrap();
            assert!(!parts.is_empty(), "{} {}", definition.name, row.name);
            for (snippet, text) in parts.iter().filter(|(snippet, _)| snippet.template != "revalidation.conf")
            {
                // The mirror of a measured folder is the user's folder itself.
                let text = directives(text).replace(&docroot.path().display().to_string(), "/run/x/docroot");
                assert!(
                    measured.contains(&text),
                    "{} {}: {}\n{text}\n-- of --\n{measured}",
                    definition.name,
                    row.name,
                    snippet.template
                );
                seen += 1;
            }
        }
        assert!(emission.snippets.iter().all(|snippet| {
            let is_pasted = snippet.inside.is_some() && snippet.line.is_empty();
            (is_pasted || !snippet.line.is_empty()) && !snippet.place.is_empty()
        }));
    }
    assert!(seen >= 20, "{seen}");
}

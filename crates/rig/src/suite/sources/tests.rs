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
    let wanted =
        "Types: deb\nURIs: http://a.example/debian\nSuites: trixie\nComponents: main\nSigned-By: /k/a.gpg\n";
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

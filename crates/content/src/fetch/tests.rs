//! Fetching against package clients that the tests make themselves.

mod fixture;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::client::Clients;
use fixture::{Fixture, gzip, tar, why};
use weigh_model::payload::Origin;
use weigh_os::digest::sha256;

#[test]
fn what_is_there_needs_no_client_the_second_time() {
    let mut fixture = Fixture::new();
    fixture.npm("a", b"content of a");
    fixture.npm("@s/b", b"content of b");
    let mut told = Vec::new();
    let first = fixture.fetch_telling(&mut |progress| told.push(progress));
    assert_eq!(first, [("corpus:a".into(), State::Fetched), ("corpus:sb".into(), State::Fetched)]);
    assert_eq!(fixture.calls(), ["@s/b@1.0.0", "a@1.0.0"]);
    assert!(matches!(told[0], Progress::Need { archives: 2, .. }));
    assert_eq!(told.iter().filter(|p| matches!(p, Progress::Arrived { .. })).count(), 2);

    fixture.options.clients = Clients { npm: vec!["/nonexistent/npm".into()], ..Clients::default() };
    let second = fixture.fetch_telling(&mut |progress| panic!("{progress:?}"));
    assert_eq!(second, [("corpus:a".into(), State::Ready), ("corpus:sb".into(), State::Ready)]);

    let into = fixture.folder.path().join("run");
    let payload = fixture.library().stage("corpus:a", &into, "a", false).unwrap();
    assert_eq!(fs::read(&payload.blob).unwrap(), b"content of a");
    assert_eq!((payload.bytes, payload.items.as_slice(), payload.value), (12, &[12][..], None));
    assert_eq!(payload.sha256, sha256(b"content of a"));
    assert!(matches!(payload.origin, Origin::Corpus { unpinned: None, .. }));
}

#[test]
fn a_read_only_look_makes_no_cache() {
    let mut fixture = Fixture::new();
    fixture.npm("a", b"x");
    let status = fixture.library().status().unwrap();
    assert_eq!(status[0].1, Presence::Absent);
    assert!(!fixture.folder.path().join("cache").exists());
}

#[test]
fn other_bytes_than_pinned_are_refused_and_the_rest_goes_on() {
    let mut fixture = Fixture::new();
    fixture.npm("good", b"good");
    fixture.npm("changed", b"pinned");
    fs::write(fixture.store("changed@1.0.0"), gzip(&tar(&[("package/a.txt", b"others")]))).unwrap();
    fixture.npm("cut", &[7; 5000]);
    let whole = fs::read(fixture.store("cut@1.0.0")).unwrap();
    fs::write(fixture.store("cut@1.0.0"), &whole[..whole.len() / 2]).unwrap();
    // The archive is the pinned one, and what is pinned of its file is wrong.
    let tgz = gzip(&tar(&[("package/a.txt", b"inside")]));
    fixture.archive("npm:inner@1.0.0", "inner@1.0.0", &tgz);
    fixture.file("inner", "npm:inner@1.0.0:a.txt", b"beside");
    fixture.file("long", "npm:inner@1.0.0:a.txt", b"short");
    fixture.file("gone", "npm:inner@1.0.0:b.txt", b"b");

    let states = fixture.fetch();
    assert_eq!(states[0].1, State::Fetched);
    assert!(why(&states[1].1).contains("not the pinned one"), "{states:?}");
    assert!(why(&states[2].1).contains("not the pinned one"), "{states:?}");
    assert!(why(&states[3].1).contains("not the pinned file"), "{states:?}");
    assert!(why(&states[4].1).contains("not in the archive"), "{states:?}");
    assert!(why(&states[5].1).contains("not in the archive"), "{states:?}");
    let files = fixture.folder.path().join("cache/files");
    assert_eq!(fs::read_dir(files).unwrap().count(), 1);
}

#[test]
fn an_archive_cannot_write_elsewhere_or_without_end() {
    let mut fixture = Fixture::new();
    let bomb = vec![0; 3 << 20];
    let tgz = gzip(&tar(&[
        ("package/../../../../evil", b"evil"),
        ("/tmp/weigh-evil-member", b"evil"),
        ("package/bomb", &bomb),
        ("package/a.txt", b"fine"),
    ]));
    fixture.archive("npm:x@1.0.0", "x@1.0.0", &tgz);
    fixture.file("bomb", "npm:x@1.0.0:bomb", b"a small file");
    fixture.file("fine", "npm:x@1.0.0:a.txt", b"fine");
    fixture.file("evil", "npm:x@1.0.0:evil", b"evil");
    let states = fixture.fetch();
    assert!(why(&states[0].1).contains("more than the 12 bytes"), "{states:?}");
    assert_eq!(states[1].1, State::Fetched);
    assert!(why(&states[2].1).contains("not in the archive"), "{states:?}");
    assert!(!Path::new("/tmp/weigh-evil-member").exists());
    assert!(!fixture.folder.path().join("evil").exists());
}

#[test]
fn a_link_in_an_archive_is_no_file() {
    let mut fixture = Fixture::new();
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder.append_link(&mut header, "package/a.txt", "/etc/hostname").unwrap();
    let tgz = gzip(&builder.into_inner().unwrap());
    fixture.archive("npm:x@1.0.0", "x@1.0.0", &tgz);
    fixture.file("a", "npm:x@1.0.0:a.txt", b"");
    assert!(why(&fixture.fetch()[0].1).contains("not in the archive"));
}

#[test]
fn a_wheel_is_taken_through_pip() {
    let mut fixture = Fixture::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let method =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (path, content) in [("../evil", &b"evil"[..]), ("p/bomb", &[0; 100_000]), ("p/a.txt", b"wheel")] {
        zip.start_file(path, method).unwrap();
        zip.write_all(content).unwrap();
    }
    let whl = zip.finish().unwrap().into_inner();
    fixture.archive("pypi:p@1.0", "p==1.0", &whl);
    fixture.file("a", "pypi:p@1.0:p/a.txt", b"wheel");
    fixture.file("bomb", "pypi:p@1.0:p/bomb", b"small");
    let states = fixture.fetch();
    assert_eq!(states[0].1, State::Fetched);
    assert!(why(&states[1].1).contains("more than the 5 bytes"), "{states:?}");
}

#[test]
fn an_interrupted_fetch_goes_on_where_it_stopped() {
    let mut fixture = Fixture::new();
    fixture.npm("a", b"content of a");
    fixture.npm("b", b"content of b");
    fixture.fetch();
    fs::remove_file(fixture.store("log")).unwrap();
    let cache = fixture.folder.path().join("cache");
    // As if killed: one file is not unpacked yet, one archive is half there, and work lies around.
    fs::remove_file(cache.join("files/a")).unwrap();
    fs::remove_file(cache.join("files/b")).unwrap();
    let half = cache.join("archives/npm-b-1.0.0.tgz");
    let whole = fs::read(&half).unwrap();
    fs::write(&half, &whole[..whole.len() / 2]).unwrap();
    fs::create_dir(cache.join("tmp/left-behind")).unwrap();
    let states = fixture.fetch();
    assert!(states.iter().all(|(_, state)| *state == State::Fetched), "{states:?}");
    assert_eq!(fixture.calls(), ["b@1.0.0"], "only the damaged archive is downloaded again");
    assert_eq!(fs::read_dir(cache.join("tmp")).unwrap().count(), 0);
}

#[test]
fn a_damaged_file_is_noticed_and_mended() {
    let mut fixture = Fixture::new();
    fixture.npm("a", b"content of a");
    fixture.fetch();
    fs::write(fixture.folder.path().join("cache/files/a"), b"content of A").unwrap();
    let library = fixture.library();
    assert_eq!(library.status().unwrap()[0].1, Presence::Absent);
    assert!(library.stage("corpus:a", fixture.folder.path(), "a", false).is_err());
    assert_eq!(fixture.fetch()[0].1, State::Fetched);
}

#[test]
fn offline_is_said_once_for_each_registry_and_quickly() {
    let mut fixture = Fixture::new();
    for name in ["a", "b", "c", "d", "e"] {
        fixture.npm(name, name.as_bytes());
        let says = "npm error code ENOTFOUND\nnpm error request to the registry failed\n\
                    npm error A complete log of this run can be found in: /x\n";
        fs::write(fixture.store(&format!("{name}@1.0.0.says")), says).unwrap();
    }
    let states = fixture.fetch();
    assert!(states.iter().all(|(_, state)| matches!(state, State::Failed { remedy: Some(_), .. })));
    let tried =
        states.iter().filter(|(_, s)| why(s) == "sh: npm error request to the registry failed").count();
    let spared =
        states.iter().filter(|(_, s)| why(s).starts_with("not tried, because sh: npm error")).count();
    assert_eq!(tried + spared, 5, "{states:?}");
    assert!(spared >= 2 && fixture.calls().len() <= 3, "{states:?}");
}

#[test]
fn a_missing_client_names_what_to_install() {
    let mut fixture = Fixture::new();
    for name in ["a", "b", "c", "d", "e"] {
        fixture.npm(name, b"x");
    }
    fixture.options.clients.npm = vec!["/nonexistent/npm".into()];
    for (_, state) in fixture.fetch() {
        let State::Failed { why, remedy: Some(remedy) } = &state else { panic!("{state:?}") };
        assert!(why.ends_with("/nonexistent/npm is not installed"), "{why}");
        assert!(remedy.contains("install"), "{remedy}");
    }
}

#[test]
fn a_client_that_hangs_is_ended_with_all_it_started() {
    let mut fixture = Fixture::new();
    fixture.npm("a", b"a");
    fs::write(fixture.store("a@1.0.0.hangs"), b"").unwrap();
    fixture.options.clients.patience = Duration::from_millis(500);
    let states = fixture.fetch();
    assert!(why(&states[0].1).contains("did not finish"), "{states:?}");
    let pid = fs::read_to_string(fixture.store("pid")).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    // Killed, and gone as soon as something has waited for it.
    let dead = || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    assert!((0..100).any(|_| dead() || {
        std::thread::sleep(Duration::from_millis(50));
        false
    }));
}

#[test]
fn a_superseded_debian_package_is_used_and_marked() {
    let mut fixture = Fixture::new();
    let now = tar(&[("./usr/same.txt", b"same"), ("./usr/new.txt", b"new and longer")]);
    fs::write(fixture.store("pkg"), &now).unwrap();
    fs::write(fixture.store("pkg=1.0-1.says"), "E: Version '1.0-1' for 'pkg' was not found\n").unwrap();
    fixture.pin("deb:pkg@1.0-1", 1000, &"a".repeat(64));
    fixture.file("same", "deb:pkg@1.0-1:usr/same.txt", b"same");
    fixture.file("new", "deb:pkg@1.0-1:usr/new.txt", b"old");
    let states = fixture.fetch();
    assert_eq!(fixture.calls(), ["pkg", "pkg=1.0-1"]);
    assert_eq!(states[0].1, State::Fetched);
    let State::Unpinned { why } = &states[1].1 else { panic!("{states:?}") };
    assert_eq!(why, "the registry now has pkg 2.0-1, where this file is not the pinned one");
    let payload = fixture.library().stage("corpus:new", fixture.folder.path(), "new", false).unwrap();
    assert_eq!(payload.bytes, 14);
    assert!(matches!(payload.origin, Origin::Corpus { unpinned: Some(_), .. }));
    // What is there stays there, and says the same.
    fixture.options.clients = Clients { apt: vec!["/nonexistent/apt".into()], ..Clients::default() };
    assert_eq!(fixture.fetch()[0].1, State::Ready);
    assert_eq!(fixture.fetch()[1].1, states[1].1);
}

#[test]
fn two_fetches_at_once_share_the_work() {
    let mut fixture = Fixture::new();
    for name in ["a", "b", "c"] {
        fixture.npm(name, name.as_bytes());
    }
    let outcomes = std::thread::scope(|scope| {
        let other = scope.spawn(|| fixture.fetch());
        [fixture.fetch(), other.join().unwrap()]
    });
    assert!(outcomes.iter().flatten().all(|(_, state)| matches!(state, State::Fetched | State::Ready)));
    assert_eq!(fixture.calls(), ["a@1.0.0", "b@1.0.0", "c@1.0.0"]);
}

#[test]
fn an_unknown_id_is_an_error() {
    let error = Fixture::new().library().fetch(&["corpus:x".into()], &FetchOptions::default(), &mut |_| {});
    assert!(error.unwrap_err().to_string().contains("`corpus:x`"));
}

//! Values made by the real PHP, from data that the tests make themselves.

use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::manifest::Manifest;
use crate::{Presence, State};
use weigh_os::digest::sha256;

const AIRPORTS: &str = r#"[
    {"id": "7", "name": "Zürich", "latitude_deg": "47.4647", "elevation_ft": "1416", "home_link": ""},
    {"id": "8", "name": "A name so long that the row does not fit any more", "elevation_ft": "", "home_link": ""},
    {"id": "9", "name": "Bern"}
]"#;
const ROWS: &str = "a:2:{i:0;a:5:{s:2:\"id\";i:7;s:4:\"name\";s:7:\"Zürich\";s:12:\"latitude_deg\";d:47.4647;\
                    s:12:\"elevation_ft\";i:1416;s:9:\"home_link\";N;}i:1;a:2:{s:2:\"id\";i:9;s:4:\"name\";\
                    s:4:\"Bern\";}}";
const CLASS: &str = r"<?php
namespace App\Model;
/** A thing. */
final class Thing extends \Base implements Marker
{
    public const LIMIT = 3;
    /** @var string|null */
    private $name;
    public function rename(?string $name, \App\Other $other = null): bool { return false; }
}
";

/// A library whose archive is in its cache already, and the value's definition.
fn library(folder: &Path, family: &str, path: &str, members: &[(&str, &str)], value: &str) -> Library {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        tar.append_data(&mut header, path, content.as_bytes()).unwrap();
    }
    let tgz = tar.into_inner().unwrap().finish().unwrap();
    let table = format!(
        "[[archive]]\nsource='npm:data@1.0.0'\nlicence='MIT'\nbytes={}\nsha256='{}'\n\
         [[family]]\nname='{family}'\nsource='npm:data@1.0.0:{path}'\nlicence='MIT'\nabout='x'\n\
         [[value]]\nid='{family}-x'\nfamily='{family}'\nlimit=9000\nbytes={}\nsha256='{}'\n",
        tgz.len(),
        sha256(&tgz),
        value.len(),
        sha256(value.as_bytes()),
    );
    let library = Library::with(Manifest::parse(&table).unwrap(), folder);
    library.cache.prepare().unwrap();
    fs::write(library.cache.archive(&library.manifest.archives[0].source), tgz).unwrap();
    library
}

fn rows(folder: &Path, value: &str) -> Library {
    let manifest = library(folder, "rows", "rows.json", &[("package/rows.json", AIRPORTS)], value);
    let mut narrow = manifest.clone();
    narrow.manifest.values[0].limit = 200;
    narrow
}

fn fetch(library: &Library, php: Option<PathBuf>) -> Vec<State> {
    let options = FetchOptions { php, ..FetchOptions::default() };
    library.fetch(&[], &options, &mut |_| {}).unwrap().into_iter().map(|outcome| outcome.state).collect()
}

fn why(state: &State) -> &str {
    match state {
        State::Failed { why, .. } => why,
        other => panic!("{other:?} is no failure"),
    }
}

#[test]
fn rows_are_typed_cut_and_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let library = rows(folder.path(), ROWS);
    let states = fetch(&library, Some("php".into()));
    assert_eq!(states[0], State::Fetched);
    let payload = library.stage("value:rows-x", &folder.path().join("run"), "rows-x", false).unwrap();
    assert_eq!(fs::read_to_string(&payload.blob).unwrap(), ROWS);
    assert_eq!(payload.value.as_deref(), Some("serialize"));
    assert_eq!(payload.kind, "php-value");
    // The last form needs no extension.
    assert_eq!(states[3], State::Fetched);
    let code = library.stage("value:rows-x.var_export", &folder.path().join("run"), "code", false).unwrap();
    assert!(fs::read_to_string(&code.blob).unwrap().contains("'latitude_deg' => 47.4647"));
    assert_eq!(code.value, None);
    // And all that this PHP could make is still there without any PHP.
    let again = fetch(&library, None);
    assert_eq!((&again[0], &again[3]), (&State::Ready, &State::Ready));
}

#[test]
fn instances_begin_elsewhere_and_are_staged_as_a_family() {
    let folder = tempfile::tempdir().unwrap();
    // From Zürich on, from the long name on, from Bern on: what no longer fits is passed over.
    let long = "a:2:{i:0;a:4:{s:2:\"id\";i:8;s:4:\"name\";s:49:\"A name so long that the row does not fit any more\";\
                s:12:\"elevation_ft\";N;s:9:\"home_link\";N;}i:1;a:2:{s:2:\"id\";i:9;s:4:\"name\";s:4:\"Bern\";}}";
    let turned = "a:2:{i:0;a:2:{s:2:\"id\";i:9;s:4:\"name\";s:4:\"Bern\";}i:1;a:5:{s:2:\"id\";i:7;s:4:\"name\";\
                  s:7:\"Zürich\";s:12:\"latitude_deg\";d:47.4647;s:12:\"elevation_ft\";i:1416;s:9:\"home_link\";N;}}";
    let all = format!("{ROWS}{long}{turned}");
    let mut library = rows(folder.path(), ROWS);
    let pin = |all: &str| crate::manifest::InstancesPin {
        count: 3,
        bytes: all.len() as u64,
        sha256: sha256(all.as_bytes()),
    };
    library.manifest.values[0].instances = Some(pin(ROWS));
    assert!(
        why(&fetch(&library, Some("php".into()))[0]).contains("pinned are"),
        "other instances are refused"
    );
    library.manifest.values[0].instances = Some(pin(&all));
    assert_eq!(library.status().unwrap()[0].1, Presence::Absent);
    let states = fetch(&library, Some("php".into()));
    assert_eq!((&states[0], &states[3]), (&State::Fetched, &State::Fetched));
    let run = folder.path().join("run");
    let family = library.stage("value:rows-x", &run, "family", true).unwrap();
    assert_eq!(fs::read_to_string(&family.blob).unwrap(), all);
    assert_eq!(family.items, [ROWS, long, turned].map(|value| value.len() as u64));
    assert!(family.family && family.value.is_some());
    let one = library.stage("value:rows-x", &run, "one", false).unwrap();
    assert_eq!(fs::read_to_string(&one.blob).unwrap(), ROWS);
    assert!(!one.family && one.items == [ROWS.len() as u64]);
    // A form that is not pinned has its own lengths.
    let code = library.stage("value:rows-x.var_export", &run, "code", true).unwrap();
    assert_eq!((code.items.len(), code.items.iter().sum::<u64>()), (3, code.bytes));
}

#[test]
fn classes_are_read_and_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = "<?php file_put_contents(__DIR__ . '/ran', ''); class Bomb {}";
    let members = [("package/src/Thing.php", CLASS), ("package/src/a/Bomb.php", bomb)];
    let library = library(folder.path(), "meta", "src/", &members, "other bytes than PHP makes");
    let states = fetch(&library, Some("php".into()));
    assert!(why(&states[0]).contains("pinned are 26"), "{states:?}");
    let code = library.stage("value:meta-x.var_export", &folder.path().join("run"), "code", false).unwrap();
    let code = fs::read_to_string(&code.blob).unwrap();
    for part in
        ["'App\\\\Model\\\\Thing'", "'LIMIT' => '3'", "'nullable' => true", "'\\\\App\\\\Other'", "'Bomb'"]
    {
        assert!(code.contains(part), "{part} is not in {code}");
    }
}

#[test]
fn without_a_php_or_with_another_program_the_reason_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let library = rows(folder.path(), ROWS);
    assert!(why(&fetch(&library, None)[0]).contains("no PHP"));
    assert!(
        why(&fetch(&library, Some("/nonexistent/php".into()))[0]).contains("cannot start /nonexistent/php")
    );
    assert!(why(&fetch(&library, Some("/bin/echo".into()))[0]).contains("not about forms"));
    assert!(why(&fetch(&library, Some("/bin/false".into()))[0]).contains("not about forms"));
    assert_eq!(library.status().unwrap()[0].1, Presence::Absent);
}

#[test]
fn other_bytes_than_pinned_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let library = rows(folder.path(), &ROWS.replace("Bern", "Genf"));
    let states = fetch(&library, Some("php".into()));
    assert!(why(&states[0]).contains("pinned are"), "{states:?}");
    assert!(library.stage("value:rows-x", folder.path(), "x", false).is_err());
}

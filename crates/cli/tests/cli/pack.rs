//! `weigh pack` as its users see it: what it writes, what it leaves alone, and what it says.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use weigh_codec::{Format, Params, codecs, independent};

use crate::lab::{Lab, has, wait_until};

/// The manifest of the folder `www`, beside it.
const MANIFEST: &str = ".weigh-pack-www.ndjson";

/// Text that compresses, different for each seed.
fn text(seed: usize, lines: usize) -> String {
    (0..lines)
        .map(|line| format!("function f{seed}_{line}(a) {{ return a * {}; }}\n", line * 7919 % 1001))
        .collect()
}

/// Text that does not compress.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// A small site below `www`.
fn site() -> Lab {
    let lab = Lab::new();
    lab.write("www/js/a.js", text(1, 60));
    lab.write("www/css/b.css", text(2, 60));
    lab.write("www/index.html", text(3, 60));
    lab.write("www/small.js", "x();");
    lab.write("www/photo.png", noise(3000));
    lab.write("www/noise.svg", noise(4000));
    lab.write("www/index.php", text(5, 60));
    lab
}

/// Every file below a folder with its content, but for the manifest.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn add(folder: &Path, root: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                add(&path, root, into);
            } else {
                into.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    let mut all = BTreeMap::new();
    add(folder, folder, &mut all);
    all
}

/// Bytes as one of the codecs encodes them.
fn encoded(codec: &str, options: &[(&str, &str)], bytes: &[u8]) -> Vec<u8> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let params = Params { options, ..Params::default() };
    let mut out = Vec::new();
    codecs::find(codec).unwrap().coder(&params).unwrap().encode(bytes, &mut out).unwrap();
    out
}

/// What a variant decodes to.
fn decoded(path: &Path) -> Vec<u8> {
    let format = match path.extension().and_then(OsStr::to_str) {
        Some("gz") => Format::Gzip,
        Some("br") => Format::Brotli,
        Some("zst") => Format::Zstd,
        other => panic!("{other:?}"),
    };
    independent::decode(format, &fs::read(path).unwrap(), 1 << 20, None).unwrap().0
}

fn pack(lab: &Lab, more: &[&str]) -> Value {
    lab.told(&[&["pack", "www", "--effort", "fast", "--json"], more].concat())
}

fn counts(outcome: &Value) -> [u64; 3] {
    ["unchanged", "written", "removed"].map(|name| outcome[name].as_u64().unwrap())
}

fn touch(path: &Path, seconds: u64) {
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    File::open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[test]
fn each_file_that_is_worth_it_gets_its_variants_and_they_decode_to_it() {
    let lab = site();
    let before = files(&lab.path("www"));
    let said = lab.fine(&["pack", "www", "--effort", "fast"]);
    assert!(
        said.contains("libdeflate:9")
            && said.contains("9 variants, ")
            && said.contains("9 written, 0 removed"),
        "{said}"
    );
    let after = files(&lab.path("www"));
    let new: Vec<String> =
        after.keys().filter(|path| !before.contains_key(*path)).map(|p| p.display().to_string()).collect();
    let wanted = ["css/b.css", "index.html", "js/a.js"]
        .map(|name| ["br", "gz", "zst"].map(|ending| format!("{name}.{ending}")));
    assert_eq!(new, wanted.concat());
    for (name, content) in &before {
        assert_eq!(after[name], *content, "sources stay as they are");
        for ending in ["gz", "br", "zst"] {
            let variant = lab.path(&format!("www/{}.{ending}", name.display()));
            if variant.exists() {
                assert_eq!(decoded(&variant), *content);
            }
        }
    }
    let outcome = pack(&lab, &[]);
    assert_eq!(counts(&outcome), [3, 0, 0], "the noise is not tried again");
    assert_eq!(files(&lab.path("www")), after);
}

#[test]
fn a_second_tree_has_the_same_bytes_whatever_its_times_and_threads() {
    let (one, other) = (site(), site());
    touch(&other.path("www/js/a.js"), 1_000_000);
    pack(&one, &["--jobs", "1"]);
    pack(&other, &["--jobs", "4"]);
    assert_eq!(files(&one.path("www")), files(&other.path("www")));
}

#[test]
fn variants_have_the_time_and_the_mode_of_their_source() {
    let lab = site();
    let source = lab.path("www/js/a.js");
    fs::set_permissions(&source, Permissions::from_mode(0o604)).unwrap();
    touch(&source, 1_234_567_890);
    pack(&lab, &[]);
    let meta = |ending: &str| lab.path(&format!("www/js/a.js.{ending}")).metadata().unwrap();
    for ending in ["gz", "br", "zst"] {
        assert_eq!((meta(ending).mode() & 0o7777, meta(ending).mtime()), (0o604, 1_234_567_890));
        assert_eq!(meta(ending).uid(), source.metadata().unwrap().uid());
    }
    // The same content at another time: nothing is encoded.
    touch(&source, 1_300_000_000);
    fs::set_permissions(&source, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(counts(&pack(&lab, &[])), [2, 0, 0]);
    assert_eq!((meta("br").mode() & 0o7777, meta("br").mtime()), (0o644, 1_300_000_000));
    assert_eq!(counts(&pack(&lab, &[])), [3, 0, 0]);
}

#[test]
fn what_changes_is_made_again_and_what_is_gone_is_removed() {
    let lab = site();
    pack(&lab, &[]);
    lab.write("www/js/a.js", text(9, 70));
    fs::remove_file(lab.path("www/css/b.css")).unwrap();
    fs::remove_file(lab.path("www/index.html.br")).unwrap();
    let dry = pack(&lab, &["--dry-run"]);
    assert_eq!(counts(&dry), [0, 4, 6]);
    assert!(lab.path("www/css/b.css.gz").exists(), "nothing is written");
    assert_eq!(counts(&pack(&lab, &[])), [0, 4, 6]);
    assert_eq!(decoded(&lab.path("www/js/a.js.zst")), text(9, 70).into_bytes());
    assert!(!lab.path("www/css/b.css.gz").exists() && lab.path("www/index.html.br").exists());
    // What is not asked for any more goes.
    assert_eq!(counts(&pack(&lab, &["--codings", "br"])), [0, 0, 4]);
    assert!(!lab.path("www/js/a.js.gz").exists());
    // Other levels are other variants; a file of the same bytes stays one.
    let again = lab.told(&["pack", "www", "--codings", "br", "--json"]);
    assert_eq!(again["written"], 2);
    let cleaned = lab.told(&["pack", "www", "--clean", "--json"]);
    assert_eq!(cleaned["removed"], 2);
    assert_eq!(files(&lab.path("www")).len(), 6, "the sources");
    assert!(!lab.path(MANIFEST).exists());
}

#[test]
fn files_of_the_users_stay_whatever_they_are_called() {
    let lab = site();
    let mine = encoded("zlib", &[], text(1, 60).as_bytes());
    lab.write("www/js/a.js.gz", &mine);
    symlink("a.js", lab.path("www/js/a.js.br")).unwrap();
    let said = lab.done(&["pack", "www", "--effort", "fast"]);
    assert!(said.stderr.contains("js/a.js.gz: kept as it is"), "{}", said.stderr);
    assert_eq!(fs::read(lab.path("www/js/a.js.gz")).unwrap(), mine);
    assert!(lab.path("www/js/a.js.br").is_symlink() && lab.path("www/js/a.js.zst").exists());
    assert_eq!(counts(&pack(&lab, &[])), [3, 0, 0]);
    assert_eq!(pack(&lab, &[])["kept"]["count"], 2, "it is said again");
    assert!(lab.fine(&["pack", "www", "--effort", "fast", "--check"]).contains("is packed"));
    // One that was written here and edited since is the user's.
    lab.write("www/css/b.css.gz", "edited");
    lab.write("www/css/b.css", text(8, 80));
    pack(&lab, &[]);
    assert_eq!(lab.read("www/css/b.css.gz"), "edited");
    lab.fine(&["pack", "www", "--clean"]);
    assert_eq!(lab.read("www/css/b.css.gz"), "edited");
    assert!(fs::read(lab.path("www/js/a.js.gz")).unwrap() == mine && !lab.path("www/js/a.js.zst").exists());
}

#[test]
fn what_pays_is_packed_whatever_its_type_and_the_rest_is_said_with_its_reason() {
    let lab = Lab::new();
    let pays = ["APP.JS", "m.mjs", "x.wasm", "site.webmanifest", "f.ttf", "a.geojson", "a.topojson", "v.vtt"];
    for (seed, name) in pays.into_iter().enumerate() {
        lab.write(&format!("www/{name}"), text(seed, 60));
    }
    for name in ["favicon.ico", "scene.glb", "plan.bmp"] {
        lab.write(&format!("www/{name}"), [name.as_bytes(), &[0; 9000]].concat());
    }
    lab.write("www/pre.js", encoded("libdeflate", &[], text(7, 900).as_bytes()));
    lab.write("www/photo.png", noise(5000));
    lab.write("www/film.mp4", [0; 5000]);
    lab.write("www/game.wasm.br", noise(900));
    lab.write("www/tiny.css", "a{}");
    lab.write("www/empty.css", "");
    lab.write("www/.htaccess", text(1, 60));
    lab.write("www/index.php", text(1, 60));
    let said = lab.done(&["pack", "www", "--codings", "gzip"]).stderr;
    let outcome = lab.told(&["pack", "www", "--codings", "gzip", "--json"]);
    assert_eq!(counts(&outcome), [11, 0, 0], "and nothing is tried again: {outcome}");
    for name in pays.iter().chain(&["favicon.ico", "scene.glb", "plan.bmp"]) {
        let source = fs::read(lab.path(&format!("www/{name}"))).unwrap();
        assert_eq!(decoded(&lab.path(&format!("www/{name}.gz"))), source, "{name}");
    }
    for (why, count, names) in [
        ("compressed already: zstd 1 saves less than 5%", 2, "photo.png, pre.js"),
        ("sound or video, which clients fetch in parts", 1, "film.mp4"),
        ("precompressed by its name, with no file beside it that it is of", 1, "game.wasm.br"),
        ("smaller than 256 bytes", 1, "tiny.css"),
        ("empty", 1, "empty.css"),
        ("hidden", 1, ".htaccess"),
        ("PHP source", 1, "index.php"),
    ] {
        assert_eq!(outcome["left_out"][why]["count"], count, "{why}: {outcome}");
        assert!(said.contains(&format!("({why}): {names}\n")), "{why}: {said}");
    }
    assert!(lab.fine(&["pack", "www", "--codings", "gzip", "--check"]).contains("is packed: 11 files"));
    lab.fine(&["pack", "www", "--clean"]);
    assert_eq!(files(&lab.path("www")).len(), 19, "exactly what was there");
}

#[test]
fn variants_from_elsewhere_that_browsers_do_not_take_are_named_with_what_mends_them() {
    let lab = site();
    // More than one piece, so that the encoder does not know the size.
    let script = text(1, 6000);
    lab.write("www/js/a.js", &script);
    lab.write("www/js/a.js.zst", encoded("zstd", &[("mode", "stream"), ("window", "27")], script.as_bytes()));
    // As the library encodes with windows beyond 16 MB.
    lab.write("www/js/a.js.br", b"\x11\x5c\x75\x4b\x55\xf7\xf0\xb0");
    lab.write("www/css/b.css.gz", encoded("zlib", &[], text(9, 60).as_bytes()));
    lab.write("www/index.html.br", "no brotli");
    // Two members, and two frames, one after the other are fine.
    let halves = text(3, 60);
    let (one, two) = halves.as_bytes().split_at(900);
    for (codec, ending) in [("zlib", "gz"), ("zstd", "zst")] {
        let parts = [encoded(codec, &[], one), encoded(codec, &[], two)].concat();
        lab.write(&format!("www/index.html.{ending}"), parts);
    }
    let before = files(&lab.path("www"));
    let packed = lab.done(&["pack", "www", "--effort", "fast"]).stdout;
    let check = lab.run(&["pack", "www", "--effort", "fast", "--check"]);
    assert_eq!(check.code, 4);
    for said in [packed, check.stdout] {
        assert!(said.contains("js/a.js.zst: not from here, and browsers refuse it: its window"), "{said}");
        assert!(said.contains("js/a.js.br: not from here, and browsers refuse it: its window"), "{said}");
        assert!(said.contains("css/b.css.gz: not from here, and it decodes to something else"), "{said}");
        assert!(
            said.contains("index.html.br: not from here, and browsers cannot decode it; delete it"),
            "{said}"
        );
        assert!(!said.contains("index.html.gz") && !said.contains("index.html.zst"), "{said}");
    }
    let after = files(&lab.path("www"));
    assert!(before.iter().all(|(name, bytes)| after[name] == *bytes), "nothing of them is written over");
    for name in ["js/a.js.zst", "js/a.js.br", "css/b.css.gz", "index.html.br"] {
        fs::remove_file(lab.path(&format!("www/{name}"))).unwrap();
    }
    lab.fine(&["pack", "www", "--effort", "fast"]);
    lab.fine(&["pack", "www", "--effort", "fast", "--check"]);
}

#[test]
fn a_check_names_what_is_missing_stale_and_damaged_and_exits_with_4() {
    let lab = site();
    let check = |more: &[&str]| lab.run(&[&["pack", "www", "--effort", "fast", "--check"], more].concat());
    let none = check(&[]);
    assert!(none.code == 4 && none.stdout.contains("js/a.js.br: missing"), "{}", none.stdout);
    assert!(!lab.path(MANIFEST).exists(), "nothing is written");
    pack(&lab, &[]);
    let fine = check(&[]);
    assert_eq!((fine.code, fine.stdout.as_str()), (0, "www is packed: 3 files.\n"));
    // Bits that flip behind the file's time are found, too.
    let damaged = lab.path("www/js/a.js.gz");
    let (mut bytes, time) = (fs::read(&damaged).unwrap(), damaged.metadata().unwrap().modified().unwrap());
    bytes[40] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    File::open(&damaged).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    lab.write("www/css/b.css", text(7, 60));
    fs::remove_file(lab.path("www/index.html.zst")).unwrap();
    let wrong = check(&["--json"]);
    let outcome: Value = serde_json::from_str(&wrong.stdout).unwrap();
    let problems: Vec<(&str, &str)> = outcome["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), one["what"].as_str().unwrap()))
        .collect();
    let stale = ["css/b.css.br", "css/b.css.gz", "css/b.css.zst"].map(|path| (path, "stale"));
    let others = [("index.html.zst", "missing"), ("js/a.js.gz", "damaged")];
    assert_eq!((wrong.code, problems), (4, [&stale[..], &others].concat()));
    let other = lab.run(&["pack", "www", "--check"]);
    assert!(other.code == 4 && other.stdout.contains("js/a.js.br: stale"), "other levels: {}", other.stdout);
}

#[test]
fn a_mirrored_tree_holds_the_variants_alone() {
    let lab = site();
    let before = files(&lab.path("www"));
    lab.fine(&["pack", "www", "--effort", "fast", "--out", "packed"]);
    assert_eq!(files(&lab.path("www")), before);
    assert_eq!(decoded(&lab.path("packed/js/a.js.br")), text(1, 60).into_bytes());
    assert_eq!(files(&lab.path("packed")).len(), 9);
    let mode = |name: &str| lab.path(name).metadata().unwrap().mode();
    assert_eq!(mode("packed/js"), mode("www/js"));
    fs::remove_dir_all(lab.path("www/js")).unwrap();
    lab.fine(&["pack", "www", "--effort", "fast", "--out", "packed"]);
    assert!(!lab.path("packed/js").exists());
    // A folder inside of the tree is not packed itself.
    lab.fine(&["pack", "www", "--effort", "fast", "--out", "www/packed"]);
    let again = lab.told(&["pack", "www", "--effort", "fast", "--out", "www/packed", "--json"]);
    assert_eq!(counts(&again), [2, 0, 0]);
}

#[test]
fn the_same_content_is_encoded_once() {
    let lab = site();
    lab.write("www/js/copy.js", text(1, 60));
    fs::hard_link(lab.path("www/js/a.js"), lab.path("www/js/linked.js")).unwrap();
    assert_eq!(counts(&pack(&lab, &[])), [0, 15, 0]);
    let read = |name: &str| fs::read(lab.path(name)).unwrap();
    assert_eq!(read("www/js/copy.js.br"), read("www/js/a.js.br"));
    // A file under a new name takes over what its content had.
    fs::rename(lab.path("www/js/copy.js"), lab.path("www/js/renamed.js")).unwrap();
    let outcome = pack(&lab, &[]);
    assert_eq!((counts(&outcome), outcome["taken"].as_u64()), ([4, 3, 3], Some(3)));
    assert_eq!(decoded(&lab.path("www/js/renamed.js.gz")), text(1, 60).into_bytes());
}

#[test]
fn links_are_followed_within_the_tree_and_to_files_of_everybody() {
    let lab = site();
    lab.write("outside.js", text(6, 60));
    fs::set_permissions(lab.path("outside.js"), Permissions::from_mode(0o640)).unwrap();
    lab.write("elsewhere/c.js", text(6, 60));
    symlink("a.js", lab.path("www/js/latest.js")).unwrap();
    symlink("../../outside.js", lab.path("www/js/out.js")).unwrap();
    symlink("../elsewhere", lab.path("www/elsewhere")).unwrap();
    symlink("gone.js", lab.path("www/js/dead.js")).unwrap();
    symlink("www", lab.path("current")).unwrap();
    let outcome = lab.told(&["pack", "current", "--effort", "fast", "--json"]);
    assert_eq!((&outcome["links"]["count"], &outcome["files"]), (&3.into(), &4.into()));
    assert_eq!(decoded(&lab.path("www/js/latest.js.br")), text(1, 60).into_bytes());
    assert!(!lab.path("www/js/latest.js.br").is_symlink());
    assert!(!lab.path("www/js/out.js.br").exists() && !lab.path("elsewhere/c.js.br").exists());
    assert_eq!(counts(&pack(&lab, &[])), [4, 0, 0]);
    // What everybody may read is what the server sends, as packages of distributions link it.
    let shared = tempfile::tempdir().unwrap();
    fs::set_permissions(shared.path(), Permissions::from_mode(0o755)).unwrap();
    fs::write(shared.path().join("jquery.js"), text(7, 60)).unwrap();
    fs::set_permissions(shared.path().join("jquery.js"), Permissions::from_mode(0o644)).unwrap();
    symlink(shared.path().join("jquery.js"), lab.path("www/js/jquery.js")).unwrap();
    pack(&lab, &[]);
    assert_eq!(decoded(&lab.path("www/js/jquery.js.br")), text(7, 60).into_bytes());
    assert!(!shared.path().join("jquery.js.br").exists());
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_goes_on() {
    let lab = site();
    pack(&lab, &[]);
    // A file whose name is taken by what is no file, and a link to one that nobody may follow.
    fs::remove_file(lab.path("www/css/b.css")).unwrap();
    fs::create_dir(lab.path("www/css/b.css")).unwrap();
    symlink("loop.js", lab.path("www/loop.js")).unwrap();
    let outcome = pack(&lab, &[]);
    assert_eq!((counts(&outcome), &outcome["links"]["count"]), ([2, 0, 3], &1.into()));
    if rustix::process::geteuid().is_root() {
        println!("skipped: root may read everything");
        return;
    }
    lab.write("www/css/c.css", text(2, 70));
    fs::set_permissions(lab.path("www/css/c.css"), Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(lab.path("www/js"), Permissions::from_mode(0o0)).unwrap();
    let ran = lab.run(&["pack", "www", "--effort", "fast"]);
    fs::set_permissions(lab.path("www/js"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    for name in ["css/c.css", "js"] {
        assert!(ran.stderr.contains(&format!("{name}: it may not be read by this user")), "{}", ran.stderr);
    }
    assert!(lab.path("www/js/a.js.br").exists(), "of what cannot be looked at nothing is removed");
}

#[test]
fn names_that_are_not_utf8_are_packed_and_known_again() {
    let lab = site();
    let odd = lab.path("www").join(OsStr::from_bytes(b"caf\xe9 \"x\"\n\x1b[31m.js"));
    fs::write(&odd, text(6, 60)).unwrap();
    let said = lab.done(&["pack", "www", "--effort", "fast"]);
    assert!(!said.stderr.contains('\x1b'));
    let mut variant = odd.clone().into_os_string();
    variant.push(".br");
    assert_eq!(decoded(Path::new(&variant)), text(6, 60).into_bytes());
    assert_eq!(counts(&pack(&lab, &[])), [4, 0, 0]);
    fs::remove_file(&odd).unwrap();
    assert_eq!(counts(&pack(&lab, &[])), [3, 0, 3]);
    assert!(!Path::new(&variant).exists());
}

#[test]
fn a_full_disk_is_one_line_and_leaves_nothing_half_written() {
    let lab = site();
    lab.write("www/js/large.js", text(6, 20_000));
    // A file may grow to 32 KB: the system says so in the same way as of a full disk.
    let limited =
        format!("trap '' XFSZ; ulimit -f 64; exec {} pack www --effort fast --jobs 1", crate::lab::WEIGH);
    let ran = crate::lab::Ran::of(lab.command("bash").args(["-c", &limited]).output().unwrap());
    let said = ran.failure();
    assert!(said.contains("nothing is half-written; make room and run it again"), "{said}");
    for path in files(&lab.path("www")).keys() {
        let path = lab.path("www").join(path);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!name.ends_with(".draft"), "{name}");
        if let Some(source) =
            ["gz", "br", "zst"].iter().find_map(|ending| name.strip_suffix(&format!(".{ending}")))
        {
            assert_eq!(decoded(&path), fs::read(path.with_file_name(source)).unwrap());
        }
    }
    pack(&lab, &[]);
    assert_eq!(lab.run(&["pack", "www", "--effort", "fast", "--check"]).code, 0);
}

#[test]
fn a_damaged_manifest_is_said_and_nothing_changes_hands() {
    let lab = site();
    pack(&lab, &[]);
    lab.write("www/css/own.css", text(6, 60));
    lab.write("www/css/own.css.gz", "mine");
    let before = files(&lab.path("www"));
    let path = lab.path(MANIFEST);
    for content in [
        "".to_owned(),
        "\0\u{fffd}{{{{\nnot json\n".repeat(3),
        format!("{{\"weigh_pack\":99}}\n{}", lab.read(MANIFEST).lines().nth(1).unwrap()),
    ] {
        let is_said = !content.is_empty();
        fs::write(&path, &content).unwrap();
        let outcome = pack(&lab, &[]);
        assert_eq!(!outcome["notes"].as_array().unwrap().is_empty(), is_said, "{outcome}");
        let after = files(&lab.path("www"));
        assert!(before.iter().all(|(name, bytes)| after[name] == *bytes), "nothing is written anew");
        assert_eq!(counts(&pack(&lab, &[])), [4, 0, 0]);
    }
    // What it took over again is its own again.
    fs::remove_file(lab.path("www/js/a.js")).unwrap();
    assert_eq!(counts(&pack(&lab, &[])), [3, 0, 3]);
    assert_eq!(lab.read("www/css/own.css.gz"), "mine");
}

#[test]
fn two_runs_at_once_are_one_and_a_refusal() {
    let lab = site();
    let held = File::open(lab.path("www")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let said = lab.run(&["pack", "www"]).refusal();
    assert!(said.contains("www: another `weigh pack` is at work there"), "{said}");
    pack(&lab, &["--dry-run"]);
    drop(held);
    pack(&lab, &[]);
}

#[test]
fn wrong_calls_are_refused_in_one_line() {
    let lab = site();
    lab.write("empty.toml", policy("zopfli", "server"));
    lab.write("odd.toml", policy("rar:3", "beforehand"));
    for (args, said) in [
        (&["none"][..], "none: there is no such folder"),
        (&["www/index.html"], "www/index.html is no folder"),
        (&["www", "--codings", "rar"], "`rar`"),
        (&["www", "--min-saving", "100"], "from 0 to below 100"),
        (&["www", "--min-bytes", "many"], "give a size in bytes"),
        (&["www", "--policy", "none.toml"], "none.toml: cannot be read"),
        (&["www", "--policy", "empty.toml"], "none of its rules has by = \"beforehand\""),
        (&["www", "--policy", "odd.toml"], "`rar:3` is no encoder of gzip; known: libdeflate"),
        (&["www", "--policy", "odd.toml", "--zopfli"], "cannot be used with"),
    ] {
        let refused = lab.refused(&[&["pack"], args].concat());
        assert!(refused.contains(said), "{args:?}: {refused}");
    }
}

/// A policy with one rule for gzip and, beforehand, one for brotli of scripts.
pub fn policy(gzip: &str, by: &str) -> String {
    let zero = "{ before = 0.0, after = 0.0 }";
    let change = ["wait_hours", "core_hours", "gb_out", "gb_stored", "cost"]
        .map(|name| format!("{name} = {zero}\n"))
        .concat();
    format!(
        "schema = 1\nsite = \"shop\"\nsite_sha256 = \"\"\nobjective = \"time\"\nserver = \"nginx\"\n[total]\n{change}\
         [[decisions]]\nkind = \"asset\"\nkeep = false\ntext = \"Precompress\"\ntoday = \"none\"\n[decisions.change]\n{change}\
         [[decisions.rules]]\ncoding = \"gzip\"\nby = \"{by}\"\nmethod = \"gzip_static\"\nencoder = \"{gzip}\"\nmin_bytes = 1000\n"
    )
}

#[test]
fn a_policy_says_which_types_sizes_and_encoders() {
    let lab = site();
    let more = "[[decisions.rules]]\ncoding = \"br\"\nby = \"beforehand\"\nmethod = \"brotli_static\"\nencoder = \"brotli:4\"\nmin_bytes = 0\ntypes = [\"text/javascript\"]\n";
    lab.write("advice/policy.toml", policy("zlib:9", "beforehand") + more);
    lab.write("advice/config/nginx/encoding.conf", "gzip_static on;\n");
    let said = lab.fine(&["pack", "www", "--policy", "advice"]);
    assert!(said.contains("zlib:9") && said.contains("brotli:4"), "{said}");
    assert!(
        said.contains(
            "nginx sends them with advice/config/nginx/encoding.conf, in the server { } of the site"
        ),
        "{said}"
    );
    let there = |name: &str| lab.path(&format!("www/{name}")).exists();
    assert!(there("js/a.js.br") && there("js/a.js.gz") && there("css/b.css.gz") && !there("css/b.css.br"));
    assert!(!there("small.js.gz") && !there("js/a.js.zst"));
}

#[test]
fn every_file_gets_a_variant_where_a_server_needs_that() {
    let lab = site();
    lab.fine(&["pack", "www", "--effort", "fast", "--codings", "gzip", "--every"]);
    assert_eq!(decoded(&lab.path("www/small.js.gz")), b"x();");
    assert!(lab.path("www/noise.svg.gz").exists() && !lab.path("www/photo.png.gz").exists());
    assert_eq!(counts(&pack(&lab, &["--codings", "gzip"])), [3, 0, 2], "and not where it does not");
}

#[test]
fn type_maps_list_the_variants_that_there_are() {
    let lab = site();
    pack(&lab, &["--type-map", "--codings", "gzip,br"]);
    let map = lab.read("www/js/a.js.var");
    assert!(
        map.starts_with("URI: a.js\n")
            && map.contains("URI: a.js.br\nContent-Type: text/javascript\nContent-Encoding: br\n"),
        "{map}"
    );
    assert!(!map.contains("zst") && !lab.path("www/noise.svg.var").exists());
    assert_eq!(counts(&pack(&lab, &["--type-map", "--codings", "gzip,br"])), [3, 0, 0]);
    fs::remove_file(lab.path("www/js/a.js.var")).unwrap();
    let check =
        lab.run(&["pack", "www", "--effort", "fast", "--type-map", "--codings", "gzip,br", "--check"]);
    assert!(check.code == 4 && check.stdout.starts_with("js/a.js.var: missing\n"), "{}", check.stdout);
    pack(&lab, &["--type-map"]);
    assert!(lab.read("www/js/a.js.var").contains("URI: a.js.zst\n"));
    pack(&lab, &[]);
    assert!(!lab.path("www/js/a.js.var").exists());
}

#[test]
fn a_tree_that_is_watched_is_packed_again() {
    let lab = site();
    let watching = lab.start(&["pack", "www", "--effort", "fast", "--watch"]);
    let there = |name: &str| lab.path(name).exists();
    wait_until("the tree is packed", || there("www/js/a.js.zst") && there(MANIFEST));
    lab.write("www/new/deep/d.js", text(6, 60));
    wait_until("a new file is packed", || there("www/new/deep/d.js.br") && there("www/new/deep/d.js.zst"));
    lab.write("www/new/deep/d.js", text(7, 60));
    let is_new = || {
        there("www/new/deep/d.js.gz")
            && decoded(&lab.path("www/new/deep/d.js.gz")) == text(7, 60).into_bytes()
    };
    wait_until("a file that changes is packed again", is_new);
    let mut watching = watching;
    watching.signal("TERM");
    assert!(watching.0.wait().unwrap().success(), "{}", lab.said());
}

/// Every visible variant decodes to its source.
fn is_whole(www: &Path) -> usize {
    let mut seen = 0;
    for path in files(www).into_keys() {
        let name = path.to_string_lossy().into_owned();
        let source = ["gz", "br", "zst"].iter().find_map(|ending| name.strip_suffix(&format!(".{ending}")));
        let Some(source) = source.filter(|source| *source != "mine.js") else { continue };
        let mut bytes = Vec::new();
        // It may be gone since, but never half there.
        if File::open(www.join(&path)).and_then(|mut file| file.read_to_end(&mut bytes)).is_ok() {
            assert_eq!(decoded(&www.join(&path)), fs::read(www.join(source)).unwrap(), "{name}");
            seen += 1;
        }
    }
    seen
}

#[test]
fn a_killed_run_leaves_nothing_half_written_and_the_next_one_completes() {
    let lab = Lab::new();
    (0..40)
        .for_each(|number| drop(lab.write(&format!("www/{}/f{number}.js", number % 5), text(number, 400))));
    // A variant of the user's own, whose source is not worth packing.
    lab.write("www/mine.js", "x();");
    lab.write("www/mine.js.gz", "mine");
    let www = lab.path("www");
    for round in 0..8 {
        let mut run = lab.start(&["pack", "www", "--effort", "balanced"]);
        std::thread::sleep(Duration::from_millis(60 + 25 * round));
        run.kill();
        is_whole(&www);
    }
    lab.fine(&["pack", "www", "--effort", "balanced"]);
    assert_eq!(is_whole(&www), 120);
    assert!(files(&www).keys().all(|path| !path.to_string_lossy().ends_with(".draft")));
    let cleaned = lab.told(&["pack", "www", "--clean", "--json"]);
    assert_eq!(
        (&cleaned["removed"], &cleaned["kept"]["count"]),
        (&120.into(), &0.into()),
        "all of it is known"
    );
    assert_eq!(lab.read("www/mine.js.gz"), "mine");
}

/// What the server refuses would be reachable as its variant.
#[test]
fn files_that_the_server_does_not_send_get_no_variants() {
    if !has("nginx", "apt install nginx-light") {
        return;
    }
    let lab = site();
    lab.write("www/composer.json", text(3, 60));
    lab.write("www/a b.json", text(4, 60));
    let config = |root: &Path| {
        format!(
            "events {{ }}\nhttp {{\n server {{\n  listen 80;\n  root {};\n  location ~ composer {{ deny all; }}\n }}\n}}\n",
            root.display()
        )
    };
    lab.write("nginx.conf", config(&lab.path("www")));
    pack(&lab, &[]);
    assert!(lab.path("www/composer.json.br").exists());
    let packed = pack(&lab, &["--server-config", "nginx.conf"]);
    for ending in ["br", "gz", "zst"] {
        assert!(!lab.path(&format!("www/composer.json.{ending}")).exists(), "{packed}");
        assert!(lab.path(&format!("www/js/a.js.{ending}")).exists(), "{packed}");
        assert!(lab.path(&format!("www/a b.json.{ending}")).exists(), "{packed}");
    }
    let left_out = packed["left_out"].to_string();
    assert!(left_out.contains("the server's configuration does not send it"), "{packed}");

    // The site that a policy was made for says which configuration it has.
    lab.write("advice/policy.toml", policy("zlib:9", "beforehand"));
    let by_policy = || lab.fine(&["pack", "www", "--policy", "advice"]);
    by_policy();
    assert!(lab.path("www/composer.json.gz").exists());
    lab.fine(&["site", "--server-config", "nginx.conf"]);
    let packed = by_policy();
    // A folder that a link of the document root leads to is asked for by its URLs.
    lab.write("shared/composer.json", text(5, 60));
    lab.write("shared/c.json", text(6, 60));
    symlink("../shared", lab.path("www/shared")).unwrap();
    lab.fine(&["pack", "shared", "--server-config", "nginx.conf"]);
    assert!(lab.path("shared/c.json.br").exists() && !lab.path("shared/composer.json.br").exists());
    assert!(!lab.path("www/composer.json.gz").exists() && lab.path("www/js/a.js.gz").exists(), "{packed}");
}

/// Servers with what each says to ask for a login for `store/` by names, and for `members/` as a whole, to send `here/` to this machine alone, to answer `lib/` by a page, and to move `old/`.
const GUARDED: [(&str, &str, &str); 2] = [
    (
        "nginx",
        "nginx-light",
        "events { }\nhttp {\n server {\n listen 80;\n root ROOT;\n location ^~ /store/ { location ~ \\.json$ { auth_basic x; auth_basic_user_file /none; } }\n\
        location /members/ { auth_basic x; auth_basic_user_file /none; }\n location ~ ^/near/.*\\.json$ { allow 10.0.0.0/8; deny all; }\n\
        location ~ ^/here/.*\\.json$ { if ($remote_addr !~ ^127) { return 403; } }\n if ($request_method = HEAD) { return 405; }\n\
        rewrite ^/lib/ /index.html last;\n location = /old/a.json { return 301 /new/a.json; }\n location = /new/a.json { alias ROOT/old/a.json; }\n }\n}\n",
    ),
    (
        "apache2",
        "apache2",
        "ServerRoot /etc/apache2\nLoadModule mpm_event_module MODULES/mod_mpm_event.so\nLoadModule authz_core_module MODULES/mod_authz_core.so\n\
        LoadModule authz_host_module MODULES/mod_authz_host.so\nLoadModule authz_user_module MODULES/mod_authz_user.so\nLoadModule mime_module MODULES/mod_mime.so\n\
        LoadModule auth_basic_module MODULES/mod_auth_basic.so\nLoadModule authn_core_module MODULES/mod_authn_core.so\nLoadModule alias_module MODULES/mod_alias.so\n\
        LoadModule rewrite_module MODULES/mod_rewrite.so\nTypesConfig /etc/mime.types\nListen 80\n<VirtualHost *:80>\nDocumentRoot ROOT\n\
        <Directory ROOT>\nRequire all granted\nRewriteEngine on\nRewriteCond %{REMOTE_ADDR} !^127\nRewriteRule ^here/.*\\.json$ - [F]\nRewriteRule ^lib/ index.html [END]\nRewriteRule ^old/a\\.json$ /new/a.json [R=301,END]\n\
        RewriteRule ^new/a\\.json$ old/a.json [END]\n</Directory>\n<Directory ROOT/members>\nAuthType Basic\nAuthName x\nRequire valid-user\n</Directory>\n\
        <LocationMatch ^/store/.*\\.json$>\nAuthType Basic\nAuthName x\nRequire valid-user\n</LocationMatch>\n\
        <LocationMatch ^/near/.*\\.json$>\nRequire ip 10.0.0.0/8\n</LocationMatch>\n</VirtualHost>\n",
    ),
];

/// A variant is refused to strangers as its file is, or there is none; what is answered in a file's place has none.
#[test]
fn files_that_the_server_does_not_send_to_everybody_get_no_variants_that_it_would() {
    for (program, package, config) in GUARDED {
        if !has(program, &format!("apt install {package}")) {
            continue;
        }
        let lab = site();
        let folders = ["store", "near", "here", "lib", "members", "old"];
        folders.iter().for_each(|folder| drop(lab.write(&format!("www/{folder}/a.json"), text(4, 60))));
        let config = config.replace("ROOT", lab.path("www").to_str().unwrap());
        lab.write("server.conf", config.replace("MODULES", "/usr/lib/apache2/modules"));
        let packed = pack(&lab, &["--server-config", "server.conf"]);
        let has_variant = |folder: &str| lab.path(&format!("www/{folder}/a.json.br")).exists();
        assert_eq!(folders.map(has_variant), [false, false, false, false, true, true], "{program}: {packed}");
        assert!(lab.path("www/js/a.js.br").exists(), "{program}: {packed}");
    }
}

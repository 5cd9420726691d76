//! Files and folders that somebody else wrote: what they name is looked at, never trusted.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::lab::{Lab, SMALL};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line of a manifest by which a file with this content was written as a variant of one that is gone.
fn line(path: &str, ending: &str, content: &str) -> String {
    let short = &sha256(content.as_bytes())[..32];
    json!({"path": path, "sha256": sha256(b"gone"), "bytes": 4, "variants":
        [{"ending": ending, "by": "zlib:9", "bytes": content.len(), "sha256": short}]})
    .to_string()
}

#[test]
fn a_manifest_removes_only_variants_below_its_own_tree() {
    let lab = Lab::new();
    let mine = "what its owner wrote";
    let named = [
        ("index", "html", "www/index.html"),
        ("a", "php", "www/a.php"),
        ("b", "tar.gz", "www/b.tar.gz"),
        ("linked/c", "gz", "outside/c.gz"),
        ("down/linked/d", "br", "outside/d.br"),
        ("../outside/e", "gz", "outside/e.gz"),
        ("x/../../outside/f", "zst", "outside/f.zst"),
        ("g", "", "www/g."),
        ("h", "gz/../../outside/h.gz", "outside/h.gz"),
    ];
    for (_, _, file) in named {
        lab.write(file, mine);
    }
    // What is named for its own content is a variant, and goes.
    lab.write("www/gone.js.gz", mine);
    symlink(lab.path("outside"), lab.path("www/linked")).unwrap();
    fs::create_dir(lab.path("www/down")).unwrap();
    symlink("../../outside", lab.path("www/down/linked")).unwrap();
    let mut text = String::from("{\"weigh_pack\":1}\n");
    for (path, ending) in named.map(|(path, ending, _)| (path, ending)).iter().chain(&[("gone.js", "gz")]) {
        text += &format!("{}\n", line(path, ending, mine));
    }
    lab.write(".weigh-pack-www.ndjson", &text);
    for args in [&["pack", "www", "--effort", "fast"][..], &["pack", "www", "--clean"]] {
        lab.write(".weigh-pack-www.ndjson", &text);
        lab.done(args);
        let lost: Vec<&str> = named.iter().map(|one| one.2).filter(|file| !lab.path(file).exists()).collect();
        assert!(lost.is_empty(), "{args:?}: {lost:?}");
    }
    assert!(!lab.path("www/gone.js.gz").exists());
}

#[test]
fn a_manifest_that_others_may_write_removes_nothing() {
    let lab = Lab::new();
    let mine = "what its owner wrote";
    let manifest = lab.write(".weigh-pack-www.ndjson", "");
    for of_other in [false, true] {
        lab.write("www/backup.tar.gz", mine);
        lab.write(
            ".weigh-pack-www.ndjson",
            format!("{{\"weigh_pack\":1}}\n{}\n", line("backup.tar", "gz", mine)),
        );
        let mode = if of_other { 0o644 } else { 0o666 };
        fs::set_permissions(&manifest, PermissionsExt::from_mode(mode)).unwrap();
        if of_other && chown(&manifest, Some(65534), None).is_err() {
            return;
        }
        let ran = lab.done(&["pack", "www", "--effort", "fast"]);
        assert!(lab.path("www/backup.tar.gz").exists(), "{of_other}");
        assert!(ran.stderr.contains("other users may have written it"), "{}", ran.stderr);
    }
}

#[test]
fn only_runs_with_nothing_else_in_them_are_pruned() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "weigh-runs/old"]);
    let facts = lab.path("weigh-runs/old/run.json");
    let mut changed: Value = serde_json::from_slice(&fs::read(&facts).unwrap()).unwrap();
    changed["started"] = "2020-01-01T00:00:00Z".into();
    fs::write(&facts, changed.to_string()).unwrap();
    // One that only looks like a run, with something of its owner's; and a folder that is none at all.
    for folder in ["weigh-runs/mine", "weigh-runs/notes"] {
        lab.write(&format!("{folder}/letter.txt"), "dear reader");
    }
    lab.write("weigh-runs/mine/run.json", changed.to_string());
    lab.write("weigh-runs/mine/lock", "");
    let ran = lab.run(&["runs", "prune", "--older-than", "1w", "--yes"]);
    assert!(lab.path("weigh-runs/notes/letter.txt").exists(), "{}", ran.stderr);
    assert!(lab.path("weigh-runs/mine/letter.txt").exists(), "{}", ran.stderr);
    assert!(ran.stderr.contains("letter.txt in it is no part of a run"), "{}", ran.stderr);
    assert!(!lab.path("weigh-runs/old").exists(), "{} {}", ran.stdout, ran.stderr);
}

/// A run that was interrupted, with its last record cut off.
fn interrupted(lab: &Lab, name: &str) {
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", name]);
    let records = lab.path(&format!("{name}/records.ndjson"));
    let text = fs::read_to_string(&records).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"type\":\"end\"")).collect();
    fs::write(&records, kept[..kept.len() / 2].join("\n") + "\n").unwrap();
    // What a complete run no longer has.
    let plan: Value = lab.json(&format!("{name}/plan.json"));
    for payload in plan["payloads"].as_array().unwrap() {
        let blob = lab.path(&format!("{name}/{}", payload["blob"].as_str().unwrap()));
        fs::create_dir_all(blob.parent().unwrap()).unwrap();
        fs::write(blob, vec![b'x'; payload["bytes"].as_u64().unwrap() as usize]).unwrap();
    }
}

/// Changes a run's plan as somebody would who gives it to others: its digest fits.
fn changed(lab: &Lab, name: &str, change: impl FnOnce(&mut Value)) {
    let mut plan = lab.json(&format!("{name}/plan.json"));
    change(&mut plan);
    let text = plan.to_string();
    let mut facts = lab.json(&format!("{name}/run.json"));
    facts["digests"]["plan.json"] = sha256(text.as_bytes()).into();
    lab.write(&format!("{name}/plan.json"), text);
    lab.write(&format!("{name}/run.json"), facts.to_string());
}

#[test]
fn a_run_that_others_made_starts_nothing_unasked() {
    let lab = Lab::new();
    interrupted(&lab, "theirs");
    let script = lab.write("evil", format!("#!/bin/sh\ntouch {}\n", lab.path("started").display()));
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    changed(&lab, "theirs", |plan| plan["runtimes"][0]["binary"] = script.to_str().unwrap().into());
    let line = lab.refused(&["run", "--resume", "theirs"]);
    assert!(line.contains(script.to_str().unwrap()) && line.contains("--trust"), "{line}");
    assert!(!lab.path("started").exists(), "{line}");
    lab.fine(&["runs", "show", "theirs"]);
    let ran = lab.run(&["run", "--resume", "theirs", "--trust"]);
    assert!(lab.path("started").exists(), "as the user says: {}", ran.stderr);
}

#[test]
fn a_run_of_others_with_what_this_machine_has_goes_on_and_settings_of_its_own_do_not() {
    let lab = Lab::new();
    interrupted(&lab, "theirs");
    let _ = fs::remove_file(lab.path("theirs/seal"));
    let ran = lab.run(&["run", "--resume", "theirs"]);
    assert!(!ran.stderr.contains("--trust"), "{}", ran.stderr);
    interrupted(&lab, "other");
    changed(&lab, "other", |plan| plan["runtimes"][0]["ini"] = json!(["auto_prepend_file=/tmp/evil.php"]));
    let line = lab.refused(&["run", "--resume", "other"]);
    assert!(line.contains("auto_prepend_file") && line.contains("--trust"), "{line}");
}

#[test]
fn a_run_writes_through_no_link() {
    for name in ["logs", "report", "scratch", "profiles"] {
        let lab = Lab::new();
        interrupted(&lab, "theirs");
        fs::create_dir(lab.path("outside")).unwrap();
        let _ = fs::remove_dir_all(lab.path("theirs").join(name));
        symlink(lab.path("outside"), lab.path("theirs").join(name)).unwrap();
        let line = lab.refused(&["run", "--resume", "theirs"]);
        assert!(line.contains(&format!("theirs/{name}: a symbolic link")), "{line}");
        assert_eq!(fs::read_dir(lab.path("outside")).unwrap().count(), 0, "{name}");
    }
    for name in ["lock", "records.ndjson"] {
        let lab = Lab::new();
        interrupted(&lab, "theirs");
        let file = lab.path("theirs").join(name);
        fs::rename(&file, lab.path("outside")).unwrap();
        let before = fs::read(lab.path("outside")).unwrap();
        symlink(lab.path("outside"), &file).unwrap();
        lab.refused(&["run", "--resume", "theirs"]);
        assert_eq!(fs::read(lab.path("outside")).unwrap(), before, "{name}");
    }
}

//! The run directory on a real disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use weigh_model::record::Record;
use weigh_run::dir::{RunDir, StoredRun};
use weigh_run::log;
use weigh_run::log::LogWriter;

use crate::fake::{Lab, codec, log_of};

fn lab() -> Lab {
    Lab::new(&[("a", codec(1.0, 1.0, 10))])
}

fn says(result: anyhow::Result<impl Sized>, parts: &[&str]) {
    let Err(error) = result else { panic!("it should have been refused: {parts:?}") };
    let text = format!("{error:#}");
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    assert!(!text.contains('\n'), "one line: {text}");
}

#[test]
fn a_directory_is_private_whole_and_self_contained() {
    let lab = lab();
    let dir = lab.create();
    let root = dir.path();
    assert_eq!(root.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let mut names: Vec<_> =
        fs::read_dir(root).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(
        names,
        ["lock", "logs", "payloads", "plan.json", "records.ndjson", "run.json", "scratch", "seal"]
    );
    let blob = &dir.plan().payloads[0].blob;
    assert!(blob.is_relative());
    assert_eq!(fs::read(root.join(blob)).unwrap(), fs::read(lab.home.path().join("blob")).unwrap());
    let left: Vec<_> = fs::read_dir(lab.home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the blob and the run, and nothing half-made: {left:?}");
    assert_eq!(dir.file().seed, 7);
    assert!(dir.file().started.ends_with('Z'));
    assert!(weigh_run::dir::log_of(&dir.logs(), "php8.2/../x").starts_with(root.join("logs")));
    assert_eq!(weigh_run::dir::log_of(&dir.logs(), "../x").parent(), Some(root.join("logs").as_path()));
}

#[test]
fn the_inputs_go_when_the_run_is_complete() {
    let mut lab = lab();
    let mut dir = lab.create();
    assert!(lab.measure(&mut dir).unwrap().complete);
    assert!(!dir.path().join("payloads").exists() && !dir.path().join("scratch").exists());
    drop(dir);
    RunDir::open(&lab.path()).unwrap();
}

#[test]
fn files_are_never_written_over() {
    let lab = lab();
    let create = || RunDir::create(&lab.path(), lab.plan.clone(), Vec::new());
    fs::create_dir(lab.path()).unwrap();
    drop(create().expect("an empty directory will do"));
    says(create(), &["there is a run already", "--resume"]);
    fs::remove_dir_all(lab.path()).unwrap();
    fs::create_dir(lab.path()).unwrap();
    fs::write(lab.path().join("thesis.tex"), "x").unwrap();
    says(create(), &["there are files in it already", "another directory"]);
    fs::remove_dir_all(lab.path()).unwrap();
    fs::write(lab.path(), "a file").unwrap();
    says(create(), &["not a folder; give another one for the run"]);
}

#[test]
fn a_payload_that_changed_since_it_was_planned_is_refused() {
    let lab = lab();
    fs::write(lab.home.path().join("blob"), "other content").unwrap();
    says(
        RunDir::create(&lab.path(), lab.plan.clone(), Vec::new()),
        &["not the content that was planned", "text"],
    );
    assert!(!lab.path().exists());
    assert_eq!(fs::read_dir(lab.home.path()).unwrap().count(), 1, "nothing half-made stays");
}

#[test]
fn what_is_no_run_or_is_damaged_is_named() {
    let lab = lab();
    says(RunDir::open(lab.home.path()), &["not a run directory"]);
    assert!(!lab.home.path().join("lock").exists(), "nothing is put into a directory that is no run");
    says(RunDir::open(Path::new("/nonexistent/run")), &["not a run directory"]);
    drop(lab.create());
    let (run, plan) = (lab.path().join("run.json"), lab.path().join("plan.json"));
    let (run_json, plan_json) = (fs::read_to_string(&run).unwrap(), fs::read_to_string(&plan).unwrap());
    let open = || RunDir::open(&lab.path());

    fs::write(&plan, plan_json.replace("\"max_rounds\": 20", "\"max_rounds\": 21")).unwrap();
    says(open(), &["plan.json", "not the plan that this run was started with"]);
    fs::write(&plan, &plan_json[..100]).unwrap();
    says(open(), &["plan.json", "damaged"]);
    fs::write(&plan, &plan_json).unwrap();

    fs::write(&run, run_json.replace("\"schema\": 1", "\"schema\": 99")).unwrap();
    says(open(), &["schema 99", "reads schema 1"]);
    fs::write(&run, run_json.replace("\"schema\"", "\"scheme\"")).unwrap();
    says(open(), &["run.json", "names no schema"]);
    fs::write(&run, "{").unwrap();
    says(open(), &["run.json", "damaged"]);
    fs::write(&run, &run_json).unwrap();

    drop(open().unwrap());
    fs::remove_dir_all(lab.path().join("payloads")).unwrap();
    says(open(), &["payload text is missing", "start a new one"]);
    StoredRun::read(&lab.path()).expect("what it has can still be reported");
}

#[test]
fn records_of_another_plan_are_refused() {
    let mut lab = lab();
    let mut dir = lab.create();
    dir.append(Record::Stop {
        cell: "who".into(),
        round: 1,
        reason: weigh_model::record::StopReason::Rounds,
    })
    .unwrap();
    says(lab.measure(&mut dir), &["the records name who", "another run"]);
}

#[test]
fn damage_in_the_middle_names_its_line_and_damages_nothing_more() {
    let mut lab = lab();
    let mut dir = lab.create();
    lab.interrupt_before = Some(2);
    lab.measure(&mut dir).unwrap();
    drop(dir);
    let mut bytes = fs::read(log_of(&lab.path())).unwrap();
    bytes[30] ^= 1;
    fs::write(log_of(&lab.path()), &bytes).unwrap();
    says(RunDir::open(&lab.path()), &["records.ndjson: line 1 is damaged", "delete that line"]);
    assert_eq!(fs::read(log_of(&lab.path())).unwrap(), bytes);
}

#[test]
fn two_runs_on_one_directory_are_one_too_many() {
    let lab = lab();
    let dir = lab.create();
    let holder = format!("process {}", std::process::id());
    says(RunDir::open(&lab.path()), &["another weigh", &holder]);
    StoredRun::read(&lab.path()).expect("reading needs no lock");
    drop(dir);
    RunDir::open(&lab.path()).unwrap();
}

#[test]
fn a_lock_is_seen_across_processes_and_goes_with_its_holder() {
    let lab = lab();
    drop(lab.create());
    let has_flock = Command::new("flock").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has_flock {
        println!("skipped: there is no flock command here");
        return;
    }
    let mut other = Command::new("flock")
        .arg(lab.path().join("lock"))
        .args(["sh", "-c", "echo locked; read wait"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(other.stdout.take().unwrap()), &mut line)
        .unwrap();
    assert_eq!(line, "locked\n");
    says(RunDir::open(&lab.path()), &["another weigh"]);
    drop(other.stdin.take());
    other.wait().unwrap();
    RunDir::open(&lab.path()).unwrap();
}

/// A small file system of its own for a test; `None`, said why, where that needs rights one does not have.
struct Tmpfs(std::path::PathBuf);

impl Tmpfs {
    fn mount(at: &Path, options: &str) -> Option<Tmpfs> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        match mount {
            Ok(output) if output.status.success() => Some(Tmpfs(at.to_path_buf())),
            Ok(output) => {
                println!("skipped: cannot mount: {}", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(e) => {
                println!("skipped: cannot mount: {e}");
                None
            }
        }
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_keeps_every_record_before_and_the_run_goes_on_later() {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Tmpfs::mount(home.path(), "size=128k") else { return };
    let mut lab = lab();
    lab.plan.policy.exhaustive = true;
    lab.plan.policy.max_rounds = 400;
    let path = home.path().join("run");
    let mut dir = RunDir::create(&path, lab.plan.clone(), Vec::new()).unwrap();
    says(lab.measure(&mut dir), &["records.ndjson", "cannot append a record", "free some space"]);
    let counted = dir.records().len();
    drop(dir);
    let log = log::read(&log_of(&path)).unwrap();
    assert_eq!((log.records.len(), log.torn_bytes), (counted, 0), "nothing half-written stays");
    assert!(counted > 50);
    disk.remount("size=2m");
    let mut dir = RunDir::open(&path).unwrap();
    assert!(lab.measure(&mut dir).unwrap().complete);
    drop(dir);
}

#[test]
fn a_read_only_directory_is_one_clear_line() {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Tmpfs::mount(home.path(), "size=1m") else { return };
    let lab = lab();
    let path = home.path().join("run");
    drop(RunDir::create(&path, lab.plan.clone(), Vec::new()).unwrap());
    disk.remount("ro");
    says(RunDir::open(&path), &["cannot be written", "Read-only"]);
    says(
        RunDir::create(&home.path().join("new"), lab.plan.clone(), Vec::new()),
        &["cannot be created", "Read-only"],
    );
    StoredRun::read(&path).expect("reading needs no writing");
}

#[test]
fn a_partly_written_line_is_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let Some(_disk) = Tmpfs::mount(home.path(), "size=16k") else { return };
    let path = home.path().join("records.ndjson");
    let mut writer = LogWriter::open(&path, 0).unwrap();
    let mut appended = 0;
    while writer.append(&Record::Resumed { at: appended }).is_ok() {
        appended += 1;
        assert!(appended < 10_000, "the disk has to be full at some time");
    }
    let log = log::read(&path).unwrap();
    assert_eq!((log.records.len() as i64, log.torn_bytes), (appended, 0));
}

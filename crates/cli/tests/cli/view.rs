//! `weigh runs open`: what the index page says, what it leads to, what it leaves alone, and how it follows a run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};
use url::Url;
use weigh_run::log::{self, LogWriter};

use crate::lab::{Lab, SMALL, Started, WEIGH, wait_until};

/// A name as hostile as a folder's may be.
const HOSTILE: &str = "a<script>alert(1)<\\script>\"'&amp;%2e%2e #?";

/// A lab with two runs, one of a hostile name.
fn measured() -> Lab {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "weigh-runs/small"]);
    copy(&lab.path("weigh-runs/small"), &lab.path("weigh-runs").join(HOSTILE));
    lab
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for name in ["run.json", "plan.json", "records.ndjson", "lock"] {
        fs::write(to.join(name), fs::read(from.join(name)).unwrap()).unwrap();
    }
}

/// Files that the page leads to, by their paths below its folder, as a browser finds them.
fn links(page: &str) -> Vec<String> {
    let at = Url::parse("file:///index.html").unwrap();
    let links = page.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let files = links.map(|link| at.join(link).unwrap().to_file_path().unwrap());
    files.map(|file| file.strip_prefix("/").unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn the_page_has_each_run_with_its_answer_and_a_link_to_its_report_and_names_stay_text() {
    let lab = measured();
    let runs = lab.path("weigh-runs");
    let (newest, cut) = (runs.join("small/report/report.html"), runs.join("cut"));
    copy(&runs.join("small"), &cut);
    let records = fs::read_to_string(cut.join("records.ndjson")).unwrap();
    fs::write(cut.join("records.ndjson"), records.lines().next().unwrap().to_owned() + "\n").unwrap();
    copy(&runs.join("small"), &runs.join("broken"));
    fs::write(runs.join("broken/plan.json"), "<b>no plan").unwrap();
    // A page that is older than the records is made again, another one stays.
    fs::write(&newest, "mine").unwrap();
    assert_eq!(lab.fine(&["runs", "open"]), "weigh-runs/index.html\n");
    let page = lab.read("weigh-runs/index.html");
    assert!(
        page.contains("A small study")
            && page.contains("Best trade-offs of time and bytes: zstd 3 and zlib 6."),
        "{page}"
    );
    assert!(!page.contains("<script") && page.contains("a&lt;script&gt;alert(1)"), "{page}");
    assert!(!page.contains("<b>") && page.contains("<td>damaged</td>"), "{page}");
    assert!(
        page.contains("<td>interrupted</td>") && page.contains("round 1, 0 of 4 configurations"),
        "{page}"
    );
    assert!(!page.contains("http-equiv=\"refresh\""), "no run is measuring");
    let mut found = links(&page);
    found.sort();
    let report = found[0].rsplit('/').next().unwrap();
    assert_eq!(found, [HOSTILE, "cut", "small"].map(|name| format!("{name}/report/{report}")));
    assert!(
        fs::read_to_string(runs.join(HOSTILE).join("report").join(report)).unwrap().contains("A small study")
    );
    if report == "report.html" {
        assert_eq!(fs::read_to_string(&newest).unwrap(), "mine");
        // That of a run from elsewhere is none to believe.
        let theirs = runs.join(HOSTILE).join("report").join(report);
        fs::write(&theirs, "<script>alert(1)</script>").unwrap();
        let old = SystemTime::now() - Duration::from_secs(86_400);
        fs::File::options().write(true).open(&newest).unwrap().set_modified(old).unwrap();
        lab.fine(&["runs", "open"]);
        for page in [&newest, &theirs] {
            assert!(fs::read_to_string(page).unwrap().contains("A small study"));
        }
    }
}

#[test]
fn other_pages_and_what_links_lead_to_stay() {
    let lab = measured();
    lab.write("mine", "dear reader");
    let (page, report) =
        (lab.path("weigh-runs/index.html"), lab.path("weigh-runs").join(HOSTILE).join("report"));
    fs::write(&page, "<h1>my site</h1>").unwrap();
    assert!(lab.refused(&["runs", "open"]).contains("not a page of weigh runs open; move it away"));
    fs::remove_file(&page).unwrap();
    symlink(lab.path("mine"), &page).unwrap();
    assert!(lab.refused(&["runs", "open"]).contains("not a page of weigh runs open; move it away"));
    fs::remove_file(&page).unwrap();
    fs::create_dir(lab.path("elsewhere")).unwrap();
    symlink(lab.path("elsewhere"), &report).unwrap();
    let ran = lab.done(&["runs", "open"]);
    assert!(ran.stderr.starts_with("weigh-runs: pages of runs cannot be written ("), "{}", ran.stderr);
    assert_eq!(links(&lab.read("weigh-runs/index.html")).len(), 1);
    assert_eq!(lab.read("mine"), "dear reader");
    assert_eq!(fs::read_dir(lab.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_run_that_measures_is_followed_until_it_ends_or_the_user_wants_an_end() {
    let lab = measured();
    let run = lab.path("weigh-runs/growing");
    copy(&lab.path("weigh-runs/small"), &run);
    let path = run.join("records.ndjson");
    let records = log::read(&path).unwrap().records;
    fs::remove_file(&path).unwrap();
    let mut writer = LogWriter::open(&path, 0).unwrap();
    let held = fs::File::open(run.join("lock")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let (before, after) = records.split_at(3);
    before.iter().for_each(|record| writer.append(record).unwrap());

    let start = || {
        let mut command = Command::new(WEIGH);
        command.args(["runs", "open"]).current_dir(lab.work()).env("TMPDIR", lab.tmp()).stdin(Stdio::null());
        Started(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    };
    let page = || fs::read_to_string(lab.path("weigh-runs/index.html")).unwrap_or_default();
    let reloads = || page().contains("http-equiv=\"refresh\"");
    for signal in ["INT", "TERM"] {
        let mut view = start();
        wait_until("it is followed", reloads);
        assert!(page().contains("round 1, 0 of 4 configurations done"), "{}", page());
        view.signal(signal);
        assert_eq!(view.0.wait().unwrap().code(), Some(0), "{signal}");
        assert!(!reloads() && links(&page()).len() == 2, "{}", page());
    }
    let mut view = start();
    wait_until("it is followed", reloads);
    after.iter().for_each(|record| writer.append(record).unwrap());
    flock(&held, FlockOperation::Unlock).unwrap();
    assert_eq!(view.0.wait().unwrap().code(), Some(0));
    assert!(!reloads() && links(&page()).len() == 3, "{}", page());
    assert_eq!(lab.left_over(), 0);
}

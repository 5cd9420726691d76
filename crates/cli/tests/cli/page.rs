//! The page of a run: it ranks as the analysis does, in Node and in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use weigh_answer::format::{Options, named};
use weigh_answer::page::{self, data::Data};
use weigh_answer::report::Report;
use weigh_answer::report::ranking::{Conditions, Ranking};
use weigh_model::record::fairness::LightMoment;
use weigh_os::programs::first_of;
use weigh_run::dir::StoredRun;

use crate::lab::Lab;
use crate::servers::dictionaries::chromium;
use crate::servers::fixture::skip;

/// States of the page that are compared.
const STATES: usize = 200;

pub(crate) fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn stored(name: &str) -> Report {
    StoredRun::read(&checkout().join("docs/runs").join(name)).unwrap().report()
}

/// Conditions as a reader may set them.
fn drawn(rng: &mut impl Rng) -> String {
    let mut number = |low: f64, high: f64| {
        let drawn = low * (high / low).powf(rng.random::<f64>());
        // As a field shows it.
        format!("{drawn:.3e}").parse::<f64>().unwrap()
    };
    let mut link = || format!("{}:{}:{}", number(0.05, 1e4), number(0.01, 900.0), number(0.01, 1.0));
    let links = [link(), link(), link()];
    let (reads, core, gb, second) =
        (number(0.01, 1e5), number(1e-3, 1.0), number(1e-4, 1.0), number(1e-7, 1e-2));
    let count = 1 + rng.random_range(0..3);
    let goal = ["time", "money"][rng.random_range(0..2)];
    let connection = ["warm", "idle", "new"][rng.random_range(0..3)];
    let reads = if rng.random_range(0..10) == 0 { 0.0 } else { reads };
    let second = if rng.random_range(0..2) == 0 { 0.0 } else { second };
    format!(
        "goal={goal},link={},connection={connection},reads={reads},core-hour={core},gb={gb},second={second}",
        links[..count].join("+")
    )
}

/// The rankings of a report under random conditions, as the page's tests read them.
fn cases(report: &Report, states: usize) -> Value {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let usual = Conditions::of(report);
    let ranking = Ranking::of(report);
    let case = |_| {
        let text = drawn(&mut rng);
        let group = rng.random_range(0..report.groups.len());
        let ranked = ranking.group(group, &usual.with(&text).unwrap());
        json!({ "fragment": format!("{text},group={group}"), "group": group, "ranked": ranked })
    };
    json!((0..states).map(case).collect::<Vec<_>>())
}

/// The tests of the page's program; none where they cannot run.
fn page_tests(file: &str) -> Option<Command> {
    let web = checkout().join("web");
    let is_made = web.join("node_modules").is_dir() && page::is_built_in();
    let Some(node) = first_of(&["node".to_owned()]).filter(|_| is_made) else {
        skip("the page: Node, or what `make web` makes, was not found");
        return None;
    };
    let mut node = Command::new(node);
    node.current_dir(&web).args(["--test", file]);
    Some(node)
}

fn passes(mut node: Command) {
    let out = node.output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{told}\n{errors}");
    // Figures that the tests measure, which Node writes as remarks.
    let figures =
        told.lines().filter_map(|line| line.strip_prefix("# ")).filter(|line| line.starts_with("page-"));
    figures.for_each(|line| println!("{line}"));
}

#[test]
fn the_pages_program_ranks_as_the_analysis_does() {
    let Some(mut node) = page_tests("test/cases.test.mjs") else { return };
    let lab = Lab::new();
    for run in ["cache-levels", "static-assets", "page-output", "cache-client"] {
        let report = stored(run);
        let all = json!({ "data": Data::of(&report, &Options::default()), "cases": cases(&report, STATES) });
        lab.write(&format!("{run}.json"), all.to_string());
    }
    node.env("RANKING_CASES", lab.path(""));
    passes(node);
}

#[test]
fn a_browser_shows_the_ranking_of_the_analysis_and_nothing_hostile() {
    let Some(mut node) = page_tests("test/browser.test.mjs") else { return };
    let Some(chromium) = chromium() else { return };
    let lab = Lab::new();
    let report = stored("cache-levels");
    let render = |report: &Report| {
        let command = Some("weigh run cache-levels".to_owned());
        let options = Options { repeat: command.clone(), command, ..Options::default() };
        named("html").unwrap().render(report, &options).unwrap().remove(0).bytes
    };
    lab.write("page.html", render(&report));
    lab.write("hostile.html", render(&hostile(report.clone())));
    let slow = stored("downloads");
    lab.write("slow.html", render(&slow));
    lab.write("profile", format!("{{main}};work;php::strlen 60\n{{main}};work;{HOSTILE} 30\n{{main}} 10\n"));
    lab.fine(&["profile", "profile", "--out", "profiled"]);
    lab.fine(&["runs", "show", "profiled", "-f", "html", "--out", "profiled"]);
    lab.write("slow-hostile.html", render(&hostile_setup(slow)));
    lab.write("cases.json", cases(&report, STATES).to_string());
    if let Some(shots) = std::env::var_os("PAGE_SHOTS") {
        fs::create_dir_all(&shots).unwrap();
    }
    node.env("PAGE", lab.path("page.html"))
        .env("PAGE_HOSTILE", lab.path("hostile.html"))
        .env("PAGE_SLOW", lab.path("slow.html"))
        .env("PAGE_SLOW_HOSTILE", lab.path("slow-hostile.html"))
        .env("PAGE_PROFILE", lab.path("profiled/report.html"))
        .env("PAGE_CASES", lab.path("cases.json"))
        .env("CHROMIUM", chromium);
    passes(node);
}

/// A name that would be a script if a browser took it for HTML.
const HOSTILE: &str =
    "</script><script>window.pwned = 1</script>\"'><img src=x onerror=\"window.pwned=1\">\u{202e}";

/// Slow clients with such names of methods, servers and contents, and response times over time.
fn hostile_setup(mut report: Report) -> Report {
    for result in report.exhibits.fairness.iter_mut().flat_map(|slow| &mut slow.0) {
        result.cell.setting.codec = HOSTILE.into();
        result.cell.payload = HOSTILE.into();
        result.cell.id.push_str(HOSTILE);
        let light = |n: u32| LightMoment {
            at: f64::from(n) * 0.25,
            seconds: 0.25,
            answered: 12,
            p50: (n % 5 != 4).then_some(0.002 * f64::from(n + 1)),
            longest: Some(0.2),
        };
        result.light_over_time = (0..16).map(light).collect();
    }
    report
}

/// The report with such names everywhere.
fn hostile(mut report: Report) -> Report {
    let name = HOSTILE;
    report.study.title = name.into();
    report.study.question = name.into();
    report.payloads[0].kind = name.into();
    let old = report.payloads[0].name.clone();
    report.payloads[0].name = name.into();
    for row in report.rows.iter_mut().filter(|row| row.cell.payload == old) {
        row.cell.payload = name.into();
        row.cell.setting.codec = name.into();
        row.facts.insert("library".into(), name.into());
    }
    for group in report.groups.iter_mut().filter(|group| group.payload() == old) {
        group.key.insert("payload".into(), name.into());
    }
    report
}

#[test]
fn a_page_is_one_file_that_loads_nothing() {
    if !page::is_built_in() {
        return skip("the page: this build has none; `make web` makes it");
    }
    let lab = Lab::new();
    let run = checkout().join("docs/runs/cache-levels");
    lab.fine(&["runs", "show", run.to_str().unwrap(), "-f", "html", "--out", "."]);
    let page = fs::read_to_string(lab.path("report.html")).unwrap();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("default-src 'none'") && !page.contains("src=\"http") && !page.contains("@import"));
}

#[test]
fn conditions_on_the_command_line_rank_as_in_the_page() {
    let lab = Lab::new();
    let run = checkout().join("docs/runs/cache-levels");
    let run = run.to_str().unwrap();
    let told = lab.told(&["runs", "show", run, "--at", "link=1.6:150,connection=new,reads=100", "--json"]);
    let report = stored("cache-levels");
    let usual = Conditions::of(&report);
    let conditions = usual.with("link=1.6:150,connection=new,reads=100").unwrap();
    let first = &told["groups"][0]["ranked"][0];
    let ranked = Ranking::of(&report).group(0, &conditions);
    assert_eq!(first["id"], ranked[0].id.as_str());
    assert_eq!(told["groups"].as_array().unwrap().len(), report.groups.len());
    let text = lab.fine(&["runs", "show", run, "--at", "link=1.6:150,connection=new,reads=100"]);
    assert!(text.contains("1.6 Mbit/s") && text.contains("100 reads per write"), "{text}");
    let line = lab.refused(&["runs", "show", run, "--at", "conection=new"]);
    assert!(line.contains("did you mean `connection`?"), "{line}");
}

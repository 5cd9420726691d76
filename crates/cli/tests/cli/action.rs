//! `action.yml`: the shell of its steps, run in their order with a `gh` that writes down what it is asked.

use std::fs;
use std::path::{Path, PathBuf};

use crate::codec::text;
use crate::lab::{Lab, Ran, SMALL, WEIGH};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A `gh` that appends its arguments and the comment's text to a file, and knows of one earlier comment if `earlier` is there.
const GH: &str = r#"#!/usr/bin/env bash
printf '%s\n' "$*" >>gh.log
for argument in "$@"; do
    case $argument in
        body=@*) cat "${argument#body=@}" >>gh.log ;;
        --jq) if [ -e earlier ]; then echo 77; fi ;;
    esac
done
[ ! -e forbidden ]
"#;

/// A job: its folder, and the programs on its path.
struct Job(Lab);

impl Job {
    fn new() -> Job {
        let lab = Lab::new();
        let programs =
            [("bin/gh", GH.to_owned()), ("bin/weigh", format!("#!/bin/sh\nexec '{WEIGH}' \"$@\"\n"))];
        for (name, script) in programs {
            let path = lab.write(name, script);
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        lab.write("small.toml", SMALL.replace("max_rounds = 3", "max_rounds = 6"));
        Job(lab)
    }

    /// Runs a step; its output file is `out`, anew for each.
    fn step(&self, script: &str, environment: &[(&str, &str)]) -> Ran {
        for file in ["out", "summary", "path"] {
            self.0.write(file, "");
        }
        let path = format!("{}:{}", self.0.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = self.0.command("bash");
        command.arg(root().join("scripts/action").join(script)).env("PATH", path);
        for (name, file) in
            [("GITHUB_OUTPUT", "out"), ("GITHUB_STEP_SUMMARY", "summary"), ("GITHUB_PATH", "path")]
        {
            command.env(name, self.0.path(file));
        }
        command.env("RUNNER_TEMP", self.0.tmp()).env("GITHUB_ACTION_PATH", root());
        Ran::of(command.envs(environment.iter().copied()).output().unwrap())
    }

    fn done(&self, script: &str, environment: &[(&str, &str)]) -> String {
        let ran = self.step(script, environment);
        assert_eq!(ran.code, 0, "{script}: {}{}", ran.stdout, ran.stderr);
        self.0.read("out")
    }

    fn output(&self, name: &str) -> String {
        let (out, start) = (self.0.read("out"), format!("{name}="));
        out.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default().to_owned()
    }
}

#[test]
fn a_push_makes_the_baseline_and_a_pull_request_is_compared_and_commented() {
    let job = Job::new();
    assert!(job.step("install.sh", &[]).stdout.starts_with("weigh "));
    job.done("names.sh", &[("BASE", "release/$(touch owned)`id`\n1.x")]);
    let baseline = job.output("baseline");
    assert!(baseline.starts_with("b-release-") && baseline.ends_with("-1.x"), "{baseline}");
    let study = [("STUDY", "small.toml"), ("ARGUMENTS", "--seed\n2\n"), ("BASELINE", baseline.as_str())];
    job.done("run.sh", &study);
    assert_eq!(job.output("code"), "0");
    assert_eq!(job.done("compare.sh", &study), "", "there is no baseline yet");
    job.0.fine(&["compare", "--save", &baseline]);

    job.done("run.sh", &study);
    job.0.write("gates.toml", "[[gate]]\nmetric = \"stored-bytes\"\nno_worse_than = \"0%\"\n");
    job.done("compare.sh", &[&study[..], &[("GATES", "gates.toml")]].concat());
    assert_eq!(job.output("code"), "0");
    assert!(job.0.read("summary").contains(&baseline));
    assert!(fs::read_to_string(job.output("junit")).unwrap().contains("stored-bytes"));

    let markdown = job.output("markdown");
    let comment =
        [("REPOSITORY", "a/b"), ("PULL_REQUEST", "7"), ("MARKDOWN", markdown.as_str()), ("GH_TOKEN", "none")];
    job.done("comment.sh", &comment);
    let log = job.0.read("gh.log");
    assert!(log.contains("--method POST repos/a/b/issues/7/comments") && log.contains("<details>"), "{log}");
    job.0.write("earlier", "");
    job.done("comment.sh", &comment);
    assert!(job.0.read("gh.log").contains("--method PATCH repos/a/b/issues/comments/77"));
    job.0.write("forbidden", "");
    assert!(job.step("comment.sh", &comment).stdout.contains("::warning::"));
    assert!(!job.0.path("owned").exists());
}

#[test]
fn what_got_worse_fails_the_job_in_its_last_step() {
    let job = Job::new();
    let code = |run: &str, compared: &str, undecided: &str| {
        job.step("verdict.sh", &[("RUN", run), ("COMPARED", compared), ("UNDECIDED", undecided)]).code
    };
    assert_eq!((code("0", "0", "fail"), code("0", "", "fail"), code("0", "4", "pass")), (0, 0, 4));
    assert_eq!(
        (code("4", "", "fail"), code("3", "0", "pass"), code("0", "5", "fail"), code("0", "5", "pass")),
        (4, 3, 5, 0)
    );
    // What is no result of a comparison ends its own step.
    job.0.write("page.html", text(2_000));
    assert_eq!(job.step("run.sh", &[("STUDY", "nowhere.toml"), ("ARGUMENTS", "")]).code, 2);
}

/// What an event or an input says reaches shell only by the environment.
#[test]
fn no_expression_stands_in_shell() {
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    let shell: Vec<&str> = action.lines().filter(|line| line.trim_start().starts_with("run: ")).collect();
    assert_eq!(shell.len(), action.matches("shell: bash").count());
    assert!(shell.len() >= 6 && shell.iter().all(|line| !line.contains("${{")), "{shell:?}");
    for line in shell.iter().filter_map(|line| line.split_once("$GITHUB_ACTION_PATH/")) {
        assert!(root().join(line.1.trim_end_matches('"')).is_file(), "{line:?}");
    }
}

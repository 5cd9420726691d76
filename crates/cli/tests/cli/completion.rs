//! What shells offer, asked as a shell's user does, and the manual.

use std::path::Path;

use crate::lab::{Lab, WEIGH, has};

/// Runs a script of a shell that finds `weigh`; its words.
fn said_by(lab: &Lab, shell: &[&str], script: &str) -> Vec<String> {
    let own = Path::new(WEIGH).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
    let output = lab.command(shell[0]).args(&shell[1..]).arg(script).env("PATH", path).output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{words}{}", String::from_utf8_lossy(&output.stderr));
    // A description stands behind a tab (fish), or behind a colon (zsh).
    let word = |line: &str| line.split(['\t', ':']).next().unwrap_or_default().trim().to_owned();
    words.lines().map(word).filter(|word| !word.is_empty()).collect()
}

fn bash(lab: &Lab, line: &[&str]) -> Vec<String> {
    let last = line.last().unwrap();
    let script = format!(
        "source <(COMPLETE=bash weigh)\nCOMP_WORDS=({}) COMP_CWORD={} COMP_TYPE=9\n_clap_complete_weigh weigh '{last}' x 2>/dev/null\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        line.len() - 1,
    );
    said_by(lab, &["bash", "--norc", "-c"], &script)
}

/// A lab with a run, a baseline of it, and a fetched runtime's name.
fn furnished() -> Lab {
    let lab = Lab::new();
    for folder in ["weigh-runs/small-1", "weigh-runs/baselines/before"] {
        lab.write(&format!("{folder}/run.json"), "{}");
    }
    lab
}

#[test]
fn bash_completes_verbs_flags_and_what_is_there() {
    needs!(has("bash", "apt install bash"));
    let lab = furnished();
    assert_eq!(bash(&lab, &["weigh", "prof"]), ["profile"]);
    assert_eq!(bash(&lab, &["weigh", "check", "--f"]), ["--fix"]);
    assert_eq!(bash(&lab, &["weigh", "run", "cache-l"]), ["cache-levels"]);
    assert_eq!(bash(&lab, &["weigh", "runs", "show", "sma"]), ["small-1"]);
    assert_eq!(bash(&lab, &["weigh", "compare", "--baseline", "b"]), ["before"]);
    assert_eq!(bash(&lab, &["weigh", "compare", "--forget", ""])[0], "before");
    assert_eq!(bash(&lab, &["weigh", "site", "--server", "ng"]), ["nginx"]);
    assert_eq!(bash(&lab, &["weigh", "run", "--store", "red"]), ["redis"]);
    assert_eq!(bash(&lab, &["weigh", "lab", "link", "measure", "cab"]), ["cable"]);
    lab.write("page.html", "");
    assert_eq!(bash(&lab, &["weigh", "codec", "pa"]), ["page.html"]);
    assert_eq!(lab.left_over(), 0, "a shell that asks leaves nothing");
}

#[test]
fn runtimes_are_completed_by_their_names_without_starting_them() {
    needs!(has("bash", "apt install bash"));
    let lab = furnished();
    let marked = lab.path("started");
    let program = lab.write("bin/php9.9", format!("#!/bin/sh\ntouch {}\n", marked.display()));
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", lab.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = lab.weigh(&["--", "weigh", "run", "--php", "php9"]);
    command.env("PATH", path).env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3").env("_CLAP_IFS", "\n");
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "php9.9");
    assert!(!marked.exists());
}

#[test]
fn fish_completes_the_same() {
    needs!(has("fish", "apt install fish"));
    let lab = furnished();
    let offered = |line: &str| {
        let script = format!("COMPLETE=fish weigh | source; complete -C '{line}'");
        said_by(&lab, &["fish", "--no-config", "-c"], &script)
    };
    assert_eq!(offered("weigh prof"), ["profile"]);
    assert_eq!(offered("weigh runs show sma"), ["small-1"]);
    assert_eq!(offered("weigh run cache-l"), ["cache-levels"]);
}

#[test]
fn zsh_completes_the_same() {
    needs!(has("zsh", "apt install zsh"));
    let lab = furnished();
    // The package's file is loaded by its name when it is first wanted, and answers then.
    lab.fine(&["lab", "man", "share"]);
    let offered = |words: &str, current: usize| {
        let script = format!(
            "compdef() {{ :; }}\n_describe() {{ print -rl -- \"${{(@P)3}}\"; }}\nfpath=(share/zsh/vendor-completions)\nautoload -U _weigh\nwords=({words}) CURRENT={current}\n_weigh"
        );
        said_by(&lab, &["zsh", "-f", "-c"], &script)
    };
    assert_eq!(offered("weigh prof", 2), ["profile"]);
    assert_eq!(offered("weigh runs show sma", 4), ["small-1"]);
    assert_eq!(offered("weigh run cache-l", 3), ["cache-levels"]);
}

#[test]
fn the_manual_is_made_whole_and_never_over_a_folder() {
    let lab = Lab::new();
    lab.fine(&["lab", "man", "share"]);
    let page = lab.read("share/man/man1/weigh-check.1");
    assert!(page.starts_with(".ie") || page.contains(".TH weigh-check 1"), "{page}");
    assert!(page.contains(r"\-\-fix"), "{page}");
    assert!(lab.read("share/bash-completion/completions/weigh").contains("complete "));
    assert!(lab.read("share/fish/vendor_completions.d/weigh.fish").contains("COMPLETE=fish"));
    assert!(lab.refused(&["lab", "man", "share"]).contains("share: is there already"));
}

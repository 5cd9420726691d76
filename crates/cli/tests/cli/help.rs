//! What the program says of itself.

use crate::lab::{Lab, Ran};

const VERBS: [&str; 12] =
    ["site", "advise", "prove", "pack", "codec", "run", "load", "profile", "compare", "runs", "check", "lab"];

#[test]
fn the_bare_program_helps() {
    let lab = Lab::new();
    let bare = lab.fine(&["-h"]);
    // In the order of the journey.
    let verbs: Vec<&str> = bare
        .lines()
        .skip_while(|line| *line != "Commands:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|verb| !verb.is_empty()))
        .collect();
    assert!(verbs.starts_with(&VERBS), "{bare}");
    let long = lab.fine(&["--help"]);
    for words in ["Start here", "weigh codec page.html", "weigh help exit"] {
        assert!(long.contains(words), "{words}: {long}");
    }
    assert!(!bare.contains("agent"), "what only the lab calls is not shown");
    assert!(lab.fine(&[]).starts_with("No site is in this folder"), "it says where to look");
}

#[test]
fn every_verb_helps_and_names_the_version() {
    let lab = Lab::new();
    for verb in VERBS {
        let help = lab.fine(&[verb, "--help"]);
        assert!(help.contains(&format!("Usage: weigh {verb}")), "{help}");
    }
    assert!(lab.fine(&["lab", "corpus"]).contains("Usage: weigh lab corpus"));
    let short = format!("weigh {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(lab.fine(&["-V"]), short);
    let long = lab.fine(&["--version"]);
    let libraries = long.strip_prefix(&short).expect("the first line is the version alone");
    for library in ["zlib 1.", "zlib-ng 2.", "libdeflate 1.", "zstd 1.", "brotli 1.", "lz4 1."] {
        assert!(libraries.contains(library), "{library}: {libraries}");
    }
}

/// `weigh help VERB` has every option that the long help leaves out.
#[test]
fn help_fits_a_screen_of_80_columns() {
    let lab = Lab::new();
    let lines = |args: &[&str]| {
        let mut command = lab.weigh(args);
        let ran = Ran::of(command.env("COLUMNS", "80").output().expect("it starts"));
        ran.stdout.lines().count()
    };
    for verb in VERBS {
        let [short, long, all] = [&[verb, "-h"][..], &[verb, "--help"], &["help", verb]].map(lines);
        assert!(short <= 25 && long <= 45 && short <= long, "{verb}: -h {short}, --help {long}");
        assert!(long <= all + 4, "{verb}: --help {long}, all {all}");
    }
    assert!(lines(&["-h"]) <= 25 && lines(&["--help"]) <= 45);
    let all = lab.fine(&["help", "load"]);
    assert!(["--streams", "--hlog", "--drain"].iter().all(|flag| all.contains(flag)), "{all}");
}

#[test]
fn exit_codes_and_the_options_of_all_are_said_once() {
    let lab = Lab::new();
    let said = lab.fine(&["help", "exit"]);
    for words in ["  0  done", "  5  undecided", "--defs DIR", "--trust-config"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    for verb in VERBS {
        assert!(!lab.fine(&[verb, "--help"]).contains("Exit codes"), "{verb}");
    }
}

#[test]
fn a_verb_of_earlier_versions_says_what_it_is_called_now() {
    let lab = Lab::new();
    for (old, rest, now) in [
        ("plan", "cache-levels", "weigh run --dry-run"),
        ("report", "latest --full", "weigh runs show"),
        ("view", "", "weigh runs open"),
        ("baseline", "save main", "weigh compare --save"),
        ("link", "measure cable", "weigh lab link"),
        ("runtime", "", "weigh lab runtime"),
        ("corpus", "fetch", "weigh lab corpus"),
        ("version", "", "weigh --version"),
        ("list", "", "weigh runs list"),
    ] {
        let words: Vec<&str> = [old].into_iter().chain(rest.split_whitespace()).collect();
        let line = lab.refused(&words);
        assert!(line.contains(&format!("no command `{old}`; type: {now}")), "{old}: {line}");
    }
}

#[test]
fn a_slip_on_the_command_line_is_one_line_with_the_nearest_name() {
    let lab = Lab::new();
    for (args, said) in [
        (&["cdoec"][..], "'codec'"),
        (&["codec", "x", "--buget", "3"], "'--budget'"),
        (&["codec"], "<PATH>"),
        (&["codec", "x", "--budget", "0"], "above zero"),
        (&["codec", "x", "--budget", "nan"], "above zero"),
        (&["codec", "x", "--seed", "x"], "--seed"),
        (&["codec", "x", "--block", "3"], "at least 64 bytes"),
        (&["run", "--resume", "x", "--quick"], "cannot be used with"),
        (&["runs", "show", "x", "--format", "jsno"], "did you mean `json`?"),
        (&["runs", "show", "x", "--format", "pdf"], "known: terminal, html, markdown, csv, json, svg, png"),
        (&["profile"], "<FILE>"),
        (&["profile", "--profiler", "gprof", "--", "x.php"], "auto, xdebug, excimer"),
        (&["profile", "--php", "php", "file"], "SCRIPT"),
        (&["lab", "corpus", "lits"], "'list'"),
        (&["codec", "x", "--bad\u{1b}[31m"], "unexpected argument"),
    ] {
        let line = lab.refused(args);
        assert!(line.contains(said), "{args:?}: {line}");
    }
}

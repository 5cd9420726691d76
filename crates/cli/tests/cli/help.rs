//! What the program says of itself.

use crate::lab::Lab;

#[test]
fn the_bare_program_helps() {
    let lab = Lab::new();
    let bare = lab.fine(&[]);
    for word in [
        "check",
        "site",
        "codec",
        "plan",
        "run",
        "report",
        "load",
        "profile",
        "corpus",
        "runtime",
        "link",
        "pack",
        "Start here",
        "weigh codec page.html",
    ] {
        assert!(bare.contains(word), "{word}: {bare}");
    }
    assert!(!bare.contains("agent"), "what only the lab calls is not shown");
    assert_eq!(bare, lab.fine(&["-h"]));
}

#[test]
fn every_verb_helps_and_names_the_version() {
    let lab = Lab::new();
    for verb in [
        "check", "site", "codec", "plan", "run", "report", "load", "profile", "corpus", "runtime", "link",
        "pack",
    ] {
        let help = lab.fine(&[verb, "--help"]);
        assert!(help.contains(&format!("Usage: weigh {verb}")), "{help}");
    }
    assert!(lab.fine(&["corpus"]).contains("Usage: weigh corpus"));
    let short = format!("weigh {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(lab.fine(&["-V"]), short);
    let long = lab.fine(&["--version"]);
    let libraries = long.strip_prefix(&short).expect("the first line is the version alone");
    for library in ["zlib 1.", "zlib-ng 2.", "libdeflate 1.", "zstd 1.", "brotli 1.", "lz4 1."] {
        assert!(libraries.contains(library), "{library}: {libraries}");
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
        (&["report", "x", "--format", "jsno"], "did you mean `json`?"),
        (&["report", "x", "--format", "pdf"], "known: terminal, html, markdown, csv, json, svg, png"),
        (&["profile"], "<FILE>"),
        (&["profile", "--profiler", "gprof", "--", "x.php"], "auto, xdebug, excimer"),
        (&["profile", "--php", "php", "file"], "SCRIPT"),
        (&["corpus", "lits"], "'list'"),
        (&["codec", "x", "--bad\u{1b}[31m"], "unexpected argument"),
    ] {
        let line = lab.refused(args);
        assert!(line.contains(said), "{args:?}: {line}");
    }
}

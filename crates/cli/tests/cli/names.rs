//! Names from outside (of files, folders, studies, links, requests, functions) on every line that a verb writes: none reorders a line, hides a part of it or
//! moves the cursor.

use std::os::unix::fs::symlink;

use crate::lab::{Lab, Ran, SMALL, WEIGH, has, has_php};
use crate::load::server::{Server, response};

/// A right-to-left override, an isolate, an invisible character and a sequence that clears the screen.
const EVIL: &str = "a\u{202e}b\u{2066}c\u{200b}d\u{1b}[2Je";

/// What may stand in no line.
fn disturbs(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
}

/// Content, a study, a profile, requests, links and a PHP, all in a folder with such a name and themselves called so.
fn place() -> Lab {
    let lab = Lab::new();
    let named = SMALL.replace("A small study", &format!("A study {}", toml(EVIL)));
    let named = named.replace("Which of two?", &toml(EVIL)).replace("As it stands.", &toml(EVIL));
    lab.write(
        &format!("{EVIL}/{EVIL}.toml"),
        named.replace("[[cells]]", &format!("[[cells]]\nabout = \"{}\"", toml(EVIL))),
    );
    lab.write(&format!("{EVIL}/{EVIL}.css"), "p{color:red}\n".repeat(500));
    lab.write(&format!("{EVIL}/{EVIL}.stacks"), format!("main;{EVIL} 12\nmain 3\n"));
    lab.write(
        &format!("{EVIL}/defs/links/mine.toml"),
        format!("schema = 1\ndown_kbps = 77\nrtt_ms = 3\nsource = \"{}\"\n", toml(EVIL)),
    );
    if has_php() {
        let found = Ran::of(lab.command("sh").args(["-c", "command -v php"]).output().unwrap()).stdout;
        symlink(found.trim(), lab.work().join(format!("{EVIL}/php-{EVIL}"))).unwrap();
    }
    lab
}

/// As TOML has it.
fn toml(text: &str) -> String {
    text.replace('\u{1b}', "\\u001b")
}

/// Runs a verb; `{}` stands for the name.
fn ran(lab: &Lab, args: &[&str]) -> Ran {
    let args: Vec<String> = args.iter().map(|arg| arg.replace("{}", EVIL)).collect();
    let mut command = lab.weigh(&[]);
    command.env("WEIGH_CACHE", lab.work().join(EVIL).join("cache")).args(&args);
    Ran::of(command.output().unwrap())
}

/// Nothing of it disturbs, and the name is there.
fn is_harmless(args: &[&str], ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(disturbs), "{args:?}: {text:?}");
    }
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains(['\u{fffd}', '_', '\\']),
        "{args:?} does not show the name: {}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn what_a_verb_shows_is_harmless() {
    let lab = place();
    for args in [
        &["lab", "corpus", "list"][..],
        &["--defs", "{}/defs", "lab", "link", "list"],
        &["run", "--dry-run", "{}/{}.toml"],
        &["run", "--dry-run", "{}/{}.toml", "--cells", "--content", "{}/{}.css"],
        &["run", "{}/{}.toml", "--out", "{}/run-{}"],
        &["runs", "show", "{}/run-{}"],
        &["runs", "show", "{}/run-{}", "-f", "markdown", "-f", "csv"],
        &["runs", "show", "{}/run-{}", "-f", "svg", "--out", "{}/pictures"],
        &["codec", "{}/{}.css", "--codecs", "lz4", "--budget", "5", "--out", "{}/codec"],
        &["profile", "{}/{}.stacks"],
        &["profile", "{}/{}.stacks", "--function", "a", "--out", "{}/profile"],
    ] {
        let ran = ran(&lab, args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        is_harmless(args, &ran);
    }
}

#[test]
fn a_php_of_such_a_name_is_shown_harmlessly() {
    needs!(has_php());
    let lab = place();
    for args in [
        &["check", "--php", "{}/php-{}"][..],
        &["codec", "{}/{}.css", "--php", "{}/php-{}", "--codecs", "gzdeflate:1", "--budget", "5"],
        &["profile", "--php", "{}/php-{}", "--", "{}/nowhere.php"],
    ] {
        is_harmless(args, &ran(&lab, args));
    }
}

#[test]
fn what_is_refused_is_named_harmlessly() {
    let lab = place();
    for args in [
        &["{}"][..],
        &["--{}"],
        &["codec", "{}/nowhere"],
        &["codec", "{}/{}.css", "--codecs", "{}"],
        &["codec", "{}/{}.css", "--{}"],
        &["run", "--dry-run", "{}"],
        &["run", "--dry-run", "{}/nowhere.toml"],
        &["run", "{}/{}.toml", "--only", "{} and more"],
        &["run", "{}/{}.toml", "--content", "{}/nowhere"],
        &["run", "--resume", "{}/nowhere"],
        &["runs", "show", "{}"],
        &["runs", "show", "{}", "-f", "{}"],
        &["check", "--php", "{}/nowhere"],
        &["--defs", "{}/nowhere", "check"],
        &["profile", "{}/{}.css"],
        &["lab", "link", "measure", "{}"],
        &["lab", "link", "run", "{}", "--", "true"],
        &["lab", "runtime", "add", "{}"],
        &["lab", "runtime", "remove", "{}"],
        &["lab", "corpus", "fetch", "{}"],
        &["load", "--requests-file", "{}/nowhere"],
        &["load", "http://{}/"],
        &["load", "http://127.0.0.1:1/", "-H", "{}"],
    ] {
        let ran = ran(&lab, args);
        assert_ne!(ran.code, 0, "{args:?}: {}", ran.stdout);
        is_harmless(args, &ran);
    }
}

#[test]
fn what_a_server_says_and_requests_are_called_is_shown_harmlessly() {
    let lab = place();
    let server = Server::new(|_, number| {
        let body = if number == 20 { format!("a {EVIL} of it") } else { "a body, as ever".to_owned() };
        response("", body.as_bytes())
    });
    let requests =
        format!("[[request]]\nname = \"{0}\"\nclass = \"{0}\"\nurl = \"{1}\"\n", toml(EVIL), server.url("/"));
    lab.write(&format!("{EVIL}/load.toml"), requests.replace("\\u001b", ""));
    let args =
        ["load", "--requests-file", "{}/load.toml", "-n", "50", "-c", "1", "-v", "--out", "{}/load-{}"];
    let ran = ran(&lab, &args);
    assert!(ran.stdout.contains("mismatch"), "{}{}", ran.stdout, ran.stderr);
    is_harmless(&args, &ran);
}

#[test]
fn a_terminal_is_shown_them_harmlessly_too() {
    needs!(has("script", "apt install bsdutils"));
    let lab = place();
    for line in [
        "codec EVIL/EVIL.css --codecs lz4 --budget 5",
        "run EVIL/EVIL.toml",
        "run --dry-run EVIL/EVIL.toml",
        "lab corpus list",
    ] {
        let quoted = line.replace("EVIL", &shell_words::quote(EVIL));
        let mut command = lab.command("script");
        command.env("WEIGH_CACHE", lab.work().join(EVIL).join("cache")).env("TERM", "xterm-256color");
        let ran =
            Ran::of(command.args(["-qefc", &format!("{WEIGH} {quoted}"), "/dev/null"]).output().unwrap());
        assert_eq!(ran.code, 0, "{line}: {}", ran.stdout);
        // Colours and progress lines have sequences of their own; none of them clears the screen.
        assert!(!ran.stdout.contains(|c: char| !c.is_control() && disturbs(c)), "{line}: {:?}", ran.stdout);
        assert!(!ran.stdout.contains("\u{1b}[2J"), "{line}: {:?}", ran.stdout);
    }
}

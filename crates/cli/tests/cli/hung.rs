//! Programs that hang, flood, die or cannot be started: every verb that starts some ends in time, in little memory, with a word.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::endless::bounded_with;
use crate::lab::{Lab, deliveries, study};

/// What stands in the place of a program.
const KINDS: [(&str, &str, u32); 4] = [
    ("hangs", "exec /bin/sleep 1000", 0o755),
    ("floods", "exec /usr/bin/yes", 0o755),
    ("dies", "kill -SEGV $$", 0o755),
    ("is not executable", "", 0o644),
];
/// Programs that are asked for their versions, or carry something out in a moment.
const ASKED: [&str; 8] =
    ["nginx", "apache2", "lighttpd", "caddy", "php", "php-fpm", "redis-server", "memcached"];

/// Puts these programs before all others.
fn put(lab: &Lab, programs: &[&str], (_, script, mode): (&str, &str, u32)) {
    let folder = lab.path("bin");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir(&folder).unwrap();
    for program in programs {
        let path = folder.join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    }
}

/// Runs a verb with those programs; what is wrong with how it ended, and what it said.
fn tried(lab: &Lab, kind: &str, args: &[&str]) -> (Vec<String>, String) {
    let path = format!("{}:/usr/bin:/bin", lab.path("bin").display());
    let what = format!("{} where a program {kind}", args.join(" "));
    let Some(ran) = bounded_with(lab, args, &[("PATH", &path), ("WEIGH_PATIENCE", "0.5")]) else {
        return (vec![format!("{what}: hangs")], String::new());
    };
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let is_wrong = !(0..=5).contains(&ran.code) || ran.stderr.contains("panicked") || said.trim().is_empty();
    (if is_wrong { vec![format!("{what}: exit {}: {said}", ran.code)] } else { Vec::new() }, said)
}

#[test]
fn check_shows_the_rest_and_names_what_does_not_answer() {
    let lab = Lab::new();
    let mut wrong = Vec::new();
    for kind in KINDS {
        put(&lab, &ASKED, kind);
        let (found, said) = tried(&lab, kind.0, &["check"]);
        wrong.extend(found);
        assert!(said.contains("libdeflate"), "native codecs are measured without: {said}");
        for program in ASKED.iter().filter(|program| **program != "php-fpm") {
            assert!(said.contains(&format!("bin/{program}")), "{program} {}: {said}", kind.0);
        }
        if ["hangs", "floods"].contains(&kind.0) {
            let late = said.lines().filter(|line| line.contains("did not answer within 0.5 s")).count();
            assert!(late >= 7 && said.contains("bin/php-fpm"), "{}: {said}", kind.0);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_verb_ends_where_its_programs_do_not() {
    let lab = Lab::new();
    lab.write("www/a.js", "var a = 1;\n".repeat(200));
    lab.write("nginx.conf", "events {}\nhttp { server { listen 8080; root www; } }\n");
    lab.write("Caddyfile", ":8080 {\n root * www\n}\n");
    lab.write("work.php", "<?php echo 1;");
    lab.write("run.toml", study("run", [2, 1, 1], &deliveries("asset", "synthetic:rows-4k", "php", "")));
    let mut wrong = Vec::new();
    for kind in KINDS {
        for (programs, args) in [
            (&ASKED[..], &["run", "--dry-run", "run.toml"][..]),
            (&ASKED, &["run", "run.toml", "--out", "out"]),
            (&ASKED, &["codec", "www/a.js", "--php", "php", "--budget", "1"]),
            (&ASKED, &["profile", "--", "work.php"]),
            (&ASKED, &["site", "--docroot", "www", "--server-config", "nginx.conf", "--json"]),
            (&ASKED, &["site", "--docroot", "www", "--server-config", "Caddyfile", "--json"]),
            (&["ip", "tc"], &["lab", "link", "measure", "100mbit/5ms"]),
            (&["tc"], &["lab", "link", "run", "100mbit/5ms", "--", "true"]),
            (&["ip"], &["run", "run.toml", "--out", "out"]),
            (&["apt-config", "apt-get", "apt-cache"], &["check"]),
        ] {
            put(&lab, programs, kind);
            wrong.extend(tried(&lab, kind.0, args).0);
            fs::remove_dir_all(lab.path("out")).ok();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

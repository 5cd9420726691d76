//! The user's own in a study: content, a document root, a server's configuration.

use serde_json::Value;

use crate::codec::text;
use crate::lab::{Lab, SMALL, deliveries, has, study, wait_until};

/// A study of one server's files that is done in a moment.
fn whole_study() -> String {
    let blocks = [
        deliveries(
            "asset",
            "corpus:lodash-4.17.21.min",
            "-",
            r#"ways = ["plain", "gzip:6"]
keep = true"#,
        ),
        deliveries(
            "asset",
            "corpus:d3-7.9.0.min",
            "-",
            r#"sizes = [512]
ways = ["plain"]"#,
        ),
    ];
    study("assets", [60, 2, 2], &blocks.concat())
}

fn nginx() -> bool {
    has("nginx", "apt install nginx-light")
}

/// The plan, and what was said beside it.
fn planned(lab: &Lab, args: &[&str]) -> (Value, String) {
    let args: Vec<&str> = ["run", "--dry-run"].iter().chain(args).chain(&["--json"]).copied().collect();
    let ran = lab.done(&args);
    (serde_json::from_str(&ran.stdout).unwrap(), ran.stderr)
}

fn names(plan: &Value, list: &str, key: &str) -> Vec<String> {
    let all = plan[list].as_array().unwrap().iter();
    all.map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn content_is_refused_where_stores_are_measured() {
    let lab = Lab::new();
    lab.write("page.html", text(3000));
    for args in [&["cache-levels", "--store", "redis"][..], &["cache-client"]] {
        let line = lab.refused(&[&["run", "--dry-run", "--content", "page.html"][..], args].concat());
        assert!(line.contains("stores values of its own") && line.contains("without --store"), "{line}");
    }
}

#[test]
fn the_users_files_are_sent_in_place_of_the_content() {
    needs!(nginx());
    let lab = Lab::new();
    lab.write("assets.toml", whole_study());
    lab.write("site.css", text(3000));
    lab.write("app.js", text(9000));
    let ran =
        lab.done(&["run", "assets.toml", "--content", "site.css", "--content", "app.js", "--out", "run"]);
    assert!(!ran.stderr.contains("synthetic"), "{}", ran.stderr);
    let visits = lab.visits("run");
    let cells: Vec<&str> = visits.keys().map(String::as_str).collect();
    assert_eq!(
        cells,
        [
            "app.js/nginx/-/http/server/gzip:6",
            "app.js/nginx/-/http/server/plain",
            "app.js@512/nginx/-/http/server/plain",
            "site.css/nginx/-/http/server/gzip:6",
            "site.css/nginx/-/http/server/plain",
        ],
        "sizes are cut from the largest"
    );
    assert_eq!(visits["site.css/nginx/-/http/server/plain"]["encoded_bytes"], 3000);
    assert_eq!(
        visits["site.css/nginx/-/http/server/gzip:6"]["delivery"]["preflight"]["content_type"],
        "text/css"
    );
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_document_root_is_read_and_never_written() {
    needs!(nginx());
    let lab = Lab::new();
    lab.write("assets.toml", whole_study());
    for n in 0..12 {
        lab.write(&format!("public/js/{n:02}.js"), text(600 + 10 * n));
    }
    lab.write("public/site.css", text(2000));
    lab.write("public/index.php", "<?php secret();");
    lab.write("public/.env", "PASSWORD=x");
    lab.write("public/site.css.gz", text(300));
    lab.write("outside.js", text(100));
    std::os::unix::fs::symlink("../outside.js", lab.path("public/link.js")).unwrap();
    let (plan, said) = planned(&lab, &["assets.toml", "--docroot", "public"]);
    let payloads = names(&plan, "payloads", "name");
    assert_eq!(payloads.iter().filter(|p| !p.contains('@')).count(), 8, "{payloads:?}");
    assert!(payloads.contains(&"site.css".to_owned()), "each type has one: {payloads:?}");
    for line in [
        "left out 1 symbolic link",
        "left out 1 hidden files and folders",
        "left out 1 PHP source file, such as public/index.php",
        "left out 1 encoded variant, such as public/site.css.gz",
        "8 of 13 files stand for public, chosen by type and size",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!lab.read("assets.toml").is_empty() && !payloads.iter().any(|p| p.contains("php")));
    let quick = planned(&lab, &["assets.toml", "--docroot", "public", "--quick"]).0;
    assert!(names(&quick, "payloads", "name").len() < payloads.len());
    let before: Vec<_> = walk(&lab);
    let ran = lab.run(&["run", "assets.toml", "--docroot", "public", "--quick", "--out", "run"]);
    assert_eq!((ran.code, walk(&lab)), (0, before), "{}", ran.stderr);
}

fn walk(lab: &Lab) -> Vec<String> {
    let mut found: Vec<_> = ["public", "public/js"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(lab.path(folder)).unwrap())
        .map(|entry| format!("{:?}", entry.unwrap().path()))
        .collect();
    found.sort();
    found
}

#[test]
fn content_that_says_nothing_to_a_study_is_refused() {
    let lab = Lab::new();
    lab.write("assets.toml", whole_study());
    lab.write("page.toml", whole_study().replace("\"asset\"", "\"page\""));
    lab.write("small.toml", SMALL);
    lab.write("empty.css", "");
    lab.write("folder/a.png", "\u{89}PNG");
    lab.write("only/index.php", "<?php");
    std::fs::create_dir(lab.path("hollow")).unwrap();
    for (args, said) in [
        (&["assets.toml", "--content", "nowhere"][..], "nowhere: no such file or folder"),
        (&["assets.toml", "--content", "empty.css"], "empty.css is empty"),
        (&["assets.toml", "--content", "hollow"], "hollow has no file to send"),
        (&["assets.toml", "--content", "only"], "only has no file to send"),
        (&["assets.toml", "--docroot", "empty.css"], "--docroot empty.css: there is no such folder"),
        (&["page.toml", "--content", "folder"], "no file of the folder is one of HTML; name the file itself"),
        (&["page.toml", "--docroot", "folder"], "sends pages that PHP makes"),
        (&["small.toml", "--docroot", "folder"], "small measures codecs, not web servers"),
        (&["assets.toml", "--docroot", "folder", "--content", "empty.css"], "cannot be used with"),
    ] {
        let args: Vec<&str> = ["run", "--dry-run"].iter().chain(args).copied().collect();
        let line = lab.refused(&args);
        assert!(line.contains(said), "{args:?}: {line}");
    }
}

#[test]
fn a_study_of_codecs_takes_content_too() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.write("site.css", text(3000));
    let (plan, _) = planned(&lab, &["small.toml", "--content", "site.css"]);
    assert_eq!(names(&plan, "payloads", "name"), ["site.css"]);
    assert_eq!(plan["cells"].as_array().unwrap().len(), 4);
}

#[test]
fn a_configuration_of_nginx_stands_beside_the_studys_ways() {
    needs!(nginx());
    let lab = Lab::new();
    lab.write("assets.toml", whole_study());
    lab.write("site.css", text(30_000));
    let config = "server {\n    listen 443 ssl;\n    root /var/www/html;\n    gzip on;\n    gzip_comp_level 9;\n    gzip_types text/css;\n\
                  location ~ \\.php$ { fastcgi_pass unix:/run/php.sock; }\n}\n";
    lab.write("mine.conf", config);
    let args = [
        "run",
        "assets.toml",
        "--content",
        "site.css",
        "--server-config",
        "mine.conf",
        "--out",
        "run",
        "--json",
    ];
    let ran = lab.done(&args);
    assert!(
        ran.stderr.contains("mine.conf: left to the private instance, which has its own: listen (line 2)"),
        "{}",
        ran.stderr
    );
    let visits = lab.visits("run");
    let bytes =
        |way: &str| visits[&format!("site.css/nginx/-/http/server/{way}")]["encoded_bytes"].as_u64().unwrap();
    assert_eq!(bytes("plain"), 30_000);
    assert!(bytes("config") < bytes("gzip:6"), "level 9 against 6");
    let own = &lab.json("run/plan.json")["servers"][0]["own"][0];
    assert_eq!(own["file"], "mine.conf");
    crate::schema::keeps("plan", &lab.json("run/plan.json"));
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ids: Vec<&str> =
        found["rows"].as_array().unwrap().iter().map(|c| c["cell"]["id"].as_str().unwrap()).collect();
    assert!(ids.iter().any(|id| id.ends_with("server/config")), "{ids:?}");
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_configuration_of_apache_does_too() {
    needs!(has("apache2", "apt install apache2"));
    let lab = Lab::new();
    lab.write("assets.toml", whole_study());
    lab.write("site.css", text(30_000));
    let config = "<VirtualHost *:80>\n  ServerName example.org\n  <Directory /var/www/html>\n    Options FollowSymLinks\n    \
                  Header set X-Mine yes\n  </Directory>\n  <IfModule mod_deflate.c>\n    AddOutputFilterByType DEFLATE text/css\n  \
                  </IfModule>\n</VirtualHost>\n";
    lab.write("mine.conf", config);
    let args =
        ["run", "assets.toml", "--content", "site.css", "--server-config", "mine.conf", "--out", "run"];
    lab.done(&args);
    let visits = lab.visits("run");
    assert_eq!(visits["site.css/apache/-/http/server/plain"]["encoded_bytes"], 30_000);
    let config = &visits["site.css/apache/-/http/server/config"];
    assert!(config["encoded_bytes"].as_u64().unwrap() < 10_000, "{config}");
    assert_eq!(config["delivery"]["preflight"]["content_encoding"], "gzip");
}

#[test]
fn a_configuration_that_cannot_be_measured_is_refused_with_its_line() {
    needs!(nginx());
    let lab = Lab::new();
    lab.write("assets.toml", whole_study());
    std::fs::create_dir(lab.path("folder")).unwrap();
    for (text, flags, said) in [
        ("gzip on;\ngzip_comp_level 12;\n", &[][..], "value must be between 1 and 9 in mine.conf:2"),
        ("gzip on;\nno_such_thing on;\n", &[], "unknown directive \"no_such_thing\" in mine.conf:2"),
        (
            "gzip on;\nreturn 301 https://example.org;\n",
            &[],
            "nginx cannot be asked: it redirects every request to https://example.org (status 301)",
        ),
        (
            "hello\n",
            &[],
            "which server it is for cannot be told; add --server NAME (apache, caddy, lighttpd, nginx)",
        ),
        ("gzip on;\n", &["--server", "nginxx"], "no such server; did you mean `nginx`?"),
        (
            "gzip on;\n",
            &["--server", "php-builtin"],
            "php-builtin: a configuration of your own cannot be measured yet",
        ),
        ("gzip on", &["--server", "nginx"], "mine.conf, line 1: `gzip` does not end with `;`"),
    ] {
        lab.write("mine.conf", text);
        let args: Vec<&str> =
            ["run", "assets.toml", "--server-config", "mine.conf"].iter().chain(flags).copied().collect();
        let line = lab.refused(&args);
        assert!(line.contains(said), "{text}: {line}");
    }
    for (file, said) in [
        ("nowhere", "nowhere: cannot be read"),
        ("folder", "folder: it is a folder; give the file with the server's site"),
        ("/dev/zero", "it is a device; give the file"),
    ] {
        let line = lab.refused(&["run", "assets.toml", "--server-config", file]);
        assert!(line.contains(said), "{line}");
    }
    assert!(!lab.path("weigh-runs").exists());
    assert_eq!(lab.left_over(), 0, "{:?}", lab.processes());
}

/// Its answers take minutes: at a byte a second.
const SLOW: &str = "events {}\nhttp { server { listen 8080; limit_rate 1; } }\n";

#[test]
fn a_configuration_that_answers_slowly_meets_the_deadline_of_its_trial() {
    needs!(nginx());
    let lab = Lab::new();
    lab.write("assets.toml", whole_study());
    lab.write("slow.conf", SLOW);
    let begun = std::time::Instant::now();
    let ran = lab.run(&["run", "--dry-run", "assets.toml", "--server-config", "slow.conf"]);
    let said = ran.stderr.lines().last().unwrap_or_default();
    assert!(ran.code != 0 && said.contains("slow.conf: nginx was not ready within 10 s"), "{}", ran.stderr);
    assert!(begun.elapsed() < std::time::Duration::from_secs(40), "{:?}", begun.elapsed());
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_trial_of_a_configuration_ends_at_once_when_the_user_wants_it() {
    needs!(nginx());
    for signal in ["TERM", "INT"] {
        let lab = Lab::new();
        lab.write("assets.toml", whole_study());
        lab.write("slow.conf", SLOW);
        let mut started = lab.start(&["run", "--dry-run", "assets.toml", "--server-config", "slow.conf"]);
        wait_until("the server is tried", || lab.processes().len() >= 2);
        started.signal(signal);
        let begun = std::time::Instant::now();
        wait_until("it has ended", || started.0.try_wait().unwrap().is_some());
        assert!(begun.elapsed() < std::time::Duration::from_secs(15), "{:?}", begun.elapsed());
        let said = lab.said();
        assert!(said.contains("interrupted; nothing was measured"), "{said}");
        assert_eq!((lab.left_over(), lab.processes().len()), (0, 0), "{signal}");
    }
}

//! `weigh site --render --php --php`: the site's own pages as each PHP makes them.

use std::os::unix::fs::PermissionsExt;

use weigh_model::site::{PhpPage, Site};

use crate::lab::{Lab, Ran, has, serves_php};

const NGINX: &str = "events {}\nhttp { server { listen 80; root ROOT; index index.php; location / { try_files $uri /index.php$is_args$args; }\n\
    location = /kept { default_type text/html; return 200 \"<!doctype html><title>kept</title>a page of a cache\"; }\n\
    location ~ \\.php$ { include fastcgi_params; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_pass unix:/run/php.sock; } } }\n";
const PARAMS: &str = "fastcgi_param REQUEST_METHOD $request_method;\nfastcgi_param REQUEST_URI $request_uri;\n\
    fastcgi_param SCRIPT_NAME $fastcgi_script_name;\nfastcgi_param DOCUMENT_ROOT $document_root;\n";
/// Takes 3 ms of CPU time; by the other PHP, which has a setting of its own, its pages burn more, say something else, log a message, or do not work.
const FRONT: &str = include_str!("page_php/front.php");

/// A site, and another PHP, which is this machine's.
fn shop(lab: &Lab) {
    lab.write("public/index.php", FRONT);
    lab.write("fastcgi_params", PARAMS);
    lab.write("nginx.conf", NGINX.replace("ROOT", lab.path("public").to_str().unwrap()));
    let programs = [("php", "php8.2"), ("php-fpm8.2", "php-fpm8.2")];
    for (name, program) in programs {
        let script = lab.write(&format!("other/{name}"), format!("#!/bin/sh\nexec {program} \"$@\"\n"));
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Looks by both, with as much time as a busy machine needs for as many rows.
fn looked(lab: &Lab, phps: [&str; 2], count: usize) -> (Ran, Vec<PhpPage>) {
    let words = ["site", "--docroot", "public", "--server-config", "nginx.conf", "--render", "--force"];
    let of = |time: &str| {
        let own = ["--budget", time, "--php", phps[0], "--php", phps[1]];
        let ran = lab.done(&[&words[..], &own].concat());
        let site = Site::parse(&lab.read("site.toml"), "site.toml").unwrap();
        (ran, site.page_php)
    };
    let is_whole = |(_, rows): &(Ran, Vec<PhpPage>)| {
        rows.len() >= count
            && rows.iter().skip(1).step_by(2).all(|row| row.problem.is_some() || row.cpu_ratio.is_some())
    };
    let found = ["40s", "160s", "600s"].iter().map(|time| of(time)).find(is_whole);
    found.unwrap_or_else(|| panic!("fewer than {count} rows in 800 s"))
}

#[test]
fn what_another_php_brings_for_each_page_is_measured_and_what_it_breaks_is_said_first() {
    needs!(serves_php());
    let rows = is_told("other/php");
    assert!(rows[1].php.starts_with("8.2") && !rows[1].php.contains("uWSGI"), "{rows:#?}");
}

#[test]
fn php_within_another_server_is_compared_like_any_other() {
    needs!(serves_php(), has("uwsgi", "apt install uwsgi-core uwsgi-plugin-php"));
    let rows = is_told("uwsgi");
    assert!(rows[1].php.starts_with("8.2") && rows[1].php.contains(" in uWSGI 2."), "{rows:#?}");
}

/// Compares this machine's PHP with one that has a setting of its own, and checks all that is said of that.
fn is_told(other: &str) -> Vec<PhpPage> {
    let lab = Lab::new();
    shop(&lab);
    let (ran, rows) = looked(&lab, ["php8.2", &format!("{other} -d user_agent=other")], 8);
    let told = |page: &str| {
        let row = rows.chunks(2).find(|rows| rows[0].page == page && rows[1].page == page);
        &row.unwrap_or_else(|| panic!("{page}: {rows:#?} {}", ran.stderr))[1]
    };
    assert!(rows[1].php.ends_with(" -d user_agent=other") && !rows[0].php.contains("-d"), "{rows:#?}");
    // It takes 6 ms more, which no busy machine hides.
    let slow = told("/");
    let [value, low, high] = slow.cpu_ratio.unwrap();
    assert!(low <= value && value <= high && value > 1.2, "{slow:#?}");
    assert_eq!((slow.problem.as_ref(), slow.differs.as_ref(), slow.opcache), (None, None, Some(true)));
    assert!(rows.iter().all(|row| row.starts == 0 || row.cpu_ms.unwrap() > 2.0), "{rows:#?}");
    let differs = told("/text").differs.clone().unwrap();
    assert!(differs.starts_with("line 3: \"Other") && differs.contains("where PHP 8.2"), "{differs}");
    assert!(told("/notice").logs.as_ref().unwrap().contains("old_function() is old"), "{rows:#?}");
    let fails = told("/broken").problem.clone().unwrap();
    assert!(fails.starts_with("status 500: ") && fails.contains("no_such_function()"), "{fails}");
    assert!(told("/broken").cpu_ratio.is_none());
    assert!(ran.stderr.contains("/kept is left out: it is answered without PHP"), "{}", ran.stderr);
    let screen = &ran.stdout;
    let [fails, table, differs] = ["/broken by PHP", "Pages by PHP", "/text by PHP"]
        .map(|words| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}")));
    assert!(fails < table && table < differs, "{screen}");
    assert_eq!(lab.left_over(), 0);
    assert_eq!(lab.processes(), Vec::<String>::new());
    rows
}

#[test]
fn a_php_beside_itself_and_one_alone_or_without_php_fpm() {
    needs!(serves_php());
    let lab = Lab::new();
    shop(&lab);
    let (ran, rows) = looked(&lab, ["php8.2", "php8.2"], 8);
    assert_eq!(rows.len(), 8, "{rows:#?} {}", ran.stderr);
    for row in rows.iter().skip(1).step_by(2) {
        assert!((&row.problem, &row.differs, &row.logs) == (&None, &None, &None), "{row:#?}");
        assert!(row.cpu_ratio.is_some() && row.time_ratio.is_some(), "{row:#?}");
    }
    std::fs::remove_file(lab.path("other/php-fpm8.2")).unwrap();
    let (ran, rows) = looked(&lab, ["php8.2", "other/php"], 0);
    assert!(rows.is_empty() && ran.stderr.contains("--php other/php: PHP 8.2"), "{rows:#?} {}", ran.stderr);
    assert!(ran.stderr.contains("has no PHP-FPM"), "{}", ran.stderr);
    let refused = lab.run(&["site", "--docroot", "public", "--render", "--force", "--php", "php8.2 -d jit"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("`jit` is no setting; give -d NAME=VALUE"),
        "{}",
        refused.stderr
    );
}

//! `weigh site`: a site is looked at, and `site.toml` says what was found and where each figure comes from.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::Value;
use weigh_model::site::{From, Kind, Site};

use crate::lab::{Lab, Ran};
use crate::load::server::{Server, response};

/// A small shop: two pages' worth of files, and what no visitor asks for.
fn shop(lab: &Lab) {
    let script = |n: usize| format!("let n = {n};\n").repeat(n);
    lab.write("shop/public/js/app.js", script(3000));
    lab.write("shop/public/js/small.js", script(20));
    lab.write("shop/public/js/admin.js", script(5000));
    lab.write("shop/public/css/site.css", "body { background: url(../img/bg.svg) }\n".repeat(300));
    lab.write("shop/public/img/bg.svg", "<svg/>");
    lab.write("shop/public/img/photo.jpg", [0xffu8; 40_000]);
    lab.write("shop/public/files/manual.pdf", [1u8; 300_000]);
    lab.write("shop/public/lang/de.mo", "x");
    lab.write("shop/public/index.php", "<?php");
    lab.write("shop/public/.env", "SECRET=1");
}

const FRONT: &str = "<!doctype html><link rel=stylesheet href=/css/site.css><script src=/js/app.js?v=3></script>\
    <img src=/img/photo.jpg><a href=/about>about</a><a href=/logout>out</a><a href=http://192.0.2.1/>other</a>";

/// Its pages.
fn server() -> Server {
    Server::new(|head, _| match head.split(' ').nth(1).unwrap_or_default() {
        "/" | "/about" => response("Server: nginx/1.22.1\r\n", FRONT.repeat(20).as_bytes()),
        "/moved" => b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "/css/site.css" => response("Content-Type: text/css\r\n", b"body {}"),
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    })
}

/// The paths that were requested, each once.
fn asked(server: &Server) -> BTreeSet<String> {
    server.heads().iter().filter_map(|head| Some(head.split(' ').nth(1)?.to_owned())).collect()
}

fn site(lab: &Lab) -> Site {
    Site::parse(&lab.read("site.toml"), "site.toml").unwrap()
}

fn samples(site: &Site, kind: Kind) -> Vec<String> {
    site.of(kind).flat_map(|stratum| &stratum.sample).map(|sample| sample.path.clone()).collect()
}

fn requests(site: &Site, path: &str) -> f64 {
    let stratum = site.strata.iter().find(|one| one.sample.iter().any(|sample| sample.path == path)).unwrap();
    let share: f64 =
        stratum.sample.iter().filter(|sample| sample.path == path).map(|sample| sample.share).sum();
    stratum.requests.value * share
}

/// The words that every screen has.
fn has_a_screen(ran: &Ran) {
    assert!(ran.stdout.starts_with("Found "), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("Wrote site.toml. ") && ran.stdout.trim_end().ends_with("weigh advise"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
}

#[test]
fn without_a_log_the_sample_is_what_the_pages_load() {
    let (lab, server) = (Lab::new(), server());
    shop(&lab);
    let ran = lab.done(&["site", "--docroot", "shop/public", "--url", &server.url("/")]);
    has_a_screen(&ran);
    let site = site(&lab);
    assert_eq!((site.name.as_str(), site.sources.server.as_deref()), ("shop", Some("nginx")));
    let mut assets = samples(&site, Kind::Asset);
    assets.sort();
    assert_eq!(assets, ["css/site.css", "img/bg.svg", "img/photo.jpg", "js/app.js"]);
    assert_eq!(requests(&site, "js/app.js"), 100_000.0);
    assert_eq!(samples(&site, Kind::Download), ["files/manual.pdf"]);
    let pages: Vec<_> = site.of(Kind::Page).collect();
    assert_eq!((pages.len(), pages[0].files.value, pages[0].requests.value), (1, 2.0, 100_000.0));
    assert!(pages[0].made_ms.is_some_and(|time| time.from == From::Measured && time.value > 0.0));
    for path in samples(&site, Kind::Page) {
        let about = std::fs::metadata(lab.path(&path)).unwrap();
        assert_eq!((about.len(), about.mode() & 0o077), (FRONT.len() as u64 * 20, 0), "{path}");
    }
    let today = site.today(Kind::Page).unwrap();
    assert_eq!((today.method.as_str(), today.from), ("server/plain", From::Measured));
    assert!(
        ran.stderr.contains("left out 1 PHP source file") && ran.stderr.contains("hidden files"),
        "{}",
        ran.stderr
    );
    assert!(!site.visitors.tls);
    // Every file of the sample is asked for; links out of the site, or that do something, are left alone.
    let sample = ["/css/site.css", "/files/manual.pdf", "/img/bg.svg", "/img/photo.jpg", "/js/app.js"];
    assert_eq!(asked(&server), ["/", "/about"].into_iter().chain(sample).map(str::to_owned).collect());
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_log_decides_what_is_counted_and_which_files_stand_for_the_rest() {
    let lab = Lab::new();
    shop(&lab);
    let agent = "\"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\"";
    let line = |hour: usize, path: &str, status: u16, bytes: usize| {
        format!(
            "192.0.2.7 - - [{:02}/Nov/2026:{:02}:00:00 +0000] \"GET {path} HTTP/1.1\" {status} {bytes} {agent}\n",
            1 + hour / 24,
            hour % 24
        )
    };
    let text: String = (0..=240)
        .flat_map(|hour| {
            let script = if hour % 10 == 0 { "/js/app.js" } else { "/js/admin.js" };
            [
                line(hour, script, 200, 9000),
                line(hour, "/shop?id=7", 200, 12_000),
                line(hour, "/css/site.css", 304, 0),
            ]
        })
        .collect();
    lab.write(
        "access.log",
        text + "not a line\n"
            + &line(240, "/files/manual.pdf", 206, 1000)
            + &line(240, "/js/app.js.map", 404, 3),
    );
    let ran = lab.done(&["site", "--docroot", "shop/public", "--log", "access.log"]);
    has_a_screen(&ran);
    assert!(ran.stdout.contains("requests of 10 days (1 line unreadable)"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("No sample of pages: they cannot be measured; give --url or --render.\n"),
        "{}",
        ran.stdout
    );
    let site = site(&lab);
    let month = 365.25 / 12.0 / 10.0;
    let near =
        |found: f64, wanted: f64| assert!((found - wanted).abs() <= wanted * 0.01 + 1.0, "{found} {wanted}");
    near(requests(&site, "js/admin.js"), 216.0 * month);
    near(requests(&site, "js/app.js"), 25.0 * month);
    let css = site.of(Kind::Asset).find(|one| one.format == "text/css").unwrap();
    near(css.not_modified.unwrap().value, 241.0 * month);
    assert_eq!((css.requests.value, css.requests.from), (0.0, From::Counted));
    let page = site.of(Kind::Page).next().unwrap();
    near(page.requests.value, 241.0 * month);
    near(page.sent_bytes.unwrap().value, 241.0 * month * 12_000.0);
    near(site.of(Kind::Download).next().unwrap().ranges.unwrap().value, month);
    assert_eq!(site.visitors.accept.len(), 1, "one browser: {:?}", site.visitors.accept);
    assert_eq!((site.visitors.accept[0].from, site.visitors.accept[0].share), (From::Counted, 1.0));
    assert!(site.visitors.peak.is_some());
    assert!(!lab.read("site.toml").contains("192.0.2.7") && !lab.read("site.toml").contains("Firefox"));
}

#[test]
fn a_configuration_says_what_is_done_today() {
    let lab = Lab::new();
    shop(&lab);
    let root = lab.path("shop/public");
    lab.write(
        "nginx.conf",
        format!(
            "events {{}}\nhttp {{\n types {{ text/css css; text/javascript js; }}\n gzip on; gzip_comp_level 4;\n gzip_types text/javascript text/css;\n\
             server {{ listen 80; root {}; index index.php;\n location ~ \\.php$ {{ fastcgi_pass unix:/run/php.sock; }} }} }}\n",
            root.display()
        ),
    );
    has_a_screen(&lab.done(&["site", "--server-config", "nginx.conf"]));
    let site = site(&lab);
    assert_eq!(
        site.sources.docroot.as_deref().map(std::path::Path::new),
        root.canonicalize().ok().as_deref()
    );
    let today = site.today(Kind::Asset).unwrap();
    assert_eq!((today.method.as_str(), today.from), ("server/gzip:4", From::Measured));
    assert!(today.about.starts_with("gzip 4 on the fly"), "{}", today.about);
    assert!(today.about.contains("(nginx, nginx.conf:"), "{}", today.about);
}

#[test]
fn a_configuration_says_whether_visitors_come_over_tls() {
    let lab = Lab::new();
    shop(&lab);
    let root = lab.path("shop/public");
    let of = |around: &str, listen: &str| {
        let server = format!("server {{ {listen} root {}; index index.php; }}", root.display());
        lab.write(
            "nginx.conf",
            format!("events {{}}\nhttp {{ types {{ text/css css; }} {around} {server} }}\n"),
        );
        lab.fine(&["site", "--server-config", "nginx.conf", "--force"]);
        site(&lab).visitors.tls
    };
    assert!(!of("", "listen 8080;"));
    let secure = "listen 443 ssl; ssl_certificate a.pem; ssl_certificate_key a.key;";
    assert!(of("", secure));
    let _ = std::fs::remove_file(lab.path("site.toml"));
    // What is in front may speak TLS.
    assert!(of("set_real_ip_from 10.0.0.0/8;", "listen 8080;"));
}

#[test]
fn what_phps_own_settings_encode_is_what_is_done_today() {
    let lab = Lab::new();
    shop(&lab);
    lab.write("fpm/php.ini", "[PHP]\nzlib.output_compression = On\n");
    lab.write(
        "fpm/pool.d/www.conf",
        "[www]\nlisten = /run/php.sock\nphp_value[zlib.output_compression_level] = 3\n",
    );
    lab.fine(&["site", "--docroot", "shop/public", "--php-config", "fpm/pool.d/www.conf"]);
    let site = site(&lab);
    let today = site.today(Kind::Page).unwrap();
    assert_eq!((today.method.as_str(), today.from), ("php/zlib.output_compression:3", From::Configured));
    assert_eq!(today.about, "gzip in PHP (zlib.output_compression, www.conf)");
    assert!(site.sources.php_config.is_some_and(|file| file.ends_with("fpm/pool.d/www.conf")));
    let line = lab.refused(&["site", "--php-config", "none.ini", "--force"]);
    assert!(line.contains("--php-config: none.ini: cannot be read"), "{line}");
}

#[test]
fn values_of_a_folder_are_told_by_their_form() {
    let lab = Lab::new();
    for n in 0..30 {
        lab.write(&format!("values/{n}.ser"), format!("a:1:{{i:0;s:{n}:\"{}\";}}", "x".repeat(n)));
    }
    lab.write("values/one.json", "{\"a\": 1}");
    has_a_screen(&lab.done(&["site", "--values", "values", "--name", "cache"]));
    let site = site(&lab);
    let forms: Vec<_> = site.of(Kind::Value).map(|one| (one.format.as_str(), one.files.value)).collect();
    assert_eq!(forms, [("json", 1.0), ("serialize", 30.0)]);
    let today = site.today(Kind::Value).unwrap();
    assert_eq!(
        today.about,
        "serialize, uncompressed: 98.5% of the bytes; JSON, uncompressed: 1.5% of the bytes"
    );
    assert_eq!(today.method, "serialize");
    assert!(samples(&site, Kind::Value).iter().all(|path| path.starts_with("site-sample/values/")));
}

#[test]
fn values_of_unknown_form_are_never_uncompressed_and_have_a_stratum_of_their_own() {
    let lab = Lab::new();
    // A generator's bytes, which nothing compresses, and bytes of no form that compress.
    let mut state = 36u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    for n in 0..3 {
        lab.write(&format!("values/random{n}"), (0..2000).map(|_| next()).collect::<Vec<u8>>());
    }
    lab.write("values/cells", [0x81, 0xfe, 0, 0x80].repeat(500));
    lab.write("values/session", "_token|s:32:\"8f14e45fceea167a5a36dedd4bea2543\";cart|a:1:{i:0;i:5;}");
    lab.fine(&["site", "--values", "values", "--name", "cache"]);
    let site = site(&lab);
    let told: Vec<_> =
        site.of(Kind::Value).map(|one| (one.format.as_str(), one.bytes.value, one.sample.len())).collect();
    assert_eq!(told[..2], [("compressed or encrypted", 6000.0, 0), ("form not known", 2000.0, 0)]);
    assert_eq!((told[2].0, told[2].2), ("session", 1));
    let today = site.today(Kind::Value).unwrap();
    assert_eq!(today.method, "unknown");
    assert!(
        today.about.starts_with("compressed or encrypted, form not known: 7")
            && today.about.contains("form not known: 2"),
        "{}",
        today.about
    );
    assert!(!lab.read("site.toml").contains("8f14e45"), "a value is in the sample alone");
}

#[test]
fn a_second_look_keeps_what_the_user_gave_and_says_which_files_are_gone() {
    let lab = Lab::new();
    shop(&lab);
    let look = |more: &[&str]| lab.run(&[&["site", "--docroot", "shop/public"], more].concat());
    assert_eq!(look(&[]).code, 0);
    let line = look(&[]).refusal();
    assert!(line.contains("site.toml exists; --force looks again"), "{line}");
    let text = lab.read("site.toml");
    let edited = text.replace("core_hour = { value = 0.03, from = \"assumed\" }", "core_hour = 0.5");
    let edited =
        edited.replace("page_views = { value = 100000.0, from = \"assumed\" }", "page_views = 200000");
    assert_ne!(edited, text);
    lab.write("site.toml", edited);
    std::fs::remove_file(lab.path("shop/public/files/manual.pdf")).unwrap();
    lab.write("shop/public/js/small.js", "changed");
    let ran = look(&["--force"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("Kept 2 figures of yours"), "{}", ran.stdout);
    for said in
        ["left out files/manual.pdf of the sample", "left out js/small.js of the sample", "it has changed"]
    {
        assert_eq!(ran.stderr.matches(said).count(), 1, "{said}: {}", ran.stderr);
    }
    let site = site(&lab);
    assert_eq!((site.prices.core_hour.value, site.prices.core_hour.from), (0.5, From::Given));
    let scripts: f64 = site
        .of(Kind::Asset)
        .filter(|one| one.format == "text/javascript")
        .map(|one| one.requests.value)
        .sum();
    assert!((scripts - 23.0 * 200_000.0).abs() < 2.0, "{scripts}");
}

#[test]
fn what_stands_in_the_way_is_a_line_and_the_rest_goes_on() {
    let lab = Lab::new();
    shop(&lab);
    lab.write("outside/secret.js", "let secret = 1;".repeat(100));
    symlink("../../outside/secret.js", lab.path("shop/public/leak.js")).unwrap();
    symlink("../../outside", lab.path("shop/public/out")).unwrap();
    symlink("js/app.js", lab.path("shop/public/inside.js")).unwrap();
    symlink("nowhere", lab.path("shop/public/broken.js")).unwrap();
    std::process::Command::new("mkfifo").arg(lab.path("shop/public/pipe.js")).status().unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let ran = lab.done(&["site", "--docroot", "shop/public"]);
    for said in ["2 symbolic links out of the folder", "1 symbolic link to nothing", "1 named pipe"] {
        assert_eq!(ran.stderr.matches(said).count(), 1, "{said}: {}", ran.stderr);
    }
    assert!(!lab.read("site.toml").contains("secret") && !lab.read("site.toml").contains("leak.js"));
    let count: f64 = site(&lab)
        .of(Kind::Asset)
        .filter(|one| one.format == "text/javascript")
        .map(|one| one.files.value)
        .sum();
    assert_eq!(count, 4.0, "the link inside is a file");
    if !is_root {
        lab.write("shop/public/js/closed.js", "let x;");
        std::fs::set_permissions(
            lab.path("shop/public/js"),
            std::os::unix::fs::PermissionsExt::from_mode(0o000),
        )
        .unwrap();
        let ran = lab.done(&["site", "--docroot", "shop/public", "--force"]);
        assert!(ran.stderr.contains("it may not be read by this user"), "{}", ran.stderr);
        std::fs::set_permissions(
            lab.path("shop/public/js"),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
    }
}

#[test]
fn wrong_input_is_one_line_and_writes_nothing() {
    let (lab, server) = (Lab::new(), server());
    shop(&lab);
    lab.write("empty/a.php", "<?php");
    let moved = server.url("/moved");
    for (args, said) in [
        (&["--docroot", "nowhere"][..], "--docroot nowhere"),
        (&["--docroot", "shop/public/index.php"], "there is no such folder"),
        (&["--docroot", "empty"], "nothing was found: no file, page"),
        (&["--values", "nowhere"], "--values nowhere: there is no such folder"),
        (&["--values", "empty", "--name", "A b"], "name `A b` may have lower-case letters"),
        (&["--url", "http://192.0.2.1/"], "--allow-remote 192.0.2.1"),
        (&["--url", "http://127.0.0.1:1/"], "--url http://127.0.0.1:1/"),
        (&["--url", &moved], "leads to /login"),
        (&["--store", "reddis://127.0.0.1"], "did you mean `redis`?"),
        (&["--store", "redis://me:geheim@127.0.0.1:1"], "no store accepts connections"),
        (&["--log", "nowhere.log", "--docroot", "shop/public"], "no request of a visitor"),
        (&["--server-config", "nowhere.conf"], "--server-config nowhere.conf"),
        (&["--php", "/no/such/php", "--docroot", "shop/public"], "/no/such/php"),
    ] {
        let ran = lab.run(&[&["site"], args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}: {}", ran.stderr);
        let line = ran.stderr.lines().last().unwrap_or_default();
        assert!(
            line.starts_with("weigh: ") && line.contains(said) && !line.contains("geheim"),
            "{args:?}: {}",
            ran.stderr
        );
    }
    let names: Vec<_> = std::fs::read_dir(lab.work()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names.len(), 2, "only what the test wrote: {names:?}");
    assert_eq!(Vec::from_iter(asked(&server)), ["/moved"]);
}

/// Lines of a vhost_combined log of nine days.
fn of_host(host: &str, path: &str, lines: usize) -> String {
    let line = |at: usize| {
        let (day, hour) = (2 + at * 9 / lines, at % 24);
        format!(
            "{host}:443 192.0.2.7 - - [{day:02}/Nov/2026:{hour:02}:00:00 +0000] \"GET {path} HTTP/1.1\" 200 9000 \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\"\n"
        )
    };
    (0..lines).map(line).collect()
}

#[test]
fn lines_of_other_hosts_are_not_the_sites() {
    let lab = Lab::new();
    shop(&lab);
    lab.write(
        "access.log",
        of_host("shop.example", "/js/app.js", 90) + &of_host("blog.example", "/js/app.js", 900),
    );
    let args = ["site", "--docroot", "shop/public", "--log", "access.log", "--force"];
    let all = lab.done(&args);
    assert!(
        all.stderr.contains("several hosts") && all.stderr.contains("--host NAME chooses"),
        "{}",
        all.stderr
    );
    let both = requests(&site(&lab), "js/app.js");
    let own = lab.done(&[&args[..], &["--host", "shop.example"]].concat());
    let left_out = "left out 900 lines of other hosts than shop.example: blog.example (900 lines)";
    assert!(own.stderr.contains(left_out), "{}", own.stderr);
    let one = requests(&site(&lab), "js/app.js");
    assert!((both / one - 11.0).abs() < 0.5, "{both} {one}");
    lab.write(
        "nginx.conf",
        format!(
            "events {{}} http {{ server {{ listen 80; server_name *.example2 shop.example; root {}; }} }}",
            lab.work().join("shop/public").display()
        ),
    );
    let named = lab.done(&[&args[..], &["--server-config", "nginx.conf", "--server", "nginx"]].concat());
    assert!(named.stderr.contains("left out 900 lines of other hosts"), "{}", named.stderr);
    let refused = lab.run(&[&args[..], &["--host", "other.example"]].concat());
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("no request for other.example; it has blog.example (900 lines)"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_broken_file_is_refused_with_its_key_and_stays() {
    let lab = Lab::new();
    shop(&lab);
    lab.done(&["site", "--docroot", "shop/public"]);
    let text = lab.read("site.toml");
    for (from, to, said) in [
        ("page_views =", "page_viewss =", "unknown key `page_viewss`; did you mean `page_views`?"),
        ("share = 0.864", "share = 0.5", "visitors.accept: the shares add up to 0.636"),
        ("schema = 1", "schema = 9", "schema = 9 is not known"),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        lab.write("site.toml", &broken);
        let line = lab.refused(&["site", "--docroot", "shop/public", "--force"]);
        assert!(line.starts_with("site.toml") && line.contains(said), "{line}");
        assert_eq!(lab.read("site.toml"), broken);
    }
}

#[test]
fn nothing_given_says_what_could_be_looked_at_and_reads_nothing() {
    let lab = Lab::new();
    let said = lab.fine(&["site"]);
    assert!(said.contains("weigh site --docroot ") || said.contains("weigh site"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert_eq!(std::fs::read_dir(lab.work()).unwrap().count(), 0);
}

#[test]
fn the_json_is_the_site_and_keeps_its_schema() {
    let lab = Lab::new();
    shop(&lab);
    let printed: Value = lab.told(&["site", "--docroot", "shop/public", "--json"]);
    crate::schema::keeps("site", &printed);
    let same: Value = serde_json::to_value(site(&lab)).unwrap();
    assert_eq!(printed, same);
}

#[test]
fn many_files_are_counted_and_few_stand_for_them() {
    let lab = Lab::new();
    for folder in 0..20 {
        let into = lab.path(&format!("big/{folder}"));
        std::fs::create_dir_all(&into).unwrap();
        for file in 0..500 {
            std::fs::write(into.join(format!("{file}.js")), format!("let n = {file};").repeat(1 + file))
                .unwrap();
        }
    }
    lab.done(&["site", "--docroot", "big"]);
    let site = site(&lab);
    assert_eq!(site.strata.iter().map(|one| one.files.value).sum::<f64>(), 10_000.0);
    assert!((3..=40).contains(&samples(&site, Kind::Asset).len()));
}

/// An interface, or a site whose assets are elsewhere: scripts alone.
#[test]
fn a_document_root_with_a_script_alone_is_a_site() {
    let lab = Lab::new();
    lab.write("api/public/index.php", "<?php echo json_encode(range(1, 4000));");
    let line = |at: usize| {
        format!(
            "192.0.2.7 - - [{:02}/Nov/2026:10:00:00 +0000] \"GET /items/{} HTTP/1.1\" 200 19000 \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\"\n",
            1 + at % 9,
            at % 20
        )
    };
    lab.write("access.log", (0..200).map(line).collect::<String>());
    lab.done(&["site", "--docroot", "api/public", "--log", "access.log"]);
    let found = site(&lab);
    let pages: Vec<_> = found.of(Kind::Page).collect();
    assert_eq!((pages.len(), pages[0].files.value, pages[0].requests.from), (1, 20.0, From::Counted));
    let alone = lab.run(&["site", "--docroot", "api/public", "--force"]);
    assert!(alone.code == 2 && alone.stderr.contains("give --docroot, --url, --render"), "{}", alone.stderr);
    lab.write("empty/notes.txt~", "x");
    let none = lab.run(&["site", "--docroot", "empty", "--force"]);
    assert!(none.code == 2 && none.stderr.contains("no file in it that visitors ask for"), "{}", none.stderr);
}

/// What a URL alone tells has a level, without which no method of a study is it: told by the bytes, else the server's default.
#[test]
fn the_level_of_a_running_server_is_told_by_its_bytes_or_assumed() {
    let lab = Lab::new();
    shop(&lab);
    let cases = [
        ("nginx/1.22.1", true, "server/gzip:1", From::Assumed),
        ("Apache/2.4.62", true, "server/mod_deflate:6", From::Assumed),
        ("Apache/2.4.62", false, "server/mod_deflate:6", From::Measured),
    ];
    for (server, is_flushed, method, from) in cases {
        let head = format!("Server: {server}\r\nContent-Encoding: gzip\r\n");
        let running = Server::new(move |request, _| {
            let is_offered = request.to_lowercase().contains("accept-encoding: gzip");
            // So varied that no level makes by chance what a flush makes longer.
            let varied =
                (1..3000u64).map(|n| format!("<i>{}</i>", n * 2_654_435_761 % 1_000_003)).collect::<String>();
            let body = (FRONT.to_owned() + &varied).into_bytes();
            match is_offered {
                true => response(&head, &gzipped(&body, is_flushed)),
                false => response("", &body),
            }
        });
        lab.done(&["site", "--docroot", "shop/public", "--url", &running.url("/"), "--force"]);
        let site = site(&lab);
        let today = site.today(Kind::Page).unwrap();
        assert_eq!((today.method.as_str(), today.from), (method, from));
        assert_eq!(today.about.contains("the server's default assumed"), is_flushed, "{}", today.about);
    }
}

/// Flushed in the middle, as no library makes it of the whole.
fn gzipped(bytes: &[u8], is_flushed: bool) -> Vec<u8> {
    use std::io::Write;
    if !is_flushed {
        let mut out = Vec::new();
        let zlib = weigh_codec::codecs::find("zlib").unwrap();
        zlib.coder(&weigh_codec::Params::level(6)).unwrap().encode(bytes, &mut out).unwrap();
        return out;
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let (begin, end) = bytes.split_at(bytes.len() / 2);
    encoder.write_all(begin).unwrap();
    encoder.flush().unwrap();
    encoder.write_all(end).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_error_page_of_a_running_site_is_no_page_of_it() {
    let lab = Lab::new();
    shop(&lab);
    let down = "<title>Maintenance</title><p>Briefly unavailable for scheduled maintenance.</p>";
    let server = Server::new(move |_, _| response("", down.as_bytes()));
    let ran = lab.run(&["site", "--docroot", "shop/public", "--url", &server.url("/")]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let line = ran.stderr.lines().last().unwrap_or_default();
    assert!(
        line.contains("it answers with a maintenance page") && line.contains("give the URL of a page"),
        "{line}"
    );
    assert_eq!(site(&lab).of(Kind::Page).count(), 0);
    let alone = lab.refused(&["site", "--url", &server.url("/"), "--force"]);
    assert!(alone.contains("a maintenance page"), "{alone}");
}

#[test]
fn a_page_that_has_a_query_string_is_asked_for_with_one_which_is_written_nowhere() {
    let lab = Lab::new();
    shop(&lab);
    let small = "<!doctype html><p>You are leaving.</p>".repeat(9);
    let server = Server::new(move |head, _| match head.split(' ').nth(1).unwrap_or_default() {
        "/" => response("", FRONT.repeat(20).as_bytes()),
        "/leave.php?to=private" => response("", small.as_bytes()),
        "/leave.php" => b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_vec(),
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    });
    let line = |at: usize, path: &str, bytes: usize| {
        let time = format!("{:02}/Nov/2026:{:02}:00:00 +0000", 1 + at / 24, at % 24);
        format!(
            "192.0.2.7 - - [{time}] \"GET {path} HTTP/1.1\" 200 {bytes} \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\"\n"
        )
    };
    let lines = (0..240).map(|at| match at % 4 {
        0 => line(at, "/", 4000),
        _ => line(at, "/leave.php?to=private", 300),
    });
    lab.write("access.log", lines.collect::<String>());
    let args = ["site", "--docroot", "shop/public", "--log", "access.log", "--url", &server.url("/")];
    let ran = lab.done(&args);
    let site = site(&lab);
    let pages: Vec<(u64, f64)> =
        site.of(Kind::Page).map(|one| (one.from_bytes, one.sent_bytes.unwrap().value)).collect();
    let [(0, small), (1_000, large)] = pages[..] else { panic!("{pages:?} {}", ran.stderr) };
    let ratio = large / small;
    assert!((ratio - 4000.0 / 900.0).abs() < 0.01, "{pages:?}");
    let written = lab.read("site.toml") + &ran.stderr + &ran.stdout;
    assert!(!written.contains("private") && !ran.stderr.contains("left out a page"), "{written}");
}

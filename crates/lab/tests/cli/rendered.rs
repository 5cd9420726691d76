//! `weigh site --render`: the site's own application makes its pages in a private instance, and what does not run there is one line.

use weigh_model::site::{From, Kind, Site};

use crate::lab::{Lab, has, serves_php};

/// Configurations of a site whose front controller makes every page; ROOT stands for its document root.
const NGINX: &str = "events {}\nhttp {\n  types { text/css css; }\n  gzip on;\n  server {\n    listen 80;\n    server_name shop.example;\n    root ROOT;\n    \
    index index.php;\n    location / { try_files $uri /index.php$is_args$args; }\n    location ~ \\.php$ {\n      include fastcgi_params;\n      \
    fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;\n      fastcgi_pass unix:/run/php.sock;\n    }\n  }\n}\n";
const PARAMS: &str = "fastcgi_param REQUEST_METHOD $request_method;\nfastcgi_param REQUEST_URI $request_uri;\nfastcgi_param SCRIPT_NAME $fastcgi_script_name;\n";
const APACHE: &str = "<VirtualHost *:80>\n  ServerName shop.example\n  DocumentRoot ROOT\n  DirectoryIndex index.php\n  <Directory ROOT>\n    Require all granted\n    \
    FallbackResource /index.php\n  </Directory>\n  <FilesMatch \"\\.php$\">\n    SetHandler \"proxy:unix:/run/php.sock|fcgi://localhost\"\n  </FilesMatch>\n</VirtualHost>\n";

/// Says by whom it is asked, keeps a session, and tries to write beside itself.
const FRONT: &str = r#"<?php
session_start();
$_SESSION['seen'] = true;
$written = @file_put_contents(__DIR__ . '/written', 'x');
$path = strtok($_SERVER['REQUEST_URI'], '?');
if ($path !== '/' && $path !== '/about') {
    http_response_code(404);
    exit('no such page');
}
echo '<!doctype html><link rel=stylesheet href=/css/site.css><a href="http://', $_SERVER['HTTP_HOST'], '/about">about</a>';
echo '<a href="/gone">gone</a><p>', $path, ' by ', session_save_path() === '' ? 'nobody' : 'a session', '</p>', str_repeat('<p>text</p>', 500);
"#;

fn shop(lab: &Lab, front: &str) {
    lab.write("shop/public/css/site.css", "body { margin: 0 }\n".repeat(200));
    lab.write("shop/public/index.php", front);
    lab.write("conf/fastcgi_params", PARAMS);
    let root = lab.path("shop/public");
    for (name, text) in [("nginx.conf", NGINX), ("apache.conf", APACHE)] {
        lab.write(&format!("conf/{name}"), text.replace("ROOT", root.to_str().unwrap()));
    }
}

fn site(lab: &Lab) -> Site {
    Site::parse(&lab.read("site.toml"), "site.toml").unwrap()
}

/// The bodies of the pages that stand for the others.
fn bodies(lab: &Lab, site: &Site) -> Vec<String> {
    let mut all: Vec<String> = site
        .of(Kind::Page)
        .flat_map(|stratum| &stratum.sample)
        .map(|sample| lab.read(&sample.path))
        .collect();
    all.sort_by_key(|body| body.contains("/about by"));
    all
}

#[test]
fn the_application_makes_its_pages_with_the_configuration_of_its_server() {
    needs!(serves_php(), has("apache2", "apt install apache2"));
    for server in ["nginx", "apache"] {
        let lab = Lab::new();
        shop(&lab, FRONT);
        let config = format!("conf/{server}.conf");
        let ran = lab.done(&["site", "--docroot", "shop/public", "--server-config", &config, "--render"]);
        assert!(ran.stdout.contains("2 pages"), "{server}: {} {}", ran.stdout, ran.stderr);
        let site = site(&lab);
        let pages: Vec<_> = site.of(Kind::Page).collect();
        assert!(
            pages[0].made_ms.is_some_and(|time| time.from == From::Measured && time.value > 0.0),
            "{server}"
        );
        let bodies = bodies(&lab, &site);
        assert!(bodies[0].contains("http://shop.example/about") && bodies[0].contains("/ by a session"));
        assert!(bodies[1].contains("/about by a session"), "{server}: {}", bodies[1]);
        assert!(ran.stderr.contains("left out a linked page: /gone: status 404"), "{}", ran.stderr);
        assert_eq!(site.sources.server.as_deref(), Some(server));
        let today = site.today(Kind::Page).unwrap();
        let wanted = if server == "nginx" { "server/gzip:1" } else { "server/plain" };
        assert_eq!((today.method.as_str(), today.from), (wanted, From::Measured), "{server}");
        assert_eq!(site.strata.iter().filter(|one| one.kind == Kind::Asset).count(), 1);
        // Root's application has a user of its own, who owns nothing here.
        let is_root = rustix::process::geteuid().is_root();
        assert_eq!(lab.path("shop/public/written").exists(), !is_root, "{server}");
        assert_eq!(lab.left_over(), 0);
        assert_eq!(lab.processes(), Vec::<String>::new());
    }
}

#[test]
fn a_document_root_elsewhere_than_configured_is_the_one_that_is_served() {
    needs!(serves_php());
    let lab = Lab::new();
    shop(&lab, FRONT);
    let text = lab.read("conf/nginx.conf");
    let root = lab.path("shop/public");
    lab.write("conf/nginx.conf", text.replace(root.to_str().unwrap(), "/srv/no-such-shop/public"));
    let args = ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"];
    let ran = lab.done(&args);
    assert!(ran.stdout.contains("2 pages"), "{} {}", ran.stdout, ran.stderr);
    assert!(bodies(&lab, &site(&lab))[1].contains("/about by a session"));
}

/// A site over HTTPS, whose plain one only redirects; its front page leads to a language.
#[test]
fn a_site_over_https_is_asked_over_https_and_a_redirect_within_it_is_followed() {
    needs!(serves_php());
    let lab = Lab::new();
    let front = "<?php if (($_SERVER['HTTPS'] ?? '') !== 'on') { header('Location: https://shop.example/'); exit; }\n\
        if ($_SERVER['REQUEST_URI'] === '/') { header('Location: /en/'); exit; }\n\
        echo '<link rel=stylesheet href=https://shop.example/css/site.css>', str_repeat('hello ', 500);";
    shop(&lab, front);
    let secure = "server { listen 80; server_name shop.example; return 301 https://shop.example$request_uri; }\n  server {\n    listen 443 ssl;\n    \
        ssl_certificate /no/such.pem;\n    ssl_certificate_key /no/such.pem;";
    let text = lab.read("conf/nginx.conf").replacen("server {\n    listen 80;", secure, 1);
    lab.write("conf/nginx.conf", text);
    lab.write("conf/fastcgi_params", format!("{PARAMS}fastcgi_param HTTPS $https if_not_empty;\n"));
    let args = ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"];
    let ran = lab.done(&args);
    let site = site(&lab);
    assert!(site.visitors.tls, "{}", ran.stderr);
    let pages: Vec<_> = site.of(Kind::Page).flat_map(|stratum| &stratum.sample).collect();
    assert!(pages.len() == 1 && pages[0].path.ends_with("en.html"), "{pages:?} {}", ran.stderr);
    let css = site.of(Kind::Asset).map(|stratum| stratum.requests.value).sum::<f64>();
    assert_eq!(css, site.visitors.page_views.unwrap().value, "the style sheet is loaded by each page");
}

#[test]
fn without_a_configuration_what_is_sent_today_is_not_known() {
    needs!(serves_php());
    let lab = Lab::new();
    shop(&lab, FRONT);
    let ran = lab.done(&["site", "--docroot", "shop/public", "--render"]);
    assert!(ran.stderr.contains("as Weighbridge configures it"), "{}", ran.stderr);
    let site = site(&lab);
    assert!(bodies(&lab, &site)[0].contains("/ by a session"));
    assert!(site.sources.server.is_some() && site.today(Kind::Page).is_none(), "{:?}", site.today);
}

#[test]
fn an_application_that_does_not_run_here_is_one_line_and_the_rest_goes_on() {
    needs!(serves_php());
    for (front, said) in [
        ("<?php throw new RuntimeException('no database');", "--render /: status 500"),
        (
            "<?php header('Location: /install.php', true, 302);",
            "--render /: status 302, it leads to /install.php",
        ),
        ("<?php header('Location: http://other.example/');", "it leads to http://other.example/"),
        ("<?php", "--render /: a response without a body"),
    ] {
        let lab = Lab::new();
        shop(&lab, front);
        let args = ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"];
        let ran = lab.done(&args);
        let line = ran.stderr.lines().find(|line| line.contains("--render")).unwrap_or_default();
        assert!(line.contains(said) && line.contains("; give --url of the running site"), "{}", ran.stderr);
        assert_eq!(line.contains("no database"), front.contains("no database"), "{}", ran.stderr);
        let site = site(&lab);
        assert_eq!((site.of(Kind::Page).count(), site.of(Kind::Asset).count()), (0, 1));
        assert_eq!(lab.left_over(), 0);
    }
}

#[test]
fn rendering_needs_a_document_root_and_no_url() {
    let lab = Lab::new();
    lab.write("values/a", "a:0:{}");
    let line = lab.refused(&["site", "--render"]);
    assert!(line.contains("--render: give --docroot"), "{line}");
    let both = lab.run(&["site", "--docroot", ".", "--render", "--url", "http://127.0.0.1/"]);
    assert_eq!(both.code, 2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

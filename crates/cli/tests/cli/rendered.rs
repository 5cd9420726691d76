//! `weigh site --render`: the site's own application makes its pages in a private instance, and what does not run there is one line.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use weigh_model::site::{From, Kind, Site};

use crate::lab::{Lab, Ran, has, serves_php};
use crate::load::server::{Server, response};

/// Configurations of a site whose front controller makes every page; ROOT stands for its document root.
const NGINX: &str = "events {}\nhttp {\n  types { text/css css; }\n  gzip on;\n  server {\n    listen 80;\n    server_name shop.example;\n    root ROOT;\n    \
    index index.php;\n    location / { try_files $uri /index.php$is_args$args; }\n    location ~ \\.php$ {\n      include fastcgi_params;\n      \
    fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;\n      fastcgi_pass unix:/run/php.sock;\n    }\n  }\n}\n";
const PARAMS: &str = "fastcgi_param REQUEST_METHOD $request_method;\nfastcgi_param REQUEST_URI $request_uri;\nfastcgi_param SCRIPT_NAME $fastcgi_script_name;\n";
const APACHE: &str = "<VirtualHost *:80>\n  ServerName shop.example\n  DocumentRoot ROOT\n  DirectoryIndex index.php\n  <Directory ROOT>\n    Require all granted\n    \
    FallbackResource /index.php\n  </Directory>\n  <FilesMatch \"\\.php$\">\n    SetHandler \"proxy:unix:/run/php.sock|fcgi://localhost\"\n  </FilesMatch>\n</VirtualHost>\n";

/// Says by whom it is asked, keeps a session, and tries to write beside itself.
const FRONT: &str = include_str!("rendered/front.php");

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

/// The last line, which says why no page was looked at.
fn last_line(ran: &Ran) -> &str {
    ran.stderr.lines().last().unwrap_or_default()
}

#[test]
fn an_application_that_does_not_run_here_is_the_last_line_and_the_rest_goes_on() {
    needs!(serves_php());
    for (front, said) in [
        ("<?php throw new RuntimeException('no database');", "--render /: status 500"),
        (
            "<?php header('Location: /install.php', true, 302);",
            "--render /: status 302, it leads to /install.php",
        ),
        ("<?php header('Location: http://other.example/');", "it leads to http://other.example/"),
        ("<?php", "--render /: a response without a body"),
        (
            "<title>Wiki 1.39</title><h1>Wiki</h1><p>LocalSettings.php not readable.</p>",
            "--render /: it answers with an error page of MediaWiki (localsettings.php not)",
        ),
        (
            "<?php ini_set('display_errors', 1); require __DIR__ . '/../vendor/autoload.php';",
            "it answers with an error of PHP (Fatal error: Uncaught Error: Failed opening required",
        ),
        (
            "<title>Database Error</title><a href=/install.php>install</a><a href=/about>about</a>",
            "it answers with a database error (Database Error)",
        ),
    ] {
        let lab = Lab::new();
        shop(&lab, front);
        let args = ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"];
        let ran = lab.run(&args);
        assert_eq!(ran.code, 3, "{front}: {}", ran.stderr);
        let line = last_line(&ran);
        assert!(line.contains(said) && line.contains("; give --url of the running site"), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("--render").count(), 1, "said once: {}", ran.stderr);
        assert_eq!(line.contains("no database"), front.contains("no database"), "{}", ran.stderr);
        let site = site(&lab);
        assert_eq!((site.of(Kind::Page).count(), site.of(Kind::Asset).count()), (0, 1));
        assert_eq!(lab.left_over(), 0);
    }
}

/// Puts links to a file of root's in place of what the lab has in its folder, and has the lab read its log.
const HOSTILE: &str = include_str!("rendered/hostile.php");

#[test]
fn what_runs_as_another_user_changes_nothing_that_root_uses() {
    needs!(serves_php());
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for account in [None, Some("nobody")] {
        let lab = Lab::new();
        let secret = lab.write("secret", "root:$6$a-line-of-root:19000:0:99999:7:::\n");
        std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
        shop(&lab, &HOSTILE.replace("SECRET", secret.to_str().unwrap()));
        let mut args =
            vec!["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"];
        args.extend(account.into_iter().flat_map(|name| ["--render-as", name]));
        let ran = lab.run(&args);
        assert!(
            last_line(&ran).contains("it leads to http://nothing.changed"),
            "{account:?}: {}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("a-line-of-root"), "{}", ran.stderr);
        let about = secret.metadata().unwrap();
        assert_eq!(
            (about.uid(), about.permissions().mode() & 0o777, about.len()),
            (0, 0o600, 42),
            "{account:?}"
        );
        assert_eq!(lab.left_over(), 0);
    }
}

/// A file of a folder that leads to one of root's: its lines are nobody's to see.
#[test]
fn a_link_of_the_sites_user_shows_nothing_that_only_root_may_read() {
    needs!(has("apache2", "apt install apache2"));
    let lab = Lab::new();
    shop(&lab, FRONT);
    let secret = lab.write("secret", "root:$6$a-line-of-root:19000:0:99999:7:::\n");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&secret, lab.path("shop/public/.htaccess")).unwrap();
    std::os::unix::fs::symlink(&secret, lab.path("shop/public/css/other.css")).unwrap();
    let config = lab.read("conf/apache.conf").replace("<Directory", "AccessFileName .htaccess\n<Directory");
    lab.write(
        "conf/apache.conf",
        config.replace("Require all granted", "Require all granted\n    AllowOverride All"),
    );
    let ran = lab.run(&["site", "--docroot", "shop/public", "--server-config", "conf/apache.conf"]);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("a-line-of-root"), "{}", ran.stderr);
    assert!(!ran.stderr.to_lowercase().contains("$6$"), "{}", ran.stderr);
}

#[test]
fn a_document_root_without_a_page_that_php_makes_is_said_at_the_end() {
    needs!(serves_php());
    let lab = Lab::new();
    lab.write("shop/public/index.html", "<p>static</p>".repeat(100));
    let ran = lab.run(&["site", "--docroot", "shop/public", "--render"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(last_line(&ran).contains("no page of this document root is made by PHP"), "{}", ran.stderr);
}

#[test]
fn rendering_needs_a_document_root_and_a_user_needs_rendering() {
    let lab = Lab::new();
    lab.write("values/a", "a:0:{}");
    let line = lab.refused(&["site", "--render"]);
    assert!(line.contains("--render: give --docroot"), "{line}");
    let alone = lab.run(&["site", "--docroot", ".", "--render-as", "www-data"]);
    assert!(alone.code == 2 && alone.stderr.contains("--render"), "{}", alone.stderr);
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Whether root may start programs of another user here that are shown what is closed to them; else says so.
fn shows_folders() -> bool {
    let launcher = crate::lab::WEIGH.as_ref();
    let user = weigh_os::user::OwnUser::of_lab(launcher);
    let shows = user.is_some_and(|user| {
        let ask =
            ["agent", "--access", "--user", &user.to_string(), "--show", "/usr/share", "--", "/usr/share"];
        std::process::Command::new(launcher).args(ask).output().is_ok_and(|ran| ran.status.success())
    });
    if !shows {
        println!("skipped: this is no root, or one that cannot change users or make mount namespaces");
    }
    shows
}

/// In root's home, as `make run` is started there: nobody else gets through the folder above.
#[test]
fn an_application_below_a_closed_folder_is_shown_to_its_user_read_only() {
    needs!(serves_php(), shows_folders());
    let lab = Lab::new();
    shop(&lab, &FRONT.replace("<?php", "<?php require __DIR__ . '/../vendor/text.php';"));
    lab.write("shop/composer.json", "{}");
    lab.write("shop/vendor/text.php", "<?php header('X-Vendor: yes');");
    // By a link too, as deployments have it.
    std::os::unix::fs::symlink("shop", lab.path("current")).unwrap();
    let text = lab.read("conf/nginx.conf").replace("/shop/public", "/current/public");
    lab.write("conf/linked.conf", text);
    mode(&lab.work(), 0o700);
    // Everybody may write here, but not through what is shown.
    mode(&lab.path("shop/public"), 0o777);
    for config in ["conf/nginx.conf", "conf/linked.conf"] {
        let args = ["site", "--docroot", "shop/public", "--server-config", config, "--render", "--force"];
        let ran = lab.done(&args);
        assert!(ran.stdout.contains("2 pages"), "{config}: {} {}", ran.stdout, ran.stderr);
        assert_eq!(samples(&site(&lab), Kind::Asset), ["css/site.css"]);
        assert!(!lab.path("shop/public/written").exists(), "{config}");
        assert!(!ran.stderr.contains("closed"), "{}", ran.stderr);
        assert_eq!((lab.left_over(), lab.processes()), (0, Vec::new()));
    }
}

fn samples(site: &Site, kind: Kind) -> Vec<String> {
    site.of(kind).flat_map(|stratum| &stratum.sample).map(|sample| sample.path.clone()).collect()
}

/// Files of a group, as www-data's often are.
#[test]
fn files_that_php_cannot_read_are_named_and_an_account_that_can_renders_them() {
    needs!(serves_php(), shows_folders());
    let account = nix::unistd::User::from_name("www-data").ok().flatten();
    let Some(account) = account else {
        println!("skipped: there is no user www-data");
        return;
    };
    let lab = Lab::new();
    shop(&lab, FRONT);
    lab.write("shop/public/uploads/a.txt", "a");
    let secret = lab.write("shop/public/config.php", "<?php");
    let own = |path: &Path| {
        std::os::unix::fs::chown(path, Some(account.uid.as_raw()), Some(account.gid.as_raw())).unwrap();
    };
    own(&secret);
    own(&lab.path("shop/public/uploads"));
    mode(&secret, 0o640);
    let args =
        ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render", "--force"];
    let ran = lab.done(&args);
    let line = ran.stderr.lines().find(|line| line.contains("cannot be read")).unwrap_or_default();
    assert!(
        line.contains("1 file") && line.contains("config.php; give --render-as www-data"),
        "{}",
        ran.stderr
    );

    own(&lab.path("shop/public/index.php"));
    mode(&lab.path("shop/public/index.php"), 0o640);
    let ran = lab.run(&args);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let line = last_line(&ran);
    assert!(
        line.contains("cannot read")
            && line.contains("public/index.php")
            && line.contains("--render-as www-data"),
        "{line}"
    );

    let named = lab.done(&[&args[..], &["--render-as", "www-data"]].concat());
    assert!(named.stdout.contains("2 pages"), "{} {}", named.stdout, named.stderr);
    assert!(
        named.stderr.contains("--render-as www-data: the application can write to 1 folder"),
        "{}",
        named.stderr
    );
    assert!(named.stderr.contains("(uploads), as it does for a visitor"), "{}", named.stderr);
    assert_eq!(site(&lab).sources.render_as.as_deref(), Some("www-data"));
    assert_eq!(lab.left_over(), 0);

    let pool = lab.write(
        "fpm/pool.d/www.conf",
        "[www]\nuser = www-data\ngroup = www-data\nlisten = /run/php.sock\npm = dynamic\n",
    );
    let of_pool = ["--php-config", pool.to_str().unwrap(), "--render-as"];
    let ran = lab.done(&[&args[..], &of_pool].concat());
    assert!(
        ran.stderr.contains("--render-as www-data: ") && ran.stdout.contains("2 pages"),
        "{}",
        ran.stderr
    );

    for (name, said) in [("root", "root is root"), ("nobody-has-this-name", "there is no user")] {
        let line = lab.refused(&[&args[..], &["--render-as", name]].concat());
        assert!(line.contains(said), "{line}");
    }
}

/// Pages that visitors ask for stand for the others, not those that the front page happens to link to.
#[test]
fn the_pages_that_a_log_names_come_first_and_one_that_is_far_smaller_than_logged_is_left_out() {
    needs!(serves_php());
    let lab = Lab::new();
    let front = "<?php $path = strtok($_SERVER['REQUEST_URI'], '?');\n\
        foreach (range(1, 9) as $n) echo '<a href=/linked/', $n, '>n</a>';\n\
        echo $path === '/item/2' ? 'see you soon' : str_repeat(\"<p>$path</p>\", 900);";
    shop(&lab, front);
    let line = |at: usize, path: &str| {
        format!(
            "192.0.2.7 - - [{:02}/Nov/2026:10:00:00 +0000] \"GET {path} HTTP/1.1\" 200 9000 \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\"\n",
            1 + at % 9
        )
    };
    let log: String = (0..90).map(|at| line(at, &format!("/item/{}", at % 3))).collect();
    lab.write("access.log", log + &line(1, "/login"));
    let args =
        ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--log", "access.log"];
    let ran = lab.done(&[&args[..], &["--render"]].concat());
    let names = samples(&site(&lab), Kind::Page);
    assert!(names.iter().any(|name| name.ends_with("item-0.html")), "{names:?} {}", ran.stderr);
    assert!(names.iter().all(|name| !name.contains("login") && !name.contains("item-2")), "{names:?}");
    assert!(
        ran.stderr.contains("left out a page: --render /item/2: it answers with")
            && ran.stderr.contains("where the log has 9 KB per response"),
        "{}",
        ran.stderr
    );
}

/// Compression that the configuration has and the application switches off where it really runs: the running site is believed.
#[test]
fn a_running_site_that_sends_its_page_as_it_is_is_believed() {
    needs!(serves_php());
    let lab = Lab::new();
    shop(&lab, FRONT);
    let server =
        Server::new(|_, _| response("Server: nginx\r\nCache-Control: no-transform\r\n", &[b'x'; 9000]));
    let args = ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"];
    let ran = lab.done(&[&args[..], &["--url", &server.url("/")]].concat());
    let today = site(&lab);
    let today = today.today(Kind::Page).unwrap();
    assert_eq!((today.method.as_str(), today.from), ("server/plain", From::Measured), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the application switches compression off (Cache-Control: no-transform)"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("2 pages"), "made here: {}", ran.stdout);
}

#[test]
fn a_file_that_the_application_sends_is_sent_by_php_whatever_its_bytes() {
    needs!(serves_php());
    let lab = Lab::new();
    let sends = r#"<?php
$path = strtok($_SERVER['REQUEST_URI'], '?');
if (str_starts_with($path, '/files/')) {
    header('Content-Type: application/pdf');
    readfile(__DIR__ . $path);
    exit;
}
echo '<!doctype html><p>front</p>', str_repeat('<p>text</p>', 500);
"#;
    shop(&lab, sends);
    lab.write("shop/public/files/manual.pdf", vec![7; 50_000]);
    lab.write("shop/public/files/plan.svg", "<svg></svg>   \n".repeat(3_000));
    lab.write("shop/public/logo.svg", "<svg></svg>    \n".repeat(3_000));
    let handed = "location /files/ { rewrite ^ /index.php last; }\n    location / {";
    lab.write("conf/nginx.conf", lab.read("conf/nginx.conf").replace("location / {", handed));
    lab.done(&["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"]);
    let found = site(&lab);
    let today = found.today(Kind::Download).unwrap();
    assert_eq!((today.method.as_str(), today.from), ("php/readfile", From::Assumed));
    let paths =
        |kind| found.of(kind).flat_map(|stratum| &stratum.sample).map(|one| &*one.path).collect::<Vec<_>>();
    assert_eq!(
        paths(Kind::Download),
        ["files/plan.svg", "files/manual.pdf"],
        "also what is mostly loaded, if PHP sends it"
    );
    assert_eq!(paths(Kind::Asset), ["logo.svg", "css/site.css"]);
    let sent = || found.of(Kind::Download).flat_map(|stratum| &stratum.sample).flat_map(|one| &one.sent);
    assert!(sent().all(|sent| sent.bytes >= 45_000 && sent.method.is_none()));
    assert_eq!(sent().count(), 8, "each class was asked as");
    let texts: Vec<f64> =
        found.strata.iter().filter(|one| one.format == "image/svg+xml").map(|one| one.files.value).collect();
    assert_eq!(texts, [1.0, 1.0], "each file counts once");
    // With an ETag, the server may send the file at PHP's word.
    let handing = "header('X-Accel-Redirect: /handed' . $path);";
    lab.write("shop/public/index.php", sends.replace("readfile(__DIR__ . $path);", handing));
    let internal = "location /handed/ { internal; rewrite ^/handed(/.*) $1 break; }\n    location / {";
    lab.write("conf/nginx.conf", lab.read("conf/nginx.conf").replace("location / {", internal));
    let args = ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--render"];
    let ran = lab.done(&[&args[..], &["--force"]].concat());
    assert_eq!(site(&lab).today(Kind::Download), None, "{}", ran.stderr);
    assert!(ran.stderr.contains("2 downloads are sent by PHP, how is not known"), "{}", ran.stderr);
}

/// No file lies at the path of its copy, which a front controller would be asked for.
#[test]
fn a_style_sheet_that_a_script_makes_is_no_download() {
    needs!(serves_php());
    let lab = Lab::new();
    shop(&lab, "<?php echo '<!doctype html><p>front</p>', str_repeat('<p>text</p>', 500);");
    lab.write(
        "shop/public/css.php",
        "<?php header('Content-Type: text/css'); echo str_repeat(\"p { margin: 0 }\\n\", 600);",
    );
    let line = |at: usize, path: &str| {
        format!(
            "192.0.2.7 - - [{:02}/Nov/2026:10:00:00 +0000] \"GET {path} HTTP/1.1\" 200 9000 \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\"\n",
            1 + at % 9
        )
    };
    let log = (0..90).map(|at| line(at, ["/", "/css.php?theme=1"][at % 2])).collect::<String>();
    lab.write("access.log", log);
    let args =
        ["site", "--docroot", "shop/public", "--server-config", "conf/nginx.conf", "--log", "access.log"];
    let ran = lab.done(&[&args[..], &["--render"]].concat());
    let found = site(&lab);
    let made: Vec<&str> = found.of(Kind::Asset).map(|stratum| &*stratum.format).collect();
    assert!(found.of(Kind::Download).next().is_none(), "{:?} {}", found.strata, ran.stderr);
    let is_made = |path: &String| path.starts_with("site-sample/");
    assert!(made.contains(&"text/css") && samples(&found, Kind::Asset).iter().any(is_made), "{made:?}");
}

//! `weigh advise` and `weigh prove`: from a site to a policy, its configuration and its proof.

use weigh_model::policy::{Encoder, Policy};
use weigh_model::site::Kind;

use crate::lab::{Lab, has};
use crate::load::server::{Server, response};
use crate::urls::gzip;

/// A configuration with gzip, as many sites have it.
const CONFIG: &str = "events {}\nhttp {\n  types { text/javascript js; text/css css; image/png png; }\n  gzip on;\n  gzip_types text/javascript text/css;\n  \
    server {\n    listen 80;\n    root ROOT;\n  }\n}\n";

/// A site of a script and an image, served by nginx.
fn shop(lab: &Lab) {
    let script =
        |n: usize| (0..n).map(|at| format!("function f{at}(a) {{ return a * {at}; }}\n")).collect::<String>();
    lab.write("public/app.js", script(2000));
    // As a photo is: nothing that an encoder could use.
    let mut state = 1_u64;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    lab.write("public/photo.png", (0..20_000).map(|_| noise()).collect::<Vec<_>>());
    lab.write("nginx.conf", CONFIG.replace("ROOT", lab.path("public").to_str().unwrap()));
    lab.fine(&["site", "--docroot", "public", "--server-config", "nginx.conf", "--name", "shop"]);
}

/// Whether all that a proof's run compared had the same rounds, five after the first at least.
fn even_rounds(lab: &Lab) {
    let run = std::fs::read_dir(lab.path("weigh-runs")).unwrap().map(|entry| entry.unwrap().path());
    let run = run.into_iter().find(|path| path.to_str().unwrap().contains("-proof-1-")).unwrap();
    let log = std::fs::read_to_string(run.join("records.ndjson")).unwrap();
    let mut visits = std::collections::BTreeMap::<String, usize>::new();
    for record in log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        if record["type"] == "visit" {
            *visits.entry(record["cell"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    let (least, most) = (visits.values().min().unwrap(), visits.values().max().unwrap());
    assert!(*least > 5 && most - least <= 1, "{visits:?}");
}

fn policy(lab: &Lab) -> Policy {
    toml::from_str(&lab.read("advice/policy.toml")).unwrap()
}

#[test]
fn a_site_is_advised_and_the_policy_is_proved() {
    if !has("nginx", "apt install nginx-light") {
        return;
    }
    let lab = Lab::new();
    shop(&lab);
    let advised = lab.done(&["advise", "--budget", "20s"]);
    assert!(advised.stdout.lines().count() <= 40, "{}", advised.stdout);
    // On a busy machine there may be too few rounds for more than what is ahead.
    assert!(advised.stdout.contains(" 1 change."), "{}", advised.stdout);
    let policy = policy(&lab);
    let assets = policy.decisions.iter().find(|decision| decision.kind == Kind::Asset).unwrap();
    assert!(!assets.keep && assets.rules.iter().any(|rule| rule.by == Encoder::Beforehand), "{assets:?}");
    assert!(assets.rules.iter().all(|rule| !rule.types.iter().any(|of| of == "image/png")), "{assets:?}");
    assert!(assets.change.gb_out.share().unwrap() < -0.02, "{assets:?}");
    let snippet = lab.read("advice/config/nginx/encoding.conf");
    assert!(snippet.contains("_static on;") && !snippet.contains("Not checked"), "{snippet}");
    assert!(lab.read("advice/advice.md").contains(" 1 change."));
    let copy = "First: mkdir -p /etc/nginx/weigh && cp advice/config/nginx/* /etc/nginx/weigh/";
    let shown = advised.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let root = lab.path("public").canonicalize().unwrap();
    let pack = format!("weigh pack {} --policy advice/policy.toml", root.display());
    assert!(shown.contains(&pack) && shown.contains(copy) && snippet.contains(copy), "{shown}");

    // The folder is there, and is the policy's: it is replaced only if that is asked for.
    let line = lab.refused(&["advise", "--budget", "1s"]);
    assert!(line.contains("advice exists") && line.contains("--force"), "{line}");

    // Limits that the policy's reader writes into it.
    let written = lab.read("advice/policy.toml");
    lab.write(
        "advice/policy.toml",
        format!("{written}\n[[gate]]\nmetric = \"trafic\"\nno_worse_than = \"0%\"\n"),
    );
    assert!(lab.refused(&["prove", "--budget", "1s"]).contains("did you mean `traffic`?"));
    lab.write(
        "advice/policy.toml",
        format!("{written}\n[[gate]]\nmetric = \"traffic\"\nno_worse_than = \"0%\"\n"),
    );
    let ran = lab.run(&["prove", "--budget", "40s", "--json", "--junit", "gates.xml"]);
    let proved: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    // On a busy machine CPU time may be undecided, or another than for the policy; what is said is how it ends.
    let ends = match proved["verdict"].as_str().unwrap() {
        "worse" => 4,
        "undecided" => 5,
        _ => 0,
    };
    assert_eq!(ran.code, ends, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(proved["gates"][0]["outcome"], "pass", "{proved}");
    let read = junit_parser::from_reader(lab.read("gates.xml").as_bytes()).unwrap();
    assert_eq!((read.suites[0].cases.len(), read.suites[0].failures, read.suites[0].errors), (1, 0, 0));
    let lines = proved["lines"].as_array().unwrap();
    let traffic = lines.iter().find(|line| line["amount"] == "traffic").unwrap();
    assert_eq!(traffic["verdict"], "held", "{proved}");
    assert_eq!(proved["negotiated"][1], 0, "{proved}");
    let wait = lines.iter().find(|line| line["amount"] == "visitors wait").unwrap();
    assert_eq!(wait["modelled"], true, "it is not measured by itself: {proved}");
    assert!(!proved["clients"].as_array().unwrap().is_empty(), "{proved}");
    even_rounds(&lab);
    // What cannot be measured in the time is not proved.
    let ran = lab.run(&["prove", "--budget", "1s"]);
    assert_eq!(ran.code, 5, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Nothing to prove"), "{}", ran.stdout);

    // What was measured is used again.
    let runs: Vec<String> = std::fs::read_dir(lab.path("weigh-runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("responses"))
        .collect();
    let again = lab.done(&["advise", "site.toml", &runs[0], "--force"]);
    assert!(again.stdout.contains(" 1 change."), "{}", again.stdout);
    assert_eq!(self::policy(&lab).gates.len(), 1, "limits of the policy before are kept");

    // The same on two running servers: one sends files as they are, the other with gzip.
    let files = |path: &str| std::fs::read(lab.path(&format!("public{path}"))).unwrap();
    let (script, photo) = (files("/app.js"), files("/photo.png"));
    let packed = gzip(&script);
    let serve = move |head: &str, is_coded: bool| match head.split(' ').nth(1) {
        Some("/app.js") if is_coded && head.contains("gzip") => {
            response("Content-Type: text/javascript\r\nContent-Encoding: gzip\r\n", &packed)
        }
        Some("/app.js") => response("Content-Type: text/javascript\r\n", &script),
        _ => response("Content-Type: image/png\r\n", &photo),
    };
    let (plain, coded) = (serve.clone(), serve);
    let before = Server::new(move |head, _| plain(head, false));
    let after = Server::new(move |head, _| coded(head, true));
    let urls = ["--before", &before.url("/"), "--after", &after.url("/")];
    // What was not measured, as CPU time here, is no pass.
    let ran = lab.run(&[&["prove", "--budget", "20s", "--json", "--gate", "cpu<5%"][..], &urls].concat());
    assert_eq!(ran.code, 5, "{}{}", ran.stdout, ran.stderr);
    let proved: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let lines = proved["lines"].as_array().unwrap();
    let amounts: Vec<_> = lines.iter().map(|line| line["amount"].as_str().unwrap()).collect();
    assert_eq!(amounts, ["visitors wait", "traffic"], "no CPU time is known: {proved}");
    let traffic = &lines[1]["measured"];
    assert!(traffic["after"].as_f64() < traffic["before"].as_f64(), "{proved}");
    // Over plain HTTP the policy has gzip alone, which is what is sent.
    assert!(proved["open"].as_array().is_none_or(Vec::is_empty), "{proved}");
    // Other machines are asked only where that is said.
    let line = lab.refused(&["prove", "--before", "http://192.0.2.1/", "--after", "http://192.0.2.1/"]);
    assert!(line.contains("--allow-remote 192.0.2.1"), "{line}");
}

/// A blog as distributions package them: its content stands outside of the document root, an alias leads there, and a theme in it is a link.
/// Whoever asks by another name is sent away.
fn blog(lab: &Lab) {
    let sheet = |n: usize| (0..n).map(|at| format!(".c{at} {{ margin: {at}px }}\n")).collect::<String>();
    lab.write("public/app.css", sheet(900));
    lab.write("public/wp-content/theme.css", "of nobody");
    lab.write("public/wp-content/blue/style.css", sheet(1500));
    lab.write("content/theme.css", sheet(1200));
    std::os::unix::fs::symlink(lab.path("public/wp-content/blue"), lab.path("content/blue")).unwrap();
    lab.write("shared/unused.css", sheet(600));
    lab.write("elsewhere/far.css", sheet(700));
    std::os::unix::fs::symlink(lab.path("elsewhere"), lab.path("shared/linked")).unwrap();
    let line = |at: usize, path: &str| {
        format!(
            "192.0.2.7 - - [0{}/Nov/2026:10:00:00 +0000] \"GET {path} HTTP/1.1\" 200 900 \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\"\n",
            at + 1
        )
    };
    let paths = ["/app.css", "/wp-content/theme.css", "/wp-content/blue/style.css", "/shared/linked/far.css"];
    lab.write("access.log", (0..8).map(|at| line(at, paths[at % 4])).collect::<String>());
}

/// Looks at the blog, advises and proves it; what was said of the look.
fn proved(lab: &Lab, server: &str, config: &str) -> String {
    let args =
        ["site", "--docroot", "public", "--server-config", config, "--log", "access.log", "--name", "blog"];
    let looked = lab.done(&args).stderr;
    let site = weigh_model::site::Site::parse(&lab.read("site.toml"), "site.toml").unwrap();
    let mut paths: Vec<&str> =
        site.strata.iter().flat_map(|one| &one.sample).map(|sample| sample.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        ["app.css", "shared/linked/far.css", "wp-content/blue/style.css", "wp-content/theme.css"],
        "{server}: {looked}"
    );
    assert_eq!(site.today(Kind::Asset).unwrap().method, "server/plain", "{server}");
    // On a busy machine the shorter budget leaves out so much that nothing can be chosen.
    let changes = || policy(lab).decisions.iter().any(|one| !one.keep);
    let mut advised = lab.done(&["advise", "--budget", "40s"]);
    for budget in ["90s", "240s"] {
        if !changes() {
            advised = lab.done(&["advise", "--budget", budget, "--force"]);
        }
    }
    assert!(!advised.stderr.contains("the configuration says"), "{server}: {}", advised.stderr);
    assert!(changes(), "{server}: {}", advised.stdout);
    // On a busy machine the shorter budget leaves out so much that traffic is not compared.
    let within = |budget: &str| {
        let proved: serde_json::Value =
            serde_json::from_str(&lab.run(&["prove", "--budget", budget, "--json"]).stdout).unwrap();
        let traffic = proved["lines"].as_array().unwrap().iter().find(|line| line["amount"] == "traffic");
        (traffic.cloned(), proved)
    };
    let (traffic, proved) = match within("40s") {
        (None, _) => within("60s"),
        whole => whole,
    };
    let traffic = traffic.unwrap();
    assert_eq!(traffic["verdict"], "held", "{server}: {proved}");
    // On the fly, Apache answers the ETag of the uncompressed file with 304, as it does without the policy.
    let is_known =
        |rule: &str| server == "apache" && rule == "the strong ETag of another variant is answered with 304";
    let mut broken = proved["broken"].as_array().unwrap().iter().filter_map(|rule| rule.as_str());
    assert!(proved["negotiated"][0].as_u64().unwrap() > 0 && broken.all(is_known), "{server}: {proved}");
    looked
}

#[test]
fn files_behind_an_alias_of_nginx_are_the_sites() {
    if !has("nginx", "apt install nginx-light") {
        return;
    }
    let lab = Lab::new();
    blog(&lab);
    let config = "events {}\nhttp {\n types { text/css css; }\n server {\n  listen 80;\n  server_name blog.example;\n  root HOME/public;\n  \
                  if ($host != blog.example) { return 301 http://blog.example$request_uri; }\n  location /wp-content/ { alias HOME/content/; }\n  \
                  location /shared { alias HOME/shared; }\n }\n}\n";
    lab.write("nginx.conf", config.replace("HOME", lab.path("").to_str().unwrap().trim_end_matches('/')));
    let paths = proved(&lab, "nginx", "nginx.conf");
    assert!(paths.contains("2 files that an alias hides"), "{paths}");
}

#[test]
fn files_behind_an_alias_of_apache_are_the_sites() {
    if !has("apache2", "apt install apache2") {
        return;
    }
    let lab = Lab::new();
    blog(&lab);
    let home = lab.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let modules = ["mpm_event", "authz_core", "alias", "mime", "dir", "rewrite"];
    let load = |name: &str| format!("LoadModule {name}_module modules/mod_{name}.so\n");
    let config = "Listen 80\nTypesConfig HOME/mime.types\nIncludeOptional conf-enabled/*.conf\n<Directory HOME>\n Options FollowSymLinks\n AllowOverride All\n \
                  Require all granted\n</Directory>\nDirectoryIndex index.php index.html\n<FilesMatch \"^\\.ht\">\n Require all denied\n</FilesMatch>\n\
                  <VirtualHost *:80>\n ServerName blog.example\n DocumentRoot HOME/public\n Alias /wp-content HOME/content\n RewriteEngine On\n \
                  RewriteCond %{HTTP_HOST} !=blog.example\n RewriteRule ^ http://blog.example%{REQUEST_URI} [R=301,L]\n</VirtualHost>\n";
    lab.write("mime.types", "text/css css\n");
    lab.write("conf-enabled/shared.conf", format!("Alias /shared {home}/shared/\n"));
    let rules = "RewriteEngine On\nRewriteBase /\nRewriteRule ^index\\.php$ - [L]\nRewriteCond %{REQUEST_FILENAME} !-f\n\
                 RewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule . /index.php [L]\n";
    lab.write("public/.htaccess", rules);
    lab.write("content/.htaccess", "<FilesMatch \"\\.css$\">\n ForceType text/css\n</FilesMatch>\n");
    lab.write("apache2.conf", modules.map(load).concat() + &config.replace("HOME", &home));
    let looked = proved(&lab, "apache", "apache2.conf");
    assert!(looked.contains("1 file that all sites share, which nobody asks for"), "{looked}");
}

#[test]
fn wrong_policies_and_sites_are_one_line() {
    let lab = Lab::new();
    // Nothing says which server sends it.
    lab.write("public/app.js", "let a = 1;\n".repeat(200));
    lab.fine(&["site", "--docroot", "public"]);
    let line = lab.refused(&["advise"]);
    assert!(line.contains("which web server sends the site") && line.contains("--server-config"), "{line}");
    for (args, said) in [
        (["advise", "none.toml"].as_slice(), "none.toml: cannot be read; `weigh site` writes one"),
        (&["advise", "a.toml", "b.toml"], "two sites are named"),
        (&["prove", "none.toml"], "none.toml: cannot be read; `weigh advise` writes one"),
    ] {
        let line = lab.refused(args);
        assert!(line.contains(said), "{line}");
    }
    lab.write("policy.toml", "schema = 1\nsiet = \"x\"\n");
    let line = lab.refused(&["prove", "policy.toml"]);
    assert!(line.contains("policy.toml, line 2: unknown key `siet`; did you mean `site`?"), "{line}");
}

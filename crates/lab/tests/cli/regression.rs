//! What `weigh advise` writes for a server makes nothing of the site worse: faults that are planted into its files are found, and such files are
//! not written.

use weigh_model::policy::{Encoder, Policy, Trial};
use weigh_model::site::Kind;

use crate::lab::{Lab, has};

/// A site's own configuration, which refuses some files and hands others to PHP.
const CONFIG: &str = r#"events {}
http {
  types { text/html html; text/javascript js; text/css css; image/png png; application/json json; application/rss+xml rss; }
  gzip on;
  gzip_vary on;
  gzip_proxied any;
  gzip_http_version 1.0;
  gzip_types text/javascript text/css application/json application/rss+xml;
  server {
    listen 80;
    server_name shop.example;
    root ROOT;
    add_header X-Frame-Options SAMEORIGIN;
    location ~ /\. { deny all; }
    location ~ ^/(composer|package)\.json$ { deny all; }
    location ~ \.php$ { fastcgi_pass unix:/run/php.sock; fastcgi_param REQUEST_URI $request_uri; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; }
  }
}
"#;

/// A site of a script, served by nginx, with what was measured for it.
fn shop() -> (Lab, String) {
    let lab = Lab::new();
    let script =
        |n: usize| (0..n).map(|at| format!("function f{at}(a) {{ return a * {at}; }}\n")).collect::<String>();
    lab.write("public/app.js", script(2000));
    lab.write("public/composer.json", "{\"require\": {\"php\": \">=8.2\"}}\n".repeat(40));
    lab.write("nginx.conf", CONFIG.replace("ROOT", lab.path("public").to_str().unwrap()));
    lab.fine(&["site", "--docroot", "public", "--server-config", "nginx.conf", "--name", "shop"]);
    lab.done(&["advise", "--budget", "12s"]);
    let runs = std::fs::read_dir(lab.path("weigh-runs")).unwrap();
    let mut names = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let run = names.find(|name| name.contains("responses")).unwrap();
    (lab, run)
}

fn policy(lab: &Lab) -> Policy {
    toml::from_str(&lab.read("advice/policy.toml")).unwrap()
}

/// The advice with other directives in place of those that nginx is emitted.
fn planted(lab: &Lab, run: &str, directives: &str) -> Trial {
    lab.write("defs/servers/nginx/encoding.conf", format!("{directives}\n"));
    lab.write("defs/servers/nginx/pages.conf", "# Nothing.\n");
    let advised = lab.done(&["--defs", "defs", "advise", "site.toml", run, "--force"]);
    let policy = policy(lab);
    let trial = policy.trial.clone().unwrap();
    let file = lab.path("advice/config/nginx/encoding.conf");
    let text = advised.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let assets = policy.decisions.iter().find(|one| one.kind == Kind::Asset).unwrap();
    assert_eq!(file.exists(), trial.withheld.is_empty(), "{directives}: {trial:?}");
    assert_eq!(assets.keep, !trial.withheld.is_empty(), "what no file carries out is not done: {assets:?}");
    if let Some(one) = trial.withheld.first() {
        assert_eq!(one.file, "nginx/encoding.conf");
        assert!(text.contains("config/nginx/encoding.conf: not written"), "{text}");
        let change = assets.change.gb_out;
        assert_eq!((change.before, policy.total.gb_out.before), (change.after, policy.total.gb_out.after));
        assert!(assets.text.contains("Leave assets as they are"), "{}", assets.text);
    }
    trial
}

#[test]
fn what_makes_nothing_worse_is_written_with_how_many_answers_were_compared() {
    needs!(has("nginx", "apt install nginx-light"));
    let (lab, run) = shop();
    let policy = policy(&lab);
    let trial = policy.trial.clone().unwrap();
    assert_eq!((trial.untried.as_deref(), trial.withheld.len()), (None, 0), "{trial:?}");
    assert!(trial.answers > 500, "{trial:?}");
    let assets = policy.decisions.iter().find(|one| one.kind == Kind::Asset).unwrap();
    assert!(assets.rules.iter().any(|rule| rule.by == Encoder::Beforehand), "{assets:?}");
    let text = lab.read("advice/config/nginx/encoding.conf");
    assert!(text.contains("# Checked: ") && text.contains("with and without it: none worse."), "{text}");
    let trial = planted(&lab, &run, "gzip_comp_level 7;\ngzip_static on;");
    assert!(trial.withheld.is_empty() && trial.answers > 500, "{trial:?}");
    // A configuration that cannot be tried is no reason to write nothing, and is said.
    lab.write(
        "nginx.conf",
        "events {}\nhttp { server { listen 80; no_such_directive on; root /nowhere; } }\n",
    );
    let advised = lab.done(&["advise", "site.toml", &run, "--force"]).stdout;
    let text = lab.read("advice/config/nginx/encoding.conf");
    assert!(
        text.contains("Not tried on your configuration: ") && text.contains("no_such_directive"),
        "{text}"
    );
    assert!(advised.contains("Not tried on your configuration: "), "{advised}");
}

/// Directives with what is worse with them: the thing, and the path of a URL that shows it.
const FAULTS: [(&str, &str, &str); 12] = [
    ("gzip on;\ngzip_types text/css;", "Content-Encoding", "json-512"),
    ("gzip_min_length 10000;", "Content-Encoding", "html-512"),
    ("location = /composer.json { gzip_static on; }", "status", "/composer.json"),
    ("location /offload/ { internal; alias \"/\"; }", "reach", "weigh-trial"),
    ("add_header X-Weigh 1;", "x-frame-options", "/"),
    ("etag off;", "etag", "/app.js"),
    ("gzip_http_version 1.1;", "Content-Encoding", "/"),
    ("gzip_proxied off;", "Content-Encoding", "/"),
    ("gzip_static always;\ngzip_vary off;", "Content-Encoding", "/app.js"),
    ("gzip_vary off;", "vary", "/"),
    ("max_ranges 0;", "status", "/app.js"),
    ("brotlix on;", "the server does not start with it", ""),
];

#[test]
fn every_planted_fault_is_found() {
    needs!(has("nginx", "apt install nginx-light"));
    let (lab, run) = shop();
    let mut missed = Vec::new();
    for (directives, what, url) in FAULTS {
        let trial = planted(&lab, &run, directives);
        let worse: Vec<_> = trial.withheld.iter().flat_map(|one| &one.worse).collect();
        if !worse.iter().any(|one| one.what == what && one.url.contains(url)) {
            missed.push(format!("{directives}: {worse:#?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

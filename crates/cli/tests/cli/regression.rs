//! What `weigh advise` writes for a server makes nothing of the site worse: faults that are planted into its files are found, and such files are
//! not written.

use weigh_model::policy::{Encoder, Policy, Trial};
use weigh_model::site::Kind;

use crate::lab::{Lab, has};

/// A site's own configuration, which refuses some files and hands others to PHP.
const CONFIG: &str = include_str!("regression/nginx.conf");

/// The same for Apache, with a front controller.
const APACHE: &str = include_str!("regression/apache2.conf");

/// A site of a script, served by nginx or Apache, with what was measured for it.
fn shop(server: &str) -> (Lab, String) {
    let lab = Lab::new();
    let script =
        |n: usize| (0..n).map(|at| format!("function f{at}(a) {{ return a * {at}; }}\n")).collect::<String>();
    lab.write("public/app.js", script(2000));
    lab.write("public/composer.json", "{\"require\": {\"php\": \">=8.2\"}}\n".repeat(40));
    let config = if server == "nginx" { CONFIG } else { APACHE };
    let file = format!("{server}.conf");
    lab.write(&file, config.replace("ROOT", lab.path("public").to_str().unwrap()));
    lab.fine(&["site", "--docroot", "public", "--server-config", &file, "--name", "shop"]);
    // Until there is something to plant a fault in, which on a busy machine takes longer.
    let is_decided = |lab: &Lab| policy(lab).decisions.iter().any(|one| one.kind == Kind::Asset && !one.keep);
    for budget in ["12s", "40s", "120s"] {
        std::fs::remove_dir_all(lab.path("weigh-runs")).ok();
        lab.done(&["advise", "--budget", budget, "--force"]);
        if is_decided(&lab) {
            break;
        }
    }
    let runs = std::fs::read_dir(lab.path("weigh-runs")).unwrap();
    let mut names = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let run = names.find(|name| name.contains("responses")).unwrap();
    (lab, run)
}

fn policy(lab: &Lab) -> Policy {
    toml::from_str(&lab.read("advice/policy.toml")).unwrap()
}

/// The advice with other directives in place of those that the server is emitted.
fn planted(lab: &Lab, run: &str, server: &str, directives: &str) -> Trial {
    lab.write(&format!("defs/servers/{server}/encoding.conf"), format!("{directives}\n"));
    lab.write(&format!("defs/servers/{server}/pages.conf"), "# Nothing.\n");
    let advised = lab.done(&["--defs", "defs", "advise", "site.toml", run, "--force"]);
    let policy = policy(lab);
    let trial = policy.trial.clone().unwrap();
    let file = lab.path(&format!("advice/config/{server}/encoding.conf"));
    let text = advised.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let assets = policy.decisions.iter().find(|one| one.kind == Kind::Asset).unwrap();
    assert_eq!(file.exists(), trial.withheld.is_empty(), "{directives}: {trial:?}");
    assert_eq!(assets.keep, !trial.withheld.is_empty(), "what no file carries out is not done: {assets:?}");
    if let Some(one) = trial.withheld.first() {
        assert_eq!(one.file, format!("{server}/encoding.conf"));
        assert!(text.contains(&format!("config/{server}/encoding.conf: not written")), "{text}");
        let change = assets.change.gb_out;
        assert_eq!((change.before, policy.total.gb_out.before), (change.after, policy.total.gb_out.after));
        assert!(assets.text.contains("Leave assets as they are"), "{}", assets.text);
    }
    trial
}

#[test]
fn what_makes_nothing_worse_is_written_with_how_many_answers_were_compared() {
    needs!(has("nginx", "apt install nginx-light"));
    let (lab, run) = shop("nginx");
    let policy = policy(&lab);
    let trial = policy.trial.clone().unwrap();
    assert_eq!((trial.untried.as_deref(), trial.withheld.len()), (None, 0), "{trial:?}");
    assert!(trial.answers > 500, "{trial:?}");
    let assets = policy.decisions.iter().find(|one| one.kind == Kind::Asset).unwrap();
    assert!(assets.rules.iter().any(|rule| rule.by == Encoder::Beforehand), "{assets:?}");
    let text = lab.read("advice/config/nginx/encoding.conf");
    assert!(text.contains("# Checked: ") && text.contains("with and without it: none worse."), "{text}");
    let trial = planted(&lab, &run, "nginx", "gzip_comp_level 7;\ngzip_static on;");
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

/// What is sent from `notes.txt.gz` alone goes on to be sent, to clients that accept no gzip, too.
#[test]
fn what_is_always_sent_precompressed_stays_so() {
    needs!(has("nginx", "apt install nginx-light"));
    let (lab, run) = shop("nginx");
    let always = "gunzip on;\n gzip_static always;\n location ~ \\.sql$ { deny all; }\n root ";
    lab.write("nginx.conf", lab.read("nginx.conf").replacen("root ", always, 1));
    lab.write("public/notes.txt.gz", crate::urls::gzip(&b"A note.\n".repeat(100)));
    // Of no file that is refused.
    lab.write("public/old.sql.gz", "A dump.\n".repeat(100));
    lab.done(&["advise", "site.toml", &run, "--force"]);
    let text = lab.read("advice/config/nginx/encoding.conf");
    assert!(text.contains("with and without it: none worse.") && text.contains("sql$"), "{text}");
    assert!(
        text.contains("Your own gzip_static always stays") && !text.contains("\ngzip_static on;"),
        "{text}"
    );
    assert!(!text.contains("First: remove"), "{text}");
    let trial = planted(&lab, &run, "nginx", "gzip_static on;");
    let worse: Vec<_> = trial.withheld.iter().flat_map(|one| &one.worse).collect();
    assert!(worse.iter().any(|one| one.what == "status" && one.url == "/notes.txt"), "{worse:#?}");
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

const APACHE_FAULTS: [(&str, &str, &str); 5] = [
    ("FilterDeclare one\nFilterProvider one DEFLATE \"true\"\nFilterChain !", "Content-Encoding", "html-512"),
    ("<Location />\nXSendFile on\nXSendFilePath /\n</Location>", "reach", "weigh-trial"),
    ("RewriteEngine On\nRewriteRule ^/app\\.js$ /weigh-trial/large.js [PT]", "content", "/app.js"),
    ("<Location />\nHeader unset Cache-Control\n</Location>", "cache-control", "/app.js"),
    ("<Files composer.json>\nRequire all granted\n</Files>", "status", "/composer.json"),
];

/// Each fault is found with the answer that shows it.
fn faults_are_found(server: &str, faults: &[(&str, &str, &str)]) {
    let (lab, run) = shop(server);
    let mut missed = Vec::new();
    for (directives, what, url) in faults {
        let trial = planted(&lab, &run, server, directives);
        let worse: Vec<_> = trial.withheld.iter().flat_map(|one| &one.worse).collect();
        if !worse.iter().any(|one| one.what == *what && one.url.contains(url)) {
            missed.push(format!("{directives}: {worse:#?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_planted_fault_is_found() {
    needs!(has("nginx", "apt install nginx-light"));
    faults_are_found("nginx", &FAULTS);
}

#[test]
fn every_planted_fault_of_apache_is_found() {
    needs!(has("apache2", "apt install apache2 libapache2-mod-xsendfile"));
    faults_are_found("apache", &APACHE_FAULTS);
    let (lab, run) = shop("apache");
    // The module lets scripts hand over what lies beside them, whatever is configured: everybody may have that.
    let folder = lab.path("public").display().to_string();
    let trial = planted(&lab, &run, "apache", &format!("XSendFile on\nXSendFilePath {folder}/downloads"));
    assert!(trial.withheld.is_empty() && trial.answers > 300, "{trial:?}");
}

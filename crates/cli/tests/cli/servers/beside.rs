//! What is written beside a configuration of the wild takes nothing from it: real servers are asked before and after.

use std::collections::BTreeMap;
use std::path::Path;

use weigh_model::policy::{Encoder, Policy, Rule};
use weigh_model::site::{Kind, Site};
use weigh_rig::server::{Found, Site as Served};
use weigh_serverconf::Read;
use weigh_site::configuration::own::on_top;
use weigh_site::configuration::{Emitted, WritingContext, emit};

use super::advised::{decided, only};
use super::client::{Answer, get, get_with};
use super::fixture::{Rig, server};

const CLASSES: [&str; 4] = ["gzip, deflate, br, zstd", "gzip, deflate, br", "gzip", ""];
/// Files with the content that each repeats.
const FILES: [(&str, &str, usize); 10] = [
    ("page.html", "<p>hello world</p>\n", 500),
    ("small.html", "<p>hello</p>\n", 40),
    ("app.css", ".a { color: red }\n", 600),
    ("plain.css", ".b { color: blue }\n", 600),
    ("app.js", "var a = 1;\n", 600),
    ("data.json", "{\"name\": \"value\"},\n", 600),
    ("small.json", "{\"name\": \"value\"},\n", 20),
    ("feed.rss", "<item>news</item>\n", 600),
    ("image.svg", "<path d=\"M0 0\"/>\n", 600),
    ("composer.json", "{\"require\": {}},\n", 600),
];

/// What the document root has of its own.
const FOLDER: &str = "<FilesMatch \"\\.(css|xml)$\">\nHeader set X-Own folder\n</FilesMatch>\n";

/// What was answered, by path and Accept-Encoding.
type Answers = BTreeMap<(String, &'static str), Answer>;

struct ComparedAnswers {
    before: Answers,
    after: Answers,
    emitted: Vec<Emitted>,
    read: Read,
}

impl ComparedAnswers {
    fn body(&self, of: &str) -> &str {
        &self.emitted.iter().find(|one| one.file == Path::new(of)).unwrap_or_else(|| panic!("no {of}")).body
    }

    /// Whether nothing is worse: status, fields, content codings and bytes.
    fn is_harmless(&self) {
        self.is_harmless_but(&[]);
    }

    fn is_harmless_but(&self, paths: &[&str]) {
        for (key, before) in self.before.iter().filter(|((path, _), _)| !paths.contains(&path.as_str())) {
            let after = &self.after[key];
            let fields = |reply: &Answer| {
                ["content-type", "cache-control", "x-own"].map(|name| reply.header(name).map(str::to_owned))
            };
            assert_eq!(before.status, after.status, "{key:?}");
            assert_eq!(fields(before), fields(after), "{key:?}");
            let is_coded = |reply: &Answer| reply.coding() != "identity";
            assert!(!is_coded(before) || is_coded(after), "{key:?} is no longer compressed");
            if before.status == 200 {
                assert!(after.body().len() as f64 <= before.body().len() as f64 * 1.02, "{key:?} is larger");
                assert_eq!(before.decoded(), after.decoded(), "{key:?}");
            }
        }
    }

    fn coding(&self, path: &str, accept: &'static str) -> &str {
        self.after[&(path.to_owned(), accept)].coding()
    }
}

/// Asks a server with a configuration, in which `WWW` stands for the document root, and with the policy on top of it. `packed`: files that have
/// variants. None: the server is not here.
fn asked(name: &str, config: &str, policy: &Policy, packed: &[&str]) -> Option<ComparedAnswers> {
    let found = server(name)?;
    let rig = Rig::new();
    let docroot = rig.docroot();
    for (file, text, times) in FILES {
        let text = text.repeat(times);
        std::fs::write(docroot.join(file), &text).unwrap();
        for (codec, ending) in
            [("brotli", "br"), ("libdeflate", "gz")].iter().filter(|_| packed.contains(&file))
        {
            let codec = weigh_codec::codecs::find(codec).unwrap();
            let mut coded = Vec::new();
            codec.coder(&Default::default()).unwrap().encode(text.as_bytes(), &mut coded).unwrap();
            std::fs::write(docroot.join(format!("{file}.{ending}")), coded).unwrap();
        }
    }
    std::fs::write(docroot.join(".htaccess"), FOLDER).unwrap();
    let file = rig.home.path().join("own.conf");
    let text =
        config.replace("WWW", &docroot.to_string_lossy()).replace("MODULES", "/usr/lib/apache2/modules");
    std::fs::write(&file, &text).unwrap();
    let read = weigh_rig::server::own::read(&found, &file, &text, &Default::default());
    let mut read = read.unwrap_or_else(|error| panic!("{error:#}"));
    let rules = found.definition.own.as_ref().unwrap();
    read.tree.take_folders(rules, &docroot, &docroot, &["app.css".into()]);
    let mut site: Site = toml::from_str("schema = 1\nname = \"shop\"\nlooked = \"2026-11-24\"\n").unwrap();
    site.sources.docroot = Some(docroot.display().to_string());
    let place = rig.place();
    let top = on_top(policy, &site, &found, &read, Some(&place)).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(top.refused, None, "{}", top.config.text);
    let there = found.definition.with_own([&read.config, &top.config]).find();
    let ask = |there: &Found, way: &str| -> Answers {
        let instance = rig.start(there, &Served { docroot: "/".into(), ..rig.with(None, way) });
        let paths = FILES.iter().flat_map(|(file, ..)| ["", ".br", ".gz"].map(|end| format!("/{file}{end}")));
        let ask =
            |path: String| CLASSES.map(|accept| ((path.clone(), accept), get(&instance.url(&path), accept)));
        let mut answers: Answers = paths.flat_map(ask).collect();
        // Through a proxy.
        let via = get_with(&instance.url("/page.html"), "gzip", &[("Via", "1.1 cdn")]);
        drop(answers.insert(("via /page.html".into(), "gzip"), via));
        assert!(instance.stop(), "{name} {way} had to be killed");
        answers
    };
    let (before, after) = (ask(&there, "config"), ask(&there, "advised"));
    // Wherever its lines go.
    if let Some(first) = top.first {
        let first = ask(&found.definition.with_own([&first]).find(), "advised");
        for (key, reply) in &after {
            assert_eq!((reply.status, reply.coding()), (first[key].status, first[key].coding()), "{key:?}");
        }
    }
    let here = WritingContext { servers: &[found], place: None, own: Some(&read) };
    let emitted = emit(policy, &site, here).unwrap();
    Some(ComparedAnswers { before, after, emitted, read })
}

fn rule(coding: &str, by: Encoder, method: &str, min_bytes: u64) -> Rule {
    Rule { min_bytes, ..Rule::new(coding, by, method) }
}

fn typed(rule: Rule, types: &[&str]) -> Rule {
    Rule { types: types.iter().map(|name| (*name).to_owned()).collect(), ..rule }
}

/// Pages in one coding alone, from 256 bytes up; assets stay.
fn pages(coding: &str, method: &str) -> Policy {
    let rule = typed(rule(coding, Encoder::Server, method, 256), &["text/html"]);
    only(decided(Kind::Page, vec![rule]))
}

/// Style sheets precompressed.
fn precompressed() -> Policy {
    let rule =
        |coding| typed(rule(coding, Encoder::Beforehand, "any", 256), &["text/css", "application/json"]);
    only(decided(Kind::Asset, vec![rule("br"), rule("gzip")]))
}

const NGINX: &str = "worker_processes 1;\nevents { }\nhttp {\n    include /etc/nginx/mime.types;\n    types { application/rss+xml rss; }\n    gzip on;\n    gzip_proxied off;\n    \
    gzip_types text/plain text/css application/json application/javascript application/rss+xml;\n    add_header X-Own yes;\n    \
    server {\n        listen 80;\n        server_name shop.example;\n        root WWW;\n        location ~ \\.css$ { add_header Cache-Control max-age=60; }\n        \
    location ~ composer\\.json$ { deny all; }\n    }\n}\n";

#[test]
fn nginx_goes_on_from_the_lists_that_it_has() {
    let css = typed(rule("gzip", Encoder::Server, "gzip:9", 0), &["text/css"]);
    let some = only(decided(Kind::Asset, vec![css]));
    let Some(asked) = asked("nginx", NGINX, &some, &[]) else { return };
    asked.is_harmless();
    assert_eq!(asked.coding("/feed.rss", "gzip"), "gzip");
    let body = asked.body("nginx/encoding.conf");
    let types = body.lines().find(|line| line.starts_with("gzip_types")).unwrap();
    for name in ["application/rss+xml", "application/javascript", "text/plain", "text/css"] {
        assert!(types.contains(name), "{types}");
    }
    // What it has stays, and what it inherits is not said again.
    assert!(!body.contains("gzip_min_length") && !body.contains("gzip_proxied "), "{body}");
    assert!(body.contains("\ngzip_http_version 1.0;"), "{body}");
    assert!(asked.emitted.iter().all(|one| !one.body.contains("\nadd_header")), "{body}");
    assert_eq!(asked.coding("via /page.html", "gzip"), "identity");
    // Where it says nothing of proxies, they get what others get.
    let alone = NGINX.replace("gzip_proxied off;", "");
    let alone =
        alone.replace("root WWW;", "root WWW; gzip_types text/css application/rss+xml application/json;");
    let Some(asked) = self::asked("nginx", &alone, &some, &[]) else { return };
    // nginx refuses what stands twice in one block.
    let first = &asked.emitted[0].first;
    let removes = |line: &String| {
        line.starts_with("remove ")
            && line.ends_with("own.conf:13: gzip_types text/css application/rss+xml application/json")
    };
    assert!(first.iter().any(removes), "{first:?}");
    asked.is_harmless();
    assert_eq!(asked.coding("via /page.html", "gzip"), "gzip");
}

#[test]
fn nginx_keeps_headers_and_refuses_variants_of_what_it_refuses() {
    let Some(asked) = asked("nginx", NGINX, &precompressed(), &["app.css", "composer.json"]) else { return };
    asked.after.iter().filter(|((path, _), _)| path.starts_with("/composer.json")).for_each(
        |(key, reply)| {
            assert_eq!(reply.status, 403, "{key:?}");
        },
    );
    let css = &asked.after[&("/app.css".to_owned(), "gzip, deflate, br")];
    assert_eq!(css.header("cache-control"), Some("max-age=60"));
    assert_eq!(css.coding(), "br");
}

/// Of nginx's locations the first that matches holds, so that it matters where the lines go.
#[test]
fn locations_for_variants_take_no_other_name() {
    let refuses = "location ~ ^/data { deny all; } location ~* ^/composer\\.json$|image { deny all; } location ~ \\.(json|css)$ { allow all; }";
    let config = NGINX.replace("location ~ composer\\.json$ { deny all; }", refuses);
    let config = config.replace("location ~ \\.css$", "location ~ \\.svg$ { etag on; } location ~ \\.css$");
    assert!(config.contains(refuses) && config.contains("svg$"));
    let Some(asked) = asked("nginx", &config, &precompressed(), &["composer.json", "data.json"]) else {
        return;
    };
    let status = |path: &str| asked.after[&(path.to_owned(), "gzip")].status;
    assert_eq!(["/image.svg", "/composer.json.br", "/data.json.gz"].map(status), [200, 403, 403]);
    asked.is_harmless_but(&["/composer.json.br", "/composer.json.gz"]);
}

/// What the configuration does not load is said before the file, and the private instance has what the file says.
#[test]
fn modules_that_a_configuration_does_not_load_are_said_first() {
    let Some(asked) = asked("nginx", NGINX, &pages("br", "brotli:5"), &[]) else { return };
    let first = &asked.emitted[0].first;
    assert!(first.iter().any(|line| line == "apt install libnginx-mod-http-brotli-filter"), "{first:?}");
    let load = "load_module modules/ngx_http_brotli_filter_module.so;";
    assert!(first.iter().any(|line| line.ends_with(load)), "{first:?}");
    let loads = "load_module /usr/lib/nginx/modules/ngx_http_brotli_filter_module.so;\n".to_owned() + NGINX;
    let Some(asked) = self::asked("nginx", &loads, &pages("br", "brotli:5"), &[]) else { return };
    let first = &asked.emitted[0].first;
    assert!(first.len() == 1, "{first:?}");
    assert!(!asked.read.config.text.contains("gzip_static"), "the user's own stays as it is");
}

const APACHE: &str = "ServerRoot \"/etc/apache2\"\nServerName localhost\nLoadModule mpm_event_module MODULES/mod_mpm_event.so\n\
    LoadModule authz_core_module MODULES/mod_authz_core.so\nLoadModule mime_module MODULES/mod_mime.so\nLoadModule filter_module MODULES/mod_filter.so\n\
    LoadModule deflate_module MODULES/mod_deflate.so\nLoadModule brotli_module MODULES/mod_brotli.so\nLoadModule headers_module MODULES/mod_headers.so\n\
    LoadModule rewrite_module MODULES/mod_rewrite.so\nLoadModule setenvif_module MODULES/mod_setenvif.so\nListen 80\nTypesConfig /etc/mime.types\n\
    AddOutputFilterByType DEFLATE text/html text/css application/json application/javascript text/javascript application/rss+xml\n\
    <VirtualHost *:80>\nServerName shop.example\nDocumentRoot WWW\n<Directory WWW>\nRequire all granted\n\
    <FilesMatch \"\\.css$\">\nHeader set Cache-Control max-age=60\n</FilesMatch>\n</Directory>\n<FilesMatch \"^composer\\.json$\">\nRequire all denied\n</FilesMatch>\n\
    <Files \"plain.css\">\nHeader set X-Own yes\n</Files>\n</VirtualHost>\n";

#[test]
fn apache_takes_no_filter_from_other_types() {
    let Some(asked) = asked("apache", APACHE, &pages("br", "mod_brotli:5"), &[]) else { return };
    asked.is_harmless();
    assert_eq!(asked.coding("/page.html", CLASSES[0]), "br");
    assert_eq!(asked.coding("/app.css", CLASSES[0]), "gzip");
    assert_eq!(asked.coding("/page.html", "gzip"), "gzip");
    let body = asked.body("apache/encoding.conf");
    assert!(
        !body.contains("FilterChain !") && body.contains("FilterChain weigh_mod_brotli weigh_mod_deflate"),
        "{body}"
    );
    // Where PHP does gzip, brotli still comes before DEFLATE of the configuration.
    let mut policy = pages("br", "mod_brotli:5");
    policy.decisions[0].rules.push(rule("gzip", Encoder::Php, "gzencode:6", 256));
    let Some(asked) = self::asked("apache", APACHE, &policy, &[]) else { return };
    assert_eq!(asked.coding("/page.html", CLASSES[0]), "br");
    // Without a configuration of its own, too.
    let alone = APACHE.replace("AddOutputFilterByType", "# AddOutputFilterByType");
    let Some(asked) = self::asked("apache", &alone, &pages("br", "mod_brotli:5"), &[]) else { return };
    asked.is_harmless();
    assert_eq!(asked.coding("/page.html", "gzip"), "gzip");
    assert_eq!(asked.coding("/app.css", "gzip"), "identity");
}

#[test]
fn what_apache_says_of_a_file_by_name_holds_for_its_variants() {
    let packed = ["app.css", "plain.css", "composer.json"];
    let Some(asked) = asked("apache", APACHE, &precompressed(), &packed) else { return };
    for path in ["/app.css", "/plain.css"] {
        let reply = &asked.after[&(path.to_owned(), "gzip, deflate, br")];
        assert_eq!(reply.coding(), "br");
        assert_eq!(reply.header("cache-control"), Some("max-age=60"), "{path}");
        assert_eq!(reply.header("x-own").is_some(), path == "/plain.css");
    }
    for (key, reply) in asked.after.iter().filter(|((path, _), _)| path.starts_with("/composer.json")) {
        assert_eq!(reply.status, 403, "{key:?}: {}", asked.body("apache/encoding.conf"));
    }
    // What a folder has of its own holds if Apache reads it.
    let overridden = APACHE.replace("Require all granted\n", "Require all granted\nAllowOverride All\n");
    let Some(asked) = self::asked("apache", &overridden, &precompressed(), &packed) else { return };
    let reply = &asked.after[&("/app.css".to_owned(), "gzip, deflate, br")];
    assert_eq!((reply.coding(), reply.header("x-own")), ("br", Some("folder")));
}

const LIGHTTPD: &str = "server.modules = ( \"mod_access\", \"mod_deflate\", \"mod_setenv\", \"mod_rewrite\" )\nserver.document-root = \"WWW\"\nserver.port = 80\n\
    mimetype.assign = ( \".html\" => \"text/html\", \".css\" => \"text/css\", \".js\" => \"application/javascript\", \".json\" => \"application/json\", \".rss\" => \"application/rss+xml\", \".svg\" => \"image/svg+xml\" )\n\
    deflate.mimetypes = ( \"text/html\", \"text/css\", \"application/javascript\", \"application/json\", \"application/rss+xml\" )\n\
    deflate.allowed-encodings = ( \"br\", \"gzip\" )\n$HTTP[\"url\"] =~ \"\\.css$\" { setenv.set-response-header = ( \"Cache-Control\" => \"max-age=60\" ) }\n\
    url.access-deny = ( \"~\", \"composer.json\" )\n";

#[test]
fn lighttpd_adds_to_what_is_compressed() {
    let Some(asked) = asked("lighttpd", LIGHTTPD, &pages("zstd", "zstd:3"), &[]) else { return };
    asked.is_harmless();
    assert_eq!(asked.coding("/app.js", "gzip"), "gzip");
    assert_eq!(asked.coding("/app.js", "gzip, deflate, br"), "br");
}

#[test]
fn what_lighttpd_says_of_a_url_by_its_end_holds_for_variants() {
    let packed = ["app.css", "plain.css", "composer.json", "data.json", "small.json"];
    let Some(asked) = asked("lighttpd", LIGHTTPD, &precompressed(), &packed) else { return };
    let css = &asked.after[&("/app.css".to_owned(), "gzip, deflate, br")];
    assert_eq!(css.coding(), "br", "{}", asked.body("lighttpd/encoding.conf"));
    assert_eq!(css.header("cache-control"), Some("max-age=60"));
    for (key, reply) in asked.after.iter().filter(|((path, _), _)| path.starts_with("/composer.json")) {
        assert_eq!(reply.status, 403, "{key:?}: {}", asked.body("lighttpd/encoding.conf"));
    }
}

#[test]
fn caddys_own_encode_stays_for_what_the_policy_leaves() {
    let config = ":80 {\n\troot * WWW\n\tencode zstd gzip\n\theader *.css Cache-Control max-age=60\n\tfile_server\n}\n";
    let Some(asked) = asked("caddy", config, &pages("gzip", "gzip:9"), &[]) else { return };
    asked.is_harmless();
    // The site's own codings stand before gzip.
    assert_eq!(asked.coding("/page.html", CLASSES[0]), "zstd");
    assert_eq!(asked.coding("/page.html", CLASSES[1]), "gzip");
    assert_eq!(asked.coding("/data.json", CLASSES[0]), "zstd");
    // Of 480 bytes: the server's own smallest size is 512.
    assert_eq!(asked.coding("/small.html", "gzip"), "gzip");
}

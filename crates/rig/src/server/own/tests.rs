//! How configurations are read, which site of one is meant, and which parts of it a private instance has.

use std::path::{Path, PathBuf};

use super::{Read, read, recognise};
use crate::server::{Definition, Found};
use crate::service::FolderDefinition;
use weigh_content::defs::Definitions;
use weigh_serverconf::site::Wanted;
use weigh_serverconf::tree::{self, Tree};

fn definitions() -> Vec<Definition> {
    Definition::load(&Definitions::load(None).unwrap()).unwrap()
}

/// A server as a machine has it that has no modules beside those that are built in.
fn found(server: &str) -> Found {
    let all = definitions();
    let mut found = all.iter().find(|d| d.name == server).unwrap().at(None);
    found.modules = [("http_gzip_static".to_owned(), None)].into();
    found
}

/// A folder with these files; the first is the one that is given.
fn reading(server: &str, files: &[(&str, &str)], wanted: &Wanted) -> Result<Read, String> {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let file = home.path().join(files[0].0);
    let name = |text: String| text.replace(&format!("{}/", home.path().display()), "");
    let read = tree::text(&file).and_then(|text| read(&found(server), &file, &text, wanted));
    read.map_err(|e| name(format!("{e:#}")))
}

fn whole(server: &str, files: &[(&str, &str)]) -> Read {
    reading(server, files, &Wanted::default()).unwrap()
}

const NGINX: &str = include_str!("tests/nginx.conf");

#[test]
fn all_of_an_nginx_configuration_is_kept_but_what_is_an_instances_own() {
    let Read { config, notes, site, .. } =
        whole("nginx", &[("nginx.conf", NGINX), ("types", "types { text/css css; }")]);
    assert_eq!((site.host(""), site.root.as_path()), (Some("shop.example"), Path::new("/var/www/html")));
    let lines: Vec<&str> = config.text.lines().collect();
    for line in [
        "events {",
        "text/css css;",
        "map $http_accept $webp {",
        "gzip_comp_level 9;",
        "access_log /dev/null;",
        "root @WEIGH-TREE@/var/www/html;",
        "add_header X-Note \"a; {b} # c\" always;",
        "gzip_min_length 1k;",
        "fastcgi_pass unix:@WEIGH-FPM@;",
        "proxy_pass http://unix:@WEIGH-UPSTREAM@;",
        "alias @WEIGH-TREE@/srv/files/;",
        "server_name shop.example;",
    ] {
        assert!(lines.contains(&line), "{line}: {}", config.text);
    }
    for gone in ["user", "listen", "return 301", "content_by", "ngx.say", "10.0.0.7"] {
        assert!(!config.text.contains(gone), "{gone}: {}", config.text);
    }
    assert!(!config.hands_pages_on(), "PHP makes pages");
    let origin = |line: &str| config.origins[lines.iter().position(|l| *l == line).unwrap()];
    assert_eq!((origin("gzip_comp_level 9;"), origin("text/css css;")), (Some((0, 5)), Some((1, 1))));
    assert_eq!(origin("access_log /dev/null;"), None, "it is the instance's");
    assert_eq!(config.origins.len(), lines.len());
    let note = |begin: &str| notes.iter().find(|note| note.starts_with(begin)).cloned().unwrap_or_default();
    assert!(note("left to the private").ends_with("user (nginx.conf:1), listen (nginx.conf:9)"), "{notes:?}");
    assert!(note("other programs answer there").ends_with("proxy_pass (nginx.conf:15)"), "{notes:?}");
    assert!(note("left out, because").contains("content_by_lua_block (nginx.conf:17)"), "{notes:?}");
    assert!(note("other sites, left out").ends_with("server (nginx.conf:7)"), "{notes:?}");
}

#[test]
fn what_would_be_read_asked_or_written_outside_is_not_there() {
    let text = "events {}\nhttp {\n error_log syslog:server=10.0.0.1;\n access_log syslog:server=10.0.0.1 combined;\n resolver 8.8.8.8;\n \
                proxy_cache_path /var/cache/nginx levels=1 keys_zone=a:1m;\n auth_basic_user_file /etc/passwords;\n limit_req_zone $a zone=a:1m rate=1r/s;\n \
                upstream u { server 10.0.0.2; }\n server {\n  ssl_stapling on;\n  root /srv/$host/x;\n  allow 10.0.0.0/8; deny all;\n  \
                location /a { grpc_pass grpc://10.0.0.3; }\n  location /b { root $elsewhere; }\n  access_log off;\n }\n}\nstream { server { listen 1; } }\n";
    let config = whole("nginx", &[("nginx.conf", text)]).config;
    assert!(config.hands_pages_on(), "another program than PHP answers");
    for gone in [
        "10.0.0.",
        "8.8.8.8",
        "syslog",
        "/etc/passwords",
        "upstream",
        "stream",
        "/var/cache",
        "resolver",
        "limit_req",
        "auth",
    ] {
        assert!(!config.text.contains(gone), "{gone}: {}", config.text);
    }
    for line in [
        "access_log /dev/null combined;",
        "access_log off;",
        "proxy_cache_path @WEIGH-DIR@/cache-6 levels=1 keys_zone=a:1m;",
        "allow all;",
        "grpc_pass grpc://unix:@WEIGH-UPSTREAM@;",
    ] {
        assert!(config.text.lines().any(|l| l == line), "{line}: {}", config.text);
    }
    let roots: Vec<&str> = config.text.lines().filter(|l| l.starts_with("root ")).collect();
    assert!(roots.iter().all(|root| root.contains("@WEIGH-")), "{roots:?}");
    let text = "<VirtualHost *:80>\nCustomLog \"|/usr/bin/mail x\" combined\nRewriteMap a prg:/bin/x\nRewriteMap b txt:/srv/map\nRequire ip 10.0.0.1\n\
                RewriteRule ^/x http://10.0.0.1/ [P,L]\nProxyPass /app http://10.0.0.2:8080/\nSetHandler \"proxy:unix:/run/php/php-fpm.sock|fcgi://localhost\"\n\
                AuthUserFile /etc/passwords\nExtFilterDefine a cmd=/bin/true\n</VirtualHost>\n";
    let Read { config, notes, .. } = whole("apache", &[("mine.conf", text)]);
    let elsewhere = notes.iter().find(|note| note.starts_with("other programs")).unwrap();
    assert!(
        elsewhere.contains("ProxyPass") && !elsewhere.contains("SetHandler"),
        "the pool answers: {elsewhere}"
    );
    for gone in ["mail", "prg:", "10.0.0.", "/run/php", "passwords", "ExtFilter"] {
        assert!(!config.text.contains(gone), "{gone}: {}", config.text);
    }
    for line in [
        "RewriteMap b txt:/srv/map",
        "Require all granted",
        "CustomLog /dev/null combined",
        "SetHandler \"proxy:unix:@WEIGH-FPM@|fcgi://localhost/\"",
        "ProxyPass /app \"unix:@WEIGH-UPSTREAM@|http://localhost/\"",
    ] {
        assert!(config.text.lines().any(|l| l == line), "{line}: {}", config.text);
    }
}

#[test]
fn includes_are_followed_in_the_servers_order_and_within_bounds() {
    let read = whole(
        "nginx",
        &[
            ("nginx.conf", "events {}\nhttp { include conf.d/*.conf; include conf.d/none/*; }"),
            ("conf.d/b.conf", "server { include part; }"),
            ("conf.d/a.conf", "gzip on;"),
            ("conf.d/.hidden.conf", "gzip off;"),
            ("part", "root /srv/b;"),
        ],
    );
    let names: Vec<String> =
        read.tree.files.iter().filter_map(|f| Some(f.file_name()?.to_str()?.to_owned())).collect();
    assert_eq!(names, ["nginx.conf", "a.conf", "b.conf", "part"], "relative names begin at the root file");
}

#[test]
fn apaches_conditions_and_values_are_decided_as_it_reads() {
    let read = whole(
        "apache",
        &[
            (
                "apache2.conf",
                "Define root /srv/shop\nIncludeOptional mods/*.load\n<IfModule mod_deflate.c>\nDeflateCompressionLevel 4\n</IfModule>\n\
                 <IfModule !deflate_module>\nSetEnv gone 1\n</IfModule>\n<IfDefine nobody>\nSetEnv gone 2\n</IfDefine>\n\
                 <VirtualHost *:80>\nDocumentRoot ${root}/public\nErrorLog ${APACHE_LOG_DIR}/x\nSetEnv kept ${UNKNOWN}\n</VirtualHost>\n",
            ),
            ("mods/deflate.load", "LoadModule deflate_module /usr/lib/os-release\n"),
        ],
    );
    assert_eq!(read.site.root, PathBuf::from("/srv/shop/public"));
    assert!(
        read.config.text.contains("DeflateCompressionLevel 4\n")
            && read.config.text.contains("SetEnv kept ${UNKNOWN}")
    );
    assert!(!read.config.text.contains("gone"), "{}", read.config.text);
    assert!(read.tree.modules.unwrap().contains("deflate"));
}

#[test]
fn values_that_grow_without_end_stay_as_they_are() {
    let mut text = format!("ServerRoot /x\nDefine a0 {}\n", "x".repeat(1000));
    for n in 1..12 {
        text += &format!("Define a{n} {}\n", format!("${{a{}}}", n - 1).repeat(50));
    }
    let read = whole("apache", &[("apache2.conf", &format!("{text}SetEnv kept ${{a11}}\n"))]);
    assert!(read.config.text.len() < 4 << 20, "{} bytes", read.config.text.len());
}

#[test]
fn the_site_that_is_meant_is_found_by_name_root_or_file() {
    let files = [
        ("nginx.conf", "events {}\nhttp { include sites/*; }"),
        ("sites/a", "server { server_name a.example; set $base /srv/a; root $base/public; }"),
        (
            "sites/b",
            "server { listen 80; server_name b.example; location / { return 301 https://b.example; } }\nserver { listen 443 ssl; server_name b.example; root /srv/b; }",
        ),
    ];
    let site = |wanted: &Wanted| reading("nginx", &files, wanted).map(|read| read.site.root);
    let named = |name: &str| Wanted { name: Some(name.into()), docroot: None };
    assert_eq!(site(&named("a.example")).unwrap(), Path::new("/srv/a/public"), "by what the site sets");
    assert_eq!(site(&named("B.example")).unwrap(), Path::new("/srv/b"), "not the one that redirects");
    let docroot = Wanted { name: None, docroot: Some("/srv/b".into()) };
    assert_eq!(site(&docroot).unwrap(), Path::new("/srv/b"));
    let line = site(&Wanted::default()).unwrap_err();
    assert!(line.contains("it has 2 sites; add --site NAME, or the --docroot of one: a.example (/srv/a/public, sites/a:1), b.example"), "{line}");
    // What is not named is refused, what is named is not; and a host's proof of its owner is no site.
    let site_of = |locations: &str| {
        let text = format!(
            "events {{}}\nhttp {{ server {{ root /srv/w; {locations} location / {{ return 404; }} }}\nserver {{ root /srv/x; }} }}"
        );
        let docroot = Wanted { name: None, docroot: Some("/srv/w".into()) };
        reading("nginx", &[("nginx.conf", text.as_str())], &docroot).map(|read| read.site.root)
    };
    assert_eq!(site_of("location /wiki/ { rewrite ^ /w/index.php; }").unwrap(), Path::new("/srv/w"));
    for other in [
        "location /.well-known/acme-challenge/ { root /var/www; }",
        "location ~ /\\.ht { deny all; }",
        "location /a { return 410; }",
    ] {
        assert_eq!(site_of(other).unwrap(), Path::new("/srv/x"), "{other}: the one that is left");
    }
    // Where all lead elsewhere, the site is one of them; without any there is none.
    let plain =
        "events {}\nhttp { server { server_name a.example; root /srv/a; return 301 https://a.example; } }";
    let only = reading("nginx", &[("nginx.conf", plain)], &Wanted::default()).unwrap();
    assert_eq!(
        (only.site.root.as_path(), only.config.host.as_deref()),
        (Path::new("/srv/a"), Some("a.example"))
    );
    let none = reading("nginx", &[("nginx.conf", "events {}\nhttp { include none/*; }")], &Wanted::default());
    assert!(none.unwrap_err().contains("it has no site: no server { } is in it"));
    let mut part = files;
    part.rotate_left(1);
    assert_eq!(reading("nginx", &part, &Wanted::default()).unwrap().site.root, Path::new("/srv/a/public"));
}

#[test]
fn a_part_alone_has_the_modules_that_it_needs() {
    let config = whole("nginx", &[("mine.conf", "gzip_static on;\nbrotli on;")]).config;
    assert_eq!(config.modules, ["http_gzip_static", "http_brotli_filter"]);
    assert!(config.text.contains("http {") && config.text.contains("config.wrap"), "{}", config.text);
    let named = whole("nginx", &[("nginx.conf", "gzip on;")]).config;
    assert!(named.text.contains("config.wrap"), "a name alone makes no root");
    let text = "<IfModule mod_brotli.c>\nAddOutputFilterByType BROTLI_COMPRESS text/css\n</IfModule>\nDeflateCompressionLevel 4";
    let config = whole("apache", &[("mine.conf", text)]).config;
    assert_eq!(
        (config.modules, config.optional),
        (vec!["deflate".to_owned()], vec!["filter".to_owned(), "brotli".into()])
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let long = "location / { ".repeat(40);
    for (server, files, said) in [
        ("nginx", &[("a.conf", "gzip on")][..], "a.conf, line 1: `gzip` does not end with `;`"),
        ("nginx", &[("a.conf", "location / {\n gzip on;")], "a.conf, line 1: the block does not end"),
        ("nginx", &[("a.conf", "gzip on; }")], "a.conf, line 1: `}` without a block"),
        ("nginx", &[("a.conf", "add_header a \"b")], "a.conf, line 1: a quoted text does not end"),
        ("nginx", &[("a.conf", &long)], "nested too deep"),
        ("nginx", &[("a.conf", "\ninclude b.conf;")], "a.conf, line 2: `include b.conf`: there is no b.conf"),
        (
            "nginx",
            &[("a.conf", "include b.conf;"), ("b.conf", "\ninclude a.conf;")],
            "b.conf, line 2: a.conf includes itself",
        ),
        (
            "nginx",
            &[("a.conf", "set $a @WEIGH-DIR@;")],
            "a.conf, line 1: @WEIGH- has a meaning to Weighbridge",
        ),
        (
            "nginx",
            &[("nginx.conf", "load_module x/ngx_http_lost_module.so;")],
            "line 1: the module http_lost is not installed here: apt install libnginx-mod-http-lost",
        ),
        (
            "nginx",
            &[("nginx.conf", "load_module /etc/hostname;")],
            "line 1: it loads code from outside the system's folders: /etc/hostname; if you trust who made it, add --trust-config",
        ),
        (
            "apache",
            &[("apache2.conf", "ServerRoot /x\nLoadFile /usr/lib/../../etc/hostname\n")],
            "line 2: it loads code from outside the system's folders: /etc/hostname",
        ),
        ("apache", &[("a.conf", "<Files a>\n</Directory>")], "line 2: `</Directory>` without its begin"),
        ("apache", &[("a.conf", "<Files a>")], "line 1: `<Files>` does not end"),
        (
            "apache",
            &[("a.conf", "Include b\n"), ("b", "\nUse Site a")],
            "b, line 2: `Use Site a`: macros are not read",
        ),
        ("caddy", &[("a.conf", "encode gzip")], "its server prints what it means, and is not installed here"),
        ("php-builtin", &[("a.conf", "")], "cannot be measured yet; measure the running server with --url"),
    ] {
        let error = reading(server, files, &Wanted::default()).unwrap_err();
        assert!(error.contains(said) && !error.contains('\n'), "{files:?}: {error}");
    }
}

#[test]
fn a_file_tells_its_server_or_the_user_does() {
    let all = definitions();
    let name =
        |text: &str| recognise(&all, Path::new("x"), text).map(|d| d.name.clone()).map_err(|e| e.to_string());
    assert_eq!(name(NGINX).unwrap(), "nginx");
    assert_eq!(name("gzip on;\ngzip_types text/css;").unwrap(), "nginx");
    assert_eq!(name("<VirtualHost *:80>\n</VirtualHost>").unwrap(), "apache");
    assert_eq!(name("AddOutputFilterByType DEFLATE text/css").unwrap(), "apache");
    assert_eq!(name("shop.example {\n\tencode zstd gzip\n\tfile_server\n}").unwrap(), "caddy");
    assert_eq!(name("{\n  \"apps\": {}\n}").unwrap(), "caddy");
    assert_eq!(name("server.modules += ( \"mod_deflate\" )").unwrap(), "lighttpd");
    assert!(name("hello").unwrap_err().contains("add --server NAME (apache, caddy, lighttpd, nginx)"));
}

#[test]
fn the_server_speaks_of_the_users_file_and_line() {
    let read = whole("nginx", &[("nginx.conf", NGINX), ("types", "types { text/css css; }")]);
    let definition = definitions().into_iter().find(|d| d.name == "nginx").unwrap().with_own([&read.config]);
    let line = read.config.text.lines().position(|l| l == "gzip_comp_level 9;").unwrap() + 1;
    let words = format!(
        "invalid value in /run/x/nginx.conf:{line}; Syntax error on line {line} of /run/x/nginx.conf: no"
    );
    let told = super::in_file(&definition, Some("config"), Path::new("/run/x"), &words);
    let file = read.config.files[0].display();
    assert_eq!(told, format!("invalid value in {file}:5; Syntax error on line 5 of {file}: no"));
    assert_eq!(super::in_file(&definition, Some("gzip"), Path::new("/run/x"), &words), words);
    let _: &Tree = &read.tree;
}

/// As [`reading`], with the server of this machine, which prints what a file means; none without it.
fn printed(server: &str, files: &[(&str, &str)], wanted: &Wanted) -> Option<Result<Read, String>> {
    let found = definitions().iter().find(|d| d.name == server).unwrap().find();
    if let Some(missing) = &found.missing {
        println!("skipped: {missing}: {}", found.remedy.as_deref().unwrap_or_default());
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(home.path().join(name), text.replace("HOME", &home.path().display().to_string()))
            .unwrap();
    }
    let file = home.path().join(files[0].0);
    let name = |text: String| text.replace(&format!("{}/", home.path().display()), "");
    let read = tree::text(&file).and_then(|text| read(&found, &file, &text, wanted));
    Some(read.map_err(|e| name(format!("{e:#}"))))
}

const LIGHTTPD: &str = include_str!("tests/lighttpd.conf");

#[test]
fn all_of_a_lighttpd_configuration_is_kept_but_what_is_an_instances_own() {
    let files =
        [("lighttpd.conf", LIGHTTPD), ("types.conf", "mimetype.assign = ( \".css\" => \"text/css\" )\n")];
    let wanted = Wanted { name: Some("shop.example".into()), docroot: None };
    let Some(read) = printed("lighttpd", &files, &wanted) else { return };
    let Read { config, notes, site, .. } = read.unwrap();
    assert_eq!((site.host(""), site.root.as_path()), (Some("shop.example"), Path::new("/srv/shop")));
    for line in [
        "server.document-root = \"@WEIGH-TREE@/srv/shop\"",
        "deflate.compression-level = 3",
        "accesslog.filename = \"/dev/null\"",
        "alias.url = ( \"/files/\" => \"@WEIGH-TREE@/srv/files/\" )",
        "fastcgi.server = ( \".php\" => ( ( \"socket\" => \"@WEIGH-FPM@\" ) ), \"/app\" => ( ( \"socket\" => \"@WEIGH-UPSTREAM@\" ) ) )",
        "include \"@WEIGH-DIR@/config.end\"",
    ] {
        assert!(config.text.lines().any(|l| l == line), "{line}: {}", config.text);
    }
    for gone in [
        "logger",
        "secret",
        "mod_cgi",
        "10.0.0.1",
        "php-cgi",
        "other.example",
        "https://",
        "server.port",
        "\"socket\"]",
    ] {
        assert!(!config.text.contains(gone), "{gone}: {}", config.text);
    }
    let at = config.text.lines().position(|l| l.starts_with("mimetype.assign")).unwrap();
    assert_eq!(config.origins[at], Some((1, 1)), "it is in the second file");
    let told = notes.join("\n");
    assert!(
        told.contains("mod_cgi (lighttpd.conf:1)") && told.contains("$SERVER[\"socket\"] (lighttpd.conf:11)"),
        "{told}"
    );
    let line = printed("lighttpd", &files, &Wanted::default()).unwrap().unwrap_err();
    assert!(
        line.contains("it has 3 sites; add --site NAME") && line.contains("shop.example (/srv/shop, "),
        "{line}"
    );
}

#[test]
fn a_host_of_lighttpd_without_a_root_of_its_own_is_the_sites() {
    let text = "server.port = 80\nserver.document-root = \"/srv/a\"\n$HTTP[\"host\"] == \"a.example\" { index-file.names = ( \"a.html\" ) }\n";
    let Some(read) = printed("lighttpd", &[("lighttpd.conf", text)], &Wanted::default()) else { return };
    let config = read.unwrap().config;
    assert_eq!(config.host.as_deref(), Some("a.example"));
    assert!(config.text.contains("a.example") && config.text.contains("a.html"), "{}", config.text);
}

#[test]
fn no_program_of_a_lighttpd_configuration_is_run() {
    let files = [("a.conf", "server.port = 80\ninclude_shell \"touch HOME/ran\"\n")];
    let Some(read) = printed("lighttpd", &files, &Wanted::default()) else { return };
    let line = read.unwrap_err();
    assert!(
        line.contains("a.conf, line 2: `include_shell")
            && line.contains("no program of a configuration is run"),
        "{line}"
    );
    let wrong = printed(
        "lighttpd",
        &[("a.conf", "server.port = 80\nserver.tag = ( \"a\"\n\nx\n")],
        &Wanted::default(),
    );
    assert!(wrong.unwrap().unwrap_err().contains("lighttpd cannot read it"));
}

const CADDY: &str = include_str!("tests/Caddyfile");

#[test]
fn all_of_a_caddyfile_is_kept_but_what_is_an_instances_own() {
    let Some(read) = printed("caddy", &[("Caddyfile", CADDY)], &Wanted::default()) else { return };
    let Read { config, notes, site, .. } = read.unwrap();
    assert_eq!((site.host(""), site.root.as_path()), (Some("shop.example"), Path::new("/srv/shop")));
    let whole: serde_json::Value = serde_json::from_str(&config.text).unwrap();
    let own = &whole["apps"]["http"]["servers"]["own"];
    assert_eq!(own["listen"][0], "@WEIGH-HOST@:@WEIGH-PORT@");
    assert_eq!((&whole["admin"]["disabled"], own["routes"].as_array().unwrap().len()), (&true.into(), 2));
    for kept in [
        "\"root\": \"@WEIGH-TREE@/srv/shop\"",
        "\"handler\": \"encode\"",
        "unix/@WEIGH-FPM@",
        "\"dial\": \"unix/@WEIGH-UPSTREAM@\"",
    ] {
        assert!(config.text.contains(kept), "{kept}: {}", config.text);
    }
    for gone in ["10.0.0.", "Bob", "acme", "/run/php", "shop.example", ":443", "www."] {
        assert!(!config.text.contains(gone), "{gone}: {}", config.text);
    }
    let told = notes.join("\n");
    for (kind, name) in [
        ("other programs answer there", "reverse_proxy"),
        ("left out, because", "authentication"),
        ("left out, because", "forward_auth"),
    ] {
        assert!(told.lines().any(|line| line.starts_with(kind) && line.contains(name)), "{name}: {told}");
    }
    let wrong = printed("caddy", &[("Caddyfile", ":80 {\n\tno_such\n}\n")], &Wanted::default()).unwrap();
    let line = wrong.unwrap_err();
    assert!(line.contains("caddy cannot read it: Caddyfile:2") && line.contains("no_such"), "{line}");
}

#[test]
fn of_the_roots_of_a_caddyfile_the_given_one_is_the_sites() {
    let text = ":80 {\n\thandle_path /docs/* {\n\t\troot * /srv/docs\n\t\tfile_server\n\t}\n\thandle {\n\t\troot * /srv/shop\n\t\tfile_server\n\t}\n}\n";
    let wanted = Wanted { docroot: Some("/srv/shop".into()), ..Wanted::default() };
    let Some(read) = printed("caddy", &[("Caddyfile", text)], &wanted) else { return };
    assert_eq!(read.unwrap().site.root, Path::new("/srv/shop"));
}

#[test]
fn a_root_file_that_came_alone_has_its_servers_own_files() {
    let usual = tempfile::tempdir().unwrap();
    std::fs::write(usual.path().join("mime.types"), "types { text/css css; }").unwrap();
    let mut found = found("nginx");
    found.definition.own.as_mut().unwrap().homes = vec![usual.path().to_owned()];
    let home = tempfile::tempdir().unwrap();
    let text = "events { }\nhttp { include mime.types; server { root /srv; } }\n";
    let read = || read(&found, &home.path().join("nginx.conf"), text, &Wanted::default());
    assert!(read().unwrap().config.text.contains("text/css css;"));
    std::fs::write(home.path().join("mime.types"), "types { text/x-own css; }").unwrap();
    assert!(read().unwrap().config.text.contains("text/x-own css;"), "its own comes first");
}

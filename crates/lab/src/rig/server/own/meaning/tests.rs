//! What configurations do with URLs, as their servers would.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Answer, Asked, Exists, Meaning, of};
use crate::rig::server::own::site::{self, Wanted};
use crate::rig::server::own::tests::rules;
use crate::rig::server::own::tree::Tree;

/// The files of a document root, `/w`.
const FILES: [&str; 6] =
    ["/w/app.js", "/w/app.js.gz", "/w/index.php", "/w/page.php", "/w/css/site.css", "/w/css/site.css.br"];

fn exists(path: &Path) -> Exists {
    match path.to_str().unwrap() {
        path if FILES.contains(&path) => Exists::File,
        "/w" | "/w/css" => Exists::Folder,
        _ => Exists::Nothing,
    }
}

/// What a whole configuration does with a path.
fn meaning(server: &str, text: &str, path: &str) -> Meaning {
    read(server, text, path, &[])
}

fn read(server: &str, text: &str, path: &str, folders: &[(&str, &str)]) -> Meaning {
    let rules = rules(server);
    let root = if server == "nginx" { "/nowhere/nginx.conf" } else { "/nowhere/apache2.conf" };
    let mut tree = Tree::read(&rules, None, Path::new(root), text).unwrap();
    for (folder, text) in folders {
        tree.folders.insert((*folder).into(), rules.syntax.parse(text, 0).unwrap());
    }
    if server == "apache" {
        let types =
            [("js", "text/javascript"), ("css", "text/css")].map(|(e, t)| (e.to_owned(), t.to_owned()));
        tree.types = Some(BTreeMap::from(types));
    }
    let site = site::choose(&rules, &tree, &Wanted::default()).unwrap();
    of(&rules, &tree, &site, &Asked { path, exists: &exists })
}

fn nginx(server: &str, path: &str) -> Meaning {
    let types = "types { text/css css; application/javascript js; text/html html; }";
    let text = format!(
        "events {{}}\nhttp {{ {types}\ngzip on; gzip_types application/javascript;\nserver {{ root /w;\n{server}\n}} }}"
    );
    meaning("nginx", &text, path)
}

fn location(server: &str, path: &str) -> String {
    nginx(server, path).block.map(|said| said.value).unwrap_or_default()
}

#[test]
fn locations_are_chosen_in_nginxs_order() {
    let all = "location / { } location /css/ { location ~ \\.css$ { } } location ^~ /fixed/ { } location ~* \\.(JS|CSS)$ { } \
               location = /exact.js { } location ~ \\.js$ { }";
    for (path, block) in [
        ("/", "location /"),
        ("/x", "location /"),
        ("/app.js", "location ~* \\.(JS|CSS)$"),
        ("/exact.js", "location = /exact.js"),
        ("/fixed/app.js", "location ^~ /fixed/"),
        ("/css/site.css", "location ~ \\.css$"),
        ("/css/site.png", "location /css/"),
    ] {
        assert_eq!(location(all, path), block, "{path}");
    }
}

#[test]
fn inner_directives_of_nginx_replace_outer_ones() {
    let today = |server: &str, path: &str| {
        nginx(server, path).today.into_iter().map(|t| (t.coding, t.level, t.min_length)).collect::<Vec<_>>()
    };
    let gzip = |level, min| vec![("gzip".to_owned(), Some(level), min)];
    assert_eq!(today("", "/app.js"), gzip(1, 20), "the server's defaults");
    assert_eq!(today("", "/css/site.css"), [], "the type is not listed");
    assert_eq!(today("gzip_types text/css;", "/css/site.css"), gzip(1, 20));
    assert_eq!(today("gzip_types text/css;", "/app.js"), [], "the list is replaced, not added to");
    assert_eq!(
        today("gzip_comp_level 4; location ~ js$ { gzip_comp_level 7; gzip_min_length 1k; }", "/app.js"),
        gzip(7, 1024)
    );
    assert_eq!(today("location ~ js$ { gzip off; }", "/app.js"), []);
    let both = nginx("brotli on; brotli_types *; brotli_comp_level 5;", "/app.js");
    assert_eq!(both.coding("gzip, br", None).0, "br");
    assert_eq!(both.coding("gzip", None).0, "gzip");
    assert_eq!(both.coding("gzip;q=0, identity", None).0, "identity");
    assert_eq!(both.coding("gzip, br", Some(10)).0, "identity", "too short");
    let at = both.coding("gzip", None).1.unwrap();
    assert_eq!(at.line, 3);
}

#[test]
fn variants_count_where_the_owner_has_them() {
    let on = "gzip_static on; brotli_static on;";
    let app = nginx(on, "/app.js");
    let there: Vec<(&str, bool)> = app.variants.iter().map(|v| (v.coding.as_str(), v.is_there)).collect();
    assert_eq!(there, [("br", false), ("gzip", true)]);
    assert_eq!(app.coding("gzip, br", Some(9)).0, "gzip", "the variant, whatever its length");
    assert_eq!(nginx(on, "/css/site.css").coding("gzip", None).0, "identity");
    assert_eq!(nginx("", "/app.js").variants, []);
}

#[test]
fn nginx_hands_on_as_its_directives_say() {
    let php = "location ~ \\.php$ { try_files $uri =404; fastcgi_pass unix:/run/php.sock; }";
    let front = format!("index index.php; location / {{ try_files $uri $uri/ /index.php?$args; }} {php}");
    let script = |server: &str, path: &str| match nginx(server, path).answer {
        Answer::Php { script, .. } => script,
        other => format!("{other:?}"),
    };
    for (path, is) in [
        ("/", "/index.php"),
        ("/a/page", "/index.php"),
        ("/page.php", "/page.php"),
        ("/lost.php", "Status(404)"),
    ] {
        assert_eq!(script(&front, path), is, "{path}");
    }
    let symfony = "location / { try_files $uri /index.php$is_args$args; } location ~ ^/index\\.php(/|$) { internal; fastcgi_pass a:9000; } \
                   location ~ \\.php$ { return 404; }";
    assert_eq!(script(symfony, "/"), "/index.php");
    assert_eq!(script(symfony, "/css/"), "/index.php", "a folder is no file");
    assert_eq!(script(symfony, "/index.php"), "Status(404)", "it is internal");
    assert_eq!(script(symfony, "/page.php"), "Status(404)");
    for (server, path, answer) in [
        ("location /a/ { alias /w/css/; }", "/a/site.css", Answer::File("/w/css/site.css".into())),
        ("location ~^/a/(.*)$ { alias /w/css/$1; }", "/a/site.css", Answer::File("/w/css/site.css".into())),
        (
            "location ~* ^/A/(.+)\\.txt$ { alias /w/css/$1.css; }",
            "/a/site.txt",
            Answer::File("/w/css/site.css".into()),
        ),
        ("rewrite ^/old/(.*)$ /css/$1 last;", "/old/site.css", Answer::File("/w/css/site.css".into())),
        (
            "location / { try_files $uri @app; } location @app { proxy_pass http://b; }",
            "/x",
            Answer::Elsewhere("http://b".into()),
        ),
        ("location ~ /\\. { deny all; }", "/.git", Answer::Status(403)),
        ("location /a { return 302 /b; }", "/a", Answer::Status(302)),
        ("", "/css", Answer::Status(301)),
        ("", "/none.css", Answer::Status(404)),
    ] {
        assert_eq!(nginx(server, path).answer, answer, "{server} {path}");
    }
    let unknown = nginx("if ($http_x) { return 403; }", "/app.js");
    assert_eq!(
        (unknown.unknown.len(), unknown.status()),
        (1, Some(200)),
        "what depends on the request is told"
    );
}

#[test]
fn types_and_caching_are_those_of_the_site() {
    let app = nginx("location ~ js$ { expires 30d; add_header Cache-Control public; }", "/app.js");
    assert_eq!(app.media_type.as_deref(), Some("application/javascript"));
    assert_eq!(app.cache_control.unwrap().value, "max-age=2592000, public");
    let own = nginx("types { text/plain js; }", "/app.js");
    assert_eq!(own.media_type.as_deref(), Some("text/plain"), "an inner list replaces the outer one");
    assert_eq!(nginx("expires max;", "/app.js").cache_control.unwrap().value, "max-age=315360000");
    assert_eq!(nginx("expires -1;", "/app.js").cache_control.unwrap().value, "no-cache");
    let bare = meaning("nginx", "events {}\nhttp { server { root /w; } }", "/app.js");
    assert_eq!(bare.media_type.as_deref(), Some("text/plain"), "nginx's own default");
}

fn apache(site: &str, path: &str) -> Meaning {
    folder(site, "", path)
}

/// A site with a file of its document root's own.
fn folder(site: &str, own: &str, path: &str) -> Meaning {
    let text = format!(
        "LoadModule deflate_module x\n<Directory />\nAllowOverride None\nRequire all denied\n</Directory>\n<VirtualHost *:80>\nDocumentRoot /w\n\
         <Directory /w>\nAllowOverride All\nRequire all granted\n</Directory>\n{site}\n</VirtualHost>\n"
    );
    read("apache", &text, path, &[("/w", own)])
}

#[test]
fn apaches_filters_add_up_over_its_sections() {
    let by_type = "AddOutputFilterByType DEFLATE text/javascript";
    let app = apache(by_type, "/app.js");
    assert_eq!((app.today[0].level, app.today[0].by.as_str(), app.vary), (Some(6), "mod_deflate", true));
    assert_eq!(apache(by_type, "/css/site.css").today, []);
    let both = folder(
        &format!("{by_type}\nDeflateCompressionLevel 3"),
        "AddOutputFilterByType DEFLATE text/css",
        "/css/site.css",
    );
    assert_eq!(both.today[0].level, Some(3), "the folder's own file adds a type");
    assert_eq!(apache("SetOutputFilter DEFLATE", "/css/site.css").coding("gzip", None).0, "gzip");
    let excepted = "SetOutputFilter DEFLATE\nSetEnvIfNoCase Request_URI \\.JS$ no-gzip";
    assert_eq!(apache(excepted, "/app.js").today, []);
    let order = "AddOutputFilterByType BROTLI_COMPRESS text/css\nAddOutputFilterByType DEFLATE text/css";
    assert_eq!(apache(order, "/css/site.css").coding("gzip, br", None).0, "br", "the first that is named");
    let within = "<FilesMatch \"\\.css$\">\nSetOutputFilter DEFLATE\n</FilesMatch>\n<Location /css>\nForceType text/plain\n</Location>";
    let css = apache(within, "/css/site.css");
    assert_eq!((css.today.len(), css.media_type.as_deref()), (1, Some("text/plain")));
    assert_eq!(apache(within, "/app.js").today, []);
}

#[test]
fn rules_of_apache_find_variants_and_front_controllers() {
    let own = "RewriteEngine On\nRewriteCond %{HTTP:Accept-Encoding} gzip\nRewriteCond %{REQUEST_FILENAME}.gz -f\nRewriteRule ^(.*)\\.js$ $1.js.gz [L]\n\
               <FilesMatch \"\\.js\\.gz$\">\nForceType text/javascript\nHeader set Content-Encoding gzip\n</FilesMatch>";
    let app = folder("", own, "/app.js");
    assert_eq!(app.answer, Answer::File("/w/app.js".into()));
    assert_eq!((app.variants.len(), app.coding("gzip, br", None).0), (1, "gzip"));
    assert_eq!(app.coding("br", None).0, "identity");
    let wordpress = "RewriteEngine On\nRewriteBase /\nRewriteRule ^index\\.php$ - [L]\nRewriteCond %{REQUEST_FILENAME} !-f\n\
                     RewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule . /index.php [L]";
    let php = "<FilesMatch \\.php$>\nSetHandler \"proxy:unix:/run/php.sock|fcgi://localhost\"\n</FilesMatch>";
    let script = |path: &str| match folder(php, wordpress, path).answer {
        Answer::Php { script, .. } => script,
        other => format!("{other:?}"),
    };
    assert_eq!(script("/2026/a-page"), "/index.php");
    assert_eq!(script("/page.php"), "/page.php");
    assert_eq!(script("/app.js"), "File(\"/w/app.js\")");
    let denied = "<FilesMatch \\.js$>\nRequire all denied\n</FilesMatch>";
    assert_eq!(apache(denied, "/app.js").status(), Some(403));
    let expires = "ExpiresActive On\nExpiresByType text/css \"access plus 1 month\"\nHeader append Cache-Control public";
    assert_eq!(apache(expires, "/css/site.css").cache_control.unwrap().value, "max-age=2592000, public");
    let request = apache("<If \"%{HTTP_COOKIE} =~ /a/\">\nSetEnv no-gzip\n</If>", "/app.js");
    assert_eq!(request.unknown.len(), 1);
}

#[test]
fn what_is_expected_names_what_decides() {
    let rules = rules("nginx");
    let text =
        "events {}\nhttp { types { text/css css; }\n server { root /w; gzip on;\n gzip_types text/css; } }";
    let tree = Tree::read(&rules, None, Path::new("/nowhere/nginx.conf"), text).unwrap();
    let site = site::choose(&rules, &tree, &Wanted::default()).unwrap();
    let told = of(&rules, &tree, &site, &Asked { path: "/css/site.css", exists: &exists });
    let expected = told.expected(&tree, Some(500), &["gzip", ""]).unwrap();
    assert_eq!(
        (expected.status, expected.codings["gzip"].as_str(), expected.codings[""].as_str()),
        (200, "gzip", "identity")
    );
    assert_eq!(expected.decided, "/nowhere/nginx.conf:3");
}

#[test]
fn mod_deflate_leaves_short_bodies_alone() {
    let text = "Listen 80\nDocumentRoot /w\n<Directory /w>\nRequire all granted\n</Directory>\nAddOutputFilterByType DEFLATE text/css\n";
    let meaning = meaning("apache", text, "/css/site.css");
    assert_eq!(
        (meaning.coding("gzip", Some(68)).0, meaning.coding("gzip", Some(69)).0),
        ("identity", "gzip")
    );
}

//! What of configurations as people have them is taken over.

use std::path::Path;

use super::{Read, read, recognise};
use crate::defs::Definitions;
use crate::rig::server::Definition;
use crate::rig::service::FolderDefinition;

fn definitions() -> Vec<Definition> {
    Definition::load(&Definitions::load(None).unwrap()).unwrap()
}

fn reading(server: &str, text: &str) -> Result<Read, String> {
    let all = definitions();
    let definition = all.iter().find(|d| d.name == server).unwrap();
    read(definition, Path::new("mine.conf"), text).map_err(|e| format!("{e:#}"))
}

const NGINX: &str = "\
user www-data;
events { worker_connections 768; }
http {
    include /etc/nginx/mime.types;
    gzip off; gzip_comp_level 9;
    map $http_accept $webp { default \"\"; \"~image/webp\" .webp; }
    server { listen 80; return 301 https://$host$request_uri; }
    server {
        listen 443 ssl; # the real one
        root /var/www/html;
        gzip on;
        add_header X-Note \"a; {b} # c\" always;
        location ~ \\.php$ { fastcgi_pass unix:/run/php.sock; }
        location ~* \\.(js|css)$ {
            root /elsewhere;
            expires 30d;
        }
    }
}
";

#[test]
fn a_whole_nginx_file_is_reduced_to_what_decides_how_responses_are_sent() {
    let Read { config, notes } = reading("nginx", NGINX).unwrap();
    let inner: Vec<(usize, &str)> =
        config.inner.lines().map(str::trim).enumerate().filter(|(_, l)| !l.is_empty()).collect();
    assert_eq!(
        inner,
        [
            (4, "gzip_comp_level 9;"),
            (10, "gzip on;"),
            (11, "add_header X-Note \"a; {b} # c\" always;"),
            (13, "location ~* \\.(js|css)$ {"),
            (15, "expires 30d; }"),
        ],
        "each in its line; what is said deeper inside holds"
    );
    assert!(config.outer.trim().starts_with("map $http_accept $webp {"), "{}", config.outer);
    assert!(!config.variants && config.modules.is_empty());
    assert!(
        notes[0].contains("user (line 1), events (line 2)")
            && notes[0].contains("server that redirects (line 7)"),
        "{notes:?}"
    );
    assert!(notes[1].contains("location ~ \\.php$ (fastcgi_pass) (line 13)"), "{notes:?}");
}

#[test]
fn modules_and_variants_follow_from_the_directives() {
    let config = reading("nginx", "gzip_static on;\nbrotli on;").unwrap().config;
    assert_eq!(
        (config.variants, config.modules),
        (true, vec!["http_gzip_static".to_owned(), "http_brotli_filter".into()])
    );
    let text = "<IfModule mod_brotli.c>\nAddOutputFilterByType BROTLI_COMPRESS text/css\n</IfModule>\nDeflateCompressionLevel 4";
    let config = reading("apache", text).unwrap().config;
    assert_eq!(
        (config.modules, config.optional),
        (vec!["deflate".to_owned()], vec!["filter".to_owned(), "brotli".into()])
    );
}

#[test]
fn an_apache_site_is_reduced_likewise() {
    let text = "\
<VirtualHost *:80>
    ServerName example.org
    DocumentRoot /var/www/html
    <Directory /var/www/html>
        Options FollowSymLinks
        AllowOverride All
        ExpiresActive On
    </Directory>
    <FilesMatch \\.php$>
        SetHandler \"proxy:unix:/run/php.sock|fcgi://localhost\"
    </FilesMatch>
    AddOutputFilterByType DEFLATE text/html \\
        text/css
</VirtualHost>
";
    let Read { config, notes } = reading("apache", text).unwrap();
    let lines: Vec<&str> = config.inner.lines().filter(|l| !l.is_empty()).collect();
    assert_eq!(
        lines,
        [
            "<Directory \"${WEIGH_DOCROOT}\">",
            "Options FollowSymLinks",
            "ExpiresActive On",
            "</Directory>",
            "AddOutputFilterByType DEFLATE text/html         text/css",
        ]
    );
    assert_eq!(config.inner.lines().position(|l| l.starts_with("AddOutput")), Some(11));
    assert!(notes[1].contains("FilesMatch \\.php$ (SetHandler) (line 9)"), "{notes:?}");
}

#[test]
fn what_cannot_be_private_is_refused_with_its_line() {
    for (server, text, said) in [
        (
            "nginx",
            "gzip on;\nproxy_cache_path /var/cache keys_zone=a:1m;",
            "mine.conf, line 2: `proxy_cache_path /var/cache keys_zone=a:1m` cannot be taken",
        ),
        (
            "nginx",
            "include /etc/nginx/conf.d/*.conf;",
            "line 1: `include /etc/nginx/conf.d/*.conf`: other files are not read",
        ),
        (
            "nginx",
            "server { gzip on; }\nserver { gzip off; }",
            "line 2: a second `server` beside that of line 1",
        ),
        ("nginx", "gzip on", "line 1: `gzip` does not end with `;`"),
        ("nginx", "location / {\n gzip on;", "line 1: the block does not end"),
        ("nginx", "gzip on; }", "line 1: `}` without a block"),
        ("nginx", "add_header a \"b", "line 1: a quoted text does not end"),
        ("nginx", "listen 80;", "nothing in it decides how nginx encodes"),
        ("nginx", &"location / { ".repeat(40), "nested too deep"),
        (
            "apache",
            "RewriteRule ^/(.*) http://inner/$1 [P,L]",
            "line 1: `RewriteRule ^/(.*) http://inner/$1 [P,L]` cannot be taken",
        ),
        ("apache", "\nIncludeOptional mods-enabled/*.load", "line 2: `IncludeOptional"),
        ("apache", "<IfModule x>\nExtFilterDefine a cmd=/bin/true\n</IfModule>", "line 2: `ExtFilterDefine"),
        ("apache", "<Files a>\n</Directory>", "line 2: `</Directory>` without its begin"),
        ("apache", "<Files a>", "line 1: `<Files>` does not end"),
        ("caddy", "encode gzip", "cannot be measured yet; measure the running server with --url"),
    ] {
        let error = reading(server, text).unwrap_err();
        assert!(error.contains(said) && !error.contains('\n'), "{text}: {error}");
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
    assert!(name("hello").unwrap_err().contains("add --server NAME (apache, nginx)"));
}

//! DokuWiki: scripts that answer with style sheets, scripts and images; nginx writes its log as JSON.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::Result;
use walkdir::WalkDir;

use crate::ground::{Ground, RunningSite, free_port};
use crate::server;

/// A log in JSON, with the names of nginx's variables.
const LOG: &str = r#"log_format json escape=json '{"time_iso8601":"$time_iso8601","remote_addr":"$remote_addr","host":"$host",'
    '"request_method":"$request_method","request_uri":"$request_uri","status":$status,"body_bytes_sent":$body_bytes_sent,'
    '"request_time":$request_time,"http_sec_purpose":"$http_sec_purpose","http_user_agent":"$http_user_agent"}';
"#;
/// Pages of the wiki.
const PAGES: [&str; 4] = ["start", "handbook", "news", "contact"];

/// Brings it up, open to all, with some pages. The configuration of nginx is the one that DokuWiki's own documents show.
pub fn stand(ground: &Ground) -> Result<RunningSite> {
    let pool = ground.pool(None)?;
    let pages = ground.path("var/lib/dokuwiki/data/pages");
    let links: String = PAGES.iter().map(|page| format!("  * [[{page}]]\n")).collect();
    for (at, page) in PAGES.iter().enumerate() {
        let text: String = (0..20 + 60 * at)
            .map(|line| format!("Line {line} of **{page}**, {}.\n\n", line * 7919))
            .collect();
        fs::write(
            pages.join(format!("{page}.txt")),
            format!(
                "====== {page} ======\n{links}\n  * [[wiki:syntax]]\n{{{{wiki:dokuwiki-128.png}}}}\n{text}"
            ),
        )?;
    }
    let settings = "<?php\n$conf['title'] = 'A sample';\n$conf['useacl'] = 0;\n$conf['license'] = '';\n";
    fs::write(ground.path("etc/dokuwiki/local.php"), settings)?;
    // PHP has a user of its own, who keeps caches there.
    for entry in WalkDir::new(ground.path("var/lib/dokuwiki/data")) {
        let entry = entry?;
        let mode = if entry.file_type().is_dir() { 0o777 } else { 0o666 };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode))?;
    }

    let docroot = ground.path("usr/share/dokuwiki");
    let port = free_port()?;
    let site = format!(
        "{LOG}server {{
    listen 127.0.0.1:{port} default_server;
    server_name wiki.example;
    root {root};
    index doku.php;
    access_log {log} json;
    gzip_types text/css application/javascript;

    location ~ /(conf/|bin/|inc/|vendor/|install.php) {{ deny all; }}
    location ~ ^/lib.*\\.(js|css|gif|png|ico|jpg|jpeg)$ {{ expires 365d; }}
    location / {{ try_files $uri $uri/ @dokuwiki; }}
    location @dokuwiki {{
        rewrite ^/_media/(.*) /lib/exe/fetch.php?media=$1 last;
        rewrite ^/_detail/(.*) /lib/exe/detail.php?media=$1 last;
        rewrite ^/(.*) /doku.php?id=$1&$args last;
    }}
    location ~ \\.php$ {{
        try_files $uri =404;
        include fastcgi_params;
        fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
        fastcgi_pass unix:{php};
    }}
}}
",
        root = docroot.display(),
        log = ground.path("var/log/nginx/access.log").display(),
        php = pool.socket().display(),
    );
    let nginx = server::nginx(ground, "dokuwiki", &site, port, "/")?;
    let nginx = nginx.rendered().crawled(&[
        "--prefetch",
        "--feed",
        "feed.php",
        "--download",
        "lib/exe/fetch.php?media=wiki:dokuwiki.svg",
    ]);
    Ok(RunningSite {
        docroot,
        servers: vec![nginx],
        php_config: ground.php_config(),
        database: None,
        _services: (pool, None),
    })
}

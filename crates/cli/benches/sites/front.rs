//! A front controller as frameworks have it: one `index.php` for all pages, and assets of npm packages with hashes in their names.

use std::fs;

use anyhow::{Context, Result};

use crate::common::{kept, progress, unpack};
use crate::ground::{Ground, RunningSite, free_port};
use crate::server;

/// Packages with files of them.
const ASSETS: [(&str, &[&str]); 4] = [
    ("bootstrap@5.3.3", &["dist/css/bootstrap.min.css", "dist/js/bootstrap.bundle.min.js"]),
    ("bootstrap-icons@1.11.3", &["font/fonts/bootstrap-icons.woff2", "icons/alarm.svg", "icons/bank.svg"]),
    ("jquery@3.7.1", &["dist/jquery.min.js"]),
    ("lodash@4.17.21", &["lodash.min.js"]),
];
/// Its pages: lists of different lengths, a form whose answer is a redirect, and a file that PHP sends.
const INDEX: &str = include_str!("front/index.php");

/// With all requests in the log.
pub fn logged(ground: &Ground) -> Result<RunningSite> {
    stand(ground, "front", "")
}

/// As many configurations have it: assets are not logged.
pub fn unlogged(ground: &Ground) -> Result<RunningSite> {
    stand(ground, "front-unlogged", "access_log off;")
}

fn stand(ground: &Ground, name: &str, log: &str) -> Result<RunningSite> {
    let pool = ground.pool(None)?;
    let docroot = ground.path(&format!("srv/{name}/public"));
    let build = docroot.join("build");
    fs::create_dir_all(&build)?;
    let (mut head, mut images) = (String::new(), String::new());
    for (package, files) in ASSETS {
        let place = kept("sites")?.join("npm").join(package);
        if !place.is_dir() {
            progress(&format!("fetching {package}"));
            fs::create_dir_all(&place)?;
            unpack(package, &place).with_context(|| package.to_owned())?;
        }
        for file in files {
            let content = fs::read(place.join("package").join(file))?;
            let (stem, ending) =
                file.rsplit('/').next().and_then(|file| file.rsplit_once('.')).context("no ending")?;
            let hashed = format!("/build/{stem}.{:08x}.{ending}", crc32fast::hash(&content));
            fs::write(docroot.join(&hashed[1..]), &content)?;
            match ending {
                "css" => head += &format!("<link rel='stylesheet' href='{hashed}'>"),
                "js" => head += &format!("<script src='{hashed}' defer></script>"),
                "woff2" => head += &format!("<link rel='preload' as='font' href='{hashed}'>"),
                _ => images += &format!("<img src='{hashed}' alt=''>"),
            }
        }
    }
    fs::write(docroot.join("index.php"), INDEX.replace("%head", &head).replace("%images", &images))?;
    fs::write(docroot.join("../report.pdf"), [b"%PDF-1.4\n".as_slice(), &[7; 90_000]].concat())?;

    let port = free_port()?;
    let site = format!(
        "server {{
    listen 127.0.0.1:{port} default_server;
    server_name shop.example;
    root {root};
    gzip_types text/css application/javascript image/svg+xml;
    gzip_comp_level 5;

    location / {{ try_files $uri /index.php$is_args$args; }}
    location /build/ {{
        expires 1y;
        add_header Cache-Control \"public, immutable\";
        {log}
    }}
    location ~ ^/index\\.php(/|$) {{
        include fastcgi_params;
        fastcgi_split_path_info ^(.+\\.php)(/.*)$;
        fastcgi_param SCRIPT_FILENAME $realpath_root$fastcgi_script_name;
        fastcgi_param DOCUMENT_ROOT $realpath_root;
        fastcgi_pass unix:{php};
        internal;
    }}
    location ~ \\.php$ {{ return 404; }}
}}
",
        root = docroot.display(),
        php = pool.socket().display(),
    );
    let nginx = server::nginx(ground, name, &site, port, "/")?.rendered();
    let mut crawl =
        vec!["--redirect", "old", "--feed", "feed", "--download", "report", "--post", "login user=a"];
    if !log.is_empty() {
        crawl.extend(["--quiet", "^/build/"]);
    }
    Ok(RunningSite {
        docroot,
        servers: vec![nginx.crawled(&crawl)],
        php_config: ground.php_config(),
        database: None,
        _services: (pool, None),
    })
}

//! phpMyAdmin: what visitors without a session see, its form to log in.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::Result;

use crate::ground::{Ground, RunningSite, free_port};
use crate::{database, server};

/// A log with the host first, quoted fields in an order of its own, times by name, and no referer.
const LOG: &str = r#"log_format timed '$host $remote_addr "$http_accept_encoding" [$time_local] $request_time "$request" $status $body_bytes_sent '
    '"$http_sec_purpose" "$http_user_agent" urt=$upstream_response_time';
"#;

/// Brings it up. Apache's configuration is the one that the package ships; for nginx it ships none, so that it is Debian's default site with PHP.
pub fn stand(ground: &Ground) -> Result<RunningSite> {
    let (database, socket) = database::start(ground, "phpmyadmin")?;
    let pool = ground.pool(Some(&socket))?;
    fs::create_dir_all(ground.path("var/lib/phpmyadmin/tmp"))?;
    // What the package's installation makes of its questions.
    let secret = "<?php\n$cfg['blowfish_secret'] = 'a secret of 32 bytes for a sample';\n";
    fs::write(ground.path("var/lib/phpmyadmin/blowfish_secret.inc.php"), secret)?;
    let access = "<?php\n$dbuser='phpmyadmin';\n$dbpass='';\n$basepath='';\n$dbname='phpmyadmin';\n$dbserver='localhost';\n$dbport='';\n$dbtype='mysql';\n";
    fs::write(ground.path("etc/phpmyadmin/config-db.php"), access)?;

    let docroot = ground.path("usr/share/phpmyadmin");
    let (port, php) = (free_port()?, pool.socket());
    let log = ground.path("var/log/nginx/access.log");
    let site = format!(
        "{LOG}server {{
    listen 127.0.0.1:{port} default_server;
    root {};
    index index.php index.html;
    server_name _;
    access_log {} timed;

    location / {{
        try_files $uri $uri/ =404;
    }}

    location ~ \\.php$ {{
        include snippets/fastcgi-php.conf;
        fastcgi_pass unix:{};
    }}
}}
",
        docroot.display(),
        log.display(),
        php.display()
    );
    let nginx = server::nginx(ground, "phpmyadmin", &site, port, "/")?;
    let nginx = nginx.crawled(&["--classes", "--prefetch", "--redirect", "doc/html"]);

    let other = free_port()?;
    let site = format!(
        "<VirtualHost *:{other}>\n    DocumentRoot {}\n    <FilesMatch \"\\.php$\">\n        \
         SetHandler \"proxy:unix:{}|fcgi://localhost\"\n    </FilesMatch>\n</VirtualHost>\n",
        ground.text("var/www/html")?,
        php.display()
    );
    // What the package's installation links.
    let shipped = ground.path("etc/apache2/conf-available/phpmyadmin.conf");
    if fs::symlink_metadata(&shipped).is_err() {
        symlink("../../phpmyadmin/apache.conf", &shipped)?;
    }
    let at = ("/phpmyadmin/", "other_vhosts_access.log");
    let apache = server::apache(ground, "phpmyadmin", &site, other, at)?;
    Ok(RunningSite {
        docroot,
        servers: vec![nginx, apache],
        php_config: ground.php_config(),
        database: Some(socket),
        _services: (pool, Some(database)),
    })
}

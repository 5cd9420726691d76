//! WordPress, put up by its own installer.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use anyhow::{Context, Result, ensure};
use weigh_load::target::{Location, Resolver};

use crate::ground::{Ground, RunningSite, free_port};
use crate::{database, server, visit};

/// What WordPress writes into `.htaccess`.
const RULES: &str = include_str!("wordpress/rules.htaccess");

/// What a caching plugin writes before them: pages that it keeps as files are sent without PHP. `%kept` is their folder.
const CACHE: &str = include_str!("wordpress/cache.htaccess");
/// What it writes into their folder.
const KEPT: &str = include_str!("wordpress/kept.htaccess");

/// Brings it up; its configurations are the examples that the package ships.
pub fn stand(ground: &Ground) -> Result<RunningSite> {
    let (database, socket) = database::start(ground, "wordpress")?;
    let pool = ground.pool(Some(&socket))?;
    let settings = "<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'wordpress');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:%socket');
define('WP_CONTENT_DIR', '%content');
define('ABSPATH', '%root/');
define('WP_HOME', 'http://' . $_SERVER['HTTP_HOST']);
define('WP_SITEURL', WP_HOME);
";
    // Not by the pool's settings, which private instances do not have.
    let settings = settings.replace("%socket", &socket.display().to_string());
    let settings = settings.replace("%content", &ground.text("var/lib/wordpress/wp-content")?);
    let port = free_port()?;
    let settings = settings.replace("%root", &ground.text("usr/share/wordpress")?);
    fs::write(ground.path("etc/wordpress/config-default.php"), settings)?;

    let examples = ground.path("usr/share/doc/wordpress/examples");
    let example =
        |name: &str| fs::read_to_string(examples.join(name)).context("no example of a configuration");
    let shipped = ground.moved(&example("nginx-wordpress.conf")?)?;
    let socket_of_php = format!("unix:{}", pool.socket().display());
    let site =
        regex::Regex::new(r"unix:[^;]+")?.replace(&shipped, regex::NoExpand(&socket_of_php)).into_owned();
    // Debian's parameters name the host without its port, which is not 80 here: WordPress would send visitors away.
    let host = "fastcgi_param HTTP_HOST $http_host;\n        fastcgi_pass";
    let site = site.replacen("fastcgi_pass", host, 1);
    let site = site.replacen("server {", &format!("server {{\n    listen 127.0.0.1:{port};"), 1);
    let nginx = server::nginx(ground, "wordpress", &site, port, "/")?;

    let other = free_port()?;
    let shipped = ground.moved(&example("apache.conf")?)?;
    let begin = shipped.find("## A defined Virtual host").context("the example is another one")?;
    let end = shipped.find("## Without using Virtual host").context("the example is another one")?;
    let host = shipped[begin..end].lines().skip(1).filter(|line| !line.contains("NameVirtualHost"));
    let host: String = host.flat_map(|line| [line.trim_start(), "\n"]).collect();
    let handler = format!("SetHandler \"proxy:{socket_of_php}|fcgi://localhost\"");
    let host = host.replace("*:80", &format!("*:{other}"));
    // What WordPress asks for where pages have names: its rules in .htaccess, and leave to have them.
    let host =
        host.replace("Options FollowSymLinks", "Options FollowSymLinks\nAllowOverride FileInfo Indexes");
    // The form with user agents, without which no bot is known; the name that the crawl asks for, by which kept pages are found.
    let log = regex::Regex::new(r"TransferLog (\S+)")?.replace(&host, "CustomLog $1 combined");
    let host = log.replacen("ServerName blog.example.com", "ServerName 127.0.0.1", 1);
    let kept = ground.path("var/lib/wordpress/wp-content/cache/pages");
    fs::create_dir_all(&kept)?;
    fs::write(kept.join(".htaccess"), KEPT)?;
    let cache = CACHE.replace("%kept", &ground.text("var/lib/wordpress/wp-content/cache/pages")?);
    fs::write(ground.path("etc/wordpress/htaccess"), cache + RULES)?;
    let host = host.replace(
        "</VirtualHost>",
        &format!("<FilesMatch \"\\.php$\">\n{handler}\n</FilesMatch>\n</VirtualHost>"),
    );
    let apache = server::apache(ground, "wordpress", &host, other, ("/", "wp-access.log"))?;

    install(&nginx.url).with_context(|| format!("PHP said: {}", pool.last_words().unwrap_or_default()))?;
    let front = visit::front(&apache.url)?;
    fs::create_dir_all(kept.join("127.0.0.1"))?;
    fs::write(kept.join("127.0.0.1/index.html"), &front)?;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&front)?;
    fs::write(kept.join("127.0.0.1/index.html.gz"), packed.finish()?)?;
    let more = [
        "--direct",
        "--redirect",
        "wp-admin/",
        "--feed",
        "?feed=rss2",
        "--post",
        "wp-login.php log=sample&pwd=sample-sample-sample&redirect_to=%2F",
    ];
    // The package's configuration of nginx has no log of it.
    let nginx = nginx.crawled(&more).crawled(&["--quiet", "^/(robots.txt|favicon.ico)$"]);
    let apache = apache.crawled(&more).crawled(&["--kept", "^/$"]);
    Ok(RunningSite {
        docroot: ground.path("usr/share/wordpress"),
        servers: vec![nginx, apache],
        php_config: ground.php_config(),
        database: Some(socket),
        _services: (pool, Some(database)),
    })
}

/// Fills in the form of the installer, and writes some posts.
fn install(url: &str) -> Result<()> {
    let form = BTreeMap::from([
        ("weblog_title", "A+sample"),
        ("user_name", "sample"),
        ("admin_password", "sample-sample-sample"),
        ("admin_password2", "sample-sample-sample"),
        ("pw_weak", "on"),
        ("admin_email", "sample%40www.example"),
        ("blog_public", "0"),
        ("language", ""),
        ("Submit", "Install"),
    ]);
    let form: Vec<String> = form.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let kind = "application/x-www-form-urlencoded";
    let said = post(&format!("{url}wp-admin/install.php?step=2"), kind, &form.join("&"))?;
    ensure!(said.contains("Success!"), "the installer says: {said}");
    for number in 1..=8 {
        let line = |line: usize| format!("<p>Line {line} of post {number}, {}.</p>", line * 7919 % 1000);
        let text: String = (0..number * 25).map(line).collect();
        let text = text.replace('<', "&lt;").replace('>', "&gt;");
        let string = |text: &str| format!("<param><value><string>{text}</string></value></param>");
        let content = format!(
            "<param><value><struct><member><name>title</name><value><string>Post {number}</string></value></member>\
             <member><name>description</name><value><string>{text}</string></value></member></struct></value></param>"
        );
        let call = format!(
            "<?xml version=\"1.0\"?><methodCall><methodName>metaWeblog.newPost</methodName><params>{}{}{}{content}\
             <param><value><boolean>1</boolean></value></param></params></methodCall>",
            string("1"),
            string("sample"),
            string("sample-sample-sample")
        );
        let said = post(&format!("{url}xmlrpc.php"), "text/xml", &call)?;
        ensure!(!said.contains("<fault>"), "a post was refused: {said}");
    }
    Ok(())
}

/// Sends a body; gives what is answered with 200.
fn post(url: &str, kind: &str, body: &str) -> Result<String> {
    let target = Resolver::default().target(url)?;
    let Location { path, authority, .. } = &target.location;
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let reply = visit::send(&target, &request)?;
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    ensure!(reply.status == 200, "{path} answers {}: {text}", reply.status);
    Ok(text)
}

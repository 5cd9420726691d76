//! Configurations of nginx and Apache: those of Debian's packages with the site's own file enabled; both run.

use std::ffi::OsString;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};

use crate::ground::{Ground, Running};

/// The parts of Apache's configuration that Debian enables, and that of javascript-common and phpMyAdmin.
const CONFS: [&str; 7] = [
    "charset",
    "javascript-common",
    "localized-error-pages",
    "other-vhosts-access-log",
    "phpmyadmin",
    "security",
    "serve-cgi-bin",
];
/// The modules that Debian enables, and those that PHP-FPM and rewriting need.
const MODULES: [&str; 24] = [
    "access_compat",
    "alias",
    "auth_basic",
    "authn_core",
    "authn_file",
    "authz_core",
    "authz_host",
    "authz_user",
    "autoindex",
    "deflate",
    "dir",
    "env",
    "expires",
    "filter",
    "headers",
    "mime",
    "mpm_event",
    "negotiation",
    "proxy",
    "proxy_fcgi",
    "reqtimeout",
    "rewrite",
    "setenvif",
    "status",
];

/// Takes the place of the sites that were enabled before.
fn enable(folder: &Path, name: &str, text: &str) -> Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        fs::remove_file(entry.path())?;
    }
    Ok(fs::write(folder.join(name), text)?)
}

/// Starts nginx with the site's file enabled, and a log of its own; its front page is at `path`.
pub fn nginx(ground: &Ground, name: &str, site: &str, port: u16, path: &str) -> Result<Running> {
    enable(&ground.path("etc/nginx/sites-enabled"), name, site)?;
    let log = ground.path("var/log/nginx/access.log");
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let config = ground.path("etc/nginx/nginx.conf");
    let mut command = vec!["nginx".into(), "-p".into(), ground.path("var/lib/nginx").into(), "-c".into()];
    command.extend([config.clone().into(), "-g".into(), "daemon off;".into()]);
    let server = ground.start("nginx", command, Vec::new(), || answers(port))?;
    let url = format!("http://127.0.0.1:{port}{path}");
    Ok(Running {
        name: "nginx",
        config,
        url,
        log,
        bytes: "framed",
        crawl: Vec::new(),
        is_rendered: false,
        _server: server,
    })
}

fn answers(port: u16) -> Result<()> {
    TcpStream::connect(("127.0.0.1", port)).context("nobody answers").map(drop)
}

/// Enables what Debian enables: `NAME.load` and `NAME.conf` of modules, `NAME.conf` of others.
fn link(etc: &Path, what: &str, names: &[&str]) -> Result<()> {
    for name in names {
        for kind in ["load", "conf"] {
            let file = format!("{name}.{kind}");
            let (from, to) =
                (format!("../{what}-available/{file}"), etc.join(format!("{what}-enabled")).join(&file));
            if etc.join(format!("{what}-available")).join(&file).exists()
                && fs::symlink_metadata(&to).is_err()
            {
                fs::create_dir_all(etc.join(format!("{what}-enabled")))?;
                symlink(from, to)?;
            }
        }
    }
    Ok(())
}

/// Starts Apache with the site's file enabled; its front page is at `path`, and its log below the folder of logs.
pub fn apache(
    ground: &Ground,
    name: &str,
    site: &str,
    port: u16,
    (path, log): (&str, &str),
) -> Result<Running> {
    let etc = ground.path("etc/apache2");
    fs::write(etc.join("ports.conf"), format!("Listen 127.0.0.1:{port}\n"))?;
    link(&etc, "mods", &MODULES)?;
    link(&etc, "conf", &CONFS)?;
    enable(&etc.join("sites-enabled"), &format!("{name}.conf"), site)?;
    let (config, run) = (etc.join("apache2.conf"), ground.text("run")?);
    // That of one that was ended at once.
    let _ = fs::remove_file(Path::new(&run).join("apache2.pid"));
    let log = ground.path("var/log/apache2").join(log);
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let mut command: Vec<OsString> = vec!["apache2".into(), "-d".into(), etc.into(), "-f".into()];
    command.extend([config.clone().into(), "-DFOREGROUND".into()]);
    // What Debian's envvars set.
    let env = [
        ("APACHE_RUN_USER", "www-data".to_owned()),
        ("APACHE_RUN_GROUP", "www-data".into()),
        ("APACHE_PID_FILE", format!("{run}/apache2.pid")),
        ("APACHE_RUN_DIR", run.clone()),
        ("APACHE_LOCK_DIR", run.clone()),
        ("APACHE_LOG_DIR", ground.text("var/log/apache2")?),
    ];
    let env = env.map(|(name, value)| (name.into(), value.into())).into();
    let server = ground.start("apache", command, env, || answers(port))?;
    Ok(Running {
        name: "apache",
        config,
        url: format!("http://127.0.0.1:{port}{path}"),
        log,
        // Debian's formats have `%O`.
        bytes: "all",
        crawl: Vec::new(),
        is_rendered: false,
        _server: server,
    })
}

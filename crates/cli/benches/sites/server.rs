//! Configurations of nginx and Apache: those of Debian's packages with the site's own file enabled; both run.

use std::ffi::OsString;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use weigh_os::guard::Guarded;

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
    let server = start(ground, "nginx", &ground.path(""), port)?;
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

/// The folder of a server's configuration below a root.
pub fn etc(server: &str, root: &Path) -> PathBuf {
    root.join(if server == "nginx" { "etc/nginx" } else { "etc/apache2" })
}

/// Starts a server with the configuration below a root.
pub fn start(ground: &Ground, server: &str, root: &Path, port: u16) -> Result<Guarded> {
    // That of one that was ended at once.
    let _ = fs::remove_file(root.join("run/apache2.pid"));
    let (mut command, env) = command(server, root);
    match server {
        "nginx" => command.extend(["-g".into(), "daemon off;".into()]),
        _ => command.push("-DFOREGROUND".into()),
    }
    ground.start(server, command, env, || answers(port))
}

/// The command that looks at a configuration.
pub fn checked(server: &str, root: &Path) -> Result<Command> {
    let (words, env) = command(server, root);
    let (program, arguments) = words.split_first().context("no program")?;
    let mut command = Command::new(program);
    command.args(arguments).arg("-t").envs(env);
    Ok(command)
}

/// A server's program with the configuration below a root, and its environment.
fn command(server: &str, root: &Path) -> (Vec<OsString>, Vec<(OsString, OsString)>) {
    let etc = etc(server, root);
    if server == "nginx" {
        let words = ["nginx".into(), "-p".into(), root.join("var/lib/nginx").into(), "-c".into()];
        return (words.into_iter().chain([etc.join("nginx.conf").into()]).collect(), Vec::new());
    }
    let run = root.join("run");
    // What Debian's envvars set.
    let env = [
        ("APACHE_RUN_USER", "www-data".into()),
        ("APACHE_RUN_GROUP", "www-data".into()),
        ("APACHE_PID_FILE", run.join("apache2.pid").into()),
        ("APACHE_RUN_DIR", run.clone().into()),
        ("APACHE_LOCK_DIR", run.into()),
        ("APACHE_LOG_DIR", root.join("var/log/apache2").into()),
    ];
    let config = etc.join("apache2.conf");
    let words = vec!["apache2".into(), "-d".into(), etc.into(), "-f".into(), config.into()];
    (words, env.map(|(name, value): (&str, OsString)| (name.into(), value)).into())
}

fn answers(port: u16) -> Result<()> {
    TcpStream::connect(("127.0.0.1", port)).context("nobody answers").map(drop)
}

/// Enables what Debian enables: `NAME.load` and `NAME.conf` of modules, `NAME.conf` of others.
pub fn link(etc: &Path, what: &str, names: &[&str]) -> Result<()> {
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
    let config = etc.join("apache2.conf");
    let log = ground.path("var/log/apache2").join(log);
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let server = start(ground, "apache", &ground.path(""), port)?;
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

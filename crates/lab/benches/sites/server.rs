//! Configurations of nginx and Apache: those of Debian's packages with the site's own file enabled; nginx runs.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use weigh::rig::guard::Guarded;

use crate::ground::Ground;

/// The access log of nginx, below the root.
pub const LOG: &str = "var/log/nginx/access.log";
/// The modules that Debian enables, and those that PHP-FPM and rewriting need.
const MODULES: [&str; 22] = [
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
    "filter",
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

/// Starts nginx with the site's file enabled, and a log of its own; gives its configuration.
pub fn nginx(ground: &Ground, name: &str, site: &str, port: u16) -> Result<(Guarded, PathBuf)> {
    enable(&ground.path("etc/nginx/sites-enabled"), name, site)?;
    let log = ground.path(LOG);
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let config = ground.path("etc/nginx/nginx.conf");
    let mut command = vec!["nginx".into(), "-p".into(), ground.path("var/lib/nginx").into(), "-c".into()];
    command.extend([config.clone().into(), "-g".into(), "daemon off;".into()]);
    let ready = || TcpStream::connect(("127.0.0.1", port)).context("nobody answers").map(drop);
    Ok((ground.start("nginx", command, ready)?, config))
}

/// Writes Apache's configuration with the site's file enabled, and lets Apache read it; gives it.
pub fn apache(ground: &Ground, name: &str, site: &str, port: u16) -> Result<PathBuf> {
    let etc = ground.path("etc/apache2");
    fs::write(etc.join("ports.conf"), format!("Listen 127.0.0.1:{port}\n"))?;
    for module in MODULES {
        for kind in ["load", "conf"] {
            let file = format!("{module}.{kind}");
            let (from, to) = (format!("../mods-available/{file}"), etc.join("mods-enabled").join(&file));
            if etc.join("mods-available").join(&file).exists() && fs::symlink_metadata(&to).is_err() {
                symlink(from, to)?;
            }
        }
    }
    enable(&etc.join("sites-enabled"), &format!("{name}.conf"), site)?;
    let config = etc.join("apache2.conf");
    let mut check = Command::new("apache2");
    // What Debian's envvars set.
    let run = ground.text("run")?;
    for (variable, value) in [
        ("APACHE_RUN_USER", "www-data".to_owned()),
        ("APACHE_RUN_GROUP", "www-data".into()),
        ("APACHE_PID_FILE", format!("{run}/apache2.pid")),
        ("APACHE_RUN_DIR", run.clone()),
        ("APACHE_LOCK_DIR", run.clone()),
        ("APACHE_LOG_DIR", ground.text("var/log/apache2")?),
    ] {
        check.env(variable, value);
    }
    let said = check.arg("-t").arg("-d").arg(&etc).arg("-f").arg(&config).output();
    let said = said.context("apache2 cannot be started")?;
    ensure!(said.status.success(), "Apache refuses: {}", String::from_utf8_lossy(&said.stderr).trim());
    Ok(config)
}

//! MariaDB in a private folder, on a unix socket alone.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use anyhow::{Context, Result};
use weigh_os::guard::Guarded;

use crate::ground::Ground;

/// Starts it with an empty database of this name; gives its socket. Who can reach the socket may do everything.
pub fn start(ground: &Ground, name: &str) -> Result<(Guarded, PathBuf)> {
    let data = ground.path(&format!("var/lib/mysql-{name}"));
    fs::create_dir_all(&data)?;
    let first = ground.path(&format!("etc/mysql/{name}.sql"));
    fs::write(&first, format!("CREATE DATABASE {name};\n"))?;
    let socket = ground.socket(&format!("{name}.sock"));
    let mut command = ground.program("usr/sbin/mariadbd");
    let options = [
        "--no-defaults".to_owned(),
        "--skip-networking".into(),
        "--skip-grant-tables".into(),
        // As root it wants to be told that it is; everyone else is only told that it has no effect.
        "--user=root".into(),
        format!("--basedir={}", ground.text("usr")?),
        format!("--lc-messages-dir={}", ground.text("usr/share/mysql")?),
        format!("--datadir={}", data.display()),
        format!("--tmpdir={}", data.display()),
        format!("--socket={}", socket.display()),
        format!("--pid-file={}", data.join("pid").display()),
        format!("--init-file={}", first.display()),
    ];
    command.extend(options.map(Into::into));
    let ready = || UnixStream::connect(&socket).context("nobody answers").map(drop);
    let running = ground.start("mariadb", command, Vec::new(), ready)?;
    Ok((running, socket))
}

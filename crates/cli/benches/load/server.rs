//! The server under load: a private nginx with one worker on a core of its own, serving files of exact sizes.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::common::WEIGH;

/// The files: their names and lengths in bytes.
const FILES: [(&str, usize); 3] = [("1k", 1 << 10), ("16k", 16 << 10), ("500k", 500 << 10)];
/// It may take so long until it answers, and until it has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running nginx. It ends when this is dropped, and with this program, even when that is killed.
#[derive(Debug)]
pub struct Server {
    child: Child,
    plain: u16,
    tls: u16,
    folder: TempDir,
}

impl Server {
    /// Starts it on one processor and waits until it answers.
    ///
    /// # Errors
    /// nginx or openssl is missing, or nginx does not answer: with the last line of its log.
    pub fn start(cpu: usize) -> Result<Server> {
        let folder = tempfile::tempdir()?;
        let home = folder.path();
        for (name, length) in FILES {
            std::fs::write(home.join(name), text(length))?;
        }
        certificate(home)?;
        let (plain, tls) = free_ports()?;
        std::fs::write(home.join("nginx.conf"), configuration(home, plain, tls))?;
        // The launcher makes the kernel end nginx with this program.
        let mut command = Command::new(WEIGH);
        command.args(["agent", "--exec", &std::process::id().to_string(), "--"]);
        command.args(["taskset", "-c", &cpu.to_string(), "nginx", "-c"]).arg(home.join("nginx.conf"));
        command.arg("-p").arg(home).arg("-e").arg(home.join("error.log"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("weigh cannot be started")?;
        let mut server = Server { child, plain, tls, folder };
        server.wait()?;
        Ok(server)
    }

    /// The URL of a file; over TLS where that is asked for.
    pub fn url(&self, file: &str, tls: bool) -> String {
        let (scheme, port) = if tls { ("https", self.tls) } else { ("http", self.plain) };
        format!("{scheme}://127.0.0.1:{port}/{file}")
    }

    fn wait(&mut self) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.plain)).is_err() {
            let log = std::fs::read_to_string(self.folder.path().join("error.log")).unwrap_or_default();
            let last = log.trim().lines().last().unwrap_or("it says nothing").to_owned();
            ensure!(self.child.try_wait()?.is_none(), "nginx ended at its start: {last}");
            ensure!(begun.elapsed() < PATIENCE, "nginx does not answer: {last}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One process without children: nothing is left over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One process (no master, so that no worker can outlive it), no log, no compression, connections kept for ever. Head and body
/// leave in one segment (`tcp_nopush`), as in the configuration that distributions ship; else each response costs every client
/// an acknowledgement more, and the tools differ less.
fn configuration(home: &Path, plain: u16, tls: u16) -> String {
    let home = home.display();
    format!(
        "daemon off;
master_process off;
pid {home}/nginx.pid;
error_log {home}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    default_type text/html;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    gzip off;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    open_file_cache max=100 inactive=3600s;
    client_body_temp_path {home}/body;
    proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi;
    scgi_temp_path {home}/scgi;
    ssl_certificate {home}/certificate.pem;
    ssl_certificate_key {home}/key.pem;
    ssl_session_cache shared:all:10m;
    server {{
        listen 127.0.0.1:{plain} backlog=4096;
        listen 127.0.0.1:{tls} ssl http2 backlog=4096;
        root {home};
    }}
}}
"
    )
}

/// A certificate for this run alone: ECDSA, as most servers have today.
fn certificate(home: &Path) -> Result<()> {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
    openssl.args(["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]);
    openssl.arg("-keyout").arg(home.join("key.pem")).arg("-out").arg(home.join("certificate.pem"));
    let output = openssl.stdin(Stdio::null()).output().context("openssl cannot be started")?;
    ensure!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

/// Text that compresses, of exactly this many bytes.
fn text(length: usize) -> Vec<u8> {
    let lines = (0_u64..).flat_map(|n| {
        let price = n.wrapping_mul(7919) % 10_000;
        format!("<li class=\"item\">Article {n}: {}.{:02} EUR</li>\n", price / 100, price % 100).into_bytes()
    });
    lines.take(length).collect()
}

/// Two ports that nobody had; both are held until both are known.
fn free_ports() -> Result<(u16, u16)> {
    let hold = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let (one, other) = (hold()?, hold()?);
    Ok((one.local_addr()?.port(), other.local_addr()?.port()))
}

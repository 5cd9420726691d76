//! The access log of the sample site, in the combined format that nginx and Apache share: the newest days plain, the others rotated.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use flate2::{Compression, GzBuilder};

use super::traffic::Hit;
use super::write as save;
use crate::synthetic::text::Random;

/// The first day in November 2026: a Monday.
const MONDAY: u64 = 16;
/// The day of the week on which the log was rotated last.
const ROTATED: u64 = 4;

/// Writes both files. `broken` lines that are not requests are among the others.
pub(super) fn write(hits: &[Hit], broken: usize, seed: u64, folder: &Path) -> Result<()> {
    let mut random = Random::new(seed ^ 0x10c);
    let every = hits.len() / broken.max(1);
    let (mut older, mut newest) = (Vec::new(), Vec::new());
    for (at, hit) in hits.iter().enumerate() {
        let out = if hit.at < ROTATED * 86_400 { &mut older } else { &mut newest };
        let line = line(hit);
        if at % every == every / 2 && at / every < broken {
            out.extend(damaged(&mut random, at / every, &line));
            out.push(b'\n');
        }
        out.extend(line.into_bytes());
    }
    let mut rotated = GzBuilder::new().write(Vec::new(), Compression::new(6));
    rotated.write_all(&older)?;
    save(&folder.join("access.log.1.gz"), &rotated.finish()?)?;
    save(&folder.join("access.log"), &newest)
}

fn line(hit: &Hit) -> String {
    let (day, second) = (MONDAY + hit.at / 86_400, hit.at % 86_400);
    let mut line = address(hit.client);
    let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    let Hit { method, path, status, bytes, agent, .. } = hit;
    let referrer =
        if hit.referrer.is_empty() { "-".into() } else { format!("https://www.example{}", hit.referrer) };
    // A String takes everything.
    let _ = writeln!(
        line,
        " - - [{day:02}/Nov/2026:{clock} +0000] \"{method} {path} HTTP/1.1\" {status} {bytes} \"{referrer}\" \"{agent}\""
    );
    line
}

/// A client's address: of those that are kept for benchmarks and for documents, so that nobody has it.
fn address(client: u64) -> String {
    match client % 5 {
        0 => format!("2001:db8:{:x}::{:x}", client / 5 % 500, client % 4096),
        _ => format!("198.{}.{}.{}", 18 + client % 2, client / 2 % 256, client / 512 % 256),
    }
}

/// A line that is not a request: cut off, zeros of a crash, an error of the server's, bytes of something else.
fn damaged(random: &mut Random, at: usize, line: &str) -> Vec<u8> {
    match at % 4 {
        0 => line.split(" +").next().unwrap_or_default().into(),
        1 => vec![0; 64],
        2 => b"2026/11/18 04:12:09 [error] 712#712: *9 open() \"/favicon.ico\" failed (2: No such file)"
            .to_vec(),
        _ => random.noise(40).into_iter().map(|byte| byte | 0x80).collect(),
    }
}

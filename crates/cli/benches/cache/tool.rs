//! The other side: redis-benchmark, with the CPU time of its process.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};

use super::study::Figures;

/// Runs one test of redis-benchmark: `get` or `set`, one request at a time on each connection.
pub fn run(socket: &Path, test: &str, bytes: u64, clients: u32, transactions: u64) -> Result<Figures> {
    let requests = transactions * u64::from(clients);
    let mut tool = Command::new("redis-benchmark");
    tool.arg("-s").arg(socket).args(["--csv", "-t", test]);
    tool.args(["-d", &bytes.to_string(), "-c", &clients.to_string(), "-n", &requests.to_string()]);
    let before = children()?;
    let ended = tool.stderr(Stdio::null()).output().context("redis-benchmark cannot be started")?;
    let after = children()?;
    ensure!(ended.status.success(), "redis-benchmark ended with {}", ended.status);
    let text = String::from_utf8_lossy(&ended.stdout);
    let row = text.lines().last().context("redis-benchmark said nothing")?;
    let rate = row.split(',').nth(1).and_then(|field| field.trim_matches('"').parse().ok());
    Ok(Figures {
        rate: rate.with_context(|| format!("redis-benchmark said `{row}`"))?,
        transactions: requests as f64,
        client_user: (after.0 - before.0) / requests as f64,
        client_system: (after.1 - before.1) / requests as f64,
        ..Figures::default()
    })
}

/// CPU nanoseconds of all children that have ended, user and system.
fn children() -> Result<(f64, f64)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let ns = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e9 + time.tv_usec() as f64 * 1e3;
    Ok((ns(usage.user_time()), ns(usage.system_time())))
}

/// Whether a program is there.
pub fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Both sides as a table on stderr: medians over rounds, and the ratio of what all processes together cost.
pub fn show(label: &str, ours: &[Figures], theirs: &[Figures]) {
    let median = |all: &[Figures], of: fn(&Figures) -> f64| {
        weigh_stats::median(&all.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    eprintln!(
        "{label}: transactions per second; CPU µs a transaction: client user + kernel, store user + kernel"
    );
    for (name, all) in [("weigh, phpredis", ours), ("redis-benchmark", theirs)] {
        eprintln!(
            "  {name:<16} {:>8.0}   {:>5.2} + {:>5.2}   {:>5.2} + {:>5.2}",
            median(all, |f| f.rate),
            median(all, |f| f.client_user) / 1e3,
            median(all, |f| f.client_system) / 1e3,
            median(all, |f| f.server_user) / 1e3,
            median(all, |f| f.server_system) / 1e3,
        );
    }
    let rates: Vec<f64> = ours.iter().zip(theirs).map(|(own, other)| own.rate / other.rate).collect();
    let ratio = weigh_stats::median(&rates).unwrap_or(f64::NAN);
    println!("{label}, combined transactions per second, weigh ÷ redis-benchmark: {ratio:.3}");
}

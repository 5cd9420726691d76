//! Our side: one block of a study through the real program.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use weigh_model::record::{ClientVisit, Record};
use weigh_run::dir::StoredRun;

use super::common::WEIGH;

/// Transactions whose times are looked at.
pub const TRANSACTIONS: usize = 1000;
/// One worker that reads.
pub const ALONE: &str = "mixes = [\"reads\"]\nworkers = [1]\n";

/// A block of transactions.
pub struct Block<'a> {
    /// What is stored, as a study names it.
    pub value: &'a str,
    /// Which mix.
    pub mix: &'a str,
    /// How many workers.
    pub workers: u32,
    /// Transactions of each.
    pub transactions: u64,
}

/// What one side came to; times in CPU nanoseconds a transaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Transactions per second of all clients.
    pub rate: f64,
    /// Transactions in all.
    pub transactions: f64,
    /// The clients' in user space.
    pub client_user: f64,
    /// The clients' in the kernel.
    pub client_system: f64,
    /// The store's in user space.
    pub server_user: f64,
    /// The store's in the kernel.
    pub server_system: f64,
    /// The part of the clients' that is their own loop.
    pub own: f64,
}

impl Figures {
    /// The clients'.
    pub fn client(&self) -> f64 {
        self.client_user + self.client_system
    }
}

/// Runs one block against a store's socket.
pub fn run(room: &Path, block: &Block<'_>, socket: &Path) -> Result<Figures> {
    let extra = format!("mixes = [\"{}\"]\nworkers = [{}]\n", block.mix, block.workers);
    let text = study("redis", block.value, block.transactions, "phpredis", &extra);
    let visit = visit(room, &text, &["--store", &format!("redis://{}", socket.display())], None)?;
    let of = |ns: u64| ns as f64 / visit.transactions() as f64;
    Ok(Figures {
        rate: visit.tps_combined().context("no time passed")?,
        transactions: visit.transactions() as f64,
        client_user: of(visit.client_user_ns),
        client_system: of(visit.client_system_ns),
        own: visit.own_ns,
        ..Figures::default()
    })
}

/// A study of one cell and one round.
pub fn study(store: &str, value: &str, transactions: u64, driver: &str, extra: &str) -> String {
    format!(
        "schema = 1\nname = \"bench\"\ntitle = \"Bench\"\nquestion = \"Is it what it was?\"\nreading = \"\"\n[budget]\nseconds = 3600\n\
         [precision]\nmax_rounds = 1\nmin_samples = 1\n[[clients]]\nstores = [\"{store}\"]\ndrivers = [\"{driver}\"]\nruntimes = [\"php\"]\n\
         values = [\"{value}\"]\ntransactions = {transactions}\n{extra}"
    )
}

/// The only visit of a study that is run with these arguments, and with more definitions.
pub fn visit(room: &Path, study: &str, with: &[&str], defs: Option<&Path>) -> Result<ClientVisit> {
    let (file, out) = (room.join("bench.toml"), room.join("run"));
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    std::fs::write(&file, study)?;
    let mut weigh = Command::new(WEIGH);
    if let Some(defs) = defs {
        weigh.arg("--defs").arg(defs);
    }
    weigh.args(["run", "--exhaustive", "--php", "php"]).args(with).arg("--out").arg(&out).arg(&file);
    let ended = weigh.stdout(Stdio::null()).output()?;
    let words = String::from_utf8_lossy(&ended.stderr);
    let last = words.lines().last().unwrap_or("-");
    ensure!(ended.status.success(), "weigh run ended with {}: {last}", ended.status);
    let stored = StoredRun::read(&out)?;
    let visit = stored.records.iter().find_map(|record| match record {
        Record::Visit(visit) => visit.client.clone(),
        _ => None,
    });
    visit.map(|visit| *visit).context("the run has no visit")
}

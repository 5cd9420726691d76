//! `weigh lab corpus`: real content pinned by digest; listed with its licences, fetched, and made into a sample site.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Subcommand;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::exit::{Exit, OrRefuse};
use crate::terminal;
use weigh_answer::table::{Grid, Kind};
use weigh_content::sample_site::{self, SampleSite};
use weigh_content::{FetchOptions, FetchOutcome, Presence, Progress, State};
use weigh_model::text::clean;
use weigh_model::units;
use weigh_run::lab::Lab;

/// Flags of `weigh lab corpus`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  weigh lab corpus list\n  weigh lab corpus fetch")]
pub struct Args {
    #[command(subcommand)]
    what: CorpusVerb,
}

#[derive(Debug, Subcommand)]
enum CorpusVerb {
    /// List everything in the corpus, with licences, and whether it is in the cache
    #[command(after_help = "Examples:\n  weigh lab corpus list\n  weigh lab corpus list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch what is missing through npm, pip and apt, and verify it; a second call needs no network
    #[command(
        after_help = "Examples:\n  weigh lab corpus fetch                            everything\n  weigh lab corpus fetch corpus:jquery-3.7.1.min    one content"
    )]
    Fetch {
        /// Only these, such as corpus:jquery-3.7.1.min
        #[arg(value_name = "ID")]
        ids: Vec<String>,
    },
    /// Make a sample site from the corpus: files, pages, cached values, a week of access logs, configurations of nginx, Apache, lighttpd and Caddy
    #[command(
        after_help = "Examples:\n  weigh lab corpus site sample\n  weigh lab corpus site sample --seed 2"
    )]
    Site {
        /// Its folder: a new or an empty one
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Seed of the access log's visitors
        #[arg(long, value_name = "N", default_value_t = sample_site::SEED)]
        seed: u64,
    },
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    match &args.what {
        CorpusVerb::List { json } => list(&lab, *json),
        CorpusVerb::Fetch { ids } => fetch(&lab, ids),
        CorpusVerb::Site { dir, seed } => site(&lab, dir, *seed),
    }
}

/// The version of the JSON this verb writes.
const SCHEMA: u32 = 1;

/// What `weigh lab corpus list --json` writes.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Listing {
    /// The version of this form.
    schema: u32,
    /// The cache's folder.
    cache: String,
    /// Every content.
    contents: Vec<Row>,
}

/// One content.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Row {
    /// What studies name it by.
    id: String,
    /// What kind of content it is.
    kind: String,
    /// Its length, where it is pinned or in the cache.
    bytes: Option<u64>,
    /// Its licence, an SPDX identifier.
    licence: String,
    /// Where a package registry has it, or what it is made from.
    source: String,
    /// The sets it is in.
    sets: Vec<String>,
    /// It is in the cache.
    cached: bool,
    /// Set when what is in the cache is real but not the pinned bytes: why.
    unpinned: Option<String>,
}

fn list(lab: &Lab, json: bool) -> Result<ExitCode> {
    let rows: Vec<Row> =
        lab.library.status()?.into_iter().map(|(entry, presence)| row(entry, presence)).collect();
    if json {
        let cache = lab.library.folder().display().to_string();
        terminal::print_json(&Listing { schema: SCHEMA, cache, contents: rows })?;
        return Ok(Exit::Fine.into());
    }
    let mut table = Grid::list(&["content", "kind", "bytes", "licence", "sets", "in the cache"]);
    table.columns[2].kind = Kind::Whole;
    for row in rows {
        let cached = match (row.cached, row.unpinned) {
            (_, Some(_)) => "unpinned",
            (true, None) => "yes",
            (false, None) => "no",
        };
        let bytes = row.bytes.map_or("?".into(), units::bytes);
        table.line(&[&row.id, &row.kind, &bytes, &row.licence, &row.sets.join(" "), cached]);
    }
    let table = terminal::lines(&table);
    terminal::print(&format!("{table}\ncache: {}\n", lab.library.folder().display()))?;
    Ok(Exit::Fine.into())
}

fn row(entry: weigh_content::Entry, presence: Presence) -> Row {
    let unpinned = match &presence {
        Presence::Unpinned(why) => Some(why.clone()),
        Presence::There | Presence::Absent => None,
    };
    Row {
        id: entry.id,
        kind: entry.kind,
        bytes: entry.bytes,
        licence: entry.licence,
        source: entry.source,
        sets: entry.sets,
        cached: presence != Presence::Absent,
        unpinned,
    }
}

fn fetch(lab: &Lab, ids: &[String]) -> Result<ExitCode> {
    lab.keeps().or_usage_error()?;
    ids.iter().try_for_each(|id| lab.library.check(id)).or_usage_error()?;
    // Only what is to be made from PHP needs one; the first on PATH makes the same bytes as any other.
    let php = weigh_rig::runtime::on_path(&std::env::var_os("PATH").unwrap_or_default()).into_iter().next();
    let options = FetchOptions { php, ..FetchOptions::default() };
    let bar = terminal::bytes_bar();
    let outcomes = lab.library.fetch(ids, &options, &mut |event| show(&bar, event))?;
    bar.finish_and_clear();
    summary(lab, &outcomes)
}

fn show(bar: &ProgressBar, event: Progress) {
    let line = event.to_string();
    match event {
        Progress::Need { bytes, .. } => bar.set_length(bytes),
        Progress::Arrived { bytes, .. } => bar.inc(bytes),
        Progress::Waiting | Progress::Started { .. } | Progress::Failed { .. } | Progress::Making { .. } => {}
    }
    terminal::say_on(bar, &line);
}

fn summary(lab: &Lab, outcomes: &[FetchOutcome]) -> Result<ExitCode> {
    let count = |wanted: fn(&State) -> bool| outcomes.iter().filter(|o| wanted(&o.state)).count();
    let ready = count(|s| matches!(s, State::Ready));
    let fetched = count(|s| matches!(s, State::Fetched));
    let unpinned = count(|s| matches!(s, State::Unpinned { .. }));
    let mut text = format!("corpus: {fetched} fetched, {ready} already in the cache");
    if unpinned > 0 {
        text.push_str(&format!(", {unpinned} with other bytes than pinned"));
    }
    terminal::print(&format!("{text}, in {}\n", lab.library.folder().display()))?;
    let mut failed = 0;
    for outcome in outcomes {
        if let State::Failed { why, remedy } = &outcome.state {
            failed += 1;
            let remedy = remedy.as_ref().map_or(String::new(), |r| format!("; {r}"));
            terminal::note(&format!("{}: {why}{remedy}", outcome.id));
        }
    }
    if failed == outcomes.len() && failed > 0 {
        bail!("nothing of the corpus could be fetched; studies will use synthetic content, labelled so");
    }
    Ok(Exit::of_failures(failed).into())
}

fn site(lab: &Lab, dir: &Path, seed: u64) -> Result<ExitCode> {
    let SampleSite { root, files, bytes, values, broken, stand_ins } =
        sample_site::make(&lab.library, dir, seed).or_usage_error()?;
    if !stand_ins.is_empty() {
        let count = units::count(stand_ins.len(), "content is", "contents are");
        terminal::note(&format!(
            "{count} synthetic, because the cache lacks the real ones: weigh lab corpus fetch"
        ));
    }
    let lines = sample_site::LINES;
    let at = |path: &str| shell_words::quote(&root.join(path).display().to_string()).into_owned();
    let text = format!(
        "Sample site in {}: {files} files ({}), {values} cached values, {lines} log lines ({broken} of them broken).\n\
         Next: weigh site --docroot {} --server-config {} --render --values {} --log {} {}\n",
        clean(&root.display().to_string()),
        units::bytes(bytes),
        at("public"),
        at("nginx.conf"),
        at("values"),
        at("log/access.log"),
        at("log/access.log.1.gz"),
    );
    terminal::print(&text)?;
    Ok(Exit::Fine.into())
}

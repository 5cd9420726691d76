//! `weigh check`: what can be measured here, what is missing, and the one command that installs it.

mod fix;
mod servers;
mod stores;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use self::servers::ServerFindings;
use self::stores::StoreFindings;
use crate::exit::{Exit, OrRefuse};
use crate::terminal;
use weigh_answer::table::Grid;
use weigh_content::Presence;
use weigh_model::inventory::{Inventory, RuntimeEntry};
use weigh_model::protocol::{CodecDescription, SerializerDescription};
use weigh_model::text::clean_path;
use weigh_os::command::hung;
use weigh_os::machine::Machine;
use weigh_rig::fpm::{self, FoundFpm};
use weigh_rig::runtime::PhpRuntime;
use weigh_run::lab::Lab;
use weigh_run::subject::client::look;

/// Flags of `weigh check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A PHP to look at (repeatable): a binary, or a fetched runtime's name; without one, those on PATH and those fetched
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// Install the packages that are missing, with apt, as root; shows the command and asks first, and starts no service
    #[arg(long)]
    fix: bool,
    /// Install without asking
    #[arg(long, requires = "fix")]
    yes: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  weigh check
  weigh check --php /opt/php84/bin/php      one PHP alone
  weigh check --fix                   install what is missing, after asking";

/// The version of the JSON this verb writes.
const SCHEMA: u32 = 1;

/// What `weigh check --json` writes.
#[derive(Debug, Serialize, schemars::JsonSchema)]

pub struct Findings {
    /// The version of this form.
    schema: u32,
    /// The program's version.
    weigh: String,
    /// The machine.
    machine: Machine,
    /// Whether the program runs with all privileges.
    root: bool,
    /// What can be measured, runtime by runtime.
    runtimes: Vec<RuntimeFindings>,
    /// PHP binaries that cannot be used.
    refused: Vec<Refused>,
    /// Every web server that is defined, there or not, with its ways.
    servers: Vec<ServerFindings>,
    /// PHP-FPM binaries.
    fpm: Vec<FoundFpm>,
    /// Every store that is defined, there or not, with the drivers of each PHP.
    stores: Vec<StoreFindings>,
    /// The corpus.
    corpus: Corpus,
    /// What is missing.
    missing: Vec<Missing>,
    /// One command that installs all of it, as far as a command can.
    mend: Option<String>,
}

/// A runtime and what it can measure.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct RuntimeFindings {
    /// `native`, `php8.2`, …
    name: String,
    /// The PHP binary; null for native.
    binary: Option<PathBuf>,
    /// The version as queried.
    version: String,
    /// Its PHP-FPM; null for native, and where there is none of its version beside it.
    fpm: Option<PathBuf>,
    /// Settings that change results, by name.
    facts: BTreeMap<String, String>,
    /// Every codec, available or not.
    codecs: Vec<CodecDescription>,
    /// Every serializer, available or not.
    serializers: Vec<SerializerDescription>,
}

impl RuntimeFindings {
    fn of(entry: &RuntimeEntry) -> RuntimeFindings {
        let php = entry.plan.binary.as_ref().and_then(|binary| PhpRuntime::of(binary).ok());
        RuntimeFindings {
            name: entry.plan.name.clone(),
            binary: entry.plan.binary.clone(),
            version: entry.plan.version.clone(),
            fpm: php.and_then(|php| php.fpm_binary()),
            facts: entry.plan.facts.clone(),
            codecs: entry.codecs.clone(),
            serializers: entry.serializers.clone(),
        }
    }

    fn lacks_fpm(&self) -> Option<Missing> {
        let php = PhpRuntime::of(self.binary.as_ref()?).ok().filter(|php| php.fpm.is_none())?;
        let reason = format!("no PHP-FPM of version {} beside it", php.version);
        Some(Missing::new(&self.name, "PHP-FPM", &reason, Some(&php.fpm_remedy())))
    }
}

/// A PHP binary that cannot be used.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Refused {
    /// The binary.
    binary: PathBuf,
    /// Why.
    reason: String,
}

/// How much of the corpus is here.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Corpus {
    /// Contents in the cache.
    cached: usize,
    /// All there are.
    all: usize,
}

/// Something that cannot be measured here.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
struct Missing {
    /// The runtime or server.
    runtime: String,
    /// The codec, serializer, way or thing.
    what: String,
    /// Why.
    reason: String,
    /// What would fix it.
    remedy: Option<String>,
}

impl Missing {
    fn new(runtime: &str, what: &str, reason: &str, remedy: Option<&str>) -> Missing {
        let remedy = remedy.map(str::to_owned);
        Missing { runtime: runtime.to_owned(), what: what.to_owned(), reason: reason.to_owned(), remedy }
    }
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let mut findings = findings(args, defs)?;
    if args.fix && fix::install(&packages(&findings.missing), args.yes)? {
        findings = self::findings(args, defs)?;
    }
    terminal::show(args.json, &findings, || text(&findings))?;
    Ok(Exit::Fine.into())
}

fn findings(args: &Args, defs: Option<&Path>) -> Result<Findings> {
    let lab = Lab::open(defs).or_usage_error()?;
    let mut inventory =
        if args.php.is_empty() { lab.everything()? } else { lab.inventory(&args.php).or_usage_error()? };
    look::stores(&lab, &mut inventory, &[]).or_usage_error()?;
    collect_findings(&lab, inventory).or_usage_error()
}

fn collect_findings(lab: &Lab, inventory: Inventory) -> Result<Findings> {
    let runtimes: Vec<RuntimeFindings> = inventory.runtimes.iter().map(RuntimeFindings::of).collect();
    let mut missing = missing_things(&inventory);
    missing.extend(runtimes.iter().filter_map(RuntimeFindings::lacks_fpm));
    let corpus = corpus(lab)?;
    let (servers, fpm) =
        (servers::find_servers(&lab.definitions)?, fpm::find(&std::env::var_os("PATH").unwrap_or_default()));
    let stores = stores::find_stores(&inventory);
    missing.extend(servers::missing(&servers, &fpm, inventory.runtimes.len() > 1));
    missing.extend(stores::missing(&stores));
    if inventory.runtimes.len() == 1 {
        missing.push(Missing::new("php", "PHP", "no PHP binary on PATH", Some("apt install php-cli")));
    }
    let mut mend = mend(&missing);
    if corpus.cached < corpus.all {
        let what = format!("{} of {} files", corpus.all - corpus.cached, corpus.all);
        missing.push(Missing::new("corpus", &what, "not fetched yet", Some("weigh lab corpus fetch")));
        mend =
            Some(mend.map_or("weigh lab corpus fetch".into(), |m| format!("{m} && weigh lab corpus fetch")));
    }
    let mut refused = inventory.refused;
    // Some programs have no row of their own.
    let is_told = |program: &Path| missing.iter().any(|row| row.reason.starts_with(&clean_path(program)));
    refused.extend(hung().into_iter().filter(|(program, _)| !is_told(program)));
    let refused = refused.into_iter().map(|(binary, reason)| Refused { binary, reason }).collect();
    Ok(Findings {
        schema: SCHEMA,
        weigh: env!("CARGO_PKG_VERSION").into(),
        machine: Machine::query(),
        root: rustix::process::geteuid().is_root(),
        runtimes,
        refused,
        servers,
        fpm,
        stores,
        corpus,
        missing,
        mend,
    })
}

fn corpus(lab: &Lab) -> Result<Corpus> {
    let status = lab.library.status()?;
    let cached = status.iter().filter(|(_, presence)| *presence != Presence::Absent).count();
    Ok(Corpus { cached, all: status.len() })
}

fn missing_things(inventory: &Inventory) -> Vec<Missing> {
    let of = |r: &RuntimeEntry, what: &str, missing: &Option<String>, remedy: &Option<String>| {
        Some(Missing::new(&r.plan.name, what, missing.as_ref()?, remedy.as_deref()))
    };
    let mut found = Vec::new();
    for r in &inventory.runtimes {
        found.extend(r.codecs.iter().filter_map(|c| of(r, &c.name, &c.missing, &c.remedy)));
        found.extend(r.serializers.iter().filter_map(|s| of(r, &s.name, &s.missing, &s.remedy)));
    }
    found
}

/// Every package that a remedy names, without repetition.
fn packages(missing: &[Missing]) -> Vec<&str> {
    let remedies = missing.iter().filter_map(|m| m.remedy.as_deref());
    let packages: BTreeSet<&str> = remedies
        .filter_map(|r| r.strip_prefix("apt install "))
        .flat_map(|r| r.split(&[' ', ';', ',', '('][..]).next())
        .filter(|p| !p.is_empty())
        .collect();
    packages.into_iter().collect()
}

/// One `apt install` of all of them.
fn mend(missing: &[Missing]) -> Option<String> {
    let list = packages(missing);
    let sudo = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
    (!list.is_empty()).then(|| format!("{sudo}apt install {}", list.join(" ")))
}

fn text(f: &Findings) -> String {
    let mut out = format!("{} {}\n", bold("weigh"), f.weigh);
    let root = if f.root { ", root" } else { "" };
    out.push_str(&format!("{} {}{root}\n", bold("machine"), f.machine.line()));
    out.push_str(&format!("{} {}\n", bold("CPU time"), f.machine.accounting_line()));
    let Corpus { cached, all } = f.corpus;
    out.push_str(&format!("{} {cached} of {all} files in the cache\n", bold("corpus")));
    f.runtimes.iter().for_each(|r| out.push_str(&runtime(r)));
    out.push_str(&servers::text(&f.servers, &f.fpm));
    out.push_str(&stores::text(&f.stores));
    for Refused { binary, reason } in &f.refused {
        out.push_str(&format!("\n{} cannot be used: {reason}\n", clean_path(binary)));
    }
    if !f.missing.is_empty() {
        out.push_str(&format!("\n{}\n", bold("missing")));
    }
    for m in &f.missing {
        let remedy = m.remedy.as_ref().map_or(String::new(), |r| format!("  → {r}"));
        out.push_str(&format!("  {}: {}: {}{remedy}\n", m.runtime, m.what, m.reason));
    }
    if let Some(mend) = &f.mend {
        out.push_str(&format!("\ninstall it: {}\n", bold(mend)));
        if !packages(&f.missing).is_empty() {
            out.push_str("or type: weigh check --fix, which installs the packages and starts no service\n");
        }
    }
    if f.machine.governor.as_deref().is_some_and(|g| g != "performance") {
        out.push_str(
            "\nnote: the processor may change its clock rate; `cpupower frequency-set -g performance` fixes it\n",
        );
    }
    out
}

fn bold(text: &str) -> String {
    console::style(text).bold().force_styling(terminal::colours()).to_string()
}

/// A runtime with everything that it can measure.
fn runtime(r: &RuntimeFindings) -> String {
    let place = r.binary.as_ref().map_or(String::new(), |b| format!("  {}", clean_path(b)));
    let mut table = Grid::list(&["", ""]);
    if let Some(fpm) = &r.fpm {
        table.line(&["  PHP-FPM", &clean_path(fpm)]);
    }
    let codecs = r.codecs.iter().filter(|c| c.missing.is_none()).map(codec_row);
    let serializers = r.serializers.iter().filter(|s| s.missing.is_none());
    let serializers = serializers.map(|s| (s.name.clone(), s.library.clone().unwrap_or_default()));
    for (name, about) in codecs.chain(serializers) {
        table.line(&[&format!("  {name}"), &about]);
    }
    format!("\n{} {}{place}\n{}", bold(&r.name), r.version, terminal::lines(&table))
}

fn codec_row(c: &CodecDescription) -> (String, String) {
    let levels = c.levels.as_ref().map_or(String::new(), |l| format!("  levels {} to {}", l.min, l.max));
    let library = c.library.as_deref().unwrap_or("");
    (c.name.clone(), format!("{library} ({}){levels}", c.binding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_mends_every_package_once() {
        let lacks = |remedy| Missing::new("php8.2", "x", "y", Some(remedy));
        let missing = [
            lacks("apt install php-zstd"),
            lacks("apt install libdeflate0"),
            lacks("apt install php-zstd"),
            lacks("use a newer PHP"),
        ];
        let command = mend(&missing).unwrap();
        assert!(command.ends_with("apt install libdeflate0 php-zstd"), "{command}");
        assert_eq!(mend(&missing[3..]), None);
    }
}

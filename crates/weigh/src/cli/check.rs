//! `weigh check`: what can be measured here, what is missing, and the one command that mends it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::cli::terminal;
use crate::content::Presence;
use crate::inventory::{Inventory, RuntimeEntry};
use crate::lab::Lab;
use crate::protocol::{CodecDescription, SerializerDescription};
use crate::rig::machine::Machine;

/// Flags of `weigh check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A PHP binary to look at (repeatable); without one, those on PATH
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

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
    /// PHP binaries that cannot be used: the binary and why.
    refused: Vec<(PathBuf, String)>,
    /// Corpus files in the cache, and all there are.
    corpus: (usize, usize),
    /// What is missing.
    missing: Vec<Missing>,
    /// One command that mends all of it, as far as a command can.
    mend: Option<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct RuntimeFindings {
    name: String,
    binary: Option<PathBuf>,
    version: String,
    facts: std::collections::BTreeMap<String, String>,
    codecs: Vec<CodecDescription>,
    serializers: Vec<SerializerDescription>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
struct Missing {
    /// The runtime.
    runtime: String,
    /// The codec, serializer or thing.
    what: String,
    /// Why.
    reason: String,
    /// What would mend it.
    remedy: Option<String>,
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs)?;
    let inventory = lab.inventory(&args.php)?;
    let findings = look(&lab, inventory)?;
    if args.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&findings)?))?;
    } else {
        terminal::print(&text(&findings))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn look(lab: &Lab, inventory: Inventory) -> Result<Findings> {
    let mut missing = missing_things(&inventory);
    let (cached, all) = cached(lab)?;
    if inventory.runtimes.len() == 1 {
        missing.push(Missing {
            runtime: "php".into(),
            what: "PHP".into(),
            reason: "no PHP binary on PATH".into(),
            remedy: Some("apt install php-cli".into()),
        });
    }
    let mut mend = mend(&missing);
    if cached < all {
        missing.push(Missing {
            runtime: "corpus".into(),
            what: format!("{} of {all} files", all - cached),
            reason: "not fetched yet".into(),
            remedy: Some("weigh corpus fetch".into()),
        });
        mend = Some(mend.map_or("weigh corpus fetch".into(), |m| format!("{m} && weigh corpus fetch")));
    }
    let runtimes = inventory.runtimes.into_iter().map(|r| RuntimeFindings {
        name: r.name,
        binary: r.binary,
        version: r.description.version,
        facts: r.description.facts,
        codecs: r.description.codecs,
        serializers: r.description.serializers,
    });
    Ok(Findings {
        schema: SCHEMA,
        weigh: env!("CARGO_PKG_VERSION").into(),
        machine: Machine::query(),
        root: rustix::process::geteuid().is_root(),
        runtimes: runtimes.collect(),
        refused: inventory.refused,
        corpus: (cached, all),
        missing,
        mend,
    })
}

/// Corpus files in the cache, and all there are.
fn cached(lab: &Lab) -> Result<(usize, usize)> {
    let status = lab.library.status()?;
    Ok((status.iter().filter(|(_, presence)| *presence != Presence::Absent).count(), status.len()))
}

fn missing_things(inventory: &Inventory) -> Vec<Missing> {
    let of = |r: &RuntimeEntry, what: &str, missing: &Option<String>, remedy: &Option<String>| {
        missing.as_ref().map(|reason| Missing {
            runtime: r.name.clone(),
            what: what.to_owned(),
            reason: reason.clone(),
            remedy: remedy.clone(),
        })
    };
    let mut found = Vec::new();
    for r in &inventory.runtimes {
        found.extend(r.description.codecs.iter().filter_map(|c| of(r, &c.name, &c.missing, &c.remedy)));
        found.extend(r.description.serializers.iter().filter_map(|s| of(r, &s.name, &s.missing, &s.remedy)));
    }
    found
}

/// One `apt install` of every package that a remedy names, without repetition.
fn mend(missing: &[Missing]) -> Option<String> {
    let remedies = missing.iter().filter_map(|m| m.remedy.as_deref());
    let packages: BTreeSet<&str> = remedies
        .filter_map(|r| r.strip_prefix("apt install "))
        .flat_map(|r| r.split(&[' ', ';', ',', '('][..]).next())
        .filter(|p| !p.is_empty())
        .collect();
    let list: Vec<&str> = packages.into_iter().collect();
    let sudo = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
    (!list.is_empty()).then(|| format!("{sudo}apt install {}", list.join(" ")))
}

fn text(f: &Findings) -> String {
    let style = |s: &str| console::style(s.to_owned()).bold().force_styling(terminal::colours()).to_string();
    let mut out = format!("{} {}\n", style("weigh"), f.weigh);
    out.push_str(&format!(
        "{} {}{}\n",
        style("machine"),
        f.machine.line(),
        if f.root { ", root" } else { "" }
    ));
    out.push_str(&format!("{} {} of {} files in the cache\n", style("corpus"), f.corpus.0, f.corpus.1));
    for r in &f.runtimes {
        let place = r.binary.as_ref().map_or(String::new(), |b| format!("  {}", b.display()));
        out.push_str(&format!("\n{} {}{place}\n", style(&r.name), r.version));
        let there = r.codecs.iter().filter(|c| c.missing.is_none());
        let mut rows: Vec<(String, String)> = there.map(codec_row).collect();
        let serializers = r.serializers.iter().filter(|s| s.missing.is_none());
        rows.extend(serializers.map(|s| (s.name.clone(), s.library.clone().unwrap_or_default())));
        let wide = rows.iter().map(|(n, _)| n.len()).max().unwrap_or(0);
        for (name, about) in rows {
            out.push_str(&format!("  {name:<wide$}  {about}\n"));
        }
    }
    for (binary, why) in &f.refused {
        out.push_str(&format!("\n{} cannot be used: {why}\n", binary.display()));
    }
    if !f.missing.is_empty() {
        out.push_str(&format!("\n{}\n", style("missing")));
    }
    for m in &f.missing {
        let remedy = m.remedy.as_ref().map_or(String::new(), |r| format!("  → {r}"));
        out.push_str(&format!("  {}: {}: {}{remedy}\n", m.runtime, m.what, m.reason));
    }
    if let Some(mend) = &f.mend {
        out.push_str(&format!("\nmend it: {}\n", style(mend)));
    }
    if f.machine.governor.as_deref().is_some_and(|g| g != "performance") {
        out.push_str(
            "\nnote: the processor's clock may move; `cpupower frequency-set -g performance` holds it\n",
        );
    }
    out
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
        let lacks = |remedy: &str| Missing {
            runtime: "php8.2".into(),
            what: "x".into(),
            reason: "y".into(),
            remedy: Some(remedy.into()),
        };
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

//! `weigh prove`: a policy beside what the site does today, measured in the same rounds.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::advise::proofs;
use crate::cli::advise::{POLICY, measured, server_of};
use crate::cli::exit::{self, Exit, OrRefuse};
use crate::cli::live::Preparing;
use crate::cli::{quantity, report, terminal};
use crate::lab::{Lab, Progress};
use crate::site;
use weigh_answer::format::Detail;
use weigh_answer::policy::{Measured, proof_document, prove};
use weigh_model::policy::{Policy, SCHEMA};
use weigh_model::suggest::readable;
use weigh_model::text::clean_path;

/// Flags of `weigh prove`.
#[derive(Debug, clap::Args)]
#[command(after_help = exit::help(EXAMPLES))]
pub struct Args {
    /// The policy
    #[arg(value_name = "POLICY", default_value = "advice/policy.toml")]
    policy: PathBuf,
    /// The site's file that the policy was made for
    #[arg(long, value_name = "FILE", default_value = "site.toml")]
    site: PathBuf,
    /// The longest time to measure, such as 60s or 3m
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = quantity::time)]
    budget: f64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
    /// The proof as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  weigh prove                                   the policy in advice/policy.toml, for site.toml
  weigh prove advice/policy.toml --budget 10m   narrower intervals";

/// The longest policy in bytes.
const LONGEST: u64 = 4 << 20;

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_refuse()?;
    let policy = policy(&args.policy).or_refuse()?;
    let opened = site::open(&args.site).or_refuse()?;
    let mut progress = Preparing::new();
    opened.notes.iter().for_each(|note| progress.note(note));
    let site = opened.site;
    if opened.sha256 != policy.site_sha256 {
        progress.note(&format!(
            "{} has changed since the policy was made; make a new one: weigh advise",
            clean_path(&args.site)
        ));
    }
    drop(progress);
    let server = server_of(&lab, &site).or_refuse()?;
    let folder = site::folder_of(&args.site);
    let studies = proofs(&site, &folder, &policy, server.as_ref(), args.budget).or_refuse()?;
    let written = studies.iter().map(|(_, written)| written);
    let Some(reports) = measured(&lab, &site, Some(&policy), written, args.seed)? else {
        return Ok(Exit::Internal.into());
    };
    let (mut responses, mut values) = (Vec::new(), Vec::new());
    for ((client, _), report) in studies.iter().zip(reports) {
        match (client, report) {
            (Some(client), Some(report)) => responses.push(Measured { accept: client.clone(), report }),
            (None, Some(report)) => values.push(report),
            (_, None) => {}
        }
    }
    let links = lab.visitors_links(&site).or_refuse()?;
    let proof = prove(&policy, &site, &links, &responses, &values);
    if args.json {
        terminal::print_json(&proof)?;
    } else {
        let options = report::options(Detail::Full, None);
        terminal::print(&weigh_answer::format::terminal::text(&proof_document(&proof), &options))?;
    }
    let reports = responses.iter().map(|one| &one.report).chain(&values);
    let failures = reports.map(|report| report.faults.len()).sum();
    Ok(if proof.worse { Exit::Worse } else { Exit::of_failures(failures) }.into())
}

/// Reads a policy.
fn policy(file: &Path) -> Result<Policy> {
    let file = if file.is_dir() { file.join(POLICY) } else { file.to_owned() };
    let named = clean_path(&file);
    let about = std::fs::metadata(&file);
    let about = about.with_context(|| format!("{named}: cannot be read; `weigh advise` writes one"))?;
    ensure!(about.is_file() && about.len() <= LONGEST, "{named} is no policy");
    let text = std::fs::read_to_string(&file).with_context(|| format!("{named}: cannot be read"))?;
    let policy: Policy = toml::from_str(&text).map_err(|error| readable(&error, &text, &named))?;
    ensure!(
        policy.schema == SCHEMA,
        "{named}: schema = {} is not known; this program reads schema = {SCHEMA}",
        policy.schema
    );
    Ok(policy)
}

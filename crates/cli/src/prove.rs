//! `weigh prove`: a policy beside what the site does today, measured in the same rounds.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::exit::{Exit, OrRefuse};
use crate::gates::{GateFlags, Judging};
use crate::live::Preparing;
use crate::measuring::{measured, reports};
use crate::{quantity, results, terminal};
use weigh_site::advise::{proofs, read_policy, server_of};

use weigh_answer::compare::gate::worst;
use weigh_answer::format::{self, Detail};
use weigh_answer::page;
use weigh_answer::policy::gate as policy_gate;
use weigh_answer::policy::{Measured, Proof, Verdict, proof_document, proof_page, prove, prove_urls};
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::text::clean_path;
use weigh_os::shelter::Shelter;
use weigh_run::lab::{Lab, Progress};
use weigh_run::loading::load_dir;
use weigh_run::measure::{RunOptions, run_folder};
use weigh_run::planner::PlanOptions;
use weigh_run::planning::Planning;
use weigh_site::overrides::{Paired, Two};
use weigh_site::page_cache_proof::PageCacheProof;
use weigh_site::page_loads::{PairedPages, most_used};
use weigh_site::page_proof::PageProof;

/// Flags of `weigh prove`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The policy
    #[arg(value_name = "POLICY", default_value = "advice/policy.toml")]
    policy: PathBuf,
    /// The site's file that the policy was made for
    #[arg(long, value_name = "FILE", default_value = "site.toml")]
    site: PathBuf,
    /// The longest time to measure, such as 60s or 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = quantity::time)]
    budget: f64,
    /// A page of a running server without the policy: it and the files below its folder are requested, nothing is started
    #[arg(long, value_name = "URL", requires = "after")]
    before: Option<String>,
    /// The same of a running server with the policy
    #[arg(long, value_name = "URL", requires = "before")]
    after: Option<String>,
    /// Load the page of both in a browser too, over each link of the site's visitors
    #[arg(long, requires = "before")]
    browser: bool,
    /// Allow requests to this remote host (repeatable)
    #[arg(long, value_name = "HOST", requires = "before")]
    allow_remote: Vec<String>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
    /// Write the proof as a page into this file, with both loads in the browser as waterfalls and filmstrips
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The proof as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gates: GateFlags,
}

const EXAMPLES: &str = "Examples:
  weigh prove                                   advice/policy.toml
  weigh prove advice/policy.toml --budget 10m   narrower intervals
  weigh prove --gate 'cpu<5%' --junit gates.xml  limits for CI
  weigh prove --before http://localhost/ --after http://localhost:8080/
                                                two running servers: response times and bytes";

impl Args {
    /// Those of a site's file and a policy, within this many seconds.
    pub fn of_site(site: &Path, policy: &Path, budget: f64) -> Args {
        let (before, after, browser, allow_remote, html, gates) = Default::default();
        let (policy, site) = (policy.to_owned(), site.to_owned());
        Args { policy, site, budget, before, after, browser, allow_remote, seed: 1, html, json: false, gates }
    }
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    let judging = args.gates.read().or_usage_error()?;
    if let Some(file) = &args.html {
        load_dir::can_write(file).or_usage_error()?;
    }
    let Some((proof, exit)) = proved(args, &lab, &judging)? else { return Ok(Exit::Internal.into()) };
    let options = results::options(Detail::Full, None);
    terminal::show(args.json, &proof, || format::terminal::text(&proof_document(&proof), &options))?;
    if let Some(file) = &args.html {
        let blocks = proof_page(&proof, &args.site.to_string_lossy());
        load_dir::write(file, page::page(&blocks, &[], None::<&()>).or_usage_error()?.as_bytes())?;
        terminal::note(&format!("Page: {}", clean_path(file)));
    }
    judging.tell("weigh prove", &proof.gates, Detail::Full, args.json)?;
    Ok(exit.into())
}

/// Measures before and after, and how that ends; none: interrupted.
///
/// # Errors
/// As the verb's.
pub fn proved(args: &Args, lab: &Lab, judging: &Judging) -> Result<Option<(Proof, Exit)>> {
    let policy = read_policy(&args.policy).or_usage_error()?;
    let gates = judging.with(&policy.gates);
    policy_gate::check(&gates).or_usage_error()?;
    let opened = weigh_site::open(&args.site).or_usage_error()?;
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
    let asked = Proving { lab, args, policy: &policy, site: &site };
    let proved = match (&args.before, &args.after) {
        (Some(before), Some(after)) => asked.by_url(before, after)?,
        _ => asked.privately()?,
    };
    let Some((mut proof, failures)) = proved else { return Ok(None) };
    proof.gates = policy_gate::judge(&gates, &proof);
    let exit = exit(&proof, failures);
    Ok(Some((proof, exit)))
}

/// How a proof ends: with what is worst, be it a prediction, a gate or a failure.
fn exit(proof: &Proof, failures: usize) -> Exit {
    let of_proof = match proof.verdict {
        Verdict::Worse => Exit::Worse,
        Verdict::Undecided => Exit::Undecided,
        Verdict::Better | Verdict::Held => Exit::of_failures(failures),
    };
    let of_gates = Exit::of_gates(worst(&proof.gates));
    let worst = [Exit::Worse, Exit::Undecided].into_iter().find(|exit| [of_proof, of_gates].contains(exit));
    worst.unwrap_or(of_proof)
}

/// What is to be proved, of what.
struct Proving<'a> {
    lab: &'a Lab,
    args: &'a Args,
    policy: &'a Policy,
    site: &'a Site,
}

/// The proof, with the number of failures; none: interrupted.
type ProofWithFailures = Option<(Proof, usize)>;

impl Proving<'_> {
    fn privately(&self) -> Result<ProofWithFailures> {
        let Proving { lab, args, policy, site } = *self;
        let server = server_of(lab, site).or_usage_error()?;
        let folder = weigh_site::folder_of(&args.site);
        let links = weigh_site::advise::visitors_links(lab, site).or_usage_error()?;
        // Loads of pages have half of the time, a cache of pages a quarter of it, or what is left if nothing else changes.
        let seconds = if site.loaded.is_empty() { 0.0 } else { args.budget / 2.0 };
        let has_cache = policy.page_cache.as_ref().is_some_and(|cache| !cache.keep);
        let is_alone = policy.decisions.iter().all(|decision| decision.keep);
        let for_cache = match (has_cache, is_alone) {
            (false, _) => 0.0,
            (true, true) => args.budget - seconds,
            (true, false) => args.budget / 4.0,
        };
        let budget = args.budget - seconds - for_cache;
        let studies = proofs(site, &folder, policy, server.as_ref(), &links, budget).or_usage_error()?;
        let (clients, studies): (Vec<_>, Vec<_>) = studies.into_iter().unzip();
        let Some(reports) = reports(lab, site, Some(policy), studies, args.seed)? else { return Ok(None) };
        let (mut responses, mut values) = (Vec::new(), Vec::new());
        for pair in clients.into_iter().zip(reports) {
            match pair {
                (Some(accept), Some(report)) => responses.push(Measured { accept, report }),
                (None, Some(report)) => values.push(report),
                (_, None) => {}
            }
        }
        let mut proof = prove(policy, site, &links, &responses, &values);
        if seconds > 0.0 && policy.decisions.iter().any(|decision| !decision.keep) {
            let links = most_used(&links, seconds);
            let pages = PageProof { lab, site, policy, seconds, seed: args.seed };
            match pages.loads(&links, &mut Preparing::new()) {
                Ok(loads) => proof.add_loads(policy, &loads, args.budget),
                Err(error) => proof.open.push(format!("pages: not loaded in a browser: {error:#}.")),
            }
        }
        if has_cache {
            let cache = PageCacheProof { lab, site, policy, seconds: for_cache, seed: args.seed };
            match cache.measure(&mut Preparing::new()) {
                Ok(measured) => measured.iter().for_each(|measured| proof.add_page_cache(measured)),
                Err(error) => proof.open.push(format!("pages: the cache was not measured: {error:#}.")),
            }
        }
        let reports = responses.iter().map(|one| &one.report).chain(&values);
        Ok(Some((proof, reports.map(|report| report.faults.len()).sum())))
    }

    fn by_url(&self, before: &str, after: &str) -> Result<ProofWithFailures> {
        let Proving { lab, args, policy, site } = *self;
        let staging = Shelter::new().context("no temporary folder for the content")?;
        let (options, inventory) = (PlanOptions { seed: args.seed, ..PlanOptions::default() }, lab.native());
        let mut progress = Preparing::new();
        let two = Two { before, after, allowed: &args.allow_remote };
        let mut planning = Planning {
            options: &options,
            inventory: &inventory,
            staging: staging.path(),
            progress: &mut progress,
        };
        let links = weigh_site::advise::visitors_links(lab, site).or_usage_error()?;
        // As where nothing runs: half for loads of pages.
        let seconds = if args.browser { args.budget / 2.0 } else { 0.0 };
        let Paired { plan, pairs } =
            two.plan(site, policy, args.budget - seconds, &mut planning).or_usage_error()?;
        drop(progress);
        let folder = run_folder(None, &format!("{}-proof", site.name.replace('.', "-")));
        let Some(dir) = measured(lab, plan, &folder, &RunOptions::default())? else { return Ok(None) };
        let report = dir.stored().report();
        let mut loads = Vec::new();
        if args.browser {
            let (links, allowed, seed) =
                (&most_used(&links, seconds), args.allow_remote.as_slice(), args.seed);
            let urls = [before, after];
            let pages = PairedPages { urls, links, allowed, protocols: [None; 2], seconds, seed };
            loads = pages.load(&mut Preparing::new()).or_usage_error()?;
        }
        Ok(Some((
            prove_urls(policy, site, &links, &pairs, &report, (&loads, args.budget)),
            report.faults.len(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use weigh_answer::compare::gate::{GateOutcome, Judged};

    use super::*;

    #[test]
    fn a_proof_ends_with_what_is_worst() {
        let gate = |outcome| {
            let (gate, configuration, measured) = Default::default();
            Judged { gate, configuration, outcome, measured, remedy: None }
        };
        let of = |verdict, gates: &[GateOutcome], failures| {
            let gates = gates.iter().map(|outcome| gate(*outcome)).collect();
            exit(&Proof { verdict, gates, ..Proof::default() }, failures)
        };
        assert_eq!(of(Verdict::Held, &[], 0), Exit::Fine);
        assert_eq!(of(Verdict::Better, &[GateOutcome::Pass], 0), Exit::Fine);
        assert_eq!(of(Verdict::Held, &[], 1), Exit::Failures);
        assert_eq!(of(Verdict::Worse, &[GateOutcome::Undecided], 1), Exit::Worse);
        assert_eq!(of(Verdict::Undecided, &[], 1), Exit::Undecided);
        assert_eq!(of(Verdict::Undecided, &[GateOutcome::Fail], 0), Exit::Worse);
        assert_eq!(of(Verdict::Held, &[GateOutcome::Undecided], 0), Exit::Undecided);
        // Nothing was proved.
        assert_eq!(exit(&Proof::default(), 0), Exit::Undecided);
    }
}

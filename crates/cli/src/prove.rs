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
use weigh_answer::format::Detail;
use weigh_answer::policy::gate as policy_gate;
use weigh_answer::policy::{Measured, Proof, Verdict, proof_document, prove, prove_urls};
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::text::clean_path;
use weigh_os::shelter::Shelter;
use weigh_run::lab::{Lab, Progress};
use weigh_run::measure::{RunOptions, run_folder};
use weigh_run::planner::PlanOptions;
use weigh_run::planning::Planning;
use weigh_site::overrides::{Paired, Two};

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
    /// A host that is not this machine and may be asked, spelled out (repeatable)
    #[arg(long, value_name = "HOST", requires = "before")]
    allow_remote: Vec<String>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
    /// The proof as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gates: GateFlags,
}

const EXAMPLES: &str = "Examples:
  weigh prove                                   the policy in advice/policy.toml, for site.toml
  weigh prove advice/policy.toml --budget 10m   narrower intervals
  weigh prove --gate 'cpu<5%' --junit gates.xml  limits for CI, beside the [[gate]] tables of the policy
  weigh prove --before http://localhost/ --after http://localhost:8080/
                                                two running servers: response times and bytes";

impl Args {
    /// Those of a site's file and a policy, within this many seconds.
    pub fn of_site(site: &Path, policy: &Path, budget: f64) -> Args {
        let (before, after, allow_remote, gates) = Default::default();
        let (policy, site) = (policy.to_owned(), site.to_owned());
        Args { policy, site, budget, before, after, allow_remote, seed: 1, json: false, gates }
    }
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    let judging = args.gates.read().or_usage_error()?;
    let Some((proof, exit)) = proved(args, &lab, &judging)? else { return Ok(Exit::Internal.into()) };
    if args.json {
        terminal::print_json(&proof)?;
    } else {
        let options = results::options(Detail::Full, None);
        terminal::print(&weigh_answer::format::terminal::text(&proof_document(&proof), &options))?;
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
        let studies = proofs(site, &folder, policy, server.as_ref(), &links, args.budget).or_usage_error()?;
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
        let proof = prove(policy, site, &links, &responses, &values);
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
        let Paired { plan, pairs } = two.plan(site, policy, args.budget, &mut planning).or_usage_error()?;
        drop(progress);
        let folder = run_folder(None, &format!("{}-proof", site.name.replace('.', "-")));
        let Some(dir) = measured(lab, plan, &folder, &RunOptions::default())? else { return Ok(None) };
        let (report, links) =
            (dir.stored().report(), weigh_site::advise::visitors_links(lab, site).or_usage_error()?);
        Ok(Some((prove_urls(policy, site, &links, &pairs, &report), report.faults.len())))
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

//! `weigh` alone: from a project's folder to a proved change. It looks, says what it found and what it will do, asks once, and ends on one
//! screen. Each step leaves its file, so that the next call goes on where the last one was ended.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use crate::exit::{Exit, OrRefuse};
use crate::gates::Judging;
use crate::prove;
use crate::{advise, quantity, site, terminal};
use weigh_answer::policy::{Proof, proof_answer};
use weigh_model::policy::Policy;
use weigh_model::text::{clean, clean_path};
use weigh_model::units;
use weigh_os::regular;
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::Lab;
use weigh_site::SiteRequest;
use weigh_site::advise::{POLICY, read_policy};
use weigh_site::here::{FoundSoftware, Project, detect_project, detect_software};

/// Flags of `weigh` without a command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// A first impression, in about two minutes
    #[arg(long, conflicts_with = "budget")]
    quick: bool,
    /// The longest time to measure in all, such as 10m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    budget: Option<f64>,
}

impl Args {
    /// Whether one is given.
    pub fn is_given(&self) -> bool {
        self.yes || self.quick || self.budget.is_some()
    }
}

/// The file of the site.
const SITE: &str = "site.toml";
/// Seconds of measuring, usually and for a first impression.
const SECONDS: (f64, f64) = (300.0, 110.0);
/// Bytes of a policy at most.
const POLICY_BYTES: u64 = 4 << 20;
/// The share of them in which is decided; the rest proves.
const DECIDING: f64 = 0.55;

/// Runs it.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    let seconds = args.budget.unwrap_or(if args.quick { SECONDS.1 } else { SECONDS.0 });
    let (project, machine) = (detect_project(Path::new(".")), detect_software(Path::new("/")));
    let is_known = Path::new(SITE).is_file();
    let request = request(&lab, &project, &machine).or_usage_error()?;
    if request.is_empty() && !is_known {
        terminal::print(NOTHING)?;
        return Ok(Exit::Fine.into());
    }
    terminal::print(&if is_known { known() } else { found(&request, &project, &machine) })?;
    if !is_known && request.server_config.is_none() && request.server.is_none() {
        terminal::print("\nNo web server is here to measure with: apt install nginx-light, or apache2.\n")?;
        return Ok(Exit::Usage.into());
    }
    terminal::print(&format!(
        "\nIt will measure private copies of your server and PHP on your files, for about {}.\nIt changes nothing, and uses all cores meanwhile: take a staging machine, not a busy one.\n",
        units::count((seconds / 60.0).ceil() as usize, "minute", "minutes"),
    ))?;
    if !args.yes {
        if !terminal::is_asked() {
            terminal::print("To go on: weigh --yes. All commands: weigh --help.\n")?;
            return Ok(Exit::Fine.into());
        }
        if !terminal::ask("Go on?")? {
            return Ok(Exit::Fine.into());
        }
    }
    if !is_known {
        let looked = site::looked(&lab, &request, Path::new(SITE), false)?;
        if let Some(problem) = &looked.facts.no_pages {
            terminal::note(&format!("No page was looked at: {problem}"));
        }
    }
    let place = Path::new(advise::ADVICE).join(POLICY);
    let (decided, unsettled) = match decided_before(&place) {
        Some(decided) => decided,
        None => {
            let args = advise::Args::of_site(Path::new(SITE), seconds * DECIDING);
            let Some(advised) = advise::advised(&args, &lab)? else { return Ok(Exit::Internal.into()) };
            (advised.decided.policy, advised.decided.unsettled)
        }
    };
    if decided.decisions.iter().all(|decision| decision.keep) {
        terminal::print(&screen(&decided, &unsettled, None))?;
        return Ok(Exit::Fine.into());
    }
    let args = prove::Args::of_site(Path::new(SITE), &place, seconds * (1.0 - DECIDING));
    let Some((proof, exit)) = prove::proved(&args, &lab, &Judging::default())? else {
        return Ok(Exit::Internal.into());
    };
    terminal::print(&screen(&decided, &unsettled, Some(&proof)))?;
    Ok(exit.into())
}

/// The policy of an earlier call, if it was made for the site's file as it is, with what was not settled.
fn decided_before(file: &Path) -> Option<(Policy, Vec<String>)> {
    let policy = file.is_file().then(|| read_policy(file).ok()).flatten()?;
    let site = weigh_site::open(Path::new(SITE)).ok()?;
    if site.sha256 != policy.site_sha256 {
        return None;
    }
    let again = "is of an earlier call and is used; to decide again: weigh advise --force";
    terminal::note(&format!("{} {again}", clean_path(file)));
    // They are in its comments.
    let text = regular::read(file, POLICY_BYTES).ok().and_then(|text| String::from_utf8(text).ok())?;
    let notes = text.lines().filter_map(|line| line.strip_prefix("# "));
    Some((policy, notes.filter(|note| note.starts_with("Not settled")).map(str::to_owned).collect()))
}

/// Where to look: what the project has, else the machine's.
fn request(lab: &Lab, project: &Project, machine: &FoundSoftware) -> Result<SiteRequest> {
    let Some(docroot) = &project.docroot else { return Ok(SiteRequest::default()) };
    let definitions = Definition::load(&lab.definitions)?;
    let is_here = |name: &str| {
        definitions.iter().any(|one| one.name == name && one.policy.is_some() && one.find().program.is_some())
    };
    // The configuration of a server that can be started here; of several, that of the one that runs.
    let mut configs: Vec<&(PathBuf, &str)> =
        project.configs.iter().filter(|(_, server)| is_here(server)).collect();
    configs.sort_by_key(|(_, server)| !machine.servers.contains(server));
    let config = configs.first().map(|(file, _)| file.clone());
    let usual =
        [if project.has_htaccess { "apache" } else { "nginx" }, "nginx", "apache", "caddy", "lighttpd"];
    let running = machine.servers.iter().copied().filter(|_| !project.has_htaccess);
    let server = running.chain(usual).find(|name| is_here(name));
    Ok(SiteRequest {
        docroot: Some(docroot.clone()),
        server: server.filter(|_| config.is_none()).map(str::to_owned),
        render: project.has_php,
        server_config: config,
        logs: project.logs.clone(),
        ..SiteRequest::default()
    })
}

const NOTHING: &str =
    "No site is in this folder: neither public/, web/, htdocs/ nor an index.php or index.html.
Go to the folder of a project, or say where to look:
  weigh site --docroot DIR --url http://localhost/
A sample site to try it on:
  weigh lab corpus site shop && cd shop && weigh
A file, without a site:
  weigh codec page.html
All commands: weigh --help
";

fn known() -> String {
    format!("{SITE} is here and is used; to look again: weigh site --force\n")
}

/// A path below the project's folder.
fn shown(path: &Path) -> String {
    let below = path.strip_prefix(".").unwrap_or(path);
    clean_path(if below.as_os_str().is_empty() { Path::new(".") } else { below }).to_string()
}

/// What was found, what is missing, and what is assumed.
fn found(request: &SiteRequest, project: &Project, machine: &FoundSoftware) -> String {
    let mut text = "Found here (nothing was read yet):\n".to_owned();
    let mut line = |name: &str, what: String| text += &format!("  {name:<15}{what}\n");
    if let Some(docroot) = &request.docroot {
        line("document root", shown(docroot));
    }
    match (&request.server_config, &request.server) {
        (Some(file), _) => line("configuration", shown(file)),
        (None, Some(server)) if project.has_htaccess => {
            line("web server", format!("{server}, with your .htaccess"))
        }
        (None, Some(server)) => {
            line("web server", format!("{server} (assumed; --server-config FILE of weigh site tells)"))
        }
        (None, None) => line("web server", "none".to_owned()),
    }
    if request.render {
        line("PHP", "makes the pages: your own code runs, as for a visitor".to_owned());
    }
    match request.logs.as_slice() {
        [] => line("access log", "none: how often each file is asked for is assumed".to_owned()),
        logs => line("access log", units::list(&logs.iter().map(|log| shown(log)).collect::<Vec<_>>())),
    }
    for config in machine.configs.iter().filter(|_| request.server_config.is_none()) {
        text += &format!(
            "Not read: {}. If it serves this site: weigh site --docroot {} --server-config {}\n",
            clean_path(config),
            request.docroot.as_ref().map_or_else(|| "DIR".to_owned(), |path| shown(path)),
            clean_path(config),
        );
    }
    text
}

/// What to do, what it brings, how sure that is, and how to undo it.
fn screen(policy: &Policy, unsettled: &[String], proof: Option<&Proof>) -> String {
    let mut text = String::new();
    let changes: Vec<&str> =
        policy.decisions.iter().filter(|one| !one.keep).map(|one| one.text.as_str()).collect();
    if changes.is_empty() {
        text += "Change nothing: what is sent today is within the best that was measured.\n";
        for decision in &policy.decisions {
            text += &format!("  {}: {}\n", decision.kind.plural(), clean(&decision.today));
        }
    } else {
        text += match unsettled {
            [] => "Do this, in this order:\n",
            _ => "Not settled: so far this is ahead, in this order:\n",
        };
        for (at, change) in changes.iter().enumerate() {
            text += &format!(" {}. {}\n", at + 1, clean(change));
        }
    }
    for note in unsettled {
        text += &format!("{}\n", clean(note));
    }
    if let Some(proof) = proof {
        let options = crate::results::options(weigh_answer::format::Detail::Summary, None);
        text += "\nMeasured before and after, per month:\n";
        text += weigh_answer::format::terminal::text(&proof_answer(proof), &options).trim_matches('\n');
        text += "\n";
    }
    if !changes.is_empty() {
        let advice = advise::ADVICE;
        text += &format!(
            "\nTo do it: {advice}/advice.md says which file of {advice}/config goes where. To undo it: take those\nlines out again; weigh pack DIR --clean deletes precompressed files. Nothing was changed yet.\n"
        );
    }
    text + "Everything: weigh runs open, and advice/advice.html.\n"
}

//! `weigh` alone: from a project's folder to a proved change. It looks, says what it found and what it will do, asks once, and ends on one
//! screen. Each step leaves its file, so that the next call goes on where the last one was ended.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::exit::{Exit, OrRefuse};
use crate::gates::Judging;
use crate::{advise, prove, quantity, results, site, terminal};
use weigh_answer::block::Block;
use weigh_answer::format::{self, Detail, markdown};
use weigh_answer::policy::{Proof, proof_answer, proof_document, verdict};
use weigh_model::policy::Policy;
use weigh_model::text::clean_path;
use weigh_model::units;
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::Lab;
use weigh_run::loading::load_dir;
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
/// The proof as a whole, in the folder of the advice.
const PROOF: &str = "proof.md";
/// The share of them in which is decided; the rest proves.
const DECIDING: f64 = 0.55;

/// Runs it.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    let seconds = args.budget.unwrap_or(if args.quick { SECONDS.1 } else { SECONDS.0 });
    // The file of an earlier call, or where to look for one.
    let request = match Path::new(SITE).is_file() {
        true => None,
        false => Some(request(&lab).or_usage_error()?),
    };
    match &request {
        None => terminal::print(&format!("{SITE} is here and is used; to look again: weigh site --force\n"))?,
        Some((request, _)) if request.is_empty() => {
            terminal::print(NOTHING)?;
            return Ok(Exit::Fine.into());
        }
        Some((_, found)) => terminal::print(found)?,
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
    if let Some((request, _)) = &request {
        let looked = site::looked(&lab, request, Path::new(SITE), false)?;
        if let Some(problem) = &looked.facts.no_pages {
            terminal::note(&format!("No page was looked at: {problem}"));
        }
    }
    let opened = weigh_site::open(Path::new(SITE)).or_usage_error()?;
    let place = Path::new(advise::ADVICE).join(POLICY);
    let policy = match decided_before(&place, &opened.sha256) {
        Some(policy) => policy,
        None => {
            let args = advise::Args::of_site(Path::new(SITE), seconds * DECIDING);
            let Some(advised) = advise::advised(&args, &lab)? else { return Ok(Exit::Internal.into()) };
            advised.decided.policy
        }
    };
    let mut blocks = verdict(&policy, &opened.site);
    if policy.decisions.iter().all(|decision| decision.keep) {
        blocks.push(Block::Remark(format!("Everything: {}/advice.md", advise::ADVICE)));
        print(&blocks)?;
        return Ok(Exit::Fine.into());
    }
    let args = prove::Args::of_site(Path::new(SITE), &place, seconds * (1.0 - DECIDING));
    let Some((proof, exit)) = prove::proved(&args, &lab, &Judging::default())? else {
        return Ok(Exit::Internal.into());
    };
    let whole = markdown::text(&proof_document(&proof), &[], &results::options(Detail::Full, None));
    load_dir::write(&Path::new(advise::ADVICE).join(PROOF), whole.as_bytes())?;
    blocks.push(Block::Heading(2, "Measured before and after".into()));
    blocks.extend(proof_answer(&proof));
    blocks.extend(carried_out(&proof));
    print(&blocks)?;
    Ok(exit.into())
}

fn print(blocks: &[Block]) -> Result<()> {
    let options = results::options(Detail::Summary, None);
    terminal::print(&format!("{}\n", format::terminal::text(blocks, &options).trim_matches('\n')))
}

/// How to do it, how to undo it, and where what is not on the screen stands.
fn carried_out(proof: &Proof) -> Vec<Block> {
    let advice = advise::ADVICE;
    let open = match proof.open.len() {
        0 => String::new(),
        some => format!(" {} not proved: {advice}/{PROOF}.", units::count(some, "thing was", "things were")),
    };
    vec![
        Block::Text(format!("Nothing was changed yet.{open}")),
        Block::Points(vec![
            (format!("To do it: {advice}/advice.md says which file of {advice}/config goes where"), None),
            ("To undo it: take those lines out again; weigh pack DIR --clean removes variants".into(), None),
            (format!("Everything: {advice}/advice.md and {advice}/{PROOF}; runs: weigh runs open"), None),
        ]),
    ]
}

/// The policy of an earlier call, if it was made for the site's file with this digest.
fn decided_before(file: &Path, sha256: &str) -> Option<Policy> {
    let policy = file.is_file().then(|| read_policy(file).ok()).flatten()?;
    (policy.site_sha256 == sha256).then(|| {
        let again = "is of an earlier call and is used; to decide again: weigh advise --force";
        terminal::note(&format!("{} {again}", clean_path(file)));
        policy
    })
}

/// Where to look: what the project has, else the machine's; and how that is told.
fn request(lab: &Lab) -> Result<(SiteRequest, String)> {
    let (project, machine) = (detect_project(Path::new(".")), detect_software(Path::new("/")));
    let Some(docroot) = &project.docroot else { return Ok(Default::default()) };
    let servers = Definition::load(&lab.definitions)?;
    // Each is asked once.
    let here: Vec<&str> = servers
        .iter()
        .filter(|server| server.policy.is_some() && server.find().program.is_some())
        .map(|server| server.name.as_str())
        .collect();
    ensure!(!here.is_empty(), "no web server is here to measure with: apt install nginx-light, or apache2");
    // The configuration of a server that can be started here; of several, that of the one that runs.
    let mut configs: Vec<&(PathBuf, &str)> =
        project.configs.iter().filter(|(_, server)| here.contains(server)).collect();
    configs.sort_by_key(|(_, server)| !machine.servers.contains(server));
    let config = configs.first().map(|(file, _)| file.clone());
    let running = machine.servers.iter().copied().filter(|_| !project.has_htaccess);
    let usual = project.has_htaccess.then_some("apache").into_iter().chain(["nginx"]);
    let server = running.chain(usual).find(|name| here.contains(name)).or(here.first().copied());
    let request = SiteRequest {
        docroot: Some(docroot.clone()),
        server: server.filter(|_| config.is_none()).map(str::to_owned),
        render: project.has_php,
        server_config: config,
        logs: project.logs.clone(),
        ..SiteRequest::default()
    };
    let told = found(&request, &project, &machine);
    Ok((request, told))
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
        (None, Some(server)) if project.has_htaccess && server == "apache" => {
            line("web server", "Apache (assumed), with your .htaccess".to_owned())
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

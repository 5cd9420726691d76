//! `weigh` alone: from a project's folder to a proved change. It looks, says what it found and what it will do, asks once, and ends on one
//! screen. Each step leaves its file, so that the next call goes on where the last one was ended.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::exit::{Exit, OrRefuse};
use crate::gates::Judging;
use crate::{advise, prove, quantity, results, site, terminal};
use weigh_answer::block::Block;
use weigh_answer::format::{self, Detail, markdown};
use weigh_answer::owned;
use weigh_answer::policy::{Proof, proof_answer, proof_document, verdict};
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::text::{clean, clean_path};
use weigh_model::units;
use weigh_os::template;
use weigh_rig::server::{Definition, Found};
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
    pub fn is_given(&self) -> bool {
        self.yes || self.quick || self.budget.is_some()
    }
}

const SITE: &str = "site.toml";
/// Seconds of measuring, usually and for a first impression.
const SECONDS: (f64, f64) = (300.0, 110.0);
/// The proof as a whole, in the folder of the advice.
const PROOF: &str = "proof.md";
/// The share of them in which is decided; the rest proves.
const DECIDING: f64 = 0.55;

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    let seconds = args.budget.unwrap_or(if args.quick { SECONDS.1 } else { SECONDS.0 });
    // The file of an earlier call, or where to look for one.
    let mut found = None;
    if Path::new(SITE).is_file() {
        terminal::print(&format!("{SITE} is here and is used; to look again: weigh site --force\n"))?;
    } else {
        let Some(place) = place(&lab).or_usage_error()? else {
            terminal::print(NOTHING)?;
            return Ok(Exit::Fine.into());
        };
        terminal::print(&place.told)?;
        found = Some(place);
    }
    terminal::print(&format!(
        "\nIt will measure private copies of your server and PHP on your files, for about\n{}. It changes nothing, and uses all cores meanwhile: take a\nstaging machine, not a busy one.\n",
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
    let results = found.as_ref().and_then(|place| place.results.clone());
    if let Some(place) = &found {
        place.enter()?;
        if !Path::new(SITE).is_file() {
            let looked = site::looked(&lab, &place.request, Path::new(SITE), false)
                .inspect_err(|_| terminal::note(&place.otherwise()))?;
            if let Some(problem) = &looked.facts.no_pages {
                terminal::note(&format!("No page was looked at: {problem}"));
            }
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
    let assumed = assumed(&opened.site).map(Block::Text);
    if policy.decisions.iter().all(|decision| decision.keep) {
        blocks.extend(assumed);
        let whole = format!("Everything: {}/advice.md", advise::ADVICE);
        blocks.push(Block::Remark(with_results(whole, results.as_deref())));
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
    blocks.extend(assumed);
    blocks.extend(carried_out(&proof, results.as_deref()));
    print(&blocks)?;
    Ok(exit.into())
}

fn print(blocks: &[Block]) -> Result<()> {
    let options = results::options(Detail::Summary, None);
    terminal::print(&format!("{}\n", format::terminal::text(blocks, &options).trim_matches('\n')))
}

/// How to do it, how to undo it, and where what is not on the screen stands.
fn carried_out(proof: &Proof, results: Option<&Path>) -> Vec<Block> {
    let advice = advise::ADVICE;
    let open = match proof.open.len() {
        0 => String::new(),
        some => format!(" {} not proved: {advice}/{PROOF}.", units::count(some, "thing was", "things were")),
    };
    vec![
        Block::Text(with_results(format!("Nothing was changed yet.{open}"), results)),
        Block::Points(vec![
            (format!("To do it: {advice}/advice.md says which file of {advice}/config goes where"), None),
            ("To undo it: take those lines out again; weigh pack DIR --clean removes variants".into(), None),
            (format!("Everything: {advice}/advice.md and {advice}/{PROOF}; runs: weigh runs open"), None),
        ]),
    ]
}

/// A text that names files, with the folder that they are in if it is not this one.
fn with_results(text: String, results: Option<&Path>) -> String {
    match results {
        Some(folder) => format!("{text} All files are in {}.", clean_path(folder)),
        None => text,
    }
}

/// That the site's configuration was assumed, and how to give the true one.
fn assumed(site: &Site) -> Option<String> {
    let file = Path::new(site.sources.server_config.as_ref()?);
    weigh_serverconf::tree::text(file).ok().filter(|text| text.starts_with(ASSUMED))?;
    let name = file.file_name().map_or(file, Path::new);
    Some(format!(
        "Compared with {} as Debian ships it (assumed). It has no HTTPS; if yours has: visitors.tls = true in {SITE}, and type weigh again. If it differs in more: put yours in {}, remove {SITE}, and type weigh again.",
        owned(&clean(site.sources.server.as_deref()?)),
        clean_path(name),
    ))
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

/// A site that was found, and where what is made of it goes.
struct Place {
    request: SiteRequest,
    told: String,
    /// The folder for results, where this one is the document root: what lies in that is public.
    results: Option<PathBuf>,
    /// A configuration that is assumed, with its text.
    assumed: Option<(PathBuf, String)>,
}

impl Place {
    /// Goes to where results go, and writes what is assumed.
    fn enter(&self) -> Result<()> {
        if let Some(folder) = &self.results {
            let cannot = || {
                format!(
                    "{}: cannot be made; this folder is public, so results cannot be in it",
                    clean_path(folder)
                )
            };
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .with_context(cannot)
                .or_usage_error()?;
            std::env::set_current_dir(folder).with_context(cannot).or_usage_error()?;
        }
        if let Some((file, text)) = self.assumed.as_ref().filter(|(file, _)| !file.exists()) {
            load_dir::write(file, text.as_bytes())?;
        }
        Ok(())
    }

    /// What to type where this cannot be looked at.
    fn otherwise(&self) -> String {
        let docroot = self.request.docroot.as_deref().unwrap_or(Path::new("DIR"));
        format!(
            "If the site runs somewhere, ask it: weigh site --docroot {} --url http://localhost/, then weigh",
            clean_path(docroot)
        )
    }
}

/// Where to look: what the project has, else the machine's; none: no site is here.
fn place(lab: &Lab) -> Result<Option<Place>> {
    let here = std::env::current_dir()?;
    let (project, machine) = (detect_project(&here), detect_software(Path::new("/")));
    let Some(docroot) = &project.docroot else { return Ok(None) };
    let servers = Definition::load(&lab.definitions)?;
    // Each is asked once.
    let here_with: Vec<Found> =
        servers.iter().filter(|server| server.policy.is_some()).map(Definition::find).collect();
    let installed: Vec<&Found> = here_with.iter().filter(|server| server.program.is_some()).collect();
    let named = |name: &str| installed.iter().copied().find(|server| server.definition.name == name);
    ensure!(
        !installed.is_empty(),
        "no web server is here to measure with: apt install nginx-light, or apache2"
    );
    // The configuration of a server that can be started here; of several, that of the one that runs.
    let mut configs: Vec<&(PathBuf, &str)> =
        project.configs.iter().filter(|(_, server)| named(server).is_some()).collect();
    configs.sort_by_key(|(_, server)| !machine.servers.contains(server));
    let running = machine.servers.iter().copied().filter(|_| !project.has_htaccess);
    let usual = project.has_htaccess.then_some("apache").into_iter().chain(["nginx", "apache"]);
    let server = running.chain(usual).find_map(named);
    let results = match (docroot == &here, here.parent(), here.file_name()) {
        (true, Some(parent), Some(name)) => Some(parent.join(format!("{}-weigh", name.to_string_lossy()))),
        _ => None,
    };
    let assumed = match (configs.first(), server) {
        (None, Some(server)) => assume(server, &project, results.as_deref().unwrap_or(&here))?,
        _ => None,
    };
    let config = configs.first().map(|(file, _)| file).or(assumed.as_ref().map(|(file, _)| file)).cloned();
    let request = SiteRequest {
        docroot: Some(docroot.clone()),
        server: server
            .or(installed.first().copied())
            .filter(|_| config.is_none())
            .map(|one| one.definition.name.clone()),
        render: project.has_php,
        server_config: config,
        logs: project.logs.clone(),
        ..SiteRequest::default()
    };
    let mut place = Place { request, told: String::new(), results, assumed };
    place.told = told(&place, &here, &project, server.filter(|_| configs.is_empty()), &machine);
    Ok(Some(place))
}

/// The configurations that servers are taken to have where a site brings none: as Debian ships them.
const AS_SHIPPED: [(&str, &str); 2] =
    [("nginx", include_str!("journey/nginx.conf")), ("apache", include_str!("journey/apache.conf"))];

/// The configuration that a server is taken to have; none where no usual one is known.
fn assume(server: &Found, project: &Project, folder: &Path) -> Result<Option<(PathBuf, String)>> {
    let name = server.definition.name.as_str();
    let Some((_, text)) = AS_SHIPPED.iter().find(|(server, _)| *server == name) else { return Ok(None) };
    let docroot = template::path_text(project.docroot.as_deref().unwrap_or(folder))?;
    let values = serde_json::json!({ "docroot": docroot, "php": project.has_php, "modules": server.modules });
    Ok(Some((folder.join(format!("{name}.conf")), template::render(name, text, values)?)))
}

/// What the configuration that is assumed begins with.
const ASSUMED: &str = "# Assumed by weigh";

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

/// What was found, what is missing, and what is assumed.
fn told(
    place: &Place,
    here: &Path,
    project: &Project,
    assumed: Option<&Found>,
    machine: &FoundSoftware,
) -> String {
    // A path as from the project's folder.
    let shown = |path: &Path| match path.strip_prefix(here) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => clean_path(below).to_string(),
        Err(_) => clean_path(path).to_string(),
    };
    let request = &place.request;
    let mut text = "Found here (nothing was read yet):\n".to_owned();
    let mut line = |name: &str, what: String| text += &format!("  {name:<15}{what}\n");
    let docroot = request.docroot.as_deref().map_or_else(|| "DIR".to_owned(), shown);
    line("document root", docroot.clone());
    let server = assumed.map(|server| server.definition.name.as_str());
    let called = owned(server.unwrap_or("none"));
    match (&request.server_config, server) {
        (Some(file), None) => line("configuration", shown(file)),
        (Some(_), Some("apache")) if project.has_htaccess => {
            line("web server", "Apache as Debian ships it, with your .htaccess (assumed)".to_owned());
        }
        (Some(_), Some(_)) => line("web server", format!("{called} as Debian ships it (assumed)")),
        (None, _) => line("web server", format!("{called} (assumed)")),
    }
    if request.render {
        line("PHP", "makes the pages: your own code runs, as for a visitor".to_owned());
    }
    match request.logs.as_slice() {
        [] => line("access log", "none: how often each file is asked for is assumed".to_owned()),
        logs => line("access log", units::list(&logs.iter().map(|log| shown(log)).collect::<Vec<_>>())),
    }
    let mut out = String::new();
    if let Some(folder) = &place.results {
        let name = folder.file_name().map_or(folder.as_path(), Path::new);
        line("results", format!("../{}, because this folder is public", clean_path(name)));
        out = format!(" --out {}", Path::new("..").join(name).join(SITE).display());
    }
    let own =
        machine.configs.iter().find(|file| server.is_some_and(|name| file.to_string_lossy().contains(name)));
    if let Some(file) = own {
        let (file, render) = (clean_path(file), if request.render { " --render" } else { "" });
        text += &format!(
            "Not read: {file}. If it serves this site, type this first:\n  weigh site --docroot {docroot} --server-config {file}{render}{}\n",
            clean(&out)
        );
    }
    text
}

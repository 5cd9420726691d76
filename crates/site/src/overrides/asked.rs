//! Before anything is timed: a private instance with the user's configuration is asked for every sample of a plan, so that the plan says
//! where PHP's page is reached, where contents lie, and which responses are precompressed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Plan;
use weigh_model::setting::Setting;
use weigh_model::text::clean;
use weigh_model::way::{OwnConfig, WayKind};
use weigh_os::guard::LaunchContext;
use weigh_os::interrupt::Interrupt;
use weigh_os::regular;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_rig::asker::{Asker, Question, with_instance};
use weigh_rig::server::{Found, Site};
use weigh_rig::upstream::{Response, Upstream};
use weigh_run::lab::{Home, Progress};
use weigh_run::subject::delivery::files::{Files, Instance, below, instances};
use weigh_serverconf::Read;

/// Where PHP's script for a page may be reached, the first that the configuration hands to PHP; after them, in a folder's front controller.
const PAGES: [&str; 3] = ["/page.php", "/index.php", "/"];
/// Folders of the document root that are looked into.
const MOST_FOLDERS: usize = 50;
/// What stands for the response of PHP; no page of anybody's has it.
const OF_PHP: &[u8] = b"<!doctype html><title>answered by what stands for PHP</title>";

#[derive(Default)]
struct Answers {
    /// The path that leads to PHP.
    page: Option<String>,
    /// Contents that lie elsewhere than below the document root: payload and file.
    moved: Vec<(String, PathBuf)>,
    /// Cells whose response is a variant that was encoded before, by their place in the plan.
    precompressed: Vec<usize>,
    /// What the user should know.
    notes: Vec<String>,
}

/// Everything that a sample's questions need.
struct Samples<'s> {
    plan: &'s Plan,
    config: &'s OwnConfig,
    files: &'s mut Files,
    tree: &'s Path,
    read: &'s Read,
}

/// Asks for the samples of the user's configuration, and completes the plan by what is answered.
///
/// # Errors
/// The instance does not start, or the user wants an end.
pub(super) fn ask_samples(
    home: &Home,
    plan: &mut Plan,
    found: &Found,
    read: &Read,
    progress: &mut dyn Progress,
) -> Result<()> {
    let (server, way) = (&found.definition.name, &read.config.way);
    let config = plan.servers.iter().filter(|s| s.name == *server).flat_map(|s| &s.own);
    let Some(config) = config.into_iter().find(|own| own.way == *way).cloned() else { return Ok(()) };
    let is_own = |cell: &Cell| {
        cell.setting.codec == *way && cell.delivery.as_ref().is_some_and(|d| d.server == *server)
    };
    let asked: Vec<usize> = (0..plan.cells.len()).filter(|at| is_own(&plan.cells[*at])).collect();
    if asked.is_empty() {
        return Ok(());
    }
    progress.doing("asking a private instance with the configuration");
    let answers = Interrupt::during(|interrupt| {
        let user = OwnUser::for_programs(found.program.as_deref().into_iter()).ok().flatten();
        let room = Shelter::of(user).context("no temporary folder")?;
        let mut files = Files::new(room.path(), &home.php_home()?, user)?.with_own(plan);
        let mut tree = room.path().to_owned();
        for cell in asked.iter().map(|at| &plan.cells[*at]) {
            let payload = plan.payloads.iter().find(|payload| payload.name == cell.payload);
            let Some(payload) = payload else { continue };
            tree = files.prepare(cell, payload, &payload.blob)?;
        }
        let respond = |_: &str, _| Response::new("text/html", OF_PHP.repeat(200));
        let upstream = Upstream::start(room.path().join("upstream.sock"), Arc::new(respond))
            .context("no temporary folder")?;
        let socket = Some(upstream.socket().to_owned());
        let way = Some(Setting::bare(way.as_str()));
        let site =
            Site { docroot: tree.clone(), fpm: socket.clone(), upstream: socket, way, ..Site::default() };
        let place = LaunchContext::new(room.path(), room.path().join("log")).of(user);
        let place = LaunchContext { interrupt: interrupt.clone(), ..place };
        let mut samples = Samples { plan, config: &config, files: &mut files, tree: &tree, read };
        let answers =
            with_instance(found, &site, &place, config.host.as_deref(), |asker| samples.ask(&asked, asker));
        interrupt.ended(answers)
    });
    let answers = answers.context("signals cannot be caught")??;
    answers.notes.iter().for_each(|line| progress.note(line));
    answers.complete(plan, server, way);
    Ok(())
}

impl Samples<'_> {
    fn ask(&mut self, cells: &[usize], asker: &Asker<'_>) -> Result<Answers> {
        let mut answers = Answers::default();
        if cells.iter().any(|at| self.plan.cells[*at].subject == Subject::PAGE) {
            let root = PAGES.into_iter().find(|path| self.leads_to_php(path, asker)).map(str::to_owned);
            answers.page = match root {
                None => self.in_folder(asker)?,
                found => found,
            };
        }
        for payload in &self.plan.payloads {
            let is_of = |at: &&usize| {
                let cell = &self.plan.cells[**at];
                cell.payload == payload.name && cell.subject != Subject::PAGE
            };
            let own: Vec<usize> = cells.iter().filter(is_of).copied().collect();
            if !own.is_empty() {
                self.ask_for(payload, &own, asker, &mut answers)?;
            }
        }
        Ok(answers)
    }

    /// The front controller in a folder of the document root that the configuration hands to PHP.
    fn in_folder(&mut self, asker: &Asker<'_>) -> Result<Option<String>> {
        let root = &self.read.site.root;
        let folders = std::fs::read_dir(root).into_iter().flatten().flatten().take(MOST_FOLDERS);
        let named = folders.filter_map(|folder| folder.file_name().into_string().ok());
        let is_plain =
            |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let mut paths: Vec<String> = named.filter(is_plain).map(|name| format!("{name}/index.php")).collect();
        paths.retain(|path| root.join(path).is_file());
        paths.sort();
        for path in paths {
            self.files.write(&below(self.tree, &root.join(&path)), || Ok(Vec::new()))?;
            let path = format!("/{path}");
            if self.leads_to_php(&path, asker) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn leads_to_php(&self, path: &str, asker: &Asker<'_>) -> bool {
        let reply = asker.ask(&Question { path, ..Question::default() });
        reply.is_ok_and(|reply| reply.status == 200 && reply.body.starts_with(OF_PHP))
    }

    /// Asks for a content as each of its cells does.
    fn ask_for(
        &mut self,
        payload: &Payload,
        cells: &[usize],
        asker: &Asker<'_>,
        answers: &mut Answers,
    ) -> Result<()> {
        let (Some(sample), Some(first)) =
            (self.config.samples.get(&payload.name), instances(payload).into_iter().next())
        else {
            return Ok(());
        };
        let cell = &self.plan.cells[cells[0]];
        let Some(path) = self.files.own_path(cell, payload, &first.name) else { return Ok(()) };
        let plain = asker.ask(&Question { path: &path, ..Question::default() });
        let file = sample.named(&first.name).1;
        let mut problem = match plain {
            Ok(reply) if reply.status == 200 => None,
            Ok(reply) => Some(format!("{}: status {}", clean(&path), reply.status)),
            Err(fault) => Some(format!("{}: {}", clean(&path), fault.message)),
        };
        if problem.is_some()
            && !matches!(payload.origin, Origin::User { .. })
            && let Some(moved) = self.find(payload, &first, (&path, &file), asker)?
        {
            answers.moved.push((payload.name.clone(), moved));
            problem = None;
        }
        answers.notes.extend(problem);
        let variants = sample.variants.iter().filter_map(|ending| {
            let beside = format!("{}.{ending}", below(self.tree, &file).display());
            regular::read(beside.as_ref(), regular::RESULT).ok()
        });
        let variants: Vec<Vec<u8>> = variants.collect();
        for at in cells {
            let accept =
                self.plan.cells[*at].delivery.as_ref().map_or("", |delivery| delivery.accept.as_str());
            let reply = asker.ask(&Question { path: &path, accept, ..Question::default() });
            if reply.is_ok_and(|reply| variants.contains(&reply.body)) {
                answers.precompressed.push(*at);
            }
        }
        Ok(())
    }

    /// The folder of the configuration below which a content of the lab's own is looked for, if not in the document root.
    fn find(
        &mut self,
        payload: &Payload,
        instance: &Instance,
        (path, file): (&str, &Path),
        asker: &Asker<'_>,
    ) -> Result<Option<PathBuf>> {
        let content = instance.read(&payload.blob)?;
        let Ok(name) = file.strip_prefix(&self.read.site.root) else { return Ok(None) };
        for root in self.read.site.roots() {
            let file = root.join(name);
            self.files.write(&below(self.tree, &file), || Ok(content.clone()))?;
            let reply = asker.ask(&Question { path, ..Question::default() });
            if reply.is_ok_and(|reply| reply.status == 200 && reply.body == content) {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }
}

impl Answers {
    fn complete(self, plan: &mut Plan, server: &str, way: &str) {
        for at in self.precompressed {
            if let Some(delivery) = &mut plan.cells[at].delivery {
                delivery.kind = WayKind::PreEncoded;
            }
        }
        let servers = plan.servers.iter_mut().filter(|entry| entry.name == server);
        for config in servers.flat_map(|entry| &mut entry.own).filter(|config| config.way == way) {
            config.page.clone_from(&self.page);
            for (payload, file) in &self.moved {
                if let Some(sample) = config.samples.get_mut(payload) {
                    sample.file.clone_from(file);
                }
            }
        }
    }
}

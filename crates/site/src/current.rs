//! What the site does today, by asking: the running site where its URL is given, and a private instance with the user's configuration.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result};
use weigh_load::target::{Resolver, permit};

use super::application::Instances;
use super::asked::{Answers, Questions};
use super::by_program::{self, take_for_downloads};
use super::configured::Configured;
use super::hits::{Hits, RequestsByPath};
use super::located;
use super::page_head;
use super::pages::Visited;
use super::request::SiteRequest;
use super::scripts::{self, Answered, Script};
use super::served::Served;
use super::traffic::{LoggedPage, Traffic};
use weigh_model::site::{Kind, Stratum, Today};
use weigh_model::text::clean;
use weigh_model::units::count;
use weigh_os::digest::sha256;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_rig::asker::Asker;
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::{Lab, Progress};

/// Where today is asked for.
pub struct Current<'a> {
    pub lab: &'a Lab,
    pub ask: &'a SiteRequest,
    pub configured: Option<&'a Configured>,
    pub instances: &'a Instances<'a>,
    pub served: Option<&'a Served>,
    /// Pages that a log names, the most requested first.
    pub logged: &'a [LoggedPage],
    pub visited: &'a Visited,
    /// What scripts answered that is not a page.
    pub made: &'a HashMap<String, Answered>,
}

/// Asks what the scripts are that a log names most, of the site's own PHP or of the running site, and counts them as that; the answers by
/// their keys, none where nobody can be asked.
///
/// # Errors
/// The user wants an end.
pub fn ask_scripts(
    ask: &SiteRequest,
    instances: &Instances<'_>,
    visited: &Visited,
    traffic: &mut Traffic,
    progress: &mut dyn Progress,
) -> Result<HashMap<String, Answered>> {
    let scripts = traffic.scripts();
    if scripts.is_empty() || visited.pages.is_empty() {
        return Ok(HashMap::new());
    }
    progress.doing("asking what the scripts of the log are");
    let private = ask.render.then(|| instances.get(true, progress));
    let mut notes = Vec::new();
    let answers = Interrupt::during(|interrupt| {
        let answers = if let Some(first) = ask.urls.first() {
            let target = Resolver::default().target(first)?;
            permit(&target, &ask.allow_remote)?;
            Asker::of_target(&target).map(|asker| scripts::ask(&asker, scripts)).unwrap_or_default()
        } else if let Some(Ok(private)) = private {
            private.with(interrupt, |asker| Ok(scripts::ask(asker, scripts))).unwrap_or_default()
        } else {
            return Ok(HashMap::new());
        };
        let left = scripts.len() - answers.len();
        if left > 0 {
            let left = count(left, "script", "scripts");
            notes.push(format!(
                "--log: {left} of {} were not asked for, or not answered: they count as pages",
                scripts.len()
            ));
        }
        interrupt.ended(Ok(answers))
    });
    let answers = answers.context("signals cannot be caught")??;
    notes.iter().for_each(|note| progress.note(note));
    traffic.reclassify(&answers);
    Ok(answers)
}

/// Gives the requests of paths that no file has to the files that the server answers them with; those paths with what was asked of them, and the files.
/// `scripts` are those of the log.
///
/// # Errors
/// The user wants an end. Where the server cannot be asked, the paths stay as they are.
pub fn locate(
    ask: &SiteRequest,
    instances: &Instances<'_>,
    output: &Path,
    (asked, scripts): (&mut RequestsByPath, &[Script]),
    progress: &mut dyn Progress,
) -> Result<Vec<(String, Hits, String)>> {
    let application = instances.application.as_ref().filter(|_| ask.server_config.is_some());
    let Some(served) = application.and_then(|application| application.served) else { return Ok(Vec::new()) };
    let paths = located::unknown(asked, served);
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    progress.doing("asking for paths that no file has");
    // Why it cannot be asked is said where today is asked for.
    let Ok(private) = instances.get(false, progress) else { return Ok(Vec::new()) };
    let bodies = Interrupt::during(|interrupt| {
        let bodies = private.with(interrupt, |asker| Ok(located::bodies(asker, &paths)));
        if interrupt.is_set() { anyhow::bail!(INTERRUPTED) } else { Ok(bodies.unwrap_or_default()) }
    });
    let without_query =
        |path: &str| scripts.iter().find(|script| script.key == path).map(|script| script.hits);
    let bodies = bodies.context("signals cannot be caught")??;
    let moved = located::assign(&bodies, served, output, asked, &without_query);
    if !moved.is_empty() {
        let paths = count(moved.len(), "path", "paths");
        progress.note(&format!(
            "{paths} that no file has belong to files that the server sends there, as it was asked"
        ));
    }
    Ok(moved)
}

impl Current<'_> {
    /// Asks for the samples of these strata, puts the answers into them and what is done today into the list. Where nothing can be asked, it is
    /// said, and today is not known.
    ///
    /// # Errors
    /// The definitions of servers cannot be read, or the user wants an end.
    pub fn add(
        &self,
        strata: &mut Vec<Stratum>,
        today: &mut Vec<Today>,
        progress: &mut dyn Progress,
    ) -> Result<()> {
        let definitions = Definition::load(&self.lab.definitions)?;
        let name = self.configured.map(|one| one.server.clone()).or_else(|| seen_server(self.visited));
        let definition = definitions.iter().find(|definition| Some(&definition.name) == name.as_ref());
        let fetched = self.visited.pages.iter().map(|page| (sha256(&page.body), page.url.clone()));
        let made = self.made.values().filter(|answered| !answered.body.is_empty());
        let made = made.map(|answered| (sha256(&answered.body), answered.url.clone()));
        let pages: HashMap<String, String> = made.chain(fetched).collect();
        let path = |page: &LoggedPage| page.url.split('?').next().unwrap_or_default().to_owned();
        let logged: Vec<String> = self.logged.iter().map(path).collect();
        let served = self.served;
        let by_program = self.by_program(strata, &pages, progress)?;
        take_for_downloads(strata, &by_program);
        let questions = Questions {
            served,
            definition,
            pages: &pages,
            logged: &logged,
            has_program: true,
            by_program: &by_program,
        };
        if let Some(configured) = self.configured {
            progress.doing("asking a private instance with the configuration");
            match self.of_private(&questions, strata, progress) {
                Ok((answers, questions)) => {
                    let server = &configured.server;
                    if let Some(root) = configured.missing_root() {
                        progress.note(&format!(
                            "--server-config: no {root} was found with it; types and codings that it does not name are Weighbridge's, and your server's may be others"
                        ));
                    }
                    let place = |method: &str| match configured.line_of(definition, method) {
                        Some(line) => format!("{server}, {line}"),
                        None => server.clone(),
                    };
                    let found = answers.apply(&questions, &place, strata);
                    answers.notes().iter().for_each(|note| progress.note(note));
                    today.extend(found);
                }
                Err(_) if Interrupt::caught().is_set() => anyhow::bail!(INTERRUPTED),
                Err(error) => {
                    let remedy =
                        if self.ask.urls.is_empty() { "; give --url of the running site" } else { "" };
                    progress.note(&format!(
                        "what the site sends today cannot be asked of a private instance: {error:#}{remedy}"
                    ));
                }
            }
        }
        if let Some(first) = self.ask.urls.first() {
            progress.doing("asking the running site");
            let target = Resolver::default().target(first)?;
            permit(&target, &self.ask.allow_remote)?;
            let asker = Asker::of_target(&target)
                .map_err(|fault| anyhow::anyhow!("--url {}: {}", clean(first), fault.message))?;
            let answers = questions.ask(&asker, strata);
            let server = seen_server(self.visited).map_or_else(String::new, |server| format!(", {server}"));
            let place = |_: &str| format!("seen at {}{server}", clean(&target.location.authority));
            let found = answers.apply(&questions, &place, strata);
            answers.notes().iter().for_each(|note| progress.note(note));
            let forbids = self.visited.page_head.as_ref().and_then(|head| head.forbids);
            put(found, today, forbids, progress);
        }
        today.sort_by_key(|one| one.kind);
        Ok(())
    }

    /// The files that the server hands to a program; none where no private instance with the configuration tells.
    fn by_program(
        &self,
        strata: &[Stratum],
        made: &HashMap<String, String>,
        progress: &mut dyn Progress,
    ) -> Result<HashSet<String>> {
        let stand_in = self.configured.map(|_| self.instances.get(false, progress));
        let Some(Ok(private)) = stand_in else { return Ok(HashSet::new()) };
        let found = Interrupt::during(|interrupt| {
            let found = private.with(interrupt, |asker| Ok(by_program::paths(asker, strata, made)));
            // Why it does not start is said where it is asked for more.
            interrupt.ended(Ok(found.unwrap_or_default()))
        });
        found.context("signals cannot be caught")?
    }

    /// The answers of a private instance: with the site's own PHP where that made the pages, else with a stand-in for it.
    fn of_private<'q>(
        &self,
        questions: &Questions<'q>,
        strata: &[Stratum],
        progress: &mut dyn Progress,
    ) -> Result<(Answers, Questions<'q>)> {
        let is_rendered = self.ask.render && self.visited.server.is_some();
        let private = self.instances.get(is_rendered, progress)?;
        let questions = Questions { has_program: is_rendered, ..*questions };
        let answers = Interrupt::during(|interrupt| -> Result<Answers> {
            let asked = private.with(interrupt, |asker| Ok(questions.ask(asker, strata)));
            let mut answers = interrupt.ended(asked)?;
            if let Some(file) = answers.unexplained(&questions, strata)
                && let Some(level) = private.level_of(&file, interrupt)?
            {
                answers.explain(&file, level);
            }
            Ok(answers)
        });
        Ok((answers.context("signals cannot be caught")??, questions))
    }
}

/// The server that sent the pages, if it says what it is.
pub fn seen_server(visited: &Visited) -> Option<String> {
    let sent = || page_head::server(&visited.page_head.as_ref()?.server);
    visited.server.clone().or_else(sent)
}

/// Puts what the running site was found to do in place of what its configuration does in a private instance. A difference is said; `forbids`:
/// the parts of a page's head that forbid a content coding.
fn put(found: Vec<Today>, today: &mut Vec<Today>, forbids: Option<&str>, progress: &mut dyn Progress) {
    for new in found {
        let method = |one: &Today| one.method.split(':').next().unwrap_or_default().to_owned();
        match today.iter_mut().find(|known| known.kind == new.kind) {
            Some(known) => {
                if method(known) != method(&new) {
                    let kind = new.kind.plural();
                    let is_off = new.kind == Kind::Page && new.method == "server/plain";
                    let why = match (is_off, forbids) {
                        (true, Some(field)) => {
                            format!(": the application switches compression off ({field})")
                        }
                        (true, None) => {
                            ": the application switches compression off, or the running site has another configuration"
                                .to_owned()
                        }
                        (false, _) => String::new(),
                    };
                    progress.note(&format!(
                        "{kind}: {}; with the configuration in a private instance: {}{why}",
                        new.about, known.about
                    ));
                }
                *known = new;
            }
            None => today.push(new),
        }
    }
}

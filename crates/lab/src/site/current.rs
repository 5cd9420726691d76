//! What the site does today, by asking: the running site where its URL is given, and a private instance with the user's configuration.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use weigh_load::target::{Resolver, permit};

use super::application::Application;
use super::asked::{Answers, Questions};
use super::configured::Configured;
use super::pages::Visited;
use super::private::Private;
use super::scripts::{self, Answered};
use super::traffic::Traffic;
use super::{Ask, PagesWanted, located, seen_server};
use crate::digest::sha256;
use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::lab::{Lab, Progress};
use crate::rig::asker::Asker;
use crate::rig::server::Definition;
use crate::rig::service::FolderDefinition;
use crate::subject::delivery::url;
use weigh_model::site::{Kind, Stratum, Today};
use weigh_model::text::clean;
use weigh_model::units::count;

/// Where today is asked for.
pub struct Current<'a> {
    /// Definitions, and what runtimes there are.
    pub lab: &'a Lab,
    /// What the user gave.
    pub ask: &'a Ask,
    /// The configuration as it was read.
    pub configured: Option<&'a Configured>,
    /// The folders of the site, its account, and the pages of its log.
    pub pages: &'a PagesWanted<'a>,
    /// The pages that were fetched.
    pub visited: &'a Visited,
    /// What scripts answered that is no page.
    pub made: &'a HashMap<String, Answered>,
}

/// The private instance of what the user gave; none: there is no configuration or no document root.
fn private(
    lab: &Lab,
    ask: &Ask,
    pages: &PagesWanted<'_>,
    with_php: bool,
    progress: &mut dyn Progress,
) -> Option<Result<Private>> {
    let PagesWanted { served, docroot, account, logged } = *pages;
    let (docroot, file) = (docroot?, ask.server_config.as_deref()?);
    let (server, php) = (ask.server.as_deref(), ask.php.as_slice());
    let application =
        Application { lab, served, docroot, server_config: Some(file), server, php, account, logged };
    Some(application.private(with_php, progress))
}

/// Asks what the scripts are that a log names most, of the site's own PHP or of the running site, and counts them as that; the answers by
/// their keys, none where nobody can be asked.
///
/// # Errors
/// The user wants an end.
pub fn ask_scripts(
    lab: &Lab,
    ask: &Ask,
    pages: &PagesWanted<'_>,
    visited: &Visited,
    traffic: &mut Traffic,
    progress: &mut dyn Progress,
) -> Result<HashMap<String, Answered>> {
    let scripts = traffic.scripts();
    if scripts.is_empty() || visited.pages.is_empty() {
        return Ok(HashMap::new());
    }
    progress.doing("asking what the scripts of the log are");
    let answers = Interrupt::during(|interrupt| {
        let answers = if let Some(first) = ask.urls.first() {
            let target = Resolver::default().target(first)?;
            permit(&target, &ask.allow_remote)?;
            Asker::of_target(&target).map(|asker| scripts::ask(&asker, scripts)).unwrap_or_default()
        } else if let Some(Ok(private)) = rendered(lab, ask, pages) {
            private.with(interrupt, |asker| Ok(scripts::ask(asker, scripts))).unwrap_or_default()
        } else {
            HashMap::new()
        };
        interrupt.ended(Ok(answers))
    });
    let answers = answers.context("signals cannot be caught")??;
    traffic.reclassify(&answers);
    Ok(answers)
}

/// The private instance that made the site's pages; none: none did.
fn rendered(lab: &Lab, ask: &Ask, pages: &PagesWanted<'_>) -> Option<Result<Private>> {
    let PagesWanted { served, docroot, account, logged } = *pages;
    let docroot = docroot.filter(|_| ask.render)?;
    let (server, php, server_config) =
        (ask.server.as_deref(), ask.php.as_slice(), ask.server_config.as_deref());
    let application = Application { lab, served, docroot, server_config, server, php, account, logged };
    Some(application.private(true, &mut Silent))
}

/// Gives the requests of a log's paths that no file has to the files that the server answers them with.
///
/// # Errors
/// The user wants an end. Where the server cannot be asked, the paths stay as they are.
pub fn locate(
    lab: &Lab,
    ask: &Ask,
    pages: &PagesWanted<'_>,
    output: &Path,
    traffic: &mut Traffic,
    progress: &mut dyn Progress,
) -> Result<()> {
    let Some(served) = pages.served else { return Ok(()) };
    let paths = located::unknown(&traffic.asked, served);
    if paths.is_empty() {
        return Ok(());
    }
    progress.doing("asking for paths of the log that no file has");
    let Some(Ok(private)) = private(lab, ask, pages, false, &mut Silent) else { return Ok(()) };
    let bodies = Interrupt::during(|interrupt| {
        let bodies = private.with(interrupt, |asker| Ok(located::bodies(asker, &paths)));
        if interrupt.is_set() { anyhow::bail!(INTERRUPTED) } else { Ok(bodies.unwrap_or_default()) }
    });
    let moved =
        located::assign(&bodies.context("signals cannot be caught")??, served, output, &mut traffic.asked);
    moved.iter().for_each(|(path, hits, file)| traffic.take_for_file(path, hits, file));
    if !moved.is_empty() {
        let paths = count(moved.len(), "path", "paths");
        progress.note(&format!(
            "--log: {paths} that no file has belong to files that the server sends there, as it was asked"
        ));
    }
    Ok(())
}

/// Where what is said has been said before.
struct Silent;

impl Progress for Silent {
    fn doing(&mut self, _: &str) {}

    fn note(&mut self, _: &str) {}
}

impl Current<'_> {
    /// Asks for the samples of these strata, puts the answers into them and what is done today into the list. Where nothing can be asked, it is
    /// said, and today is not known.
    ///
    /// # Errors
    /// The definitions of servers cannot be read, or the user wants an end.
    pub fn add(
        &self,
        strata: &mut [Stratum],
        today: &mut Vec<Today>,
        progress: &mut dyn Progress,
    ) -> Result<()> {
        let definitions = Definition::load(&self.lab.definitions)?;
        let name = self.configured.map(|one| one.server.clone()).or_else(|| seen_server(self.visited));
        let definition = definitions.iter().find(|definition| Some(&definition.name) == name.as_ref());
        let fetched = self.visited.pages.iter().map(|page| (sha256(&page.body), path_of(&page.path)));
        let made = self.made.values().map(|answered| (sha256(&answered.body), answered.url.clone()));
        let pages: HashMap<String, String> = made.chain(fetched).collect();
        let logged: Vec<String> = self.pages.logged.iter().map(|page| path_of(&page.path)).collect();
        let served = self.pages.served;
        let questions = Questions { served, definition, pages: &pages, logged: &logged, has_program: true };
        if let Some(configured) = self.configured {
            progress.doing("asking a private instance with the configuration");
            match self.of_private(&questions, strata, progress) {
                Ok((answers, questions)) => {
                    let server = &configured.server;
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
            let forbids = self.visited.page_seen.as_ref().and_then(|seen| seen.forbids);
            put(found, today, forbids, progress);
        }
        today.sort_by_key(|one| one.kind);
        Ok(())
    }

    /// The answers of a private instance: with the site's own PHP where that made the pages, else with a stand-in for it.
    fn of_private<'q>(
        &self,
        questions: &Questions<'q>,
        strata: &[Stratum],
        progress: &mut dyn Progress,
    ) -> Result<(Answers, Questions<'q>)> {
        let is_rendered = self.ask.render && self.visited.server.is_some();
        // Of a site that was rendered, what its user cannot read was told.
        let said: &mut dyn Progress = if is_rendered { &mut Silent } else { progress };
        let private = private(self.lab, self.ask, self.pages, is_rendered, said);
        let private =
            private.context("the document root of the configuration is not here; give --docroot")??;
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

/// The path of a URL, from the one below the site's root.
fn path_of(path: &str) -> String {
    format!("/{}", url::file(path))
}

/// Puts what the running site was found to do in place of what its configuration does in a private instance. A difference is said; `forbids`:
/// what of a page's head forbids a content coding.
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
                        (true, None) => ": the application switches compression off".to_owned(),
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

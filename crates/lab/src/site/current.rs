//! What the site does today, by asking: the running site where its URL is given, and a private instance with the user's configuration.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use weigh_load::target::{Resolver, permit};

use super::application::Application;
use super::asked::{Answers, Questions};
use super::class;
use super::configured::Configured;
use super::hits::Asked;
use super::pages::Visited;
use super::private::Private;
use super::served::Served;
use super::{Ask, located, seen_server};
use crate::digest::sha256;
use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::lab::{Lab, Progress};
use crate::rig::asker::Asker;
use crate::rig::server::Definition;
use crate::rig::service::FolderDefinition;
use crate::subject::delivery::url;
use weigh_model::site::{Stratum, Today};
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
    /// The folders of the site.
    pub served: Option<&'a Served>,
    /// The document root.
    pub docroot: Option<&'a Path>,
    /// The pages that were fetched.
    pub visited: &'a Visited,
    /// What a log names.
    pub asked: Option<&'a Asked>,
}

/// Gives the requests of a log's paths that no file has to the files that the server answers them with.
///
/// # Errors
/// The user wants an end. Where the server cannot be asked, the paths stay as they are.
pub fn locate(
    lab: &Lab,
    ask: &Ask,
    (served, docroot): (&Served, &Path),
    output: &Path,
    asked: &mut Asked,
    progress: &mut dyn Progress,
) -> Result<()> {
    let (Some(file), paths) = (&ask.server_config, located::unknown(asked, served)) else { return Ok(()) };
    if paths.is_empty() {
        return Ok(());
    }
    progress.doing("asking for paths of the log that no file has");
    let Ok(private) = Private::with_stand_in(lab, file, ask.server.as_deref(), docroot, served) else {
        return Ok(());
    };
    let bodies = Interrupt::during(|interrupt| {
        let bodies = private.with(interrupt, |asker| Ok(located::bodies(asker, &paths)));
        if interrupt.is_set() { anyhow::bail!(INTERRUPTED) } else { Ok(bodies.unwrap_or_default()) }
    });
    let moved = located::assign(&bodies.context("signals cannot be caught")??, served, output, asked);
    if moved > 0 {
        let paths = count(moved, "path", "paths");
        progress.note(&format!(
            "--log: {paths} that no file has belong to files that the server sends there, as it was asked"
        ));
    }
    Ok(())
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
        let pages: HashMap<String, String> =
            self.visited.pages.iter().map(|page| (sha256(&page.body), path_of(&page.path))).collect();
        let logged = self.logged();
        let questions =
            Questions { served: self.served, definition, pages: &pages, logged: &logged, has_program: true };
        if let Some(configured) = self.configured {
            progress.doing("asking a private instance with the configuration");
            match self.of_private(configured, &questions, strata) {
                Ok((answers, questions)) => {
                    let server = &configured.server;
                    let place = |method: &str| match configured.line_of(definition, method) {
                        Some(line) => format!("{server}, {line}"),
                        None => server.clone(),
                    };
                    let found = answers.apply(&questions, &place, strata);
                    answers.notes().iter().for_each(|note| progress.note(note));
                    put(found, today, progress);
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
            put(found, today, progress);
        }
        today.sort_by_key(|one| one.kind);
        Ok(())
    }

    /// The answers of a private instance: with the site's own PHP where that made the pages, else with a stand-in for it.
    fn of_private<'q>(
        &self,
        configured: &Configured,
        questions: &Questions<'q>,
        strata: &[Stratum],
    ) -> Result<(Answers, Questions<'q>)> {
        let docroot = self.docroot.unwrap_or_else(|| configured.root());
        let is_rendered = self.ask.render && self.visited.server.is_some();
        let server_config = self.ask.server_config.as_deref().context("--server-config is not given")?;
        let private = if is_rendered {
            let php = &self.ask.php;
            Application {
                lab: self.lab,
                served: self.served,
                docroot,
                server_config: Some(server_config),
                php,
            }
            .private()?
        } else {
            let empty = Served::default();
            let served = self.served.unwrap_or(&empty);
            Private::with_stand_in(self.lab, server_config, self.ask.server.as_deref(), docroot, served)?
        };
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

    /// The paths of pages in the log, the most requested first.
    fn logged(&self) -> Vec<String> {
        let paths = self.asked.iter().flat_map(|asked| &asked.paths);
        let mut pages: Vec<(&String, f64)> = paths
            .filter(|(path, _)| class::is_page(path))
            .map(|(path, hits)| (path, hits.requests))
            .collect();
        pages.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        pages.into_iter().map(|(path, _)| path_of(path)).collect()
    }
}

/// The path of a URL, from the one below the site's root.
fn path_of(path: &str) -> String {
    format!("/{}", url::file(path))
}

/// Puts what was found in place of what is there of its kind. A difference is said.
fn put(found: Vec<Today>, today: &mut Vec<Today>, progress: &mut dyn Progress) {
    for new in found {
        let method = |one: &Today| one.method.split(':').next().unwrap_or_default().to_owned();
        match today.iter_mut().find(|known| known.kind == new.kind) {
            Some(known) => {
                if method(known) != method(&new) {
                    progress.note(&format!("{}: {}; before: {}", new.kind.plural(), new.about, known.about));
                }
                *known = new;
            }
            None => today.push(new),
        }
    }
}

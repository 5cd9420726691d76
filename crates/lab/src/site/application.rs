//! The site's own application in a private instance: its pages are made there as for a visitor, and requested as those of a running site.
//!
//! The server has the user's configuration, else the lab's; PHP-FPM has the user's `php.ini`. The document root is served from where it is,
//! and nothing of it is written. The application itself may do what it does for a visitor: it reaches its database.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::pages::{Visited, Visitor};
use super::private::Private;
use super::served::Served;
use crate::interrupt::Interrupt;
use crate::lab::{Configured, Lab, Progress};
use crate::rig::runtime::PhpRuntime;
use crate::rig::server::definition::Php;
use crate::rig::server::own::site::Wanted;
use crate::rig::server::{Definition, Found};
use crate::rig::service::FolderDefinition;

/// An application that is to be run.
pub struct Application<'a> {
    /// Definitions, and what runtimes there are.
    pub lab: &'a Lab,
    /// The folders of the site.
    pub served: Option<&'a Served>,
    /// The document root.
    pub docroot: &'a Path,
    /// The user's configuration of the server.
    pub server_config: Option<&'a Path>,
    /// PHPs, the first of which runs it.
    pub php: &'a [PathBuf],
}

impl Application<'_> {
    /// Starts it, looks at its front page and linked ones, and ends it.
    ///
    /// # Errors
    /// One line: what is missing to run it, or what it answers in place of a page.
    pub fn look(&self, progress: &mut dyn Progress) -> Result<Visited> {
        progress.doing("starting the site's application");
        let private = self.private()?;
        if private.own.is_none() {
            let name = &private.found.definition.name;
            progress.note(&format!(
                "--render: {name} as Weighbridge configures it; with --server-config, as the site has it"
            ));
        }
        let looked = Interrupt::during(|interrupt| interrupt.ended(self.tour(&private, interrupt)));
        let (visited, said) = looked.context("signals cannot be caught")??;
        said.0.iter().for_each(|line| progress.note(line));
        Ok(visited)
    }

    /// The instance that makes the site's pages.
    ///
    /// # Errors
    /// One line: what is missing to run it.
    pub fn private(&self) -> Result<Private> {
        let (found, own) = self.server()?;
        Private::new(found, own, self.docroot, Some(self.php()?), self.served)
    }

    /// The server with the user's configuration, else one that is here with the lab's.
    fn server(&self) -> Result<(Found, Option<Configured>)> {
        if let Some(file) = self.server_config {
            let wanted = Wanted { docroot: Some(self.docroot.to_owned()), ..Wanted::default() };
            let own = self.lab.read_configuration(file, None, &wanted)?;
            return Ok((own.found.clone(), Some(own)));
        }
        let definitions = Definition::load(&self.lab.definitions)?;
        // Those that an application may be set up for: a configuration of theirs could be given.
        let suited = definitions.iter().filter(|one| one.php == Php::Fpm && one.own.is_some());
        let found = suited.map(Definition::find).filter(|found| found.missing.is_none());
        let first = found.min_by_key(|found| found.definition.name != "nginx");
        Ok((first.context("neither nginx nor Apache is here: apt install nginx-light")?, None))
    }

    /// The first PHP that was named, else the first here that has PHP-FPM.
    fn php(&self) -> Result<PhpRuntime> {
        let named = self.lab.php(&self.php[..self.php.len().min(1)])?.into_iter().next();
        let all = || {
            let path = std::env::var_os("PATH").unwrap_or_default();
            PhpRuntime::all(&path, &self.lab.runtimes()).into_iter().find(|php| php.fpm.is_some())
        };
        match named.or_else(all) {
            Some(php) if php.fpm.is_some() => Ok(php),
            Some(php) => bail!("PHP {} has no PHP-FPM: {}", php.version, php.fpm_remedy()),
            None => bail!("no PHP-FPM is here: apt install php-fpm"),
        }
    }

    /// What its pages are, and what is to be said of them.
    fn tour(&self, private: &Private, interrupt: &Interrupt) -> Result<(Visited, Said)> {
        let scheme = if private.is_secure() { "https" } else { "http" };
        let urls = [format!("{scheme}://{}/", private.host())];
        let (mut visited, mut said) = private.with(interrupt, |asker| {
            let mut said = Said::default();
            let visitor =
                Visitor { urls: &urls, allowed: &[], served: self.served, instance: Some(asker.peer) };
            let visited = visitor.look(&mut said)?;
            Ok((visited, said))
        })?;
        if visited.pages.is_empty() {
            said.note("--render: no page of this document root is made by PHP");
        }
        visited.server = Some(private.found.definition.name.clone());
        if private.own.is_none() {
            // What the lab's own configuration sends says nothing of today.
            (visited.page_seen, visited.asset_seen, visited.tls) = (None, None, None);
        }
        Ok((visited, said))
    }
}

/// What is said in a private network, where nobody looks meanwhile.
#[derive(Debug, Default)]
struct Said(Vec<String>);

impl Progress for Said {
    fn doing(&mut self, _: &str) {}

    fn note(&mut self, what: &str) {
        self.0.push(what.to_owned());
    }
}

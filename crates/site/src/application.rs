//! The site's own application in a private instance: its pages are made there as for a visitor, and requested as those of a running site.
//!
//! The server has the user's configuration, else the lab's; PHP-FPM has the user's `php.ini`, or that and the pool's settings. The document root is served from where it is,
//! and nothing of it is written: started by root, both have a user of their own, who is shown it read-only, or the account that is named.
//! The application itself may do what it does for a visitor: it reaches its database.

use std::cell::OnceCell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use url::Url;
use weigh_model::text::{clean, clean_path};
use weigh_model::units;

use super::page_loads::{self, RecordedPages};
use super::pages::{Visited, Visitor};
use super::private::{Account, Private};
use super::request::NamedPhp;
use super::served::Served;
use super::traffic::LoggedPage;
use crate::overrides;
use crate::server_config::Configured;
use weigh_os::access::Access;
use weigh_os::interrupt::Interrupt;
use weigh_os::mounts;
use weigh_os::permissions::{first_closed, is_open_to_all};
use weigh_os::user::OwnUser;
use weigh_rig::runtime::PhpRuntime;
use weigh_rig::server::definition::Php;
use weigh_rig::server::{Definition, Found};
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::{Lab, Progress};
use weigh_serverconf::php::OwnPhp;
use weigh_serverconf::site::Wanted;

/// The script that makes front pages.
const SCRIPT: &str = "index.php";
/// Files and folders by which the folder of a whole project is known, and how far above its document root it may be.
const OF_PROJECT: [&str; 2] = ["composer.json", ".git"];
const MOST_ABOVE: usize = 3;

/// An application that is to be run.
pub struct Application<'a> {
    pub lab: &'a Lab,
    pub served: Option<&'a Served>,
    pub docroot: &'a Path,
    pub server_config: Option<&'a Path>,
    /// The server that it is for, as the user says.
    pub server: Option<&'a str>,
    /// Which site of the configuration, by a name.
    pub site: Option<&'a str>,
    /// PHPs, the first of which runs it.
    pub php: &'a [NamedPhp],
    /// The user's configuration of it.
    pub php_config: Option<&'a OwnPhp>,
    /// The account that server and PHP run as, with its name; none: the lab's own user.
    pub account: Option<(&'a str, OwnUser)>,
    /// Pages that a log names, the most requested first.
    pub logged: &'a [LoggedPage],
    /// Whether its pages are loaded in a browser too.
    pub browser: bool,
}

/// The private instances of a site, each made when it is needed first.
pub struct Instances<'a> {
    /// What they are of; none: the document root is not here.
    pub application: Option<Application<'a>>,
    with_php: OnceCell<Result<Private, String>>,
    with_stand_in: OnceCell<Result<Private, String>>,
}

impl<'a> Instances<'a> {
    pub fn new(application: Option<Application<'a>>) -> Instances<'a> {
        Instances { application, with_php: OnceCell::new(), with_stand_in: OnceCell::new() }
    }

    /// The one that makes the site's pages, or the one in which a stand-in answers for PHP.
    ///
    /// # Errors
    /// One line: what is missing to run it.
    pub fn get(&self, with_php: bool, progress: &mut dyn Progress) -> Result<&Private> {
        let application = self.application.as_ref();
        let application = application.context("the document root is not here; give --docroot")?;
        let (cell, other) = match with_php {
            true => (&self.with_php, &self.with_stand_in),
            false => (&self.with_stand_in, &self.with_php),
        };
        // What the user can read and write is the same for both, and said once.
        let progress: &mut dyn Progress =
            if other.get().is_some() { &mut RecordedNotes::default() } else { progress };
        let made = cell
            .get_or_init(|| application.private(with_php, progress).map_err(|error| format!("{error:#}")));
        made.as_ref().map_err(|error| anyhow!("{error}"))
    }
}

impl Application<'_> {
    /// Starts it, looks at its front page and linked ones, and ends it.
    ///
    /// # Errors
    /// One line: what it answers in place of a page.
    pub fn look(&self, private: &Private, progress: &mut dyn Progress) -> Result<Visited> {
        progress.doing("starting the site's application");
        if private.own.is_none() {
            let name = &private.found.definition.name;
            progress.note(&format!(
                "--render: {name} as Weighbridge configures it; with --server-config, as the site has it"
            ));
        }
        let looked = Interrupt::during(|interrupt| interrupt.ended(self.tour(private, interrupt)));
        let (visited, said) = looked.context("signals cannot be caught")??;
        said.0.iter().for_each(|line| progress.note(line));
        Ok(visited)
    }

    /// The instance that makes the site's pages, or with a stand-in for PHP only tells what its server does.
    pub fn private(&self, with_php: bool, progress: &mut dyn Progress) -> Result<Private> {
        let settings = self.php.first().map(|named| named.settings.as_slice()).unwrap_or_default();
        let php = if with_php { Some((self.php()?, settings)) } else { None };
        self.private_by(php, progress)
    }

    /// As [`Application::private`], by this PHP with settings, `NAME=VALUE`; none: a stand-in.
    pub fn private_by(
        &self,
        php: Option<(PhpRuntime, &[String])>,
        progress: &mut dyn Progress,
    ) -> Result<Private> {
        let (found, own) = self.server()?;
        let fpm = php.as_ref().and_then(|(php, _)| php.fpm_binary());
        let of_site = self.php_config.map(OwnPhp::lines).unwrap_or_default();
        let user = match self.account {
            Some((_, account)) => Some(account),
            None => OwnUser::for_programs(found.program.as_deref().into_iter().chain(fpm.as_deref()))
                .map_err(|denied| anyhow!("{}", denied.refused("the application would run as root")))?,
        };
        let shown = match user {
            Some(user) => self.shown(user, own.as_ref(), progress)?,
            None => Vec::new(),
        };
        let php = php.map(|(php, settings)| (php, [&of_site, settings].concat()));
        Ok(Private::new(found, own, self.docroot, php, self.served, Account { user, shown }))
    }

    /// The folders that a user is shown read-only, after what it can read and write there was asked. An account of the machine has what it has.
    fn shown(
        &self,
        user: OwnUser,
        own: Option<&Configured>,
        progress: &mut dyn Progress,
    ) -> Result<Vec<PathBuf>> {
        let script = self.docroot.join(SCRIPT);
        let front = if script.is_file() { &script } else { self.docroot };
        if let Some((name, _)) = self.account {
            let access = user.access(&[], self.docroot)?;
            progress.note(&written(name, &access));
            self.check_readable(user, &[], front, &access, progress)?;
            return Ok(Vec::new());
        }
        let project = project(self.docroot, user);
        let others = self.served.into_iter().flat_map(Served::roots).cloned();
        let configured = own.map(|own| own.read.site.root.clone()).filter(|root| root.is_dir());
        let mut shown: Vec<PathBuf> = others.chain([project.clone()]).chain(configured).collect();
        // One that is only let through is not a folder to search.
        let is_listed = project.metadata().is_ok_and(|data| data.permissions().mode() & 0o004 != 0);
        let looked_at = if is_listed { project.as_path() } else { self.docroot };
        let access = match user.access(&shown, looked_at) {
            Ok(access) => access,
            Err(_) if is_open_to_all(front) => {
                shown.clear();
                user.access(&[], looked_at)?
            }
            Err(error) => {
                let (front, remedy) = (clean_path(front), mounts::REMEDY);
                bail!(
                    "{front} is closed to the user that it would run as: {error:#}; {remedy}, or start weigh as an ordinary user"
                )
            }
        };
        self.check_readable(user, &shown, front, &access, progress)?;
        Ok(shown)
    }

    /// Says which files the user cannot read.
    ///
    /// # Errors
    /// The front page's script is one of them.
    fn check_readable(
        &self,
        user: OwnUser,
        shown: &[PathBuf],
        front: &Path,
        access: &Access,
        progress: &mut dyn Progress,
    ) -> Result<()> {
        if access.unreadable.count == 0 {
            return Ok(());
        }
        let who = self.account.map_or("the user that PHP runs as here".into(), |(name, _)| clean(name));
        let remedy = match access.reader() {
            Some(name) => format!("give --render-as {name}"),
            None => "chmod o+rX that path, or give --render-as USER".into(),
        };
        if user.access(shown, front)?.unreadable.count > 0 {
            bail!("{who} cannot read {}; {remedy}", clean_path(front));
        }
        let (count, list) =
            (units::count(access.unreadable.count, "file", "files"), access.unreadable.list());
        progress.note(&format!("--render: {count} cannot be read by {who}: {list}; {remedy}"));
        Ok(())
    }

    /// The server with the user's configuration, else one that is here with the lab's.
    fn server(&self) -> Result<(Found, Option<Configured>)> {
        if let Some(file) = self.server_config {
            let wanted =
                Wanted { name: self.site.map(str::to_owned), docroot: Some(self.docroot.to_owned()) };
            let own = overrides::read_configuration(self.lab, file, self.server, &wanted)?;
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
        let first: Vec<PathBuf> = self.php.iter().take(1).map(|named| named.binary.clone()).collect();
        let named = self.lab.php(&first)?.into_iter().next();
        let all = || {
            let path = std::env::var_os("PATH").unwrap_or_default();
            PhpRuntime::all(&path, &self.lab.runtimes()).into_iter().find(|php| php.fpm.is_some())
        };
        with_fpm(named.or_else(all).context("no PHP-FPM is here: apt install php-fpm")?)
    }

    /// What its pages are, and what is to be said of them.
    fn tour(&self, private: &Private, interrupt: &Interrupt) -> Result<(Visited, RecordedNotes)> {
        let scheme = if private.is_secure() { "https" } else { "http" };
        let urls = [format!("{scheme}://{}/", private.host())];
        let (mut visited, said) = private.with(interrupt, |asker| {
            let mut said = RecordedNotes::default();
            let visitor = Visitor {
                urls: &urls,
                allowed: &[],
                served: self.served,
                instance: Some(asker.peer),
                logged: self.logged,
            };
            let mut visited = visitor.look(&mut said)?;
            if self.browser {
                let base = Url::parse(&urls[0]).context("the host of the private instance")?;
                let paths: Vec<String> = visited.pages.iter().map(|page| page.url.clone()).collect();
                let recorded = page_loads::record(&base, asker.peer.address, true, &paths);
                visited.recorded = recorded.unwrap_or_else(|error| RecordedPages::without(&error));
            }
            Ok((visited, said))
        })?;
        if visited.pages.is_empty() {
            let none = || "--render: no page of this document root is made by PHP".to_owned();
            visited.problem.get_or_insert_with(none);
        }
        visited.server = Some(private.found.definition.name.clone());
        // Whether visitors come over TLS is said by the configuration, whatever a private instance can speak.
        visited.tls = None;
        if private.own.is_none() {
            // What the lab's own configuration sends says nothing of today.
            visited.page_head = None;
        }
        Ok((visited, said))
    }
}

/// One that can serve a site.
///
/// # Errors
/// It has no PHP-FPM.
pub fn with_fpm(php: PhpRuntime) -> Result<PhpRuntime> {
    ensure!(php.fpm.is_some(), "PHP {} has no PHP-FPM: {}", php.version, php.fpm_remedy());
    Ok(php)
}

/// What an account can write below the document root, before anything is started as it.
fn written(name: &str, access: &Access) -> String {
    let name = clean(name);
    let folders = &access.writable;
    match folders.count {
        0 => format!("--render-as {name}: the application can write nothing below the document root"),
        count => format!(
            "--render-as {name}: the application can write to {} of the document root ({}), as it does for a visitor",
            units::count(count, "folder", "folders"),
            folders.list()
        ),
    }
}

/// The folder of the project that a document root belongs to, for PHP loads more than what is served: the nearest one above with a
/// `composer.json` or a repository; else, where what is above is closed to the user, the folder that the document root is in. A folder that is itself closed is none.
fn project(docroot: &Path, user: OwnUser) -> PathBuf {
    let is_open =
        |folder: &&Path| std::fs::metadata(folder).is_ok_and(|data| data.permissions().mode() & 0o001 != 0);
    let closed = docroot.parent().and_then(|above| first_closed(above, Some(user.uid())));
    let mut near = docroot.ancestors().take(MOST_ABOVE + 1).take_while(is_open);
    let marked = near.find(|folder| OF_PROJECT.iter().any(|name| folder.join(name).exists()));
    let around =
        docroot.parent().filter(is_open).filter(|above| closed.is_some_and(|closed| **above != closed));
    marked.or(around).unwrap_or(docroot).to_owned()
}

/// What is said in a private network, where nobody looks meanwhile.
#[derive(Debug, Default)]
pub struct RecordedNotes(Vec<String>);

impl Progress for RecordedNotes {
    fn doing(&mut self, _: &str) {}

    fn note(&mut self, what: &str) {
        self.0.push(what.to_owned());
    }
}

//! The site's server in a private instance, with the user's whole configuration, over the site's files where they are: it is asked what it
//! answers. Nothing of the files is written, and nothing outside is reached but what the site's own PHP reaches where that runs.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use walkdir::WalkDir;
use weigh_model::setting::Setting;
use weigh_model::way::{CONFIG, FPM, TREE, UPSTREAM};

use super::served::Served;
use super::server_config::Configured;
use weigh_content::types;
use weigh_os::group::Group;
use weigh_os::guard::{self, NewLines};
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::mounts::{self, IN_PLACE};
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_rig::asker::{Asker, Question, with_instance};
use weigh_rig::fpm::{Gauge, Mode, Pool, PoolSpec};
use weigh_rig::runtime::PhpRuntime;
use weigh_rig::server::certificate;
use weigh_rig::server::{Found, Site};
use weigh_rig::service::without_log;
use weigh_rig::upstream::{Respond, Response, Upstream};
use weigh_serverconf::whole;

/// PHP-FPM's workers: pages are requested one after the other, and one may request another.
const WORKERS: u32 = 2;
/// Letters of PHP's last words that are shown.
const WORDS: usize = 300;
/// Files of folders that are looked at, and how deep below the document root.
const MOST_FILES: usize = 200;
const DEEPEST: usize = 8;
/// The longest file that a stand-in for another server sends, in bytes.
const LONGEST: u64 = 16 << 20;
/// What every page of a stand-in begins with; no page of anybody's has it.
pub const STANDS_IN: &[u8] = b"<!doctype html><title>stands for a page of the site</title>";

/// Who server and PHP run as.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The user; none: the lab's own.
    pub user: Option<OwnUser>,
    /// Folders that this user is shown, see [`weigh_os::mounts`].
    pub shown: Vec<PathBuf>,
}

/// A file that a filter encoded at a level that its length does not tell: the server's library is another than those that are known.
pub struct Unexplained {
    /// The method's name, without its level.
    pub way: String,
    pub levels: std::ops::RangeInclusive<i32>,
    pub path: String,
    pub accept: &'static str,
    pub bytes: u64,
    pub coding: String,
}

/// The PHP of an instance while it runs.
pub struct MeteredPool {
    /// All its processes.
    pub group: Group,
    /// None: PHP-FPM does not tell of itself without a worker of its own.
    gauge: Option<Gauge>,
    /// What a script answered before any page was made; none: it was not asked, or could not be.
    pub said: Option<Vec<u8>>,
    /// What it logs; none: that cannot be read.
    pub log: Option<NewLines>,
}

impl MeteredPool {
    fn of(pool: &Pool, script: Option<&Path>) -> MeteredPool {
        let said = script.and_then(|script| pool.ask(script, "").ok());
        MeteredPool { group: pool.group(), gauge: pool.gauge(), said, log: pool.new_lines() }
    }

    /// The processes of PHP and of the server that is asked.
    ///
    /// # Errors
    /// The server runs elsewhere.
    pub fn meters(&self, asker: &Asker<'_>) -> Result<[Group; 2]> {
        Ok([self.group, asker.server.context("the server is not one of this program's")?])
    }

    /// Requests that PHP had so far; none: it does not tell.
    pub fn requests(&self) -> Option<u64> {
        Some(self.gauge.as_ref()?.status().ok()?.accepted)
    }
}

/// A private instance that can be started.
pub struct Private {
    pub found: Found,
    /// The user's configuration of it; none: the lab's.
    pub own: Option<Configured>,
    docroot: PathBuf,
    /// The PHP that makes pages, with settings of the user's, `NAME=VALUE`; none: a stand-in answers for it.
    php: Option<(PhpRuntime, Vec<String>)>,
    account: Account,
    respond: Arc<Respond>,
    /// What stands for `/`; none: the machine's own, or a folder in which the document root is a link.
    tree: Option<PathBuf>,
}

impl Private {
    /// This server over these files, with this PHP and settings of the user's, `NAME=VALUE`.
    pub fn new(
        found: Found,
        own: Option<Configured>,
        docroot: &Path,
        php: Option<(PhpRuntime, Vec<String>)>,
        served: Option<&Served>,
        account: Account,
    ) -> Private {
        let served = served.cloned();
        let respond = move |path: &str, is_php: bool| match served.as_ref().filter(|_| !is_php) {
            Some(served) => file_of(served, path).unwrap_or_else(page),
            None => page(),
        };
        let (docroot, respond) = (docroot.to_owned(), Arc::new(respond));
        Private { found, own, docroot, php, account, respond, tree: None }
    }

    /// This server over a copy, which stands for `/`; `respond` makes pages.
    pub fn over(
        own: Configured,
        (tree, docroot): (&Path, &Path),
        account: Account,
        respond: Arc<Respond>,
    ) -> Private {
        let (found, tree) = (own.found.clone(), Some(tree.to_owned()));
        Private { found, own: Some(own), docroot: docroot.to_owned(), php: None, account, respond, tree }
    }

    /// The same with another configuration, and with a copy in place of the document root if one is given: at its own path where server and PHP have a
    /// user of their own, else where the configuration alone looks for it.
    pub fn configured(&self, own: Configured, copy: Option<&Path>) -> Private {
        let (mut docroot, mut account) = (self.docroot.clone(), self.account.clone());
        match copy {
            Some(copy) if account.user.is_some() => account.shown.push(mounts::instead(copy, &docroot)),
            Some(copy) => docroot = copy.to_owned(),
            None => {}
        }
        let (found, tree, respond) = (own.found.clone(), self.tree.clone(), Arc::clone(&self.respond));
        Private { found, own: Some(own), docroot, php: self.php.clone(), account, respond, tree }
    }

    pub fn docroot(&self) -> &Path {
        &self.docroot
    }

    /// Who server and PHP run as; none: the lab's own user.
    pub fn user(&self) -> Option<OwnUser> {
        self.account.user
    }

    /// The user's own name for the host, or the machine's own.
    pub fn host(&self) -> &str {
        self.own.as_ref().and_then(|own| own.read.config.host.as_deref()).unwrap_or("localhost")
    }

    pub fn is_secure(&self) -> bool {
        let is_asked = self.own.as_ref().is_some_and(|own| own.read.site.is_secure);
        is_asked && self.found.tls_missing.is_none()
    }

    /// Starts it, lets it be asked, and ends it.
    ///
    /// # Errors
    /// It does not start, in the words of its server or of PHP; or what the work came to.
    pub fn with<T: Send>(
        &self,
        interrupt: &Interrupt,
        work: impl FnOnce(&Asker<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        self.run(interrupt, None, |asker, _| work(asker))
    }

    /// The same of one with PHP, whose processes are metered.
    ///
    /// # Errors
    /// As [`Private::with`].
    pub fn with_php<T: Send>(
        &self,
        interrupt: &Interrupt,
        work: impl FnOnce(&Asker<'_>, &MeteredPool) -> Result<T> + Send,
    ) -> Result<T> {
        self.run(interrupt, None, |asker, pool| work(asker, &pool.context("no PHP-FPM")?))
    }

    /// As [`Private::with`], of one with PHP on these processors, whose processes are metered and which is asked this script first.
    ///
    /// # Errors
    /// As [`Private::with`].
    pub fn with_pool<T: Send>(
        &self,
        interrupt: &Interrupt,
        (script, cpus): (&str, &[u32]),
        work: impl FnOnce(&Asker<'_>, MeteredPool) -> Result<T> + Send,
    ) -> Result<T> {
        self.run(interrupt, Some((script, cpus)), |asker, pool| work(asker, pool.context("no PHP-FPM")?))
    }

    fn run<T: Send>(
        &self,
        interrupt: &Interrupt,
        metered: Option<(&str, &[u32])>,
        work: impl FnOnce(&Asker<'_>, Option<MeteredPool>) -> Result<T> + Send,
    ) -> Result<T> {
        let room = Room::new(self.account.user)?;
        let script = metered.map(|(text, _)| room.script(text)).transpose()?;
        let cpus = metered.map(|(_, cpus)| cpus.to_vec()).unwrap_or_default();
        let upstream = Upstream::start(room.path().join("upstream.sock"), Arc::clone(&self.respond))
            .context("no temporary folder")?;
        // In the machine's own network: its database may be reached over TCP.
        let pool = match &self.php {
            Some((php, ini)) => {
                let spec = PoolSpec { cpus, ..room.pool(php, ini)? };
                Some(Pool::start(&spec, &self.place(&room, "php.log", interrupt))?)
            }
            None => None,
        };
        let fpm = pool.as_ref().map_or_else(|| upstream.socket().to_owned(), Pool::socket);
        let mut place = self.place(&room, "server.log", interrupt);
        place.shown.extend(self.folder_files(&room, &fpm, &upstream)?);
        let site = self.site(&room, fpm, &upstream)?;
        let host = Some(self.host());
        let metered = pool.as_ref().map(|pool| MeteredPool::of(pool, script.as_deref()));
        let done = with_instance(&self.found, &site, &place, host, |asker| work(asker, metered));
        let done = done.map_err(|error| explained(&error, pool.as_ref()));
        pool.map(Pool::stop);
        done
    }

    /// The level at which this server, as the lab configures it, sends as many bytes of a file; none: none of them, or it was not answered.
    ///
    /// # Errors
    /// There is no room for an instance, or the user wants an end.
    pub fn level_of(&self, file: &Unexplained, interrupt: &Interrupt) -> Result<Option<i32>> {
        let found = self.found.definition.find();
        for level in file.levels.clone() {
            let room = Room::new(self.account.user)?;
            let place = self.place(&room, "server.log", interrupt);
            let way = Some(Setting { level: Some(level), ..Setting::bare(file.way.as_str()) });
            let site = Site { docroot: self.docroot.clone(), way, ..Site::default() };
            let question = Question { path: &file.path, accept: file.accept, ..Question::default() };
            let reply = with_instance(&found, &site, &place, None, |asker| Ok(asker.ask(&question)));
            if interrupt.is_set() {
                bail!(INTERRUPTED);
            }
            if let Ok(Ok(reply)) = reply
                && reply.body.len() as u64 == file.bytes
            {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }

    /// Files of folders (`.htaccess`) that a private server cannot have as they are, such as those that hand scripts to `mod_php`: written as
    /// it can, to stand in their place. That takes a user of its own; else they stay as they are, and what the server answers is told.
    fn folder_files(&self, room: &Room, fpm: &Path, upstream: &Upstream) -> Result<Option<PathBuf>> {
        let Some((own, rules)) = self.own.as_ref().zip(self.found.definition.own.as_ref()) else {
            return Ok(None);
        };
        if rules.folder_file.is_empty() || self.account.user.is_none() {
            return Ok(None);
        }
        let entries = WalkDir::new(&self.docroot).max_depth(DEEPEST).into_iter().filter_map(Result::ok);
        let files = entries.filter(|entry| entry.file_name().to_str() == Some(&rules.folder_file));
        let below =
            |entry: walkdir::DirEntry| entry.path().strip_prefix(&self.docroot).ok().map(Path::to_owned);
        let files: Vec<PathBuf> = files.filter_map(below).take(MOST_FILES).collect();
        let mut tree = own.read.tree.clone();
        tree.take_folders(rules, &self.docroot, &self.docroot, &files);
        let (room, mut is_any) = (room.path().join("in-place"), false);
        for (folder, directives) in &tree.folders {
            let made =
                whole::of_folder(rules, &self.found.installed(), &own.read.tree, &own.read.site, directives)?;
            if made.notes.is_empty() {
                continue;
            }
            let text = made.written.text.replace(FPM, &fpm.to_string_lossy());
            let text = text.replace(UPSTREAM, &upstream.socket().to_string_lossy()).replace(TREE, "");
            let file = room.join(folder.strip_prefix("/").unwrap_or(folder)).join(&rules.folder_file);
            let written = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            let written = written.and_then(|()| std::fs::write(&file, text));
            let open = std::fs::Permissions::from_mode(0o644);
            written.and_then(|()| std::fs::set_permissions(&file, open)).context("no temporary folder")?;
            is_any = true;
        }
        Ok(is_any.then(|| format!("{IN_PLACE}{}", room.display()).into()))
    }

    fn place(&self, room: &Room, log: &str, interrupt: &Interrupt) -> guard::LaunchContext {
        let place = guard::LaunchContext::new(room.path(), room.path().join(log));
        let place = place.of(self.account.user).showing(&self.account.shown);
        guard::LaunchContext { interrupt: interrupt.clone(), ..place }
    }

    fn site(&self, room: &Room, fpm: PathBuf, upstream: &Upstream) -> Result<Site> {
        let tls = if self.is_secure() {
            let certificate = certificate::make(room.path()).context("no certificate")?;
            room.give(&certificate.chain)?;
            room.give(&certificate.key)?;
            Some(certificate)
        } else {
            None
        };
        let (docroot, way) = match (&self.tree, &self.own) {
            (Some(tree), _) => (tree.clone(), Some(Setting::bare(CONFIG))),
            (None, Some(own)) => {
                (room.tree(&self.docroot, &own.read.site.root)?, Some(Setting::bare(CONFIG)))
            }
            (None, None) => (self.docroot.clone(), None),
        };
        let upstream = Some(upstream.socket().to_owned());
        Ok(Site { docroot, fpm: Some(fpm), upstream, way, tls, ..Site::default() })
    }
}

/// The private folder of a start.
struct Room {
    shelter: Shelter,
    user: Option<OwnUser>,
}

impl Room {
    fn new(user: Option<OwnUser>) -> Result<Room> {
        Ok(Room { shelter: Shelter::of(user).context("no temporary folder")?, user })
    }

    fn path(&self) -> &Path {
        self.shelter.path()
    }

    /// Gives what was made here to who runs the server.
    fn give(&self, path: &Path) -> Result<()> {
        self.user.map_or(Ok(()), |user| user.give(path)).context("no temporary folder")
    }

    /// A script that all may read. To be called before anybody else writes here.
    fn script(&self, text: &str) -> Result<PathBuf> {
        let file = self.path().join("about.php");
        let written = std::fs::write(&file, text);
        let open = std::fs::Permissions::from_mode(0o644);
        written.and_then(|()| std::fs::set_permissions(&file, open)).context("no temporary folder")?;
        Ok(file)
    }

    /// The pool: what the application writes for itself goes to this folder.
    fn pool(&self, php: &PhpRuntime, ini: &[String]) -> Result<PoolSpec> {
        let folder = |name: &str| -> Result<String> {
            let folder = self.path().join(name);
            std::fs::create_dir(&folder).context("no temporary folder")?;
            self.give(&folder)?;
            Ok(folder.display().to_string())
        };
        let spec = PoolSpec {
            program: php.fpm.clone().context("no PHP-FPM")?,
            version: php.version.clone(),
            workers: WORKERS,
            mode: Mode::Static,
            ini: BTreeMap::new(),
            env: BTreeMap::new(),
            cpus: Vec::new(),
        };
        let spec = ini
            .iter()
            .filter_map(|line| line.split_once('='))
            .fold(spec, |spec, (name, value)| spec.ini(name, value));
        let temporary = folder("temporary")?;
        Ok(spec
            .ini("session.save_handler", "files")
            .ini("session.save_path", &folder("sessions")?)
            .ini("sys_temp_dir", &temporary)
            .ini("upload_tmp_dir", &temporary))
    }

    /// What stands for `/` in the paths of the user's configuration: `/` itself where its document root is the one that was given, else
    /// a folder in which it leads there.
    fn tree(&self, docroot: &Path, configured: &Path) -> Result<PathBuf> {
        let is_there = configured
            .canonicalize()
            .is_ok_and(|real| real.starts_with(docroot) || docroot.starts_with(&real));
        if is_there {
            return Ok("/".into());
        }
        let tree = self.path().join("tree");
        let link = tree.join(configured.strip_prefix("/").unwrap_or(configured));
        let made = link.parent().map_or(Ok(()), std::fs::create_dir_all);
        let made = made.and_then(|()| std::os::unix::fs::symlink(docroot, &link));
        made.context("no temporary folder")?;
        self.user.map_or(Ok(()), |user| user.share(&tree)).context("no temporary folder")?;
        Ok(tree)
    }
}

/// The failure, with what PHP said last.
fn explained(error: &anyhow::Error, pool: Option<&Pool>) -> anyhow::Error {
    let line = without_log(error);
    match pool.and_then(Pool::last_words) {
        Some(words) => anyhow!("{line} (PHP says: {})", words.chars().take(WORDS).collect::<String>()),
        None => anyhow!("{line}"),
    }
}

/// The page of a stand-in: 16 KB, as filters and their least lengths meet pages.
fn page() -> Response {
    let mut page = STANDS_IN.to_vec();
    (0..400u32).for_each(|n| page.extend(format!("<p>A paragraph, number {n}.</p>\n").bytes()));
    Response::new("text/html; charset=utf-8", page)
}

/// The file of the site that another server would send for a path.
fn file_of(served: &Served, path: &str) -> Option<Response> {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    if weigh_content::class::is_page(&path) {
        return None;
    }
    let body = served.read(&path, LONGEST).ok()?;
    let of = types::of_extension(&weigh_content::class::extension(&path));
    Some(Response::new(of, body))
}

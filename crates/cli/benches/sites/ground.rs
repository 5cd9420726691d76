//! Where the sites stand: Debian's packages unpacked in one private folder, with absolute paths in it that lead into it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;
use weigh_os::guard::{Guarded, Home, LaunchContext, Program};
use weigh_rig::fpm::{Mode, Pool, PoolSpec};
use weigh_rig::runtime::{self, prefix::Prefix};
use weigh_rig::suite::{self, Progress, RuntimeSource};
use weigh_run::lab::Lab;

use crate::common::{self, progress};

/// Where packages come from: always the same release, so that figures can be compared.
const SUITE: &str = "debian:bookworm";
const PHP: &str = "php8.2";
/// What the sites need; apt adds what these depend on.
const PACKAGES: [&str; 14] = [
    "dokuwiki",
    "wordpress",
    "wordpress-theme-twentytwentythree",
    "phpmyadmin",
    "mariadb-server-core",
    "nginx-common",
    "apache2",
    "php8.2-fpm",
    "php8.2-cli",
    "php8.2-curl",
    "php8.2-intl",
    "php8.2-mbstring",
    "php8.2-xml",
    "php8.2-zip",
];
/// What names absolute paths, below the root: folders with all their files, and single files.
const MOVED: [&str; 7] = [
    "etc",
    "usr/share/dokuwiki/inc",
    "usr/share/dokuwiki/lib/exe",
    "usr/share/dokuwiki/vendor/composer",
    "usr/share/wordpress/wp-config.php",
    "usr/share/phpmyadmin/libraries/vendor_config.php",
    "usr/share/php/Williamdes/MariaDBMySQLKBS/Search.php",
];
/// What sites and their configurations are.
const COPIED: [&str; 10] = [
    "etc",
    "run",
    "srv",
    "usr/share",
    "var/lib/dokuwiki",
    "var/lib/nginx",
    "var/lib/phpmyadmin",
    "var/lib/wordpress",
    "var/log",
    "var/www",
];
/// Absolute paths that the packages bring or expect. Programs and modules of servers stay those of this machine.
const PLACES: [&str; 5] = ["/etc/", "/usr/share/", "/var/", "/run/", "/srv/"];
/// The longest that a service may take to be ready.
const READY: Duration = Duration::from_secs(60);

/// The unpacked packages, and a room for what runs.
pub struct Ground {
    root: TempDir,
    prefix: Prefix,
    room: TempDir,
}

/// A site that is up. Its services end when this is dropped.
pub struct RunningSite {
    pub docroot: PathBuf,
    pub servers: Vec<Running>,
    /// The file of the pool of PHP.
    pub php_config: PathBuf,
    /// The socket of the database, where it has one.
    pub database: Option<PathBuf>,
    /// PHP and the database, where it has one; they end with this, in this order.
    pub _services: (Pool, Option<Guarded>),
}

/// A server with a site.
pub struct Running {
    pub name: &'static str,
    pub config: PathBuf,
    /// The site's front page.
    pub url: String,
    pub log: PathBuf,
    /// What the log counts as bytes, as the crawl calls it: `framed`, a body with the frames of its chunks; `all`, with the header.
    pub bytes: &'static str,
    /// What else the crawl asks for.
    pub crawl: Vec<String>,
    /// `weigh site` makes the pages itself: the application runs in the PHP of this machine.
    pub is_rendered: bool,
    pub _server: Guarded,
}

impl Running {
    /// With further arguments for the crawl.
    pub fn crawled(mut self, arguments: &[&str]) -> Running {
        self.crawl.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// With pages that `weigh site` makes itself.
    pub fn rendered(self) -> Running {
        Running { is_rendered: true, ..self }
    }
}

impl Ground {
    /// Downloads what is missing, and unpacks all of it afresh.
    pub fn make() -> Result<Ground> {
        let lab = Lab::open(None)?;
        let (text, place) = lab.definitions.runtime_source("debian")?;
        let source = RuntimeSource::parse(text, &place)?;
        let kept = common::kept("sites")?;
        let root = tempfile::Builder::new().prefix("root-").tempdir_in(&kept)?;
        let packages = PACKAGES.map(str::to_owned);
        let work = kept.join("apt");
        let mut tell = |event| match event {
            Progress::Step(step) => progress(&step),
            Progress::Need { packages, bytes } => progress(&format!("{packages} packages, {bytes} B")),
            Progress::Arrived(_) => {}
        };
        suite::unpack(SUITE, &source, &packages, Path::new("/etc/apt"), (&work, root.path()), &mut tell)?;
        // Servers read it as users of their own.
        for folder in root.path().ancestors().take(3) {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        }
        lead_home(root.path())?;
        let mut prefix = Prefix::inspect(root.path(), PHP, SUITE)?;
        prefix.extensions = source.order(prefix.extensions);
        prefix.zend_extensions = source.order(prefix.zend_extensions);
        prefix.version = runtime::version(&prefix.cli_command(root.path()))?;
        for folder in
            ["run", "run/mysqld", "var/log/nginx", "var/log/apache2", "var/lib/nginx", "var/www/html"]
        {
            fs::create_dir_all(root.path().join(folder))?;
        }
        Ok(Ground { root, prefix, room: tempfile::tempdir()? })
    }

    /// A path below the root.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    /// A path below the root as text.
    pub fn text(&self, below: &str) -> Result<String> {
        Ok(self.path(below).to_str().context("the path is not in UTF-8")?.to_owned())
    }

    /// A text with the absolute paths in it led below the root.
    pub fn moved(&self, text: &str) -> Result<String> {
        Ok(moved(text, &self.text("")?))
    }

    fn place(&self, log: &str) -> LaunchContext {
        let place = LaunchContext::new(self.room.path(), self.room.path().join(log));
        LaunchContext { launcher: common::WEIGH.into(), limit: READY, ..place }
    }

    /// A program of the packages, with their own loader and libraries.
    pub fn program(&self, below: &str) -> Vec<OsString> {
        let root = self.root.path();
        let folders: Vec<PathBuf> = self.prefix.libraries.iter().map(|folder| root.join(folder)).collect();
        let paths: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        vec![
            root.join(&self.prefix.loader).into(),
            "--library-path".into(),
            paths.join(":").into(),
            root.join(below).into(),
        ]
    }

    /// Starts a program under guard in a folder of its own, and waits until `ready`.
    pub fn start(
        &self,
        name: &str,
        command: Vec<OsString>,
        env: Vec<(OsString, OsString)>,
        ready: impl Fn() -> Result<()>,
    ) -> Result<Guarded> {
        let home = tempfile::Builder::new().prefix(name).tempdir_in(self.room.path())?;
        let program = Program { command, env, cpus: Vec::new() };
        let mut guarded = Guarded::start(&program, Home::Given(home), &self.place(&format!("{name}.log")))?;
        let begun = Instant::now();
        loop {
            let Err(error) = ready() else { return Ok(guarded) };
            if !guarded.is_alive() || begun.elapsed() > READY {
                let words = guarded.last_words().unwrap_or_else(|| "it said nothing".into());
                bail!("{name} did not come up: {error:#}; {words}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A pool of PHP, with this socket of a database.
    pub fn pool(&self, database: Option<&Path>) -> Result<Pool> {
        self.pool_with(database, &BTreeMap::new())
    }

    /// The same with further settings.
    pub fn pool_with(&self, database: Option<&Path>, more: &BTreeMap<String, String>) -> Result<Pool> {
        let program = self.prefix.fpm_command(self.root.path()).context("the packages hold no PHP-FPM")?;
        let spec = PoolSpec {
            program,
            version: self.prefix.version.clone(),
            workers: 4,
            mode: Mode::Static,
            ini: Default::default(),
            env: Default::default(),
            cpus: Vec::new(),
        };
        let spec = more.iter().fold(spec, |spec, (name, value)| spec.ini(name, value));
        let spec = spec.ini("include_path", &format!(".:{}", self.text("usr/share/php")?));
        let spec = match database {
            Some(socket) => spec.ini("mysqli.default_socket", &socket.display().to_string()),
            None => spec,
        };
        Pool::start(&spec, &self.place("php.log"))
    }

    /// A copy of the sites and of all configurations, of which nothing leads back. Programs stay where they are.
    pub fn copy(&self) -> Result<Copy> {
        let from = self.root.path();
        let root = tempfile::Builder::new().prefix("copy-").tempdir_in(common::kept("sites")?)?;
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755))?;
        let mut copied = std::process::Command::new("cp");
        copied.args(["-a", "--parents"]).args(COPIED.iter().filter(|folder| from.join(folder).is_dir()));
        let status = copied.arg(root.path()).current_dir(from).status().context("cp cannot be started")?;
        ensure!(status.success(), "the sites cannot be copied");
        let mut copy = Copy { root, led: Vec::new() };
        let to = copy.root().to_owned();
        copy.lead(from, &to)?;
        Ok(copy)
    }

    /// The file of the pool as the package ships it, with the php.ini beside it.
    pub fn php_config(&self) -> PathBuf {
        self.path("etc/php/8.2/fpm/pool.d/www.conf")
    }

    /// A short path for a socket.
    pub fn socket(&self, name: &str) -> PathBuf {
        self.room.path().join(name)
    }
}

/// A copy of what the sites and their configurations are.
pub struct Copy {
    root: TempDir,
    /// What stands for what in its files.
    led: Vec<(String, String)>,
}

impl Copy {
    /// Its root.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// A path below its root.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    /// A text with the absolute paths of the packages in it led below its root.
    pub fn moved(&self, text: &str) -> String {
        moved(text, &format!("{}/", self.root().display()))
    }

    /// A text with what its site has in the place of the other's.
    pub fn led(&self, text: &str) -> String {
        self.led.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    /// Names another path in its links and configurations.
    pub fn lead(&mut self, from: &Path, to: &Path) -> Result<()> {
        self.led.push((from.display().to_string(), to.display().to_string()));
        lead(self.root(), |link| Some(to.join(link.strip_prefix(from).ok()?)), |text| self.led(text))
    }
}

/// A port of loopback that was free a moment ago.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Leads absolute links and the paths in configurations below the root.
fn lead_home(root: &Path) -> Result<()> {
    let text = format!("{}/", root.to_str().context("the path is not in UTF-8")?);
    lead(root, |link| Some(root.join(link.strip_prefix("/").ok()?)), |content| moved(content, &text))
}

/// Gives links other aims, and files that name absolute paths another text.
fn lead(root: &Path, link: impl Fn(&Path) -> Option<PathBuf>, text: impl Fn(&str) -> String) -> Result<()> {
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type().is_symlink() {
            if let Some(to) = link(&fs::read_link(path)?) {
                fs::remove_file(path)?;
                symlink(to, path)?;
            }
        } else if entry.file_type().is_file() {
            let below = path.strip_prefix(root)?;
            let is_moved = MOVED.iter().any(|one| below.starts_with(one));
            // What is not text names no paths.
            if is_moved && let Ok(content) = fs::read_to_string(path) {
                fs::write(path, text(&content))?;
            }
        }
    }
    Ok(())
}

/// `root` ends with a slash. A path that is in the root already stays.
fn moved(text: &str, root: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let begins = out.chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'=:(;,^~@".contains(c));
        // `<Directory /usr/share>` names one without a slash at its end.
        let is_place = |place: &&str| {
            let rest = from.strip_prefix(place.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '>', '"', ';', ' ', '\n']))
        };
        if begins && PLACES.iter().any(is_place) {
            out.push_str(root);
        } else {
            out.push('/');
        }
        rest = &from[1..];
    }
    out + rest
}

//! A program that the lab stands up for itself: a web server, a store, a PHP-FPM pool. Each has a definition or a spec that says what it is
//! called, how it is configured and when it is ready; how it is put into a private directory, started under guard, waited for and ended is
//! the same for all, and stands here. A private instance has a directory of mode 0700, and a unix socket or a free loopback port.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use serde::Serialize;
use serde::de::DeserializeOwned;

use weigh_content::defs::Definitions;
use weigh_model::suggest::readable;
use weigh_os::group::Group;
use weigh_os::guard::{self, Guarded, Home, LaunchContext, NewLines, Program};
use weigh_os::interrupt::INTERRUPTED;
use weigh_os::template;

/// The version of the form of definitions that this program reads.
const SCHEMA: u32 = 1;
/// Attempts, each on other ports: one that was free may be taken before it is bound.
pub(super) const ATTEMPTS: u16 = 5;
/// How often a start looks whether it is done.
const GLANCE: Duration = Duration::from_millis(5);
/// How long a program may take to finish what it does.
const GRACE: Duration = Duration::from_secs(5);

/// A definition that is a folder `ROOT/NAME/`: a file that says what the service is, read strictly, and templates of its configuration.
pub trait FolderDefinition: DeserializeOwned {
    /// Where the folders are, `servers`.
    const ROOT: &'static str;
    /// The file in each, `server.toml`.
    const FILE: &'static str;

    /// `schema`, `name` and `stop` of the file.
    fn head(&self) -> (u32, &str, &str);

    /// Makes sure of what the form alone does not.
    fn check(&self) -> Result<()>;

    /// The templates by file name, which are no key of the file.
    fn templates(&mut self) -> &mut BTreeMap<String, String>;

    /// The embedded ones and those of the overlay, by name.
    ///
    /// # Errors
    /// One line: which file is wrong, and where.
    fn load(definitions: &Definitions) -> Result<Vec<Self>> {
        let folders = definitions.folders(Self::ROOT)?.into_iter();
        folders.map(|(name, files)| Self::parse(&name, files)).collect()
    }

    /// One from the files of its folder.
    fn parse(folder: &str, mut files: BTreeMap<String, String>) -> Result<Self> {
        let (root, file) = (Self::ROOT, Self::FILE);
        let whence = format!("{root}/{folder}/{file}");
        let Some(text) = files.remove(file) else { bail!("{root}/{folder}: there is no {file} in it") };
        let mut definition: Self = toml::from_str(&text).map_err(|e| readable(&e, &text, &whence))?;
        *definition.templates() = files;
        let checked = || {
            let (schema, name, stop) = definition.head();
            if schema != SCHEMA {
                bail!("schema = {schema} is not known; this program reads schema = {SCHEMA}");
            }
            if name != folder {
                bail!("name = \"{name}\" is not the folder's");
            }
            signal(stop)?;
            definition.check()
        };
        checked().with_context(|| whence)?;
        Ok(definition)
    }
}

/// A signal on which a program ends gracefully, by its name.
pub(super) fn signal(name: &str) -> Result<Signal> {
    Ok(match name {
        "TERM" => Signal::TERM,
        "QUIT" => Signal::QUIT,
        "INT" => Signal::INT,
        "WINCH" => Signal::WINCH,
        "USR1" => Signal::USR1,
        other => bail!("stop = \"{other}\" is none of TERM, QUIT, INT, WINCH, USR1"),
    })
}

/// Refuses what is not there.
pub(super) fn refuse_missing(
    name: &str,
    cannot: &str,
    missing: Option<&String>,
    remedy: Option<&String>,
) -> Result<()> {
    match missing {
        Some(missing) => {
            bail!(
                "{name} {cannot}: {missing}{}",
                remedy.map_or(String::new(), |remedy| format!(": {remedy}"))
            )
        }
        None => Ok(()),
    }
}

/// This many different ports of an address that were free a moment ago.
pub(super) fn free_ports(host: Ipv4Addr, count: u16) -> Result<Vec<u16>> {
    let listener = || TcpListener::bind((host, 0)).with_context(|| format!("no free port on {host}"));
    let held: Vec<TcpListener> = (0..count).map(|_| listener()).collect::<Result<_>>()?;
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// Why a service did not come up, and whether another port may help.
pub(super) struct Refused {
    pub error: anyhow::Error,
    is_port_taken: bool,
}

impl<E: Into<anyhow::Error>> From<E> for Refused {
    fn from(error: E) -> Refused {
        Refused { error: error.into(), is_port_taken: false }
    }
}

/// Starts a service on the first of these addresses that nobody else takes.
pub(super) fn start_on_first<A, T>(
    name: &str,
    addresses: impl Iterator<Item = Result<A>>,
    mut attempt: impl FnMut(A) -> Result<T, Refused>,
) -> Result<T> {
    let mut last = anyhow::anyhow!("no port to try");
    for address in addresses {
        match attempt(address?) {
            Ok(started) => return Ok(started),
            Err(Refused { error, is_port_taken: false }) => return Err(error),
            Err(Refused { error, .. }) => last = error,
        }
    }
    Err(last.context(format!("{name}: others took every port that was tried")))
}

/// A private directory in which a service is configured before it is started.
pub(super) struct Draft<'a> {
    name: &'a str,
    place: &'a LaunchContext,
    dir: tempfile::TempDir,
    files: BTreeMap<String, String>,
}

impl<'a> Draft<'a> {
    /// Makes the directory; `folder` is what its name begins with.
    pub fn new(name: &'a str, folder: &str, place: &'a LaunchContext) -> Result<Draft<'a>> {
        let dir = place.directory(folder).with_context(|| format!("cannot make a directory for {name}"))?;
        Ok(Draft { name, place, dir, files: BTreeMap::new() })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// What was written: the text of each file by its name.
    #[cfg(test)]
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Writes a file of the configuration.
    pub fn write(&mut self, file: &str, text: String) -> Result<()> {
        let target = self.path().join(file);
        std::fs::write(&target, &text).with_context(|| format!("cannot write {}", target.display()))?;
        self.files.insert(file.to_owned(), text);
        Ok(())
    }

    /// Writes those templates of a definition's folder, `servers/nginx`, that are files; the others may be parts of them.
    pub fn render(
        &mut self,
        folder: &str,
        templates: &BTreeMap<String, String>,
        is_file: impl Fn(&str) -> bool,
        values: &impl Serialize,
    ) -> Result<()> {
        let parts: Vec<(&str, &str)> = templates.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        for (file, template) in templates.iter().filter(|(file, _)| is_file(file)) {
            self.write(file, template::render_with(&format!("{folder}/{file}"), template, &parts, values)?)?;
        }
        Ok(())
    }

    /// Lets the program check its configuration: how that ended and its words, where it did not end well.
    pub fn lint(&self, program: &Program) -> Result<Option<(String, String)>> {
        let ran = guard::run(program, self.path(), self.place);
        let (how, words) = ran.with_context(|| format!("{}'s own check", self.name))?;
        Ok((how != "exit status: 0").then(|| (how, words.unwrap_or_else(|| "it said nothing".into()))))
    }

    /// Starts the program and waits until it answers. `listens` is the port that others may have taken.
    pub fn start<K>(
        self,
        program: &Program,
        stop: Signal,
        listens: Option<SocketAddrV4>,
        own: K,
        answers: impl Fn(&K) -> Result<()>,
    ) -> Result<Service<K>, Refused> {
        let Draft { name, place, dir, files } = self;
        let path = dir.path().to_owned();
        let guarded = Guarded::start(program, Home::Given(dir), place);
        let guarded = guarded.with_context(|| format!("cannot start {name}"))?;
        let mut service = Service { guarded, stop, dir: path, files, own };
        let deadline = Instant::now() + place.limit;
        loop {
            let Err(error) = answers(&service.own) else { return Ok(service) };
            if place.interrupt.is_set() {
                return Err(anyhow::anyhow!(INTERRUPTED).into());
            }
            let is_decided = error.is::<Decided>();
            if service.is_alive() && !is_decided && Instant::now() < deadline {
                std::thread::sleep(GLANCE);
                continue;
            }
            let how = match service.how_it_ended() {
                Some(how) => format!("ended: {how}"),
                None if is_decided => format!("cannot be asked: {error:#}"),
                None => format!("was not ready within {} s: {error:#}", place.limit.as_secs()),
            };
            let error =
                anyhow::anyhow!("{name} {how}{}; its log is {}", service.words(), place.log.display());
            let is_taken = |address: SocketAddrV4| TcpListener::bind(address).is_err();
            let is_port_taken = service.how_it_ended().is_some() && listens.is_some_and(is_taken);
            return Err(Refused { error, is_port_taken });
        }
    }
}

/// An answer that will not be another however long one waits.
#[derive(Debug)]
pub(super) struct Decided(pub String);

impl std::fmt::Display for Decided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Decided {}

/// Why a service did not come up, without the place of a log that goes with its folder: what it said last is in the error.
pub fn without_log(error: &anyhow::Error) -> String {
    format!("{error:#}").split("; its log is ").next().unwrap_or_default().to_owned()
}

/// The command line of a program, from templates of its arguments.
pub(super) fn command(
    program: Option<&PathBuf>,
    whence: &str,
    arguments: &[String],
    values: &impl Serialize,
) -> Result<Vec<OsString>> {
    let mut command = vec![program.cloned().unwrap_or_default().into_os_string()];
    for argument in arguments {
        command.push(template::render(&format!("{whence}: {argument}"), argument, values)?.into());
    }
    Ok(command)
}

/// A running service, with what its kind keeps of its own. Dropping it kills all of it and removes its directory.
#[derive(Debug)]
pub struct Service<K> {
    guarded: Guarded,
    stop: Signal,
    dir: PathBuf,
    files: BTreeMap<String, String>,
    pub(super) own: K,
}

impl<K> Service<K> {
    /// The meter of all its processes.
    pub fn group(&self) -> Group {
        self.guarded.group()
    }

    /// The configuration in force: the text of each file by its name.
    pub fn config(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Its private directory, which goes with it.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the program itself still runs.
    pub fn is_alive(&mut self) -> bool {
        self.guarded.is_alive()
    }

    /// How it ended; none while it runs.
    pub fn how_it_ended(&self) -> Option<&str> {
        self.guarded.how_it_ended()
    }

    /// The last lines of its log, such as a fatal error of a script.
    pub fn last_words(&self) -> Option<String> {
        self.guarded.last_words()
    }

    /// What it logs from now on; none when that may not be read.
    pub fn new_lines(&self) -> Option<NewLines> {
        self.guarded.new_lines()
    }

    /// Its last words as the rest of a message.
    pub(crate) fn words(&self) -> String {
        self.last_words().map_or(String::new(), |words| format!("; its last words: {words}"))
    }

    /// Lets it finish what it does, kills what has not after 5 s; whether it ended by itself.
    pub fn stop(self) -> bool {
        self.guarded.stop(self.stop, GRACE)
    }
}

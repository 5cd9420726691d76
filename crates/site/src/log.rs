//! Access logs of nginx, Apache, Caddy and lighttpd: counts what a site's decisions need.
//!
//! A log is hostile: lines are bounded, what cannot be read is counted, and memory does not grow with the log. Addresses, user names, referers,
//! cookies, user agents and query strings are dropped while a line is read. `docs/REFERENCE.md` says what is read and counted.

mod agents;
mod browsers;
mod cached;
mod codings;
mod columns;
mod content;
mod counted;
mod duration;
mod entry;
mod fields;
mod foreign;
mod front;
mod hosts;
mod hours;
mod input;
mod json;
mod moment;
mod names;
mod path;
mod paths;
mod wrapper;

pub use codings::{Accepts, Codings};
pub use counted::{
    CachedPath, CachedRequests, Counted, Example, Hits, Hour, PathTraffic, ScriptHour, Traffic, Variant, Week,
};
pub use hosts::Names;
pub use path::is_script;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Result, bail};
use regex::bytes::Regex;

use agents::{AgentKind, Agents};
use cached::Caches;
use columns::Columns;
use duration::Durations;
use entry::{Entry, Method, Unreadable};
use fields::{Delimiter, Field};
use front::Front;
use hosts::Hosts;
use hours::Hours;
use moment::Moments;
use names::Role;
use paths::Paths;
use weigh_model::text::{clean, clean_path};
use weigh_os::interrupt::{INTERRUPTED, Interrupt, Watched};
use weigh_os::lines::Lines;
use weigh_os::regular::{open, plain_error};
use wrapper::Wrapper;

/// Lines of a file from which its format is learned, and their bytes.
const LEARNED: usize = 1_000;
const LEARNED_BYTES: usize = 2 << 20;
/// Files with fewer lines may begin alike.
const ALIKE: usize = 20;

/// A path of a style sheet, script, font or image in a line that cannot be read.
static ASSET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?-u)\.(?:css|js|mjs|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf)[? "']"#)
        .expect("a test reads it")
});

/// The longest line in bytes; a longer one is unreadable.
pub const LONGEST: usize = 64 << 10;

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 100;

/// Counts the requests of log files, in any order, for hosts with these names; for all, where there are none. A file that cannot be read is a line of
/// [`Counted::problems`]; the others are counted.
///
/// # Errors
/// The user wants an end.
pub fn read(paths: &[PathBuf], names: Names, interrupt: &Interrupt) -> Result<Counted> {
    let mut counter = Counter::of(names);
    for path in paths {
        counter.file(path, interrupt)?;
    }
    Ok(counter.counted())
}

/// How the lines of a file are read.
#[derive(Clone, Debug, Default)]
struct Format {
    wrapper: Wrapper,
    delimiter: Delimiter,
    text: Columns,
    json: Columns,
}

impl Format {
    /// Looks at the first lines of a file.
    fn learn(lines: &[Vec<u8>]) -> Format {
        let wrapper = Wrapper::learn(lines.iter().map(Vec::as_slice));
        let inner: Vec<_> = lines.iter().map(|line| wrapper.unwrap(line)).collect();
        let (json, text): (Vec<&[u8]>, Vec<&[u8]>) =
            inner.iter().map(|line| &**line).partition(|line| is_json(line));
        let delimiter = Delimiter::learn(text.iter().copied());
        let columns = |lines: &[&[u8]], delimiter| {
            Columns::learn(
                &lines.iter().filter_map(|line| fields_of(line, delimiter).ok()).collect::<Vec<_>>(),
            )
        };
        Format { wrapper, delimiter, json: columns(&json, None), text: columns(&text, Some(delimiter)) }
    }
}

fn is_json(line: &[u8]) -> bool {
    line.first() == Some(&b'{')
}

/// The fields of a line; of JSON where nothing delimits them.
fn fields_of(line: &[u8], delimiter: Option<Delimiter>) -> Result<Vec<Field<'_>>, Unreadable> {
    let mut fields = Vec::with_capacity(32);
    match delimiter {
        Some(delimiter) => delimiter.split(line, &mut fields)?,
        None => json::split(line, &mut fields)?,
    }
    Ok(fields)
}

/// Counts line by line, in memory that does not grow with the number of lines.
pub struct Counter {
    counted: Counted,
    /// Files, and how they begin.
    files: HashSet<(u64, u64)>,
    begins: HashSet<u64>,
    moments: Moments,
    agents: Agents,
    hours: Hours,
    paths: Paths,
    caches: Caches,
    hosts: Hosts,
    front: Front,
    durations: Durations,
}

impl Counter {
    /// One that has counted nothing, for hosts with these names; for all, where there are none.
    pub fn of(names: Names) -> Counter {
        Counter {
            counted: Counted::default(),
            files: HashSet::new(),
            begins: HashSet::new(),
            moments: Moments::default(),
            agents: Agents::new(),
            hours: Hours::new(),
            paths: Paths::new(),
            caches: Caches::new(),
            hosts: Hosts::new(names),
            front: Front::default(),
            durations: Durations::new(),
        }
    }

    /// Counts a file as long as it is now: what a server appends meanwhile is left out. The same file is counted once.
    ///
    /// # Errors
    /// The user wants an end.
    pub fn file(&mut self, path: &Path, interrupt: &Interrupt) -> Result<()> {
        let named = clean_path(path);
        let opened = open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (meta, file) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let why = match error.kind() {
                    io::ErrorKind::NotFound => "no such file; check the path".to_owned(),
                    io::ErrorKind::InvalidInput => format!("{error}: give a regular file"),
                    _ => plain_error(&error),
                };
                self.problem(format!("{named}: {why}"));
                return Ok(());
            }
        };
        if self.files.insert((meta.dev(), meta.ino())) {
            self.stream(&named, Watched { input: file.take(meta.len()), interrupt });
        } else {
            self.problem(format!("{named}: given twice, and counted once"));
        }
        if interrupt.is_set() {
            bail!(INTERRUPTED);
        }
        Ok(())
    }

    /// Counts what a reader gives, unpacked where it is compressed; `name` is for messages.
    pub fn stream(&mut self, name: &str, input: impl Read) {
        let lines_before = self.counted.lines;
        self.counted.files += 1;
        if let Err(error) = input::unpacked(input).and_then(|input| self.lines(name, input)) {
            let lines = self.counted.lines - lines_before;
            let why = plain_error(&error);
            self.problem(format!("{}: only the first {lines} lines were counted: {why}", clean(name)));
        }
    }

    pub fn counted(self) -> Counted {
        let mut counted = self.counted;
        self.hours.finish(&mut counted);
        self.paths.finish(&mut counted);
        counted.cached = self.caches.finish(counted.has_bytes);
        self.hosts.finish(&mut counted);
        self.front.finish(&mut counted);
        self.durations.finish(&mut counted);
        counted
    }

    fn problem(&mut self, line: String) {
        match self.counted.problems.len() {
            // More than a terminal shows are those of a wrong pattern.
            count if count < MOST_PROBLEMS => self.counted.problems.push(line),
            MOST_PROBLEMS => {
                self.counted.problems.push("more files that could not be read are not listed".into())
            }
            _ => {}
        }
    }

    fn lines(&mut self, name: &str, input: impl BufRead) -> io::Result<()> {
        let mut lines = Lines::within(input, LONGEST);
        let (mut first, mut bytes) = (Vec::new(), 0);
        let mut ended = Ok(false);
        while first.len() < LEARNED && bytes < LEARNED_BYTES {
            match lines.next_or_skip() {
                Ok(Some((line, place))) => {
                    bytes += line.map_or(0, <[u8]>::len);
                    first.push((place.number, line.map(<[u8]>::to_vec)));
                }
                Ok(None) => ended = Ok(true),
                Err(error) => ended = Err(error),
            }
            if !matches!(ended, Ok(false)) {
                break;
            }
        }
        let known: Vec<Vec<u8>> =
            first.iter().filter_map(|(_, line)| line.clone()).filter(|line| !line.is_empty()).collect();
        if let Some(what) = foreign::name(known.iter().map(Vec::as_slice)) {
            self.problem(format!(
                "{}: it seems to be {what}, a format that is not read; give the web server's access log",
                clean(name)
            ));
            return Ok(());
        }
        let mut hasher = DefaultHasher::new();
        known.hash(&mut hasher);
        if known.len() >= ALIKE && !self.begins.insert(hasher.finish()) {
            self.problem(format!(
                "{}: begins with the same lines as another file, and is left out",
                clean(name)
            ));
            return Ok(());
        }
        let format = Format::learn(&known);
        drop(known);
        for (number, line) in first {
            self.counted_line(name, number, line.as_deref(), &format);
        }
        if ended? {
            return Ok(());
        }
        while let Some((line, place)) = lines.next_or_skip()? {
            self.counted_line(name, place.number, line, &format);
        }
        Ok(())
    }

    /// Counts a line, readable or not.
    fn counted_line(&mut self, name: &str, number: u64, line: Option<&[u8]>, format: &Format) {
        if line.is_some_and(<[u8]>::is_empty) {
            return;
        }
        self.counted.lines += 1;
        let read = line.map_or(Err(Unreadable("longer than 64 KB")), |line| self.line(line, format));
        if let Err(why) = read {
            self.counted.unreadable += 1;
            self.counted.unreadable_assets += u64::from(line.is_some_and(|line| ASSET.is_match(line)));
            let example = || Example { file: clean(name), line: number, why: why.0 };
            self.counted.example.get_or_insert_with(example);
        }
    }

    fn line(&mut self, line: &[u8], format: &Format) -> Result<(), Unreadable> {
        if memchr::memchr(0, line).is_some() {
            return Err(Unreadable("a NUL byte"));
        }
        let line = format.wrapper.unwrap(line);
        let (columns, delimiter) = match is_json(&line) {
            true => (&format.json, None),
            false => (&format.text, Some(format.delimiter)),
        };
        let fields = fields_of(&line, delimiter)?;
        // Caddy logs a failed request twice: the second line has the error.
        if delimiter.is_none()
            && fields.iter().any(|one| one.name == b"logger" && one.value.starts_with(b"http.log.error"))
        {
            return Err(Unreadable("an error log line"));
        }
        let values = columns.values(&fields)?;
        let entry = Entry::of(columns, &values, &mut self.moments)?;
        let target = entry.asked.as_ref().map(|(method, target)| Ok((*method, path::split(target)?)));
        let target = target.transpose()?;
        let named = || entry.asked.as_ref().and_then(|(_, target)| path::host(target));
        if !self.hosts.is_own(entry.host.or_else(named)) {
            self.counted.elsewhere += 1;
            self.hours.cover(entry.time);
            return Ok(());
        }
        self.counted.has_bytes |= values.get(Role::Bytes).is_some();
        self.front.add(&entry);
        let Some((method, Some((path, query)))) = target else {
            self.hours.add(entry.time, entry.bytes, false);
            self.counted.malformed.add(&entry);
            return Ok(());
        };
        let who = self.agents.who(entry.agent.as_deref());
        self.hours.add(entry.time, entry.bytes, who != AgentKind::Bot);
        if is_script(&path) {
            self.hours.add_script(entry.micros);
            self.caches.add(&entry, method, (&path, query), who == AgentKind::Bot);
        }
        match who {
            AgentKind::Bot => self.counted.bots.add(&entry),
            AgentKind::Visitor(by_agent) => {
                self.counted.visitors.add(&entry);
                self.counted.without_agent += u64::from(entry.agent.is_none());
                self.counted.codings.add(entry.accept.as_deref(), by_agent);
                if entry.status == 200 && method != Method::Head && is_script(&path) {
                    self.durations.add(&entry);
                }
                self.paths.add(&path, query, &entry, method);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

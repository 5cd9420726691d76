//! Access logs of nginx, Apache, Caddy and lighttpd: counts what a site's decisions need.
//!
//! A log is hostile: lines are bounded, what cannot be read is counted, and memory does not grow with the log. Addresses, user names, referers,
//! cookies, user agents and query strings are dropped while a line is read. `docs/SITE.md` says what is read and counted.

mod agents;
mod bots;
mod browsers;
mod codings;
mod counted;
mod entry;
mod hours;
mod input;
mod json;
mod moment;
mod path;
mod paths;
mod text;

pub use codings::{Accepts, Codings};
pub use counted::{
    Counted, Example, Hits, Hour, PathTraffic, ResponseTime, ResponseTimes, Statuses, Traffic,
};

use std::collections::HashSet;
use std::io::{self, BufRead, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::content::regular::{open, plain_error, special};
use crate::interrupt::{INTERRUPTED, Interrupt, Watched};
use crate::lines::Lines;
use agents::{Agents, Who};
use entry::{Method, Unreadable};
use hours::Hours;
use moment::Moments;
use paths::Paths;
use text::Shape;
use weigh_model::text::{clean, clean_path};

/// The longest line in bytes; a longer one is unreadable.
pub const LONGEST: usize = 64 << 10;

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 100;

/// Counts the requests of log files, in any order. A file that cannot be read is a line of [`Counted::problems`]; the others are counted.
///
/// # Errors
/// The user wants an end.
pub fn read(paths: &[PathBuf], interrupt: &Interrupt) -> Result<Counted> {
    let mut counter = Counter::new();
    for path in paths {
        counter.file(path, interrupt)?;
    }
    Ok(counter.counted())
}

/// Counts line by line, in memory that does not grow with the number of lines.
pub struct Counter {
    counted: Counted,
    seen: HashSet<(u64, u64)>,
    moments: Moments,
    agents: Agents,
    hours: Hours,
    paths: Paths,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter::new()
    }
}

impl Counter {
    /// One that has counted nothing.
    pub fn new() -> Counter {
        Counter {
            counted: Counted::default(),
            seen: HashSet::new(),
            moments: Moments::default(),
            agents: Agents::new(),
            hours: Hours::new(),
            paths: Paths::new(),
        }
    }

    /// Counts a file as long as it is now: what a server appends meanwhile is left out. The same file is counted once.
    ///
    /// # Errors
    /// The user wants an end.
    pub fn file(&mut self, path: &Path, interrupt: &Interrupt) -> Result<()> {
        let named = clean_path(path);
        let opened = open(path, false).and_then(|file| Ok((file.metadata()?, file)));
        let (meta, file) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.problem(format!("{named}: no such file; check the path"));
                return Ok(());
            }
            Err(error) => {
                self.problem(format!("{named}: {}", plain_error(&error)));
                return Ok(());
            }
        };
        if !meta.is_file() {
            self.problem(format!("{named} is {}: give a regular file", special(&meta)));
        } else if self.seen.insert((meta.dev(), meta.ino())) {
            self.stream(&named, Watched { input: file.take(meta.len()), interrupt });
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

    /// What was counted.
    pub fn counted(self) -> Counted {
        let mut counted = self.counted;
        self.hours.finish(&mut counted);
        self.paths.finish(&mut counted);
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

    fn lines(&mut self, name: &str, mut input: impl BufRead) -> io::Result<()> {
        let shape = Shape::of(input.fill_buf()?);
        let mut lines = Lines::within(input, LONGEST);
        while let Some((line, place)) = lines.next_or_skip()? {
            if line.is_some_and(<[u8]>::is_empty) {
                continue;
            }
            self.counted.lines += 1;
            if let Err(why) = line.map_or(Err(Unreadable("longer than 64 KB")), |line| self.line(line, shape))
            {
                self.counted.unreadable += 1;
                let example = || Example { file: clean(name), line: place.number, why: why.0 };
                self.counted.example.get_or_insert_with(example);
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], shape: Shape) -> Result<(), Unreadable> {
        if memchr::memchr(0, line).is_some() {
            return Err(Unreadable("a NUL byte"));
        }
        let entry = match line.trim_ascii_start().first() {
            Some(b'{') => json::parse(line)?,
            _ => text::parse(line, shape, &mut self.moments)?,
        };
        let target = entry.asked.as_ref().map(|(method, target)| Ok((*method, path::split(target)?)));
        let target = target.transpose()?;
        self.hours.add(entry.time, entry.bytes);
        let Some((method, Some((path, query)))) = target else {
            self.counted.malformed.add(&entry, Method::Other);
            return Ok(());
        };
        match self.agents.who(entry.agent.as_deref()) {
            Who::Bot => self.counted.bots.add(&entry, method),
            Who::Visitor(by_agent) => {
                self.counted.visitors.add(&entry, method);
                self.counted.codings.add(entry.accept.as_deref(), by_agent);
                self.counted.times.add(&path, &entry);
                self.paths.add(&path, query, &entry, method);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

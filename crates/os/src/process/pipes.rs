//! The three pipes of a worker, one thread each, all bounded. A thread ends with its pipe.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::regular::regular;
use weigh_model::text::clean_bytes;

/// Bytes of stderr kept in the log for each start.
const LOG_LIMIT: usize = 1 << 20;
/// Bytes of the last line of stderr kept for messages.
const WORDS_LIMIT: usize = 300;
/// Bytes shown of something other than a reply.
const SHOWN: usize = 80;

/// Gives a command pipes, and an environment of these variables of ours, a fixed locale and time zone, and those in `own`.
pub fn isolate(command: &mut Command, passed: &[&str], own: &[(OsString, OsString)]) {
    command.env_clear().envs(passed.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.env("LC_ALL", "C").env("TZ", "UTC").envs(own.iter().cloned());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
}

/// The log of a program that says nothing.
pub const NO_LOG: &str = "/dev/null";

/// Opens a log to append to, and to read its end again: a regular file, and no link to one; or [`NO_LOG`].
pub fn open_log(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let log =
        File::options().read(true).append(true).create(true).custom_flags(flags.bits() as i32).open(path);
    let is_regular =
        |log: File| if path == Path::new(NO_LOG) { Ok(log) } else { regular(&log.metadata()?).map(|()| log) };
    let log = log.and_then(is_regular);
    log.map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

/// What the reader of stdout found.
#[derive(Debug)]
pub enum OutputLine {
    /// A line, without its newline; the last one may have had none.
    Line(Vec<u8>),
    /// A line over the limit; its first bytes.
    TooLong(Vec<u8>),
}

/// Writes what it is sent until the worker no longer reads or the sender is dropped, which closes stdin.
pub fn write_lines(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, lines) = channel::<Vec<u8>>();
    std::thread::spawn(move || {
        for line in lines {
            if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

/// Reads lines until the pipe ends, a line is too long or the receiver is dropped. It is at most one line
/// ahead, so a flood stays in the pipe.
pub fn read_lines(stdout: ChildStdout, longest: usize) -> Receiver<OutputLine> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            let read = stdout.by_ref().take(longest as u64 + 1).read_until(b'\n', &mut line);
            if read.unwrap_or(0) == 0 {
                return;
            }
            let whole = line.pop_if(|b| *b == b'\n').is_some();
            if !whole && line.len() > longest {
                line.truncate(SHOWN);
                let _ = sender.send(OutputLine::TooLong(line));
                return;
            }
            if sender.send(OutputLine::Line(line)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The last line a worker wrote on stderr.
#[derive(Debug)]
pub struct LastLine {
    words: Arc<Mutex<Vec<u8>>>,
    done: Receiver<()>,
}

impl LastLine {
    /// The last line that is not empty, escaped and shortened; waits a moment for the pipe to run dry.
    pub fn last(&self) -> Option<String> {
        let _ = self.done.recv_timeout(Duration::from_millis(500));
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        (!words.is_empty()).then(|| clean_bytes(&words))
    }
}

/// Copies stderr to the log up to a limit, and goes on reading behind it so that the worker never blocks.
pub fn keep_log(stderr: ChildStderr, mut log: File) -> LastLine {
    let words = Arc::new(Mutex::new(Vec::new()));
    let (finished, done) = channel();
    let last = Arc::clone(&words);
    std::thread::spawn(move || {
        let mut stderr = BufReader::new(stderr);
        let mut kept = 0;
        let mut current = Vec::new();
        loop {
            let chunk = match stderr.fill_buf() {
                Ok(chunk) if !chunk.is_empty() => chunk,
                _ => break,
            };
            let room = chunk.len().min(LOG_LIMIT - kept);
            // A log that cannot be written costs words, not numbers.
            let _ = log.write_all(&chunk[..room]);
            kept += room;
            for &byte in chunk {
                match byte {
                    b'\n' => remember(&last, &mut current),
                    _ if current.len() < WORDS_LIMIT => current.push(byte),
                    _ => {}
                }
            }
            let read = chunk.len();
            stderr.consume(read);
        }
        remember(&last, &mut current);
        let _ = finished.send(());
    });
    LastLine { words, done }
}

fn remember(last: &Mutex<Vec<u8>>, current: &mut Vec<u8>) {
    // What is said behind each panic says nothing.
    if !current.trim_ascii().is_empty() && !current.starts_with(b"note: run with `RUST_BACKTRACE") {
        *last.lock().unwrap_or_else(PoisonError::into_inner) = current.clone();
    }
    current.clear();
}

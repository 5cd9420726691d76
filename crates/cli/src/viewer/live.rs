//! A run while it measures: its log is followed, and what is new is told as events (WHATWG HTML, "Server-sent events").

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hyper::body::Bytes;
use serde::Serialize;
use tokio::sync::mpsc::Sender;

use weigh_model::record::Record;
use weigh_os::regular;
use weigh_run::dir::{RECORDS, StoredRun};
use weigh_run::list::is_running;
use weigh_run::log;

/// How often the log is looked at.
const EVERY: Duration = Duration::from_millis(300);
/// A reader that is gone shows when something is sent to it.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
/// Bytes that are read at once. A record that is longer is not followed.
const AT_ONCE: u64 = 8 << 20;

/// What is told of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    samples: usize,
    failures: usize,
    /// Configurations that get no further samples.
    done: usize,
    /// Configurations in the plan.
    configurations: usize,
    round: u32,
    /// Seconds of wall time.
    seconds: f64,
    /// The configuration of the last sample.
    last: Option<String>,
    complete: bool,
}

impl Progress {
    fn take(&mut self, record: &Record) {
        match record {
            Record::Visit(visit) => {
                self.samples += 1;
                self.round = self.round.max(visit.round);
                self.seconds = self.seconds.max(visit.at);
                self.last = Some(visit.cell.clone());
            }
            Record::Fault { cell, round, .. } => {
                self.failures += 1;
                self.round = self.round.max(*round);
                self.last = Some(cell.clone());
            }
            Record::Stop { .. } => self.done += 1,
            Record::End { rounds, seconds, .. } => {
                (self.round, self.seconds, self.complete) = (*rounds, *seconds, true);
            }
            Record::Caveat { .. } | Record::Resumed { .. } => {}
        }
    }
}

/// Follows the log of a run.
#[derive(Debug)]
pub struct Follower {
    run: PathBuf,
    /// Bytes of whole records that were read.
    read: u64,
    progress: Progress,
}

impl Follower {
    /// Begins at the first record.
    ///
    /// # Errors
    /// It is not a run, or damaged.
    pub fn new(run: &Path) -> Result<Follower> {
        let configurations = StoredRun::read(run)?.plan.cells.len();
        let progress = Progress { configurations, ..Progress::default() };
        Ok(Follower { run: run.to_owned(), read: 0, progress })
    }

    /// Reads what is new; whether there was something.
    fn look(&mut self) -> Result<bool> {
        let path = self.run.join(RECORDS);
        let mut file = regular::open(&path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.take(AT_ONCE).read_to_end(&mut bytes)?;
        let log = log::parse(&path, bytes.as_slice())?;
        if log.valid_bytes == 0 && bytes.len() as u64 == AT_ONCE {
            bail!("a record of more than {} is not followed", weigh_model::units::bytes(AT_ONCE));
        }
        self.read += log.valid_bytes;
        log.records.iter().for_each(|record| self.progress.take(record));
        Ok(!log.records.is_empty())
    }
}

/// Tells a reader of a run until it ends, or the reader is gone.
pub async fn tell(mut follower: Follower, events: Sender<Bytes>) {
    let mut told = None;
    loop {
        // Looked at before the log: what is written last is still told.
        let goes_on = is_running(&follower.run);
        let event = match follower.look() {
            Ok(true) => Some(event("progress", &follower.progress)),
            Ok(false) if told.is_none() => Some(event("progress", &follower.progress)),
            Ok(false) if !goes_on || follower.progress.complete => {
                // The reader knows by this event that it must not ask again.
                let _ = events.send(event("end", &follower.progress)).await;
                return;
            }
            Ok(false) => None,
            Err(error) => {
                let _ = events.send(event("damaged", &format!("{error:#}"))).await;
                return;
            }
        };
        let is_quiet = told.is_some_and(|told: Instant| told.elapsed() > SIGN_OF_LIFE);
        let piece = event.or_else(|| is_quiet.then(|| Bytes::from_static(b": still measuring\n\n")));
        if let Some(piece) = piece {
            if events.send(piece).await.is_err() {
                return;
            }
            told = Some(Instant::now());
        }
        if tokio::time::timeout(EVERY, events.closed()).await.is_ok() {
            return;
        }
    }
}

/// One event; JSON has no line ends, so it is one line.
fn event(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_else(|_| "null".into());
    format!("event: {name}\ndata: {data}\n\n").into()
}

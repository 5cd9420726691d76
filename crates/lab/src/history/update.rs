//! Brings an index up to date: runs that are new or changed are read, in parallel, and runs that are gone are forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::{Context, Result};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::derive::{Derived, digest_of, size_of};
use super::{History, stamp};
use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::run::list::kept_folders;
use weigh_answer::row::Row;

/// Runs that are written in one transaction: another process gets its turn, and an interruption loses no more.
const AT_ONCE: usize = 128;

/// What is known of a run that may have changed.
struct Todo {
    name: String,
    path: PathBuf,
    /// Its stamp now, taken before it is read: what is written after that is read the next time.
    stamp: String,
    /// Its digest when it was read last.
    digest: Option<String>,
}

/// What was read of a run.
struct Read {
    todo: Todo,
    digest: String,
    bytes: u64,
    /// None: the records are as before.
    derived: Option<Derived>,
}

impl History {
    /// Reads what is new or changed, and tells `progress` how many runs of how many are done. Returns how many were read.
    ///
    /// # Errors
    /// The index cannot be written, or the user wants an end.
    pub fn update(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<usize> {
        let interrupt = Interrupt::caught();
        let there = kept_folders(&self.folder);
        let known = known(&self.db)?;
        self.forget(&known, &there)?;
        let mut todo: Vec<Todo> =
            there.into_iter().filter_map(|(name, path)| Todo::of(name, path, &known)).collect();
        let all = todo.len();
        while !todo.is_empty() {
            anyhow::ensure!(!interrupt.is_set(), INTERRUPTED);
            let part = todo.drain(..todo.len().min(AT_ONCE)).collect();
            self.read(part)?;
            progress(all - todo.len(), all);
        }
        Ok(all)
    }

    /// Forgets the runs that are gone.
    fn forget(&mut self, known: &Known, there: &[(String, PathBuf)]) -> Result<()> {
        let there: BTreeSet<&String> = there.iter().map(|(name, _)| name).collect();
        let gone: Vec<&String> = known.keys().filter(|name| !there.contains(name)).collect();
        if gone.is_empty() {
            return Ok(());
        }
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for name in gone {
            change.execute("DELETE FROM runs WHERE name = ?1", [name])?;
        }
        Ok(change.commit()?)
    }

    /// Reads some runs, unless another process has read them meanwhile.
    fn read(&mut self, mut todo: Vec<Todo>) -> Result<()> {
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known = known(&change)?;
        todo.retain(|todo| known.get(&todo.name).is_none_or(|(stamp, _)| *stamp != todo.stamp));
        let mut writer = Writer { db: &change, configurations: BTreeMap::new() };
        in_parallel(todo, &mut |read| writer.write(&read))?;
        Ok(change.commit()?)
    }
}

impl Todo {
    /// None of a run that the index knows as it is now.
    fn of(name: String, path: PathBuf, known: &Known) -> Option<Todo> {
        let stamp = stamp::of(&path);
        let before = known.get(&name);
        let is_known = before.is_some_and(|(known, _)| *known == stamp);
        (!is_known).then(|| Todo { digest: before.map(|(_, digest)| digest.clone()), name, path, stamp })
    }
}

/// Stamp and digest of each run in an index, by its name.
type Known = BTreeMap<String, (String, String)>;

fn known(db: &Connection) -> Result<Known> {
    let mut all = db.prepare_cached("SELECT name, stamp, digest FROM runs")?;
    let rows = all.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Reads runs by as many threads as there are processors; `take` gets each as it comes.
fn in_parallel(todo: Vec<Todo>, take: &mut dyn FnMut(Read) -> Result<()>) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(todo.len());
    let next = AtomicUsize::new(0);
    let todo: Vec<std::sync::Mutex<Option<Todo>>> =
        todo.into_iter().map(|todo| std::sync::Mutex::new(Some(todo))).collect();
    std::thread::scope(|scope| {
        // A bounded queue: what was read waits in memory for nobody.
        let (sender, receiver) = mpsc::sync_channel(threads.max(1));
        for _ in 0..threads {
            let (sender, next, todo) = (sender.clone(), &next, &todo);
            scope.spawn(move || {
                while let Some(slot) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let taken = slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                    // Nobody receives any more: something went wrong there.
                    if taken.is_none_or(|todo| sender.send(Read::of(todo)).is_err()) {
                        break;
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(take)
    })
}

impl Read {
    fn of(todo: Todo) -> Read {
        let digest = digest_of(&todo.path);
        let is_same = !digest.is_empty() && todo.digest.as_ref() == Some(&digest);
        let derived = (!is_same).then(|| Derived::of(&todo.path));
        Read { bytes: size_of(&todo.path), digest, derived, todo }
    }
}

/// Writes what was read; ids of names are looked up once.
struct Writer<'a> {
    db: &'a Transaction<'a>,
    configurations: BTreeMap<String, i64>,
}

impl Writer<'_> {
    fn write(&mut self, read: &Read) -> Result<()> {
        let Read { todo, digest, bytes, derived } = read;
        let doing = || format!("{}: cannot be indexed", todo.name);
        match derived {
            None => {
                let same = "UPDATE runs SET stamp = ?2, bytes = ?3 WHERE name = ?1";
                self.db.execute(same, params![todo.name, todo.stamp, *bytes as i64]).with_context(doing)?;
                Ok(())
            }
            Some(derived) => self.put(todo, digest, *bytes, derived).with_context(doing),
        }
    }

    fn put(&mut self, todo: &Todo, digest: &str, bytes: u64, of: &Derived) -> Result<()> {
        self.db.execute("DELETE FROM runs WHERE name = ?1", [&todo.name])?;
        self.db.execute(
            "INSERT INTO runs (name, stamp, digest, bytes, started, study, subject, complete, configurations, rounds, seconds,
             damaged) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                todo.name,
                todo.stamp,
                digest,
                bytes as i64,
                of.started,
                of.study,
                of.subject,
                of.is_complete,
                of.configurations as i64,
                of.rounds,
                of.seconds,
                of.damaged
            ],
        )?;
        let run = self.db.last_insert_rowid();
        for (name, value) in &of.facts {
            let mut put = self.db.prepare_cached("INSERT OR REPLACE INTO facts VALUES (?1, ?2, ?3)")?;
            put.execute(params![run, name, value])?;
        }
        let metrics = self.metrics(of)?;
        of.rows.iter().try_for_each(|row| self.put_row(run, row, &metrics))
    }

    /// The ids of the metrics that a run may have.
    fn metrics(&self, of: &Derived) -> Result<BTreeMap<&'static str, i64>> {
        let subject = of.subject.unwrap_or_default();
        let id = |metric: &'static weigh_answer::metric::Metric| {
            let find = "SELECT id FROM metrics WHERE subject = ?1 AND name = ?2";
            let known = self.db.prepare_cached(find)?.query_row([subject, metric.id], |row| row.get(0));
            if let Some(id) = known.optional()? {
                return Ok((metric.id, id));
            }
            let put = "INSERT INTO metrics (subject, name, unit, better, about) VALUES (?1, ?2, ?3, ?4, ?5)";
            let (unit, better) = (metric.unit.symbol(), metric.better.name());
            self.db.execute(put, params![subject, metric.id, unit, better, metric.about])?;
            Ok((metric.id, self.db.last_insert_rowid()))
        };
        of.metrics().map(id).collect()
    }

    fn put_row(&mut self, run: i64, row: &Row, metrics: &BTreeMap<&str, i64>) -> Result<()> {
        let configuration = self.configuration(row.id())?;
        let mut put =
            self.db.prepare_cached("INSERT OR REPLACE INTO measured VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        for (metric, estimate) in &row.values {
            let Some(id) = metrics.get(metric.as_str()) else { continue };
            // SQLite has no NaN, and what is not finite is no value.
            if estimate.value.is_finite() {
                let (low, high) = (estimate.low, estimate.high);
                put.execute(params![run, id, configuration, estimate.value, low, high, estimate.rounds])?;
            }
        }
        Ok(())
    }

    fn configuration(&mut self, name: &str) -> Result<i64> {
        if let Some(id) = self.configurations.get(name) {
            return Ok(*id);
        }
        let find = "SELECT id FROM configurations WHERE name = ?1";
        let known = self.db.prepare_cached(find)?.query_row([name], |row| row.get(0)).optional()?;
        let id = match known {
            Some(id) => id,
            None => {
                self.db.execute("INSERT INTO configurations (name) VALUES (?1)", [name])?;
                self.db.last_insert_rowid()
            }
        };
        self.configurations.insert(name.to_owned(), id);
        Ok(id)
    }
}

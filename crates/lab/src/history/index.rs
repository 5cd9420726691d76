//! The index's file: opened, checked, and begun anew where it is not what it should be.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{FlockOperation, flock};

use crate::content::regular;
use crate::run::list::kept_folders;
use weigh_model::text::clean_path;

/// The index's name in a folder of runs.
pub const FILE: &str = "history.sqlite";
/// Says that a database is this index: `WGHB`.
const APPLICATION: i32 = 0x5747_4842;
/// The version of [`TABLES`] and of what is derived. Another one is no fault: everything is derived again.
const VERSION: i32 = 3;
/// How long another process may write.
const PATIENCE: Duration = Duration::from_secs(120);

/// Names of configurations and metrics stand once. `results` is for people who look at the file with other programs.
const TABLES: &str = "
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, digest TEXT NOT NULL, bytes INTEGER NOT NULL,
  started TEXT NOT NULL, study TEXT, subject TEXT, complete INTEGER NOT NULL, configurations INTEGER NOT NULL,
  rounds INTEGER NOT NULL, seconds REAL NOT NULL, damaged TEXT);
CREATE INDEX runs_started ON runs (started, name);
CREATE TABLE configurations (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE metrics (
  id INTEGER PRIMARY KEY, subject TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, better TEXT NOT NULL,
  about TEXT NOT NULL, UNIQUE (subject, name));
CREATE TABLE measured (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, metric INTEGER NOT NULL REFERENCES metrics,
  configuration INTEGER NOT NULL REFERENCES configurations, value REAL NOT NULL, low REAL, high REAL,
  rounds INTEGER NOT NULL, PRIMARY KEY (run, metric, configuration)) WITHOUT ROWID;
CREATE TABLE facts (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (run, name)) WITHOUT ROWID;
CREATE VIEW results AS
  SELECT runs.name AS run, started, study, runs.subject AS subject, complete, configurations.name AS configuration,
         metrics.name AS metric, unit, better, value, low, high, measured.rounds AS rounds
  FROM measured JOIN runs ON runs.id = run JOIN metrics ON metrics.id = metric
       JOIN configurations ON configurations.id = configuration;
";

/// The history of a folder of runs.
#[derive(Debug)]
pub struct History {
    pub(super) folder: PathBuf,
    pub(super) db: Connection,
    /// The index is in a file, which others use too.
    is_kept: bool,
}

/// What an index turned out to be.
enum Found {
    Fine(Connection),
    /// With what is wrong, as a reader is told.
    Unfit(&'static str),
}

impl History {
    /// Opens the index of a folder; it says what the runs said when it was last brought up to date. `note` takes what the
    /// user should know, a line each. Where the folder cannot be written to, the index is made in memory.
    ///
    /// # Errors
    /// The system refuses what is needed.
    pub fn open(folder: &Path, note: &mut dyn FnMut(&str)) -> Result<History> {
        let path = folder.join(FILE);
        // Where there are no runs, there is nothing to keep.
        if !path.exists() && kept_folders(folder).is_empty() {
            return History::in_memory(folder);
        }
        let is_file = path.symlink_metadata().map_or(Ok(()), |about| regular::regular(&about));
        let opened = match is_file.map_err(anyhow::Error::from).and_then(|()| look(&path)) {
            Ok(Found::Fine(db)) => Ok(db),
            Ok(Found::Unfit(why)) => {
                note(&format!("{}: {why}; it is built again from the runs", clean_path(&path)));
                replace(folder, &path)
            }
            Err(error) => Err(error),
        };
        match opened {
            Ok(db) => Ok(History { folder: folder.to_owned(), db, is_kept: true }),
            Err(error) => {
                let why = format!("{}: cannot be kept ({error:#})", clean_path(&path));
                note(&format!("{why}; the runs are read for this once"));
                History::in_memory(folder)
            }
        }
    }

    fn in_memory(folder: &Path) -> Result<History> {
        let mut db = Connection::open_in_memory().context("an index in memory")?;
        begin(&mut db).context("an index in memory")?;
        Ok(History { folder: folder.to_owned(), db, is_kept: false })
    }

    /// As [`History::open`], of an index that is begun anew.
    ///
    /// # Errors
    /// As [`History::open`].
    pub fn anew(folder: &Path, note: &mut dyn FnMut(&str)) -> Result<History> {
        let opened = History::open(folder, note)?;
        if !opened.is_kept {
            return Ok(opened);
        }
        drop(opened);
        let path = folder.join(FILE);
        let db = emptied(&path).with_context(|| format!("{}: cannot be written", clean_path(&path)))?;
        Ok(History { folder: folder.to_owned(), db, is_kept: true })
    }

    /// Does something with the index. Damage that shows only then is mended once: the index is begun anew, and `work` done
    /// again.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn mended<T>(
        &mut self,
        note: &mut dyn FnMut(&str),
        work: &mut dyn FnMut(&mut History) -> Result<T>,
    ) -> Result<T> {
        let done = work(self);
        let Err(error) = &done else { return done };
        if !self.is_kept || !is_damage(error) {
            return done;
        }
        let path = self.folder.join(FILE);
        note(&format!("{}: damaged; it is built again from the runs", clean_path(&path)));
        self.db = Connection::open_in_memory()?;
        self.db = replace_damaged(&self.folder, &path)?;
        work(self)
    }
}

fn is_damage(error: &anyhow::Error) -> bool {
    let code = error.chain().find_map(|cause| cause.downcast_ref::<rusqlite::Error>()?.sqlite_error_code());
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // Through a link, the database of something else would be changed; the folder itself may be reached by one.
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let real =
        folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name));
    let db = Connection::open_with_flags(real, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    db.busy_timeout(PATIENCE)?;
    // Readers go on while another process writes. Where the file system has no shared memory, they wait for each other.
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // The index can be built again: it need not be on the disk, only consistent.
    db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")?;
    Ok(db)
}

/// Looks at the file, and makes one where there is none.
fn look(path: &Path) -> Result<Found> {
    let mut db = match connect(path) {
        Ok(db) => db,
        Err(error) => return unfit(error),
    };
    // Two processes may find no tables at once: the second waits, and finds those of the first.
    match begin(&mut db) {
        Ok(()) => {}
        Err(error) => return unfit(error),
    }
    let number = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    match number("application_id").and_then(|id| Ok((id, number("user_version")?))) {
        Ok((APPLICATION, VERSION)) if has_other_tables(&db)? => {
            Ok(Found::Unfit("not as an index of runs is"))
        }
        Ok((APPLICATION, VERSION)) => Ok(Found::Fine(db)),
        Ok((APPLICATION, version)) if version < VERSION => Ok(Found::Unfit("of an earlier version")),
        Ok((APPLICATION, _)) => Ok(Found::Unfit("of a later version")),
        Ok(_) => Ok(Found::Unfit("not an index of runs")),
        Err(error) => unfit(error),
    }
}

/// Whether its tables are not those that are made here, or there are triggers or views beside them: what it says of runs would be somebody's.
fn has_other_tables(db: &Connection) -> Result<bool> {
    let all = |db: &Connection| -> rusqlite::Result<Vec<(String, Option<String>)>> {
        let asked =
            "SELECT name, sql FROM sqlite_schema WHERE substr(name, 1, 11) <> 'sqlite_stat' ORDER BY name";
        let mut asked = db.prepare(asked)?;
        asked.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let mut own = Connection::open_in_memory()?;
    begin(&mut own)?;
    Ok(all(db)? != all(&own)?)
}

fn unfit(error: rusqlite::Error) -> Result<Found> {
    let error = error.into();
    if is_damage(&error) { Ok(Found::Unfit("damaged")) } else { Err(error) }
}

/// Makes the tables in a database that has none.
fn begin(db: &mut Connection) -> rusqlite::Result<()> {
    let tables =
        |db: &Connection| db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    if tables(db)? > 0 {
        return Ok(());
    }
    let change = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if tables(&change)? == 0 {
        change.execute_batch(TABLES)?;
        change.pragma_update(None, "application_id", APPLICATION)?;
        change.pragma_update(None, "user_version", VERSION)?;
    }
    change.commit()
}

/// An index without runs, of a file that is fit.
fn emptied(path: &Path) -> Result<Connection> {
    let mut db = connect(path)?;
    let change = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    change.execute_batch(
        "DELETE FROM measured; DELETE FROM facts; DELETE FROM runs; DELETE FROM configurations; DELETE FROM metrics",
    )?;
    change.commit()?;
    Ok(db)
}

/// Begins the file anew if it is still unfit: one process at a time, so that none removes what another has just made.
fn replace(folder: &Path, path: &Path) -> Result<Connection> {
    let _alone = alone(folder)?;
    match look(path)? {
        Found::Fine(db) => Ok(db),
        Found::Unfit(_) => removed(path),
    }
}

/// As [`replace`], of a file whose damage does not show where it is opened.
fn replace_damaged(folder: &Path, path: &Path) -> Result<Connection> {
    let _alone = alone(folder)?;
    let is_whole = |db: &Connection| {
        let check = db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        check.is_ok_and(|said| said == "ok")
    };
    match look(path)? {
        Found::Fine(db) if is_whole(&db) => Ok(db),
        found => {
            drop(found);
            removed(path)
        }
    }
}

/// The folder's advisory lock, for as long as the file is kept.
fn alone(folder: &Path) -> Result<File> {
    let lock = regular::open_folder(folder)?;
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}

fn removed(path: &Path) -> Result<Connection> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    match look(path)? {
        Found::Fine(db) => Ok(db),
        Found::Unfit(why) => anyhow::bail!(why),
    }
}

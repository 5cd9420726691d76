//! The log of a run: `records.ndjson`, one record a line, append-only.
//!
//! Each line is the record's JSON object with a last member `"crc":"xxxxxxxx"`: the CRC-32 of the line's
//! bytes before `,"crc"`. A torn last line is what an interruption leaves and is dropped; damage before it
//! is refused with its line number, because nothing here may guess at a measurement.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use weigh_model::plan::Plan;
use weigh_model::record::Record;
use weigh_model::thin::Thinned;
use weigh_os::regular;

/// Bytes of `,"crc":"xxxxxxxx"}`.
const SUFFIX: usize = 18;
/// The longest line in bytes.
const LONGEST: u64 = 32 << 20;
/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// Why the log could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("{}: cannot {doing}: {source}; {remedy}", path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error, remedy: &'static str },
    /// A line before the last one is not a record.
    #[error(
        "{}: line {line} is damaged ({what}); delete that line to go on: what it held is lost, every other \
         line stays", path.display()
    )]
    Damaged {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        what: String,
    },
}

#[derive(Debug, Default)]
pub struct Log {
    /// Every whole record, in order.
    pub records: Vec<Record>,
    /// Bytes up to the end of the last whole record: where appending goes on.
    pub valid_bytes: u64,
    /// Bytes of a torn last line after them, ignored.
    pub torn_bytes: u64,
}

/// Reads a log; a file that is not there is an empty one.
///
/// # Errors
/// [`LogError::Io`], or [`LogError::Damaged`] when a line before the last one is not a whole record.
pub fn read(path: &Path) -> Result<Log, LogError> {
    let mut records = Vec::new();
    let log = each(path, &mut |json| json.record().map(|record| records.push(record)))?;
    Ok(Log { records, ..log })
}

/// As [`read`], of a run that may be so long that a report is made of some of its rounds.
///
/// # Errors
/// As [`read`].
pub fn thinned(path: &Path, plan: &Plan) -> Result<Log, LogError> {
    let mut thinned = Thinned::new(plan);
    let log = each(path, &mut |json| {
        if !thinned.leaves_out(json.0) {
            thinned.take(json.record()?);
        }
        Ok(())
    })?;
    Ok(Log { records: thinned.records(), ..log })
}

/// The JSON of a record without its last brace, whose checksum is right.
struct Json<'l>(&'l [u8]);

impl Json<'_> {
    fn record(&self) -> Result<Record, String> {
        serde_json::from_slice(&[self.0, b"}"].concat()).map_err(|e| e.to_string())
    }
}

type Take<'t> = dyn FnMut(Json<'_>) -> Result<(), String> + 't;

fn each(path: &Path, take: &mut Take<'_>) -> Result<Log, LogError> {
    match regular::open(path) {
        Ok(file) => parse_each(path, BufReader::with_capacity(BUFFER, file), take),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Log::default()),
        Err(source) => Err(unread(path, source)),
    }
}

fn unread(path: &Path, source: io::Error) -> LogError {
    LogError::Io {
        path: path.to_path_buf(),
        doing: "read it",
        source,
        remedy: "check what it is, and its permissions",
    }
}

/// As [`read`], from what a file has; `path` is for messages. It is read a line at a time.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &Path, input: impl BufRead) -> Result<Log, LogError> {
    let mut records = Vec::new();
    let log = parse_each(path, input, &mut |json| json.record().map(|record| records.push(record)))?;
    Ok(Log { records, ..log })
}

fn parse_each(path: &Path, mut input: impl BufRead, take: &mut Take<'_>) -> Result<Log, LogError> {
    let failed = |source| unread(path, source);
    let (mut log, mut line, mut number) = (Log::default(), Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        if input.by_ref().take(LONGEST).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(log);
        }
        let parsed = match line.strip_suffix(b"\n") {
            Some(line) => checked(line).and_then(&mut *take),
            None => Err("no end of line".to_owned()),
        };
        match parsed {
            Ok(()) => {}
            Err(_) if input.fill_buf().map_err(failed)?.is_empty() => {
                log.torn_bytes = line.len() as u64;
                return Ok(log);
            }
            Err(what) => return Err(LogError::Damaged { path: path.into(), line: number, what }),
        }
        log.valid_bytes += line.len() as u64;
    }
}

/// One record as a line with its checksum and its newline.
fn encode_line(record: &Record) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.pop();
    let crc = crc32fast::hash(&line);
    writeln!(line, ",\"crc\":\"{crc:08x}\"}}")?;
    Ok(line)
}

fn checked(line: &[u8]) -> Result<Json<'_>, String> {
    let at = line.len().checked_sub(SUFFIX).ok_or("too short for a record")?;
    let (body, suffix) = line.split_at(at);
    let said = suffix
        .strip_prefix(b",\"crc\":\"")
        .and_then(|s| s.strip_suffix(b"\"}"))
        .ok_or("it does not end in a checksum")?;
    let crc = format!("{:08x}", crc32fast::hash(body));
    if crc.as_bytes() != said {
        return Err(format!("its checksum is {crc}, not {}", said.escape_ascii()));
    }
    Ok(Json(body))
}

/// Appends records, one `write` a line.
#[derive(Debug)]
pub struct LogWriter {
    file: File,
    path: PathBuf,
    length: u64,
}

impl LogWriter {
    /// Opens the log for appending after its first `valid_bytes`; a torn line behind them is cut off.
    pub fn open(path: &Path, valid_bytes: u64) -> Result<LogWriter, LogError> {
        let fail = |source| LogError::Io {
            path: path.to_path_buf(),
            doing: "open it for appending",
            source,
            remedy: "the run directory has to be writable",
        };
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let file =
            OpenOptions::new().append(true).create(true).custom_flags(flags).open(path).map_err(fail)?;
        if file.metadata().map_err(fail)?.len() > valid_bytes {
            file.set_len(valid_bytes).map_err(fail)?;
        }
        Ok(LogWriter { file, path: path.to_path_buf(), length: valid_bytes })
    }

    /// Appends one record. When that fails, a line written in part is taken back.
    ///
    /// # Errors
    /// [`LogError::Io`]: the record is not in the log.
    pub fn append(&mut self, record: &Record) -> Result<(), LogError> {
        let written = encode_line(record).and_then(|line| self.file.write_all(&line).map(|()| line.len()));
        match written {
            Ok(bytes) => {
                self.length += bytes as u64;
                Ok(())
            }
            Err(source) => {
                // Should this fail too, the torn line is dropped by the next reader.
                let _ = self.file.set_len(self.length);
                Err(self.error("append a record", source))
            }
        }
    }

    /// Waits until everything appended is on the disk.
    pub fn sync(&self) -> Result<(), LogError> {
        match self.file.sync_data() {
            // Some file systems and devices do not know how to sync; appending worked there.
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
            other => other.map_err(|e| self.error("flush it to the disk", e)),
        }
    }

    fn error(&self, doing: &'static str, source: io::Error) -> LogError {
        let remedy = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "every record before is kept: free some space, then resume the run"
            }
            _ => "every record before is kept: mend that, then resume the run",
        };
        LogError::Io { path: self.path.clone(), doing, source, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(records: usize) -> Vec<Record> {
        (0..records).map(|i| Record::Resumed { at: i as i64 }).collect()
    }

    fn write(path: &Path, records: &[Record]) {
        let mut writer = LogWriter::open(path, 0).unwrap();
        records.iter().for_each(|r| writer.append(r).unwrap());
        writer.sync().unwrap();
    }

    #[test]
    fn what_is_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.ndjson");
        write(&path, &fixture(3));
        let log = read(&path).unwrap();
        assert_eq!(log.records, fixture(3));
        assert_eq!(log.valid_bytes, std::fs::metadata(&path).unwrap().len());
        assert_eq!(log.torn_bytes, 0);
    }

    #[test]
    fn each_line_is_json_that_ends_in_its_checksum() {
        let line = encode_line(&Record::Resumed { at: 7 }).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        let text = String::from_utf8(line).unwrap();
        let before = text.split(",\"crc\"").next().unwrap();
        assert_eq!(value["crc"], format!("{:08x}", crc32fast::hash(before.as_bytes())));
        assert_eq!(value["type"], "resumed");
    }

    #[test]
    fn a_cut_at_any_byte_loses_the_last_line_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.ndjson");
        write(&path, &fixture(4));
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let log = read(&path).unwrap();
            let lines = whole[..cut].iter().filter(|&&b| b == b'\n').count();
            assert_eq!(log.records, fixture(4)[..lines]);
            let mut writer = LogWriter::open(&path, log.valid_bytes).unwrap();
            writer.append(&Record::Resumed { at: 99 }).unwrap();
            assert_eq!(read(&path).unwrap().records.len(), lines + 1);
        }
    }

    #[test]
    fn damage_in_the_middle_names_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.ndjson");
        write(&path, &fixture(4));
        let whole = std::fs::read(&path).unwrap();
        let second = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
        let last = whole[..whole.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
        for at in second..last - 1 {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x01;
            std::fs::write(&path, &bytes).unwrap();
            let error = read(&path).expect_err("a flipped bit must be seen").to_string();
            assert!(error.contains("line 2 is damaged") || error.contains("line 3 is damaged"), "{error}");
            assert!(error.contains("delete that line"), "{error}");
        }
    }

    #[test]
    fn a_full_disk_is_one_clear_line() {
        if !Path::new("/dev/full").exists() {
            println!("skipped: there is no /dev/full here");
            return;
        }
        let mut writer = LogWriter::open(Path::new("/dev/full"), 0).unwrap();
        let error = writer.append(&Record::Resumed { at: 1 }).unwrap_err().to_string();
        assert!(error.contains("cannot append a record") && error.contains("free some space"), "{error}");
    }
}

//! What a server and PHP said while a block went on: the lines that came into their logs since it began.
//!
//! It refuses to be long: a few lines of each, cut, on one line.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;
use weigh_model::text::clean_bytes;
use weigh_os::regular;

/// What was written a moment ago may still be on its way to the log.
const ON_ITS_WAY: Duration = Duration::from_millis(100);
/// What nginx says when it spools, as it should.
const IN_PASSING: &str = " [warn] ";
/// Bytes of a log that are looked at, lines of it that are shown, and characters of a line.
const HEAD: u64 = 8192;
const LINES: usize = 2;
const LONGEST: usize = 300;

/// Logs, and how long each was when it began.
#[derive(Debug, Default)]
pub struct Words {
    logs: Vec<(PathBuf, u64)>,
}

impl Words {
    /// Begins to listen; a log that is not there yet is new.
    pub fn begin(logs: impl IntoIterator<Item = PathBuf>) -> Words {
        let length = |path: &Path| path.metadata().map_or(0, |log| log.len());
        Words {
            logs: logs.into_iter().map(|path| (length(&path), path)).map(|(n, path)| (path, n)).collect(),
        }
    }

    /// The first lines that each log has got since, for the cause comes before what follows from it; none when there are none.
    pub fn said(&self) -> Option<String> {
        if self.logs.is_empty() {
            return None;
        }
        std::thread::sleep(ON_ITS_WAY);
        let lines: Vec<String> = self.logs.iter().flat_map(|(path, from)| first_lines(path, *from)).collect();
        (!lines.is_empty()).then(|| lines.join(" / "))
    }
}

fn first_lines(path: &Path, from: u64) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = regular::open(path).and_then(|mut log| {
        log.seek(SeekFrom::Start(from))?;
        log.take(HEAD).read_to_end(&mut bytes)
    });
    if read.is_err() {
        return Vec::new();
    }
    let lines = bytes
        .split(|b| *b == b'\n')
        .map(bounded)
        .filter(|line| !line.is_empty() && !line.contains(IN_PASSING));
    lines.take(LINES).collect()
}

/// Words from outside as a part of a message: one line, clean, of bounded length.
pub fn bounded(bytes: &[u8]) -> String {
    let line = clean_bytes(bytes);
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_since_is_told_and_little_of_it() {
        let home = tempfile::tempdir().unwrap();
        let (server, php) = (home.path().join("server.log"), home.path().join("php.log"));
        std::fs::write(&server, "old\n").unwrap();
        let words = Words::begin([server.clone(), php.clone()]);
        assert_eq!(words.said(), None);
        std::fs::write(&server, "old\nfirst\n\nsecond\nthird\n").unwrap();
        std::fs::write(&php, format!("\x1b[31m{}\n", "x".repeat(5000))).unwrap();
        let said = words.said().unwrap();
        assert!(said.starts_with("first / second / xxx") && said.ends_with("x…"), "{said}");
        assert!(said.chars().count() < 350 && !said.contains("third"), "{said}");
        assert_eq!(Words::default().said(), None);
    }
}

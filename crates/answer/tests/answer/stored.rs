//! Small stored runs, one per subject, for the tests of this crate and of its modules.

use std::fs;
use std::path::PathBuf;

use weigh_answer::report::{Report, RunFacts};

/// The stored runs.
pub const RUNS: [&str; 3] = ["clients", "codecs", "deliveries"];

/// Its folder.
pub fn folder(run: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(run)
}

/// One of its files.
pub fn read(run: &str, file: &str) -> String {
    fs::read_to_string(folder(run).join(file)).unwrap_or_else(|e| panic!("{run}/{file}: {e}"))
}

/// The report of a stored run.
pub fn report(run: &str) -> Report {
    let plan = serde_json::from_str(&read(run, "plan.json")).unwrap();
    // A line ends in its checksum, which is no part of the record.
    let record = |line: &str| {
        let (record, _) = line.rsplit_once(",\"crc\":").unwrap();
        serde_json::from_str(&format!("{record}}}")).unwrap()
    };
    let records: Vec<_> = read(run, "records.ndjson").lines().map(record).collect();
    Report::of(&RunFacts::default(), &plan, &records)
}

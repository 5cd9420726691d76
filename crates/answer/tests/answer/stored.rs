//! Small stored runs, one per subject, for the tests of this crate and of its modules.

use std::fs;
use std::path::PathBuf;

use weigh_answer::report::{Report, RunFacts};
use weigh_model::plan::Plan;
use weigh_model::record::Record;

/// The stored runs.
pub const RUNS: [&str; 3] = ["clients", "codecs", "deliveries"];

/// The runs behind the documents.
pub const DOCUMENTED: [&str; 5] =
    ["cache-client", "cache-levels", "downloads", "page-output", "static-assets"];

/// The folder of a stored run.
pub fn folder(run: &str) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if DOCUMENTED.contains(&run) {
        here.join("../../docs/runs").join(run)
    } else {
        here.join("tests/golden").join(run)
    }
}

/// One of its files.
pub fn read(run: &str, file: &str) -> String {
    fs::read_to_string(folder(run).join(file)).unwrap_or_else(|e| panic!("{run}/{file}: {e}"))
}

/// Plan and records of a stored run.
pub fn records(run: &str) -> (Plan, Vec<Record>) {
    let plan = serde_json::from_str(&read(run, "plan.json")).unwrap();
    // A line ends in its checksum, which is no part of the record.
    let record = |line: &str| {
        let (record, _) = line.rsplit_once(",\"crc\":").unwrap();
        serde_json::from_str(&format!("{record}}}")).unwrap()
    };
    (plan, read(run, "records.ndjson").lines().map(record).collect())
}

/// The report of a stored run.
pub fn report(run: &str) -> Report {
    let (plan, records) = records(run);
    Report::of(&RunFacts::default(), &plan, &records)
}

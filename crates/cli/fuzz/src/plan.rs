//! Plans of runs, `plan.json`, alone or with records behind a line: whatever they hold, a report of them can be made and shown, and moves no cursor.

use weigh_answer::format::{Detail, Options, named};
use weigh_answer::report::{Report, RunFacts};
use weigh_answer::subject;
use weigh_model::plan::Plan;
use weigh_model::record::Record;

/// Cells and records beyond this many take time and find nothing new.
const MOST: usize = 64;

/// Holds one input against what the crates promise: the plan's JSON on the first line, records on the others.
pub fn hold(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let Some(Ok(plan)) = lines.next().map(serde_json::from_slice::<Plan>) else { return };
    let records: Vec<Record> =
        lines.take(MOST).filter_map(|line| serde_json::from_slice(line).ok()).collect();
    if plan.cells.len() > MOST || subject::check(&plan).is_err() {
        return;
    }
    let report = Report::of(&RunFacts::default(), &plan, &records);
    for (format, width) in [("terminal", 80), ("json", 80), ("csv", 80)] {
        let options = Options { width, detail: Detail::Full, ..Options::default() };
        let files = named(format).expect("it is there").render(&report, &options);
        for file in files.into_iter().flatten() {
            let is_moved = |byte: &u8| *byte == 0x1b || *byte == b'\r';
            assert!(format == "csv" || !file.bytes.iter().any(is_moved), "{format}");
        }
    }
}

//! The log of a run, `records.ndjson`: whatever is in it, whole records before a torn end are kept, and damage is named with its line.

use std::path::Path;

use weigh_run::log::{LogError, parse};

/// Holds one input against what the module promises. A first byte `s` seals each line with its checksum, so that what is behind it is reached.
pub fn hold(bytes: &[u8]) {
    match bytes.split_first() {
        Some((b's', rest)) => holds(&sealed(rest)),
        _ => holds(bytes),
    }
}

/// Each line with its checksum.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let body = line.strip_suffix(b"}\n").unwrap_or(line);
        out.extend_from_slice(body);
        if body.len() < line.len() {
            out.extend_from_slice(format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body)).as_bytes());
        }
    }
    out
}

fn holds(bytes: &[u8]) {
    let log = match parse(Path::new("records.ndjson"), bytes) {
        Ok(log) => log,
        Err(LogError::Damaged { line, .. }) => {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').count();
            // The last line is torn, not damaged.
            return assert!(line >= 1 && line < lines, "line {line} of {lines}");
        }
        Err(LogError::Io { .. }) => panic!("nothing is read here"),
    };
    assert_eq!(log.valid_bytes + log.torn_bytes, bytes.len() as u64);
    // Cut anywhere, as a kill may cut it, it loses what is behind the cut and no whole record before it.
    let cut = bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>() % (bytes.len() + 1);
    let shorter =
        parse(Path::new("records.ndjson"), &bytes[..cut]).expect("a log that was cut is no damaged one");
    let whole = bytes[..cut.min(log.valid_bytes as usize)].iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(shorter.records.len(), whole);
    assert_eq!(shorter.records[..], log.records[..whole]);
}

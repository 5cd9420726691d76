//! Files of profilers: cachegrind, and by the first byte collapsed stacks (`c`). What is read can be shown, and moves no cursor; what is not read
//! is refused in words.

use std::io::Cursor;

use weigh_answer::format::Options;
use weigh_answer::profile::document::{Document, ShownProfile};
use weigh_answer::profile::report::{Choice, Sort, terminal};
use weigh_profile::{cachegrind, collapsed};

/// Holds one input against what the modules promise.
pub fn hold(bytes: &[u8]) {
    let read = match bytes.split_first() {
        Some((b'c', rest)) => collapsed::read(rest, None),
        _ => cachegrind::read(Cursor::new(bytes), None),
    };
    let profile = match read {
        Ok(profile) => profile,
        Err(error) => return assert!(!format!("{error:#}").contains('\u{1b}')),
    };
    let document = Document::of(vec![ShownProfile::of("file", &profile, None)]);
    let choice = Choice { sort: Sort::Own, top: 10, function: None };
    assert!(!terminal(&document, &choice, &Options::default()).contains(['\u{1b}', '\r']));
}

//! From plans and records to reports and their forms.

mod codec;
mod formats;

use weigh_answer::report::Report;

/// Reports of the other subjects, by name.
fn others() -> Vec<(&'static str, Report)> {
    Vec::new()
}

//! From plans and records to reports and their forms.

mod advised_values;
mod agree;
mod answers;
mod client;
mod codec;
mod compared;
mod drawn;
mod equal;
mod fits;
mod formats;
mod golden;
#[path = "../../../stats/tests/simulation/noise.rs"]
#[allow(dead_code)]
mod noise;
mod noisy;
mod pictured;
mod pictures;
mod quoted;
mod settled;
mod stored;
mod tables;

use weigh_answer::report::Report;

/// Reports of the other subjects, by name.
fn others() -> Vec<(&'static str, Report)> {
    use client::fixture::{hostile, levels, many, versions};
    let clients =
        [("versions", versions()), ("levels", levels()), ("clients", many()), ("hostile", hostile())];
    clients.into_iter().map(|(name, lab)| (name, lab.report())).collect()
}

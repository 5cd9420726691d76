//! What must hold for any input. The targets ask with random ones; the tests of `weigh` include this file and ask with those that are kept.

use std::fmt::Display;

pub mod access_log;
pub mod configuration;
pub mod plan;
pub mod policy;
pub mod profile;
pub mod record_log;
pub mod site_file;
pub mod study;

/// What is wrong with a file is said, in words that move no cursor.
fn is_shown(error: &impl Display) {
    let said = format!("{error:#}");
    assert!(!said.trim().is_empty());
    assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
}

//! What is put round a program's own command line.

use std::ffi::OsString;

/// What of a command line turns something on, such as a profiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Words before the program's own.
    pub before: Vec<OsString>,
    /// Arguments of its own, before the script.
    pub arguments: Vec<OsString>,
    /// Variables to set.
    pub environment: Vec<(OsString, OsString)>,
}

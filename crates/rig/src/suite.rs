//! PHP runtimes, and other programs, from suites of the machine's own package archive, unpacked beside each other.
//!
//! An apt with folders of its own reads the archive that this machine is configured for, verifies its signatures, and
//! downloads; packages are unpacked, never installed: no script of theirs runs, and nothing outside of the cache
//! changes. Owns the way from `debian:trixie` to a runtime; refuses an archive that is not signed, or not of the
//! origin that the definition names.

mod apt;
mod definition;
mod fetch;
mod sources;

pub use definition::RuntimeSource;
pub use fetch::{Added, Progress, add, remove, suite_of, unpack};

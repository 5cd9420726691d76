//! Writes the files that carry out a policy: a part of each server's configuration, rendered from the templates that were measured, and what
//! PHP and Symfony need. They go into a folder of their own; nothing of the user's is written to.
//!
//! It owns what is emitted and what is said of it. Which directives those are is the business of the servers' folders.

mod advised;
mod decided;
mod dictionaries;
mod emitted;
mod folder;
mod here;
mod library;
pub mod own;
mod php;
mod present;
mod sections;
mod served;
mod server;
mod symfony;
mod trial;

use anyhow::{Context, Result};

pub use advised::advised;
pub use dictionaries::deltas;
pub use emitted::Emitted;
pub use folder::files;
pub use here::WritingContext;
pub use served::downloads;
pub use server::carriers;
pub use trial::describe_trial;

use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_os::guard::LaunchContext;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_rig::server::Found;
use weigh_serverconf::Read;

/// The files of a policy, in the order in which to use them.
///
/// # Errors
/// One line: the parts of the policy that no file can hold.
pub fn emit(policy: &Policy, site: &Site, here: WritingContext<'_>) -> Result<Vec<Emitted>> {
    let mut emitted = Vec::new();
    for found in here.servers {
        emitted.extend(server::emit(policy, site, found, here)?);
    }
    emitted.extend(php::emit(policy, site)?);
    emitted.extend(symfony::emit(policy)?);
    emitted.extend(library::emit(policy, site, here)?);
    Ok(emitted)
}

/// Has what is written for these servers checked in private instances, by a user of their own where there is one. `own`: the site's own
/// configuration, if it is known.
///
/// # Errors
/// There is no temporary folder, or those of `write`.
pub fn checked<T>(
    servers: &[Found],
    own: Option<&Read>,
    write: impl FnOnce(WritingContext<'_>) -> Result<T>,
) -> Result<T> {
    let user =
        OwnUser::for_programs(servers.iter().filter_map(|found| found.program.as_deref())).ok().flatten();
    let room = Shelter::of(user).context("no temporary folder")?;
    let place = LaunchContext::new(room.path(), room.path().join("log")).of(user);
    write(WritingContext { servers, place: Some(&place), own })
}

#[cfg(test)]
mod tests;

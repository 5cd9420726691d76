//! What a policy is written for.

use weigh_os::guard::LaunchContext;
use weigh_rig::server::Found;
use weigh_serverconf::Read;

/// The servers and the site's own configuration.
#[derive(Clone, Copy, Debug)]
pub struct WritingContext<'a> {
    /// The servers to write for, as this machine has them.
    pub servers: &'a [Found],
    /// Where private instances check what is written; none: nothing is checked.
    pub place: Option<&'a LaunchContext>,
    /// The site's own configuration of its server; none: it is not known.
    pub own: Option<&'a Read>,
}

//! A web server's configuration of the user's, with the server that this machine has for it.

use weigh_rig::server::Found;
use weigh_serverconf::Read;

/// A configuration of the user's with the server that it is for.
#[derive(Clone, Debug)]
pub struct Configured {
    pub read: Read,
    /// The server with it among its ways.
    pub found: Found,
}

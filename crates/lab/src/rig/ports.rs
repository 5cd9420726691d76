//! TCP ports that nobody listens on.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

/// So many different ports of an address that were free a moment ago: others may take one before it is bound.
///
/// # Errors
/// There are not as many, or the address is not this machine's.
pub fn free(host: Ipv4Addr, count: u16) -> Result<Vec<u16>> {
    let listener = || TcpListener::bind((host, 0)).with_context(|| format!("no free port on {host}"));
    let held: Vec<TcpListener> = (0..count).map(|_| listener()).collect::<Result<_>>()?;
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

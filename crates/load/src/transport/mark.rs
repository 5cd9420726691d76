//! `SO_RCVLOWAT`: how many bytes must be available before an event reports them, see socket(7).

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::setsockopt;
// The macro uses the other functions by their bare names.
use nix::{libc, setsockopt_impl, sockopt_impl};

sockopt_impl!(Mark, SetOnly, libc::SOL_SOCKET, libc::SO_RCVLOWAT, usize);

/// Sets it.
///
/// # Errors
/// As setsockopt(2).
pub fn set(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    Ok(setsockopt(socket, Mark, &bytes)?)
}

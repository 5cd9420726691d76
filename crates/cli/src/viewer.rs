//! `weigh runs open`: runs in a browser of this machine's user, by a server on loopback that only reads.
//!
//! Every user of the machine can connect to it. So each link has a secret that only the server's user was told, and
//! requests that other pages cause are refused, see `guard`. No path is made from a request: a run is looked up by its name
//! among those there are.

mod guard;
mod live;
mod pages;
mod response;
mod runs;
mod server;
mod token;

pub use runs::Runs;
pub use server::{Server, serve};

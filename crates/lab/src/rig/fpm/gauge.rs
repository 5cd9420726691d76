//! A pool's status and queue, asked by a thread that does not hold the pool.

use std::path::PathBuf;

use anyhow::Result;

use super::{ANSWER, Status, queue};

/// Asks a pool that has a status socket of its own.
#[derive(Clone, Debug)]
pub struct Gauge {
    status: PathBuf,
    socket: PathBuf,
}

impl Gauge {
    pub(super) fn new(status: PathBuf, socket: PathBuf) -> Gauge {
        Gauge { status, socket }
    }

    /// See [`super::Pool::status`].
    ///
    /// # Errors
    /// When it does not answer, or not with a status.
    pub fn status(&self) -> Result<Status> {
        Status::ask(&self.status, ANSWER)
    }

    /// See [`super::Pool::listen_queue`].
    pub fn listen_queue(&self) -> Option<u32> {
        queue::waiting(&self.socket)
    }
}

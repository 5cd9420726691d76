//! What a pool says of itself, and the real length of its socket's listen queue, which PHP-FPM's own status tells as 0: asked from the
//! kernel by netlink.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::unix::nlas::UnixDiagName;
use netlink_packet_sock_diag::unix::{ShowFlags, StateFlags, UnixRequest};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};
use serde::{Deserialize, Serialize};

use super::{config, fastcgi};

/// How long one question for the status may take.
const ANSWER: Duration = Duration::from_secs(2);
/// One answer of the kernel holds no more.
const PART: usize = 64 << 10;

/// The workers of a pool at one moment. On PHP before 8.0 the one that answers is counted as active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Status {
    /// Workers that carry out a request.
    #[serde(alias = "active processes")]
    pub active: u32,
    /// Workers that wait for one.
    #[serde(alias = "idle processes")]
    pub idle: u32,
    /// All workers.
    #[serde(alias = "total processes")]
    pub processes: u32,
    /// The most that were active at once.
    #[serde(alias = "max active processes")]
    pub max_active: u32,
    /// How often the limit of workers was reached (dynamic pools).
    #[serde(alias = "max children reached")]
    pub limit_reached: u32,
    /// Connections accepted.
    #[serde(alias = "accepted conn")]
    pub accepted: u64,
}

/// Where a pool is asked; threads that do not hold the pool have one of their own.
#[derive(Clone, Debug)]
pub struct Gauge {
    /// Where web servers connect to.
    pub(super) socket: PathBuf,
    /// Where the status is answered while every worker is busy; none before PHP 8.0.
    status: Option<PathBuf>,
}

impl Gauge {
    pub(super) fn new(dir: &Path, version: &str) -> Gauge {
        let status = config::has_status_socket(version).then(|| dir.join(config::STATUS_SOCKET));
        Gauge { socket: dir.join(config::SOCKET), status }
    }

    /// Whether the status takes no worker from its work.
    pub(super) fn has_status_socket(&self) -> bool {
        self.status.is_some()
    }

    /// What its workers do at this moment. The answer costs the pool about 0.07 ms of CPU time, by a worker of its own that is in the
    /// group but not in the numbers. On PHP before 8.0 the question waits for an idle worker, two seconds at most.
    pub fn status(&self) -> Result<Status> {
        let socket = self.status.as_ref().unwrap_or(&self.socket);
        let body = fastcgi::get(socket, config::STATUS_PATH, "json", ANSWER);
        let body = body.with_context(|| format!("no status from {}", socket.display()))?;
        serde_json::from_slice(&body).with_context(|| format!("what {} says is no status", socket.display()))
    }

    /// Connections that wait for a worker in the socket's queue; none when the kernel does not tell.
    pub fn listen_queue(&self) -> Option<u32> {
        waiting(&self.socket)
    }
}

/// Connections that nobody has accepted yet on the socket of this path; none when the kernel does not tell.
fn waiting(path: &Path) -> Option<u32> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG).ok()?;
    socket.bind_auto().ok()?;
    socket.connect(&SocketAddr::new(0, 0)).ok()?;
    socket.send(&listening_sockets(), 0).ok()?;
    let mut part = vec![0; PART];
    loop {
        let size = socket.recv(&mut &mut part[..], 0).ok()?;
        let mut rest = part.get(..size)?;
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).ok()?;
            let NetlinkPayload::InnerMessage(SockDiagMessage::UnixResponse(response)) = &message.payload
            else {
                return None;
            };
            if matches!(response.name(), Some(UnixDiagName::Pathname(name)) if Path::new(name) == path) {
                return response.number_of_pending_connection();
            }
            // Messages begin at multiples of four.
            let length = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

/// All sockets that listen, with name and queue.
fn listening_sockets() -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let wish = UnixRequest {
        state_flags: StateFlags::LISTEN,
        inode: 0,
        show_flags: ShowFlags::NAME | ShowFlags::RQLEN,
        cookie: [0xff; 8],
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::UnixRequest(wish).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests;

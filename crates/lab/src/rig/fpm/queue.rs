//! The real length of a unix socket's listen queue, which PHP-FPM's own status tells as 0: asked from the kernel by netlink.

use std::path::Path;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::unix::nlas::UnixDiagName;
use netlink_packet_sock_diag::unix::{ShowFlags, StateFlags, UnixRequest};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};

/// One answer of the kernel holds no more.
const PART: usize = 64 << 10;

/// Connections that nobody has accepted yet on the socket of this path; none when the kernel does not tell.
pub fn waiting(path: &Path) -> Option<u32> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG).ok()?;
    socket.bind_auto().ok()?;
    socket.connect(&SocketAddr::new(0, 0)).ok()?;
    socket.send(&request(), 0).ok()?;
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
fn request() -> Vec<u8> {
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
mod tests {
    use super::*;
    use std::os::unix::net::{UnixListener, UnixStream};

    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        if waiting(&path).is_none() {
            assert!(std::env::var_os("WEIGH_STRICT").is_none(), "this kernel does not tell of unix sockets");
            println!("skipped: this kernel does not tell of unix sockets");
            return;
        }
        assert_eq!(waiting(&path), Some(0));
        let clients = [UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap()];
        assert_eq!(waiting(&path), Some(2));
        listener.accept().unwrap();
        assert_eq!(waiting(&path), Some(1));
        drop(clients);
        assert_eq!(waiting(&home.path().join("other")), None);
    }
}

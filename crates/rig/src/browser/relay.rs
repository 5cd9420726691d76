//! A door between two networks: what connects to it in one is connected to an address in the other. A browser in a private network reaches one running
//! site through it, and nobody else.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use weigh_os::network::Network;

/// Bytes of a response that wait for the browser's side, beside what that has in its own buffers.
const HELD: usize = 32 << 10;
/// Bytes of the largest datagram, and how often somebody who waits for one looks whether it is over.
const DATAGRAM: usize = 65_536;
const LOOKING: Duration = Duration::from_millis(200);
/// Connections at once.
const MOST: usize = 64;
/// How long a connection to the site may take, and how long it may be silent.
const CONNECT: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(60);

/// A door. Its threads end when this is dropped and the connections close.
#[derive(Debug)]
pub struct Relay {
    inside: Network,
    address: SocketAddr,
    ended: Arc<AtomicBool>,
}

impl Relay {
    /// Listens at an address of this network, for connections to one that this thread reaches: on the same port, where that is free.
    ///
    /// # Errors
    /// The network cannot be entered, or has no such address.
    pub fn start(inside: Network, at: Ipv4Addr, to: SocketAddr) -> Result<Relay> {
        let listener = inside.within(|| {
            let bind = |port| TcpListener::bind((at, port));
            bind(to.port()).or_else(|_| bind(0))
        })?;
        let listener = listener.with_context(|| format!("the browser's network has no address {at}"))?;
        let address = listener.local_addr().context("the door's port is not known")?;
        let ended = Arc::new(AtomicBool::new(false));
        // HTTP/3 comes by datagrams to the same port.
        let datagrams = inside.within(|| UdpSocket::bind(address))?.context("the door takes no datagrams")?;
        let is_over = Arc::clone(&ended);
        std::thread::spawn(move || serve_datagrams(&datagrams, to, &is_over));
        let is_over = Arc::clone(&ended);
        // A thread of the network that this one is in: sockets stay where they were made.
        std::thread::spawn(move || serve(&listener, to, &is_over));
        Ok(Relay { inside, address, ended })
    }

    /// Where it listens, within the network.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Whoever waits for a connection gets one, and sees that it is over.
        let _ = self.inside.within(|| TcpStream::connect(self.address).map(drop));
    }
}

fn serve(listener: &TcpListener, to: SocketAddr, is_over: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    for client in listener.incoming().map_while(io::Result::ok) {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        if open.fetch_add(1, Ordering::SeqCst) >= MOST {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let open = Arc::clone(&open);
        std::thread::spawn(move || {
            // One that the site refuses is closed.
            let _ = connect(&client, to);
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Copies a connection both ways to its end.
fn connect(client: &TcpStream, to: SocketAddr) -> io::Result<()> {
    let server = TcpStream::connect_timeout(&to, CONNECT)?;
    // What waits here is out of the server's hands: it decides what goes first.
    rustix::net::sockopt::set_socket_recv_buffer_size(&server, HELD)?;
    for socket in [client, &server] {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(SILENCE))?;
        socket.set_write_timeout(Some(SILENCE))?;
    }
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let up = std::thread::spawn(move || copy(&from_client, &to_server));
    copy(&server, client);
    let _ = up.join();
    Ok(())
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// Passes datagrams on, each client's from a socket of its own.
fn serve_datagrams(inside: &UdpSocket, to: SocketAddr, is_over: &Arc<AtomicBool>) {
    let mut servers: HashMap<SocketAddr, UdpSocket> = HashMap::new();
    let mut buffer = vec![0; DATAGRAM];
    let waits = inside.set_read_timeout(Some(LOOKING));
    while waits.is_ok() && !is_over.load(Ordering::SeqCst) {
        let Ok((length, client)) = inside.recv_from(&mut buffer) else { continue };
        if !servers.contains_key(&client) && servers.len() < MOST {
            servers.extend(answered(inside, client, to, is_over).map(|server| (client, server)));
        }
        // What is lost is sent again.
        let _ = servers.get(&client).map(|server| server.send(&buffer[..length]));
    }
}

/// A socket to the site whose answers go to a client.
fn answered(
    inside: &UdpSocket,
    client: SocketAddr,
    to: SocketAddr,
    is_over: &Arc<AtomicBool>,
) -> Option<UdpSocket> {
    let from: SocketAddr =
        if to.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
    let server = UdpSocket::bind(from).ok()?;
    server.connect(to).ok()?;
    server.set_read_timeout(Some(LOOKING)).ok()?;
    let (back, answers, is_over) = (inside.try_clone().ok()?, server.try_clone().ok()?, Arc::clone(is_over));
    std::thread::spawn(move || {
        let mut buffer = vec![0; DATAGRAM];
        while !is_over.load(Ordering::SeqCst) {
            if let Ok(length) = answers.recv(&mut buffer) {
                let _ = back.send_to(&buffer[..length], client);
            }
        }
    });
    Some(server)
}

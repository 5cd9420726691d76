//! A proxy in place of a link, for those whose machine has no devices for one: connections are copied on a loopback, with the rate, queue and
//! delay of the link. The loopback is that of a private network if one is available, else the machine's own.
//!
//! It cannot show what happens below a connection: handshake, slow start and loss. Bytes count as if they came in full packets.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::lane::{LaneSpec, Line};
use weigh_model::link::{MTU, TCP_PAYLOAD};
use weigh_os::network::Network;

/// Pieces of one connection that are on the way in one direction at most: some megabytes.
const PIECES: usize = 4_096;
/// How long a connection to the far end may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Both directions, shared by all connections.
#[derive(Debug)]
struct Lines {
    began: Instant,
    down: Mutex<Line>,
    up: Mutex<Line>,
}

/// A proxy. Its threads end when this is dropped and the connections close.
#[derive(Debug)]
pub(super) struct Proxy {
    lines: Arc<Lines>,
    ended: Arc<AtomicBool>,
    /// Ports of the far end, with where they are reached.
    doors: Mutex<Vec<(u16, SocketAddr)>>,
    /// Where it listens and what it connects to.
    network: Network,
}

impl Proxy {
    /// One in this network that nothing goes through yet.
    pub fn new(down: &LaneSpec, up: &LaneSpec, network: Network) -> Proxy {
        let lines =
            Lines { began: Instant::now(), down: Mutex::new(Line::new(down)), up: Mutex::new(Line::new(up)) };
        Proxy { lines: Arc::new(lines), ended: Arc::default(), doors: Mutex::default(), network }
    }

    /// Takes this many nanoseconds off the delay of either direction.
    pub fn shorten(&self, ns: u64) {
        for line in [&self.lines.down, &self.lines.up] {
            line.lock().unwrap_or_else(PoisonError::into_inner).shorten(ns);
        }
    }

    /// Where clients reach a port of the far end.
    pub fn reach(&self, port: u16) -> Result<SocketAddr> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, door)) = doors.iter().find(|(far, _)| *far == port) {
            return Ok(*door);
        }
        let door = self.network.within(|| self.open(port))??;
        doors.push((port, door));
        Ok(door)
    }

    /// Listens in the network of this thread, which the threads that it starts share.
    fn open(&self, port: u16) -> Result<SocketAddr> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("the proxy cannot listen on loopback")?;
        let door = listener.local_addr().context("the proxy's port is not known")?;
        let (lines, ended) = (Arc::clone(&self.lines), Arc::clone(&self.ended));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let lines = Arc::clone(&lines);
                std::thread::spawn(move || lines.connect(client, port));
            }
        });
        Ok(door)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Whoever waits for a connection gets one, and sees that it is over.
        let doors = std::mem::take(self.doors.get_mut().unwrap_or_else(PoisonError::into_inner));
        let knock = || doors.iter().for_each(|(_, door)| drop(TcpStream::connect(door)));
        let _ = self.network.within(knock);
    }
}

impl Lines {
    /// Copies a connection both ways to its end; one that the far end refuses is closed.
    fn connect(&self, client: TcpStream, port: u16) {
        let far = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let Ok(server) = TcpStream::connect_timeout(&far, PATIENCE) else { return };
        let _ = client.set_nodelay(true).and(server.set_nodelay(true));
        std::thread::scope(|scope| {
            scope.spawn(|| self.copy(&client, &server, &self.up));
            self.copy(&server, &client, &self.down);
        });
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn sleep_until(&self, due: u64) {
        let left = due.saturating_sub(self.now());
        if left > 0 {
            std::thread::sleep(Duration::from_nanos(left));
        }
    }

    /// One direction: what is read is handed to the line, and written when it arrives.
    fn copy(&self, from: &TcpStream, to: &TcpStream, line: &Mutex<Line>) {
        let (sender, receiver) = sync_channel(PIECES);
        std::thread::scope(|scope| {
            scope.spawn(|| self.write(to, receiver));
            self.read(from, line, sender);
        });
    }

    fn read(&self, mut from: &TcpStream, line: &Mutex<Line>, sender: SyncSender<(u64, Vec<u8>)>) {
        let mut buffer = [0; TCP_PAYLOAD as usize];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let bytes = length as u64 + (MTU - TCP_PAYLOAD);
            let due = loop {
                let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
                match line.send(self.now(), bytes) {
                    Some(due) => break due,
                    None => {
                        let room_at = line.room_at(bytes);
                        drop(line);
                        self.sleep_until(room_at);
                    }
                }
            };
            if sender.send((due, buffer[..length].to_vec())).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Read);
    }

    fn write(&self, mut to: &TcpStream, receiver: Receiver<(u64, Vec<u8>)>) {
        for (due, piece) in receiver {
            self.sleep_until(due);
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }
}

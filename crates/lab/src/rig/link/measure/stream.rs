//! The payload that one TCP connection carries, after its start.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{Direction, connection};
use crate::rig::link::Link;

/// How long it is sent; what arrives in the second half counts.
const LENGTH: Duration = Duration::from_millis(1_600);
/// Bytes written at once.
const CHUNK: usize = 64 << 10;

/// Payload in kbit/s, and the seconds over which it was counted.
pub(super) fn payload(link: &Link, direction: Direction) -> Result<(f64, f64)> {
    let (near, far) = connection(link)?;
    let (sender, receiver) = if direction == Direction::Down { (far, near) } else { (near, far) };
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| send(&sender, &ended));
        let counted = count(&receiver);
        ended.store(true, Ordering::SeqCst);
        // A sender that waits for room finds that nobody takes anything.
        let _ = receiver.shutdown(Shutdown::Both);
        let _ = sender.shutdown(Shutdown::Both);
        let (bytes, seconds) = counted.context("nothing more comes over the link")?;
        if seconds <= 0.0 {
            bail!("too little comes over the link");
        }
        Ok((bytes as f64 * 8.0 / 1e3 / seconds, seconds))
    })
}

fn send(mut sender: &TcpStream, ended: &AtomicBool) {
    let chunk = vec![0x5a; CHUNK];
    while !ended.load(Ordering::SeqCst) && sender.write_all(&chunk).is_ok() {}
}

/// Bytes after the first reading of the second half, and the time from it to the last reading.
fn count(mut receiver: &TcpStream) -> std::io::Result<(u64, f64)> {
    let mut buffer = vec![0; CHUNK];
    let began = Instant::now();
    let mut from: Option<Instant> = None;
    let (mut bytes, mut last) = (0, began);
    while began.elapsed() < LENGTH {
        let length = receiver.read(&mut buffer)?;
        last = Instant::now();
        match from {
            Some(_) => bytes += length as u64,
            None if began.elapsed() > LENGTH / 2 => from = Some(last),
            None => {}
        }
        if length == 0 {
            break;
        }
    }
    Ok((bytes, from.map_or(0.0, |from| (last - from).as_secs_f64())))
}

//! The barest client of a scripted store: it writes a request, reads the answer, and looks at the clock before and after.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

const SET: &[u8] = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n1234\r\n";
const GET: &[u8] = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
const FOUND: &[u8] = b"$4\r\n1234\r\n";

/// Seconds of this many reads.
///
/// # Errors
/// The store cannot be reached, or gives something else than was put into it.
pub fn reads(socket: &Path, count: usize) -> Result<Vec<f64>> {
    let mut store = UnixStream::connect(socket).context("the scripted store cannot be reached")?;
    transact(&mut store, SET, b"+OK\r\n")?;
    (0..count).map(|_| transact(&mut store, GET, FOUND)).collect()
}

fn transact(store: &mut UnixStream, request: &[u8], expected: &[u8]) -> Result<f64> {
    let mut answer = [0; 64];
    let began = Instant::now();
    store.write_all(request)?;
    let length = store.read(&mut answer)?;
    let took = began.elapsed().as_secs_f64();
    ensure!(&answer[..length] == expected, "the scripted store answered something else");
    Ok(took)
}

//! A FastCGI client for one small request: the status page of a pool.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// More than any status page has.
const LONGEST: usize = 4 << 20;
const BEGIN: u8 = 1;
const END: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;

/// Requests `path?query` with GET; the body of the response, without its headers.
pub fn get(socket: &Path, path: &str, query: &str, limit: Duration) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + limit;
    let mut stream = UnixStream::connect(socket)?;
    stream.set_write_timeout(Some(limit))?;
    stream.write_all(&request(path, query))?;
    let mut output = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let mut header = [0; 8];
        stream.read_exact(&mut header)?;
        let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let mut content = vec![0; length + usize::from(header[6])];
        stream.read_exact(&mut content)?;
        match header[1] {
            STDOUT => output.extend_from_slice(&content[..length]),
            END => break,
            _ => {}
        }
        if output.len() > LONGEST {
            return Err(io::Error::other("the answer has no end"));
        }
    }
    let end = output.windows(4).position(|w| w == b"\r\n\r\n");
    let end = end.ok_or_else(|| io::Error::other("the answer has no headers"))?;
    Ok(output.split_off(end + 4))
}

fn request(path: &str, query: &str) -> Vec<u8> {
    let mut params = Vec::new();
    for (name, value) in [
        ("REQUEST_METHOD", "GET"),
        ("SCRIPT_NAME", path),
        ("SCRIPT_FILENAME", path),
        ("REQUEST_URI", path),
        ("QUERY_STRING", query),
    ] {
        params.extend(length(name).into_iter().chain(length(value)));
        params.extend(name.bytes().chain(value.bytes()));
    }
    // A responder that closes the connection when it has answered.
    let mut bytes = record(BEGIN, &[0, 1, 0, 0, 0, 0, 0, 0]);
    bytes.extend(record(PARAMS, &params));
    bytes.extend(record(PARAMS, &[]));
    bytes.extend(record(STDIN, &[]));
    bytes
}

/// One byte up to 127, four above.
fn length(text: &str) -> Vec<u8> {
    match u8::try_from(text.len()) {
        Ok(short) if short < 128 => vec![short],
        _ => (text.len() as u32 | 1 << 31).to_be_bytes().to_vec(),
    }
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u16).to_be_bytes();
    let mut bytes = vec![1, kind, 0, 1, length[0], length[1], 0, 0];
    bytes.extend_from_slice(content);
    bytes
}

#[cfg(test)]
mod tests;

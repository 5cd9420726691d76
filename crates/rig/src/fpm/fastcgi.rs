//! FastCGI: a client for one small request, the status page of a pool, and what a responder reads and writes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};

/// More than any status page has.
const LONGEST: usize = 4 << 20;
/// The most content of a record that is written.
const MOST: usize = 32 << 10;
const BEGIN: u8 = 1;
const END: u8 = 3;
const STDOUT: u8 = 6;
/// The first byte of every record.
pub const VERSION: u8 = 1;
/// A record with names and values of a request.
pub const PARAMS: u8 = 4;
/// A record with the body of a request.
pub const STDIN: u8 = 5;

pub struct Record {
    pub kind: u8,
    /// The number of its request.
    pub id: u16,
    /// What it holds, at most 64 KB.
    pub content: Vec<u8>,
}

/// Reads a record, of which the first byte may have been read.
pub fn read_record(stream: &mut impl Read, first: Option<u8>) -> io::Result<Record> {
    let mut header = [first.unwrap_or_default(); 8];
    let from = usize::from(first.is_some());
    stream.read_exact(&mut header[from..])?;
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let mut content = vec![0; length + usize::from(header[6])];
    stream.read_exact(&mut content)?;
    content.truncate(length);
    Ok(Record { kind: header[1], id: u16::from_be_bytes([header[2], header[3]]), content })
}

/// The value of a parameter in the content of a request's records.
pub fn param(mut params: &[u8], wanted: &str) -> Option<String> {
    loop {
        let name = take_length(&mut params)?;
        let value = take_length(&mut params)?;
        let (name, rest) = params.split_at_checked(name)?;
        let (value, rest) = rest.split_at_checked(value)?;
        if name == wanted.as_bytes() {
            return Some(String::from_utf8_lossy(value).into_owned());
        }
        params = rest;
    }
}

/// One byte up to 127, four above.
fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let (first, rest) = bytes.split_first()?;
    if *first < 128 {
        *bytes = rest;
        return Some(usize::from(*first));
    }
    let (four, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some((u32::from_be_bytes(*four) & 0x7fff_ffff) as usize)
}

/// Writes a whole response, headers and body, to the request of this number.
pub fn write_response(stream: &mut impl Write, id: u16, response: &[u8]) -> io::Result<()> {
    for part in response.chunks(MOST) {
        stream.write_all(&record(STDOUT, id, part))?;
    }
    stream.write_all(&record(STDOUT, id, &[]))?;
    stream.write_all(&record(END, id, &[0; 8]))
}

/// Connects to the socket that is itself there: the folder is that of whoever runs PHP, and a link in it may lead to anybody's.
pub fn connect(socket: &Path) -> io::Result<UnixStream> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = File::from(open(socket, flags, Mode::empty())?);
    if !handle.metadata()?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a socket"));
    }
    UnixStream::connect(format!("/proc/self/fd/{}", handle.as_raw_fd()))
}

/// Requests `path?query` with GET; the body of the response, without its headers.
pub fn get(socket: &Path, path: &str, query: &str, limit: Duration) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + limit;
    let mut stream = connect(socket)?;
    stream.set_write_timeout(Some(limit))?;
    stream.write_all(&request(path, query))?;
    let mut output = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let record = read_record(&mut stream, None)?;
        match record.kind {
            STDOUT => output.extend_from_slice(&record.content),
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
        ("DOCUMENT_ROOT", "/"),
        ("QUERY_STRING", query),
    ] {
        params.extend(length(name).into_iter().chain(length(value)));
        params.extend(name.bytes().chain(value.bytes()));
    }
    // A responder that closes the connection when it has answered.
    let mut bytes = record(BEGIN, 1, &[0, 1, 0, 0, 0, 0, 0, 0]);
    bytes.extend(record(PARAMS, 1, &params));
    bytes.extend(record(PARAMS, 1, &[]));
    bytes.extend(record(STDIN, 1, &[]));
    bytes
}

/// One byte up to 127, four above.
fn length(text: &str) -> Vec<u8> {
    match u8::try_from(text.len()) {
        Ok(short) if short < 128 => vec![short],
        _ => (text.len() as u32 | 1 << 31).to_be_bytes().to_vec(),
    }
}

fn record(kind: u8, id: u16, content: &[u8]) -> Vec<u8> {
    let (id, length) = (id.to_be_bytes(), (content.len() as u16).to_be_bytes());
    let mut bytes = vec![VERSION, kind, id[0], id[1], length[0], length[1], 0, 0];
    bytes.extend_from_slice(content);
    bytes
}

#[cfg(test)]
mod tests;

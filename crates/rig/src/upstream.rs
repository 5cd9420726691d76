//! A stand-in for the programs behind a private web server: PHP, or a server that requests are handed to. It answers FastCGI, uwsgi, SCGI
//! and HTTP on one unix socket, so that what the web server itself adds to such responses can be asked for.
//!
//! It runs nothing: what it sends is made by its owner from the path of a request.

use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::fpm::fastcgi;

/// The longest request that is read, in bytes.
const LONGEST: usize = 1 << 20;
/// How long a peer may take for a part of a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// A response with status 200.
#[derive(Clone, Debug, Default)]
pub struct Response {
    pub media_type: String,
    /// Further fields of the head.
    pub fields: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn new(media_type: impl Into<String>, body: Vec<u8>) -> Response {
        Response { media_type: media_type.into(), fields: Vec::new(), body }
    }

    /// Its head behind the line of the status.
    fn head(&self) -> String {
        let fields = self.fields.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("Content-Type: {}\r\n{}", self.media_type, fields.collect::<String>())
    }
}

/// Makes the response to a request for a path, which has its query; whether it was asked as PHP is, and not as another web server.
pub type Respond = dyn Fn(&str, bool) -> Response + Send + Sync;

/// The stand-in; it ends with this value.
pub struct Upstream {
    socket: PathBuf,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Upstream {
    /// Listens on a socket of this name, which everybody who reaches its folder may use.
    ///
    /// # Errors
    /// The socket cannot be made there.
    pub fn start(socket: PathBuf, respond: Arc<Respond>) -> io::Result<Upstream> {
        let listener = UnixListener::bind(&socket)?;
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o666))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                // One request at a time: the questions come one after the other. A peer that is gone, or speaks otherwise, has no answer.
                drop(stream.and_then(|stream| answer(stream, &*respond)));
            }
        });
        Ok(Upstream { socket, is_over, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Its thread waits for a connection.
        if UnixStream::connect(&self.socket).is_ok()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}

/// Answers the request of a connection in the protocol of its first byte.
fn answer(mut stream: UnixStream, respond: &Respond) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut first = [0];
    stream.read_exact(&mut first)?;
    match first[0] {
        fastcgi::VERSION => over_fastcgi(&mut stream, respond),
        0 => over_uwsgi(&mut stream, respond),
        b'0'..=b'9' => over_scgi(&mut stream, first[0], respond),
        _ => over_http(&mut stream, first[0], respond),
    }
}

/// The head of a response of PHP, and its body.
fn parsed_headers(response: &Response) -> Vec<u8> {
    let mut all = format!("Status: 200 OK\r\n{}\r\n", response.head()).into_bytes();
    all.extend(&response.body);
    all
}

fn over_fastcgi(stream: &mut UnixStream, respond: &Respond) -> io::Result<()> {
    let mut params = Vec::new();
    let mut version = Some(fastcgi::VERSION);
    let id = loop {
        let record = fastcgi::read_record(stream, version.take())?;
        match record.kind {
            fastcgi::PARAMS if params.len() < LONGEST => params.extend(record.content),
            fastcgi::STDIN if record.content.is_empty() => break record.id,
            _ => {}
        }
    };
    let path = fastcgi::param(&params, "REQUEST_URI").unwrap_or_default();
    fastcgi::write_response(stream, id, &parsed_headers(&respond(&path, true)))
}

/// uwsgi: a length of 2 bytes, then names and values, each behind such a length.
fn over_uwsgi(stream: &mut UnixStream, respond: &Respond) -> io::Result<()> {
    let mut head = [0; 3];
    stream.read_exact(&mut head)?;
    let mut block = vec![0; usize::from(u16::from_le_bytes([head[0], head[1]]))];
    stream.read_exact(&mut block)?;
    let mut words = Vec::new();
    let mut rest = block.as_slice();
    while let Some((length, behind)) = rest.split_first_chunk::<2>() {
        let Some((word, behind)) = behind.split_at_checked(usize::from(u16::from_le_bytes(*length))) else {
            break;
        };
        words.push(word);
        rest = behind;
    }
    let response = respond(&request_uri(&words), true);
    let mut all = format!("HTTP/1.1 200 OK\r\n{}\r\n", response.head()).into_bytes();
    all.extend(response.body);
    stream.write_all(&all)
}

/// SCGI: the length in digits and a colon, then names and values that each end with a zero byte.
fn over_scgi(stream: &mut UnixStream, first: u8, respond: &Respond) -> io::Result<()> {
    let (mut length, mut digit) = (usize::from(first - b'0'), [0]);
    loop {
        stream.read_exact(&mut digit)?;
        match digit[0] {
            b'0'..=b'9' if length < LONGEST => length = length * 10 + usize::from(digit[0] - b'0'),
            b':' if length < LONGEST => break,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    // A comma ends it.
    let mut block = vec![0; length + 1];
    stream.read_exact(&mut block)?;
    let words: Vec<&[u8]> = block.split(|byte| *byte == 0).collect();
    stream.write_all(&parsed_headers(&respond(&request_uri(&words), true)))
}

/// The value behind the name `REQUEST_URI`.
fn request_uri(words: &[&[u8]]) -> String {
    let found = words.chunks_exact(2).find(|pair| pair[0] == b"REQUEST_URI");
    found.map(|pair| String::from_utf8_lossy(pair[1]).into_owned()).unwrap_or_default()
}

fn over_http(stream: &mut UnixStream, first: u8, respond: &Respond) -> io::Result<()> {
    let (mut head, mut buffer) = (vec![first], [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut buffer)?;
        if read == 0 || head.len() > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&buffer[..read]);
    }
    let line =
        String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or_default()).into_owned();
    let mut words = line.split(' ');
    let is_head = words.next() == Some("HEAD");
    let response = respond(words.next().unwrap_or_default(), false);
    let mut all = format!("HTTP/1.1 200 OK\r\n{}Connection: close\r\n\r\n", response.head()).into_bytes();
    if !is_head {
        all.extend(response.body);
    }
    stream.write_all(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(request: &[u8]) -> String {
        let room = tempfile::tempdir().unwrap();
        let respond: Arc<Respond> =
            Arc::new(|path: &str, _| Response::new("text/plain", format!("for {path}").into_bytes()));
        let upstream = Upstream::start(room.path().join("up.sock"), respond).unwrap();
        let mut stream = UnixStream::connect(upstream.socket()).unwrap();
        stream.write_all(request).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    }

    #[test]
    fn each_protocol_has_its_answer() {
        assert!(asked(b"GET /a?b HTTP/1.0\r\nHost: x\r\n\r\n").ends_with("\r\n\r\nfor /a?b"));
        assert!(asked(b"HEAD /a HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n"));
        let scgi = b"CONTENT_LENGTH\x000\x00REQUEST_URI\x00/s\x00";
        let said = asked(&[format!("{}:", scgi.len()).as_bytes(), scgi, b","].concat());
        assert!(said.starts_with("Status: 200 OK") && said.ends_with("for /s"), "{said}");
        let words = b"\x0b\x00REQUEST_URI\x02\x00/u";
        let head = [0, u8::try_from(words.len()).unwrap(), 0, 0];
        assert!(asked(&[&head, &words[..]].concat()).ends_with("for /u"));
        let record = |kind: u8, content: &[u8]| {
            let length = u8::try_from(content.len()).unwrap();
            [&[1, kind, 0, 7, 0, length, 0, 0], content].concat()
        };
        let params = [&[11, 2], &b"REQUEST_URI/f"[..]].concat();
        let request =
            [record(1, &[0, 1, 0, 0, 0, 0, 0, 0]), record(4, &params), record(4, &[]), record(5, &[])];
        let said = asked(&request.concat());
        assert!(said.contains("for /f"), "{said:?}");
    }

    #[test]
    fn what_is_no_request_ends() {
        let room = tempfile::tempdir().unwrap();
        let respond: Arc<Respond> = Arc::new(|_: &str, _| Response::default());
        let upstream = Upstream::start(room.path().join("up.sock"), respond).unwrap();
        for rubbish in [&b"9999999999:"[..], b"\x00\xff\xff\x00abc", b"\x01\x04", b"x"] {
            let mut stream = UnixStream::connect(upstream.socket()).unwrap();
            stream.write_all(rubbish).unwrap();
        }
        drop(upstream);
    }
}

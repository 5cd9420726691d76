//! A scripted store that speaks enough of Redis's protocol for clients: it holds what it is given, answers as late as it is told,
//! and writes down when each request came and when its answer left.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What it does beside answering.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// How long the answer to the n-th GET or SET of all takes.
    pub delay: fn(u64) -> Duration,
    /// From this GET or SET on, GET gives another value.
    pub wrong_from: Option<u64>,
    /// From this GET or SET on, connections are closed without an answer.
    pub close_from: Option<u64>,
    /// What every SET is answered with instead.
    pub refusal: Option<&'static str>,
}

impl Default for Script {
    fn default() -> Script {
        Script { delay: |_| Duration::ZERO, wrong_from: None, close_from: None, refusal: None }
    }
}

/// One answered GET or SET.
#[derive(Clone, Copy, Debug)]
pub struct Note {
    /// When the whole request was there.
    pub came: Instant,
    /// When its answer was about to leave.
    pub left: Instant,
}

/// What every connection shares.
#[derive(Default)]
struct Shared {
    values: HashMap<Vec<u8>, Vec<u8>>,
    notes: Vec<Note>,
    counted: u64,
}

/// A running peer; it ends with the process.
pub struct Peer {
    path: PathBuf,
    shared: Arc<Mutex<Shared>>,
}

impl Peer {
    /// Listens on a unix socket in this folder.
    pub fn start(folder: &Path, script: Script) -> Peer {
        let path = folder.join("peer.sock");
        let listener = UnixListener::bind(&path).expect("a socket can be bound");
        let shared = Arc::new(Mutex::new(Shared::default()));
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&all);
                std::thread::spawn(move || serve(&stream, script, &shared));
            }
        });
        Peer { path, shared }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("redis://{}", self.path.display())
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.path
    }

    /// Every GET and SET so far, in the order of the answers.
    pub fn notes(&self) -> Vec<Note> {
        self.shared.lock().expect("nobody panicked").notes.clone()
    }

    /// Keys that it holds.
    pub fn keys(&self) -> usize {
        self.shared.lock().expect("nobody panicked").values.len()
    }
}

/// Answers until the connection ends, or the script says so.
fn serve(stream: &UnixStream, script: Script, shared: &Mutex<Shared>) -> Option<()> {
    let mut requests = BufReader::new(stream);
    loop {
        let words = request(&mut requests)?;
        let came = Instant::now();
        let name = words.first()?.to_ascii_uppercase();
        let answer = match name.as_slice() {
            b"GET" | b"SET" | b"SETEX" => {
                let number = {
                    let mut shared = shared.lock().ok()?;
                    shared.counted += 1;
                    shared.counted
                };
                if script.close_from.is_some_and(|from| number >= from) {
                    return None;
                }
                wait_until(came + (script.delay)(number));
                let mut shared = shared.lock().ok()?;
                let answer = entry(&mut shared, &words, script, number)?;
                shared.notes.push(Note { came, left: Instant::now() });
                answer
            }
            b"DEL" | b"UNLINK" => {
                let mut shared = shared.lock().ok()?;
                let removed = words[1..].iter().filter(|key| shared.values.remove(*key).is_some()).count();
                format!(":{removed}\r\n").into_bytes()
            }
            b"INFO" => bulk(b"redis_version:7.0.0\r\n"),
            b"PING" => b"+PONG\r\n".to_vec(),
            _ => b"+OK\r\n".to_vec(),
        };
        (&*stream).write_all(&answer).ok()?;
    }
}

fn entry(shared: &mut Shared, words: &[Vec<u8>], script: Script, number: u64) -> Option<Vec<u8>> {
    let key = words.get(1)?;
    if words[0].eq_ignore_ascii_case(b"GET") {
        let is_wrong = script.wrong_from.is_some_and(|from| number >= from);
        let value =
            shared.values.get(key).map(|value| if is_wrong { b"12345678901".as_slice() } else { value });
        return Some(value.map_or_else(|| b"$-1\r\n".to_vec(), bulk));
    }
    if let Some(refusal) = script.refusal {
        return Some(format!("-{refusal}\r\n").into_bytes());
    }
    shared.values.insert(key.clone(), words.last()?.clone());
    Some(b"+OK\r\n".to_vec())
}

/// Looks at the clock until it is time: a sleep wakes up late, and to a processor with cold caches.
fn wait_until(due: Instant) {
    while Instant::now() < due {
        std::hint::spin_loop();
    }
}

fn bulk(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

/// One request: an array of texts.
fn request(from: &mut impl BufRead) -> Option<Vec<Vec<u8>>> {
    let count = number(from, '*')?;
    (0..count).map(|_| text(from)).collect()
}

fn text(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let length = number(from, '$')?;
    let mut bytes = vec![0; length + 2];
    from.read_exact(&mut bytes).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

fn number(from: &mut impl BufRead, sign: char) -> Option<usize> {
    let mut line = String::new();
    from.take(64).read_line(&mut line).ok()?;
    line.strip_prefix(sign)?.trim_end().parse().ok().filter(|n| *n <= 64 << 20)
}

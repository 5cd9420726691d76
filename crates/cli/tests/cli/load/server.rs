//! A server in this process: a thread a connection, canned responses, and a record of what was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What is answered: given the request's head and its number from 0.
type Answer = dyn Fn(&str, usize) -> Vec<u8> + Send + Sync;

/// The server. Its threads end with the test.
pub struct Server {
    port: u16,
    seen: Arc<ServerCounters>,
}

#[derive(Default)]
struct ServerCounters {
    requests: AtomicUsize,
    connections: AtomicUsize,
    heads: Mutex<Vec<String>>,
}

/// Heads that are remembered.
const REMEMBERED: usize = 200;

impl Server {
    pub fn new(answer: impl Fn(&str, usize) -> Vec<u8> + Send + Sync + 'static) -> Server {
        Server::at(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    /// One that listens elsewhere.
    pub fn at(
        listener: TcpListener,
        answer: impl Fn(&str, usize) -> Vec<u8> + Send + Sync + 'static,
    ) -> Server {
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(ServerCounters::default());
        let (shared, answer): (_, Arc<Answer>) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, answer) = (Arc::clone(&shared), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        Server { port, seen }
    }

    /// The same body for everything.
    pub fn of(body: &'static str) -> Server {
        Server::new(move |_, _| response("", body.as_bytes()))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Requests so far, those of preflights with them.
    pub fn requests(&self) -> usize {
        self.seen.requests.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// The first heads.
    pub fn heads(&self) -> Vec<String> {
        self.seen.heads.lock().unwrap().clone()
    }
}

/// A 200 with that body, and header lines that end in `\r\n`.
pub fn response(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn serve(stream: TcpStream, seen: &ServerCounters, answer: &Answer) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let lower = head.to_ascii_lowercase();
        let length =
            lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let number = seen.requests.fetch_add(1, Ordering::SeqCst);
        let mut heads = seen.heads.lock().unwrap();
        if heads.len() < REMEMBERED {
            heads.push(format!("{head}{}", String::from_utf8_lossy(&body)));
        }
        drop(heads);
        let mut said = answer(&head, number);
        if head.starts_with("HEAD ") {
            let end = said.windows(4).position(|w| w == b"\r\n\r\n").map_or(said.len(), |at| at + 4);
            said.truncate(end);
        }
        if writer.write_all(&said).is_err() || lower.contains("connection: close") {
            return;
        }
    }
}

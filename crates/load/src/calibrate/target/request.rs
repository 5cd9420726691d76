//! What a request asks the target for, and the head of the response.

use std::io::Write;

/// The largest body in bytes.
pub const LARGEST: usize = 16 << 20;

/// A response: its head, and the length of a body that is taken from the pattern.
#[derive(Debug, Default)]
pub struct Answer {
    pub head: Vec<u8>,
    pub body: usize,
    /// The connection ends after it.
    pub close: bool,
}

impl Answer {
    /// A response without a body, after which the connection ends.
    pub fn refuse(&mut self, status: &str) {
        self.close = true;
        self.body = 0;
        self.write(status, "Connection: close\r\n");
    }

    fn write(&mut self, status: &str, connection: &str) {
        self.head.clear();
        let length = self.body;
        let kind = "Content-Type: application/octet-stream\r\n";
        // A vector takes everything.
        let _ = write!(self.head, "HTTP/1.1 {status}\r\n{kind}{connection}Content-Length: {length}\r\n\r\n");
    }
}

/// Writes the answer to a request's head, which ends with an empty line.
pub fn answer(head: &[u8], answer: &mut Answer) {
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let mut words = lines.next().unwrap_or_default().split(|&b| b == b' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    let old = match version {
        Some(b"HTTP/1.1") => false,
        Some(b"HTTP/1.0") => true,
        _ => return answer.refuse("400 Bad Request"),
    };
    if method != Some(b"GET") {
        return answer.refuse("405 Method Not Allowed");
    }
    let Some(body) = path.and_then(length) else { return answer.refuse("404 Not Found") };
    let mut says =
        |token: &[u8]| lines.any(|line| connection(line).is_some_and(|v| v.eq_ignore_ascii_case(token)));
    answer.body = body;
    if old {
        answer.close = !says(b"keep-alive");
        answer.write("200 OK", if answer.close { "" } else { "Connection: keep-alive\r\n" });
    } else {
        answer.close = says(b"close");
        answer.write("200 OK", if answer.close { "Connection: close\r\n" } else { "" });
    }
}

/// The length of the body at a path.
fn length(path: &[u8]) -> Option<usize> {
    match path {
        b"/1k" => Some(1 << 10),
        b"/16k" => Some(16 << 10),
        b"/500k" => Some(500 << 10),
        _ => {
            let digits = std::str::from_utf8(path.strip_prefix(b"/bytes/")?).ok()?;
            // `parse` would take a sign.
            let all = digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse().ok().filter(|n| all && *n <= LARGEST)
        }
    }
}

/// The value of a `Connection` line.
fn connection(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(b"connection:".len())?;
    name.eq_ignore_ascii_case(b"connection:").then(|| value.trim_ascii())
}

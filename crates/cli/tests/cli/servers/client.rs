//! A small HTTP/1.1 client: one request a connection, the whole answer.

use std::io::{Read, Write};
use std::net::TcpStream;

use weigh_codec::Format;

use crate::lab::PATIENCE;

/// An answer.
pub struct Answer {
    pub status: u16,
    head: String,
    body: Vec<u8>,
}

/// Gets a URL with this Accept-Encoding.
pub fn get(url: &str, accept: &str) -> Answer {
    get_with(url, accept, &[])
}

/// Gets a URL with this Accept-Encoding and further fields.
pub fn get_with(url: &str, accept: &str, fields: &[(&str, &str)]) -> Answer {
    let (authority, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let host = [("Host", authority)].into_iter().filter(|_| fields.iter().all(|(name, _)| *name != "Host"));
    let fields = host.chain(fields.iter().copied()).map(|(name, value)| format!("{name}: {value}\r\n"));
    let head = format!("GET /{path} HTTP/1.1\r\nConnection: close\r\n{}", fields.collect::<String>());
    stream.write_all(format!("{head}Accept-Encoding: {accept}\r\n\r\n").as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or_else(|| panic!("{url}: no head"));
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let body = bytes.split_off(end + 4);
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let answer = Answer { status, head, body };
    match answer.header("transfer-encoding") {
        Some("chunked") => Answer { body: unchunk(&answer.body), ..answer },
        _ => answer,
    }
}

impl Answer {
    /// A header field's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().skip(1).filter_map(|l| l.split_once(':'));
        fields.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim())
    }

    /// The content coding that it says it has.
    pub fn coding(&self) -> &str {
        self.header("content-encoding").unwrap_or("identity")
    }

    /// The body as it came.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body, decoded as its header says.
    pub fn decoded(&self) -> Vec<u8> {
        let format = match self.coding() {
            "identity" => return self.body.clone(),
            "deflate" => Format::Zlib,
            coding => Format::from_name(coding).unwrap_or_else(|| panic!("coding {coding}")),
        };
        weigh_codec::independent::decode(format, &self.body, 64 << 20, None).unwrap().0
    }
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|w| w == b"\r\n").unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap().trim(), 16).unwrap();
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 4 + length..];
    }
}

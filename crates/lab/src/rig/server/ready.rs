//! Whether an instance answers: one GET of its ready path, whose answer must be 200 with the instance's own token. A connection alone
//! says little: another server may have taken the port, and some accept before they can serve.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use weigh_load::plan;
use weigh_load::transport::tls;

/// How long one question may take.
const ANSWER: Duration = Duration::from_secs(2);
/// The answer is short; what is longer is not ours.
const LONGEST: u64 = 16 << 10;

/// Asks once.
///
/// # Errors
/// What was wrong with the answer.
pub fn ask(address: SocketAddr, path: &str, token: &str, secure: bool) -> io::Result<()> {
    let stream = TcpStream::connect_timeout(&address, ANSWER)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let answer = if secure { talk(over_tls(stream)?, path)? } else { talk(stream, path)? };
    let status = answer.split_whitespace().nth(1).unwrap_or_default();
    match (status, answer.contains(token)) {
        ("200", true) => Ok(()),
        ("200", false) => Err(io::Error::other("another server answers on its port")),
        _ => Err(io::Error::other(format!("{path} is answered with status {status}"))),
    }
}

fn over_tls(stream: TcpStream) -> io::Result<rustls::StreamOwned<rustls::ClientConnection, TcpStream>> {
    let wish = plan::Tls { insecure: true, authorities: None, resumption: false };
    let config = tls::config(&wish, plan::Protocol::Http11).map_err(io::Error::other)?;
    let name = rustls::pki_types::ServerName::try_from("localhost").map_err(io::Error::other)?;
    let session = rustls::ClientConnection::new(config, name).map_err(io::Error::other)?;
    Ok(rustls::StreamOwned::new(session, stream))
}

fn talk(mut stream: impl Read + Write, path: &str) -> io::Result<String> {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    stream.flush()?;
    let mut bytes = Vec::new();
    match stream.take(LONGEST).read_to_end(&mut bytes) {
        // Some end TLS without saying so.
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(e),
        _ => {}
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

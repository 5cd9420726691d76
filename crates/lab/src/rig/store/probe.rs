//! Whether a store answers: one question and the begin of its answer. A connection alone is enough only where nothing is asked.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::definition::Probe;
use weigh_model::text::clean_bytes;

/// How long one question may take.
const ANSWER: Duration = Duration::from_secs(2);

/// Asks once over a unix socket.
///
/// # Errors
/// What was wrong with the answer.
pub fn over_unix(socket: &Path, probe: Option<&Probe>) -> io::Result<()> {
    let stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    probe.map_or(Ok(()), |probe| talk(stream, probe))
}

/// Asks once over TCP.
///
/// # Errors
/// What was wrong with the answer.
pub fn over_tcp(host: Ipv4Addr, port: u16, probe: Option<&Probe>) -> io::Result<()> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((host, port)), ANSWER)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    probe.map_or(Ok(()), |probe| talk(stream, probe))
}

fn talk(mut stream: impl Read + Write, probe: &Probe) -> io::Result<()> {
    stream.write_all(probe.send.as_bytes())?;
    let mut answer = vec![0; probe.expect.len()];
    stream.read_exact(&mut answer)?;
    if answer == probe.expect.as_bytes() {
        return Ok(());
    }
    let said = clean_bytes(&answer);
    Err(io::Error::other(format!("it answers `{said}`, not `{}`", probe.expect.trim_end())))
}

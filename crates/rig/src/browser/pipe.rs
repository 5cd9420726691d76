//! Two named pipes to a browser, with messages that end with a zero byte. No call waits past its time, and no message grows without bound.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

/// Their names in the browser's directory.
pub(super) const TO: &str = "to-browser";
pub(super) const FROM: &str = "from-browser";
/// The longest message in bytes.
const LONGEST: usize = 32 << 20;
/// What is read at once.
const CHUNK: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Pipe {
    to: File,
    from: File,
    /// What has come and was not taken; up to `searched` it holds no end of a message.
    held: Vec<u8>,
    searched: usize,
}

impl Pipe {
    /// Makes them in a directory that nobody else can write to.
    pub fn make(dir: &Path) -> io::Result<Pipe> {
        let make = |name: &str| {
            let path = dir.join(name);
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            // Open both ways, neither end waits for the other, or learns of its end: that is asked of its guard.
            let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32;
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path)
        };
        Ok(Pipe { to: make(TO)?, from: make(FROM)?, held: Vec::new(), searched: 0 })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The browser does not take it in time.
    pub fn send(&mut self, message: &[u8], deadline: Instant) -> io::Result<()> {
        let message = [message, &[0]].concat();
        let mut rest = message.as_slice();
        while !rest.is_empty() {
            match self.to.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !wait(&self.to, PollFlags::OUT, deadline)? {
                        return Err(io::Error::new(ErrorKind::TimedOut, "the browser reads nothing"));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next message; none: there was none until then.
    ///
    /// # Errors
    /// It is too long.
    pub fn receive(&mut self, until: Instant) -> io::Result<Option<Vec<u8>>> {
        let mut chunk = vec![0; CHUNK];
        loop {
            if let Some(end) = self.held[self.searched..].iter().position(|byte| *byte == 0) {
                let rest = self.held.split_off(self.searched + end + 1);
                let mut message = std::mem::replace(&mut self.held, rest);
                message.pop();
                self.searched = 0;
                return Ok(Some(message));
            }
            self.searched = self.held.len();
            if self.held.len() > LONGEST {
                return Err(io::Error::other("the browser said more at once than is read"));
            }
            match self.from.read(&mut chunk) {
                Ok(read) => self.held.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !wait(&self.from, PollFlags::IN, until)? {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Waits until a pipe can be used; whether it can.
fn wait(pipe: &File, flags: PollFlags, until: Instant) -> io::Result<bool> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(false);
    }
    // Rounded up, so that the last wait is not spent in a spin.
    let left = left + Duration::from_millis(1);
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
    match poll(&mut [PollFd::from_borrowed_fd(pipe.as_fd(), flags)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_in_order_and_in_time() {
        let dir = tempfile::tempdir().unwrap();
        let mut pipe = Pipe::make(dir.path()).unwrap();
        let open =
            |name: &str| OpenOptions::new().read(true).write(true).open(dir.path().join(name)).unwrap();
        let (mut reads, mut says) = (open(TO), open(FROM));
        let far = Instant::now() + Duration::from_secs(100);
        says.write_all(b"{\"a\":1}\0{\"b\"").unwrap();
        assert_eq!(pipe.receive(far).unwrap().unwrap(), b"{\"a\":1}");
        assert_eq!(pipe.receive(Instant::now()).unwrap(), None, "the rest has not come");
        says.write_all(b":2}\0").unwrap();
        assert_eq!(pipe.receive(far).unwrap().unwrap(), b"{\"b\":2}");
        pipe.send(b"{}", far).unwrap();
        let mut heard = [0; 3];
        reads.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"{}\0");
        // Nobody reads: what a pipe holds is written, and no more.
        let flood = vec![b'x'; 1 << 20];
        let error = pipe.send(&flood, Instant::now() + Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}

//! Bytes between a connection's transport and the HTTP/2 library: the library reads from received bytes and writes into
//! a buffer, so that neither needs a runtime.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes per read; the library itself would read 8 KB.
const INBOX: usize = 128 << 10;

/// Received bytes that the library has not read. A thread has one inbox, because it is empty between connections.
#[derive(Debug)]
pub struct Inbox {
    bytes: Box<[u8]>,
    at: usize,
    end: usize,
}

impl Inbox {
    pub fn new() -> Inbox {
        Inbox { bytes: vec![0; INBOX].into(), at: 0, end: 0 }
    }

    /// Replaces its content with up to `most` bytes from `read`; returns how many arrived, and how many there was room
    /// for.
    pub fn fill(
        &mut self,
        most: usize,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<(usize, usize)> {
        (self.at, self.end) = (0, 0);
        let room = most.min(self.bytes.len());
        self.end = read(&mut self.bytes[..room])?;
        Ok((self.end, room))
    }

    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.at..self.end]
    }
}

/// One connection's end of the pipe.
#[derive(Debug)]
pub struct Pipe {
    inbox: Rc<RefCell<Inbox>>,
    /// The library may read: it is this connection's turn.
    pub is_open: bool,
    pub is_over: bool,
    pub outbox: Vec<u8>,
}

/// A pipe in the form that the library needs.
#[derive(Debug)]
pub struct Shared(Rc<RefCell<Pipe>>);

impl Pipe {
    /// A pipe that reads from a thread's inbox, and the library's handle of it.
    pub fn new(inbox: &Rc<RefCell<Inbox>>) -> (Rc<RefCell<Pipe>>, Shared) {
        let pipe = Pipe { inbox: inbox.clone(), is_open: false, is_over: false, outbox: Vec::new() };
        let pipe = Rc::new(RefCell::new(pipe));
        (pipe.clone(), Shared(pipe))
    }
}

impl AsyncRead for Shared {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let pipe = self.0.borrow();
        let mut inbox = pipe.inbox.borrow_mut();
        let unread = if pipe.is_open { inbox.unread().len() } else { 0 };
        if unread == 0 {
            return if pipe.is_over { Poll::Ready(Ok(())) } else { Poll::Pending };
        }
        let part = unread.min(into.remaining());
        into.put_slice(&inbox.unread()[..part]);
        inbox.at += part;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Shared {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().outbox.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outbox = &mut self.0.borrow_mut().outbox;
        let before = outbox.len();
        parts.iter().for_each(|part| outbox.extend_from_slice(part));
        Poll::Ready(Ok(outbox.len() - before))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The streams that were woken, each once. Wakers must be `Send`, although all of this stays in one thread.
#[derive(Debug, Default)]
pub struct Ready(Arc<Mutex<Vec<usize>>>);

#[derive(Debug)]
struct One {
    slot: usize,
    is_listed: AtomicBool,
    list: Arc<Mutex<Vec<usize>>>,
}

impl Wake for One {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_listed.swap(true, Ordering::Relaxed) {
            self.list.lock().unwrap_or_else(PoisonError::into_inner).push(self.slot);
        }
    }
}

/// Adds one stream to the list of woken streams.
#[derive(Clone, Debug)]
pub struct Bell {
    one: Arc<One>,
    /// The waker for the library.
    pub waker: Waker,
}

impl Bell {
    /// Adds the stream to the list.
    pub fn ring(&self) {
        self.one.wake_by_ref();
    }

    /// The stream is being polled: it may be added again.
    pub fn answered(&self) {
        self.one.is_listed.store(false, Ordering::Relaxed);
    }
}

impl Ready {
    /// The waker of the stream in this slot.
    pub fn bell(&self, slot: usize) -> Bell {
        let one = Arc::new(One { slot, is_listed: AtomicBool::new(false), list: self.0.clone() });
        Bell { waker: Waker::from(one.clone()), one }
    }

    /// Moves the woken streams to an empty list.
    pub fn take(&self, into: &mut Vec<usize>) {
        std::mem::swap(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), into);
    }
}

/// Whether the connection itself has work.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Flag {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether it has work; clears the flag.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set();
    }
}

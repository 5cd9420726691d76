//! An open stream and the loop that drives it, the same for both directions.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

use super::{Api, Io};
use crate::room::{Mode, Room, Stop};

const Z_NO_FLUSH: c_int = 0;
const Z_FINISH: c_int = 4;
const Z_OK: c_int = 0;
const Z_STREAM_END: c_int = 1;
const Z_BUF_ERROR: c_int = -5;

type Step<A> = unsafe fn(*mut <A as Api>::Stream, &mut Io, c_int) -> c_int;

/// An open stream at a fixed address.
pub struct Stream<A: Api> {
    pub at: *mut A::Stream,
    end: unsafe fn(*mut A::Stream),
    owner: PhantomData<A>,
}

// SAFETY: the libraries keep all state in the stream and have no ties to a thread.
unsafe impl<A: Api> Send for Stream<A> {}

impl<A: Api> Stream<A> {
    pub fn open(
        init: impl Fn(*mut A::Stream) -> c_int,
        end: unsafe fn(*mut A::Stream),
    ) -> Result<Stream<A>, String> {
        // Zeroed, but not assumed to be a valid `z_stream`: for Rust its allocator functions must not be null, and they
        // are until the init has run.
        let zeroed: Box<std::mem::MaybeUninit<A::Stream>> = Box::new(std::mem::MaybeUninit::zeroed());
        let at: *mut A::Stream = Box::into_raw(zeroed).cast();
        let code = init(at);
        if code == Z_OK {
            return Ok(Stream { at, end, owner: PhantomData });
        }
        // SAFETY: `at` came from `Box::into_raw` of this type and was not opened.
        drop(unsafe { Box::from_raw(at.cast::<std::mem::MaybeUninit<A::Stream>>()) });
        Err(format!("the library rejected the stream (code {code})"))
    }

    /// Runs the stream to its end; returns the number of unread bytes of input.
    pub fn run(
        &mut self,
        mode: Mode,
        input: &[u8],
        room: &mut Room,
        all: usize,
        step: Step<A>,
    ) -> Result<usize, Stop<String>> {
        let mut used = 0;
        for (piece, last) in mode.pieces(input) {
            let mut rest = piece;
            loop {
                let (next_out, size) = room.offer(mode.window(all));
                if size == 0 {
                    return Err(Stop::Full);
                }
                let flush = if last { Z_FINISH } else { Z_NO_FLUSH };
                let mut io = Io {
                    next_in: rest.as_ptr(),
                    avail_in: rest.len() as u32,
                    next_out,
                    avail_out: size as u32,
                };
                // SAFETY: the stream is open; `io` describes `rest` and the room just offered.
                let code = unsafe { step(self.at, &mut io, flush) };
                let (taken, written) = (rest.len() - io.avail_in as usize, size - io.avail_out as usize);
                // SAFETY: the library wrote that many bytes from `next_out` on.
                unsafe { room.commit(written) };
                rest = &rest[taken..];
                used += taken;
                match code {
                    Z_STREAM_END => return Ok(input.len() - used),
                    Z_OK | Z_BUF_ERROR if rest.is_empty() && io.avail_out > 0 => break,
                    Z_OK | Z_BUF_ERROR if taken > 0 || written > 0 => {}
                    code => return Err(Stop::Library(self.message(code))),
                }
            }
        }
        Err(Stop::Starved)
    }

    fn message(&self, code: c_int) -> String {
        // SAFETY: the stream is open; its message is null or a string of static lifetime.
        let text = unsafe {
            let message = A::message(self.at);
            (!message.is_null()).then(|| CStr::from_ptr(message).to_string_lossy().into_owned())
        };
        text.unwrap_or_else(|| format!("code {code}"))
    }
}

impl<A: Api> Drop for Stream<A> {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and `at` came from `Box::into_raw` of this type.
        unsafe {
            (self.end)(self.at);
            drop(Box::from_raw(self.at.cast::<std::mem::MaybeUninit<A::Stream>>()));
        }
    }
}

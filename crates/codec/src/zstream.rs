//! The `z_stream` interface, written once for the three libraries that share it.
//!
//! A codec file names its `-sys` crate with [`api!`]; everything else stands here. The stream lives at
//! a fixed address from its init to its end, because the libraries keep a pointer back to it.

use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;

use crate::container::{CONTAINER, Container};
use crate::room::{MODE, Mode, Room, trailing, truncated};
use crate::{Codec, Coder, Error, Format, Info, OptionSpec, OptionValues, Params};

/// The options of every codec of this interface.
pub(crate) const OPTIONS: &[OptionSpec] = &[
    CONTAINER,
    MODE,
    OptionSpec {
        name: "memlevel",
        values: OptionValues::Range(1, 9),
        about: "memory for the encoder's hash chains and pending block; 8 is the library's default, PHP uses 9",
    },
    OptionSpec {
        name: "window",
        values: OptionValues::Range(9, 15),
        about: "base-2 logarithm of the window in bytes; default 15",
    },
    OptionSpec {
        name: "strategy",
        values: OptionValues::Words(STRATEGIES),
        about: "what the encoder tunes for; default `default`",
    },
];

const STRATEGIES: &[&str] = &["default", "filtered", "huffman", "rle", "fixed"];

const Z_NO_FLUSH: c_int = 0;
const Z_FINISH: c_int = 4;
const Z_OK: c_int = 0;
const Z_STREAM_END: c_int = 1;
const Z_BUF_ERROR: c_int = -5;

/// What is fixed when a stream is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub level: c_int,
    /// As `deflateInit2` wants it: negative for raw, plus 16 for gzip.
    pub window_bits: c_int,
    pub mem_level: c_int,
    pub strategy: c_int,
}

/// One call's worth of input and output, before and after.
pub(crate) struct Io {
    pub next_in: *const u8,
    pub avail_in: u32,
    pub next_out: *mut u8,
    pub avail_out: u32,
}

/// A library with the `z_stream` interface.
///
/// # Safety
/// Every function does what zlib's manual says of its namesake, on a stream of this library only.
pub(crate) unsafe trait Api: Send + Sync + 'static {
    type Stream;
    fn facts() -> &'static Info;
    fn version() -> *const c_char;
    unsafe fn deflate_init(stream: *mut Self::Stream, settings: &Settings) -> c_int;
    unsafe fn deflate(stream: *mut Self::Stream, io: &mut Io, flush: c_int) -> c_int;
    unsafe fn deflate_bound(stream: *mut Self::Stream, len: usize) -> usize;
    unsafe fn deflate_reset(stream: *mut Self::Stream) -> c_int;
    unsafe fn deflate_end(stream: *mut Self::Stream);
    unsafe fn inflate_init(stream: *mut Self::Stream, window_bits: c_int) -> c_int;
    unsafe fn inflate(stream: *mut Self::Stream, io: &mut Io, flush: c_int) -> c_int;
    unsafe fn inflate_reset(stream: *mut Self::Stream) -> c_int;
    unsafe fn inflate_end(stream: *mut Self::Stream);
    unsafe fn message(stream: *mut Self::Stream) -> *const c_char;
}

/// Declares the codec `$name` over the crate `$sys`.
macro_rules! api {
    ($name:ident, $sys:ident, $info:expr) => {
        /// The codec over this library.
        pub struct $name;

        // SAFETY: each function calls its namesake of one and the same library.
        unsafe impl $crate::zstream::Api for $name {
            type Stream = $sys::z_stream;

            fn facts() -> &'static $crate::Info {
                $info
            }

            fn version() -> *const std::ffi::c_char {
                // SAFETY: takes nothing and returns a string of static lifetime.
                #[allow(unused_unsafe, reason = "a safe function in one of the libraries")]
                unsafe {
                    $sys::zlibVersion()
                }
            }

            unsafe fn deflate_init(s: *mut Self::Stream, p: &$crate::zstream::Settings) -> std::ffi::c_int {
                let size = size_of::<Self::Stream>() as std::ffi::c_int;
                let version = <Self as $crate::zstream::Api>::version();
                // SAFETY: the caller passes a zeroed stream at a fixed address.
                unsafe {
                    $sys::deflateInit2_(
                        s,
                        p.level,
                        $sys::Z_DEFLATED,
                        p.window_bits,
                        p.mem_level,
                        p.strategy,
                        version,
                        size,
                    )
                }
            }

            unsafe fn deflate(
                s: *mut Self::Stream,
                io: &mut $crate::zstream::Io,
                flush: std::ffi::c_int,
            ) -> std::ffi::c_int {
                // SAFETY: the caller passes an open stream; `io` describes memory that outlives the call.
                unsafe {
                    (*s).next_in = io.next_in.cast_mut();
                    (*s).avail_in = io.avail_in;
                    (*s).next_out = io.next_out;
                    (*s).avail_out = io.avail_out;
                    let code = $sys::deflate(s, flush);
                    io.avail_in = (*s).avail_in;
                    io.avail_out = (*s).avail_out;
                    code
                }
            }

            unsafe fn deflate_bound(s: *mut Self::Stream, len: usize) -> usize {
                // SAFETY: the caller passes an open deflate stream.
                unsafe { $sys::deflateBound(s, len as _) as usize }
            }

            unsafe fn deflate_reset(s: *mut Self::Stream) -> std::ffi::c_int {
                // SAFETY: the caller passes an open deflate stream.
                unsafe { $sys::deflateReset(s) }
            }

            unsafe fn deflate_end(s: *mut Self::Stream) {
                // SAFETY: the caller passes an open deflate stream and does not use it afterwards.
                unsafe { $sys::deflateEnd(s) };
            }

            unsafe fn inflate_init(s: *mut Self::Stream, window_bits: std::ffi::c_int) -> std::ffi::c_int {
                let size = size_of::<Self::Stream>() as std::ffi::c_int;
                let version = <Self as $crate::zstream::Api>::version();
                // SAFETY: the caller passes a zeroed stream at a fixed address.
                unsafe { $sys::inflateInit2_(s, window_bits, version, size) }
            }

            unsafe fn inflate(
                s: *mut Self::Stream,
                io: &mut $crate::zstream::Io,
                flush: std::ffi::c_int,
            ) -> std::ffi::c_int {
                // SAFETY: the caller passes an open stream; `io` describes memory that outlives the call.
                unsafe {
                    (*s).next_in = io.next_in.cast_mut();
                    (*s).avail_in = io.avail_in;
                    (*s).next_out = io.next_out;
                    (*s).avail_out = io.avail_out;
                    let code = $sys::inflate(s, flush);
                    io.avail_in = (*s).avail_in;
                    io.avail_out = (*s).avail_out;
                    code
                }
            }

            unsafe fn inflate_reset(s: *mut Self::Stream) -> std::ffi::c_int {
                // SAFETY: the caller passes an open inflate stream.
                unsafe { $sys::inflateReset(s) }
            }

            unsafe fn inflate_end(s: *mut Self::Stream) {
                // SAFETY: the caller passes an open inflate stream and does not use it afterwards.
                unsafe { $sys::inflateEnd(s) };
            }

            unsafe fn message(s: *mut Self::Stream) -> *const std::ffi::c_char {
                // SAFETY: the caller passes a stream that was zeroed before its init.
                unsafe { (*s).msg }
            }
        }
    };
}
pub(crate) use api;

/// The version that a library reports.
pub(crate) fn version<A: Api>() -> String {
    // SAFETY: the library returns a string of static lifetime.
    unsafe { CStr::from_ptr(A::version()) }.to_string_lossy().into_owned()
}

impl<A: Api> Codec for A {
    fn info(&self) -> &'static Info {
        A::facts()
    }

    fn library(&self) -> String {
        format!("{} {}", A::facts().name, version::<A>())
    }

    fn format(&self, params: &Params) -> Format {
        Container::of(params).format()
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(A::facts())?;
        let container = Container::of(params);
        let strategy = params.word("strategy").unwrap_or("default");
        let settings = Settings {
            level: params.level_or_default(A::facts()),
            window_bits: window_bits(container, params.number("window").unwrap_or(15)),
            mem_level: params.number("memlevel").unwrap_or(8),
            strategy: STRATEGIES.iter().position(|s| *s == strategy).unwrap_or(0) as c_int,
        };
        let mode = Mode::of(params);
        let decoder = Inflate::<A>::new(A::facts().name, container, mode);
        Ok(Box::new(Both::<A> { settings, mode, encoder: None, decoder }))
    }
}

fn window_bits(container: Container, window: c_int) -> c_int {
    match container {
        Container::Raw => -window,
        Container::Zlib => window,
        Container::Gzip => window + 16,
    }
}

struct Both<A: Api> {
    settings: Settings,
    mode: Mode,
    encoder: Option<Stream<A>>,
    decoder: Inflate<A>,
}

impl<A: Api> Coder for Both<A> {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let codec = A::facts().name;
        let failed = |message| Error::Encode { codec, message };
        if self.encoder.is_none() {
            let settings = self.settings;
            // SAFETY: a zeroed stream at a fixed address is what deflateInit2 asks for.
            let open = |s| unsafe { A::deflate_init(s, &settings) };
            self.encoder = Some(Stream::open(open, A::deflate_end).map_err(failed)?);
        }
        let Some(stream) = &mut self.encoder else { return Err(failed("no stream".into())) };
        // SAFETY: the stream is open.
        let bound = unsafe {
            A::deflate_reset(stream.at);
            A::deflate_bound(stream.at, input.len())
        };
        let mut room = Room::unlimited(out);
        match stream.run(self.mode, input, &mut room, bound, A::deflate) {
            Ok(0) => Ok(()),
            Ok(left) => Err(failed(format!("{left} bytes of input were not taken"))),
            Err(Stop::Full | Stop::Starved) => Err(failed("the stream was not finished".into())),
            Err(Stop::Library(message)) => Err(failed(message)),
        }
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        self.decoder.decode(input, expected, out)
    }
}

/// A reusable decoder; also serves encoders that come without one.
pub(crate) struct Inflate<A: Api> {
    codec: &'static str,
    window_bits: c_int,
    mode: Mode,
    stream: Option<Stream<A>>,
}

impl<A: Api> Inflate<A> {
    pub fn new(codec: &'static str, container: Container, mode: Mode) -> Inflate<A> {
        Inflate { codec, window_bits: window_bits(container, 15), mode, stream: None }
    }

    pub fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let codec = self.codec;
        let failed = |message| Error::Decode { codec, message };
        if self.stream.is_none() {
            let bits = self.window_bits;
            // SAFETY: a zeroed stream at a fixed address is what inflateInit2 asks for.
            let open = |s| unsafe { A::inflate_init(s, bits) };
            self.stream = Some(Stream::open(open, A::inflate_end).map_err(failed)?);
        }
        let Some(stream) = &mut self.stream else { return Err(failed("no stream".into())) };
        // SAFETY: the stream is open.
        unsafe { A::inflate_reset(stream.at) };
        let mut room = Room::expecting(codec, expected, out)?;
        match stream.run(self.mode, input, &mut room, expected + 1, A::inflate) {
            Ok(0) | Err(Stop::Full) => room.close(codec),
            Ok(left) => Err(trailing(codec, left)),
            Err(Stop::Starved) => Err(truncated(codec)),
            Err(Stop::Library(message)) => Err(failed(message)),
        }
    }
}

/// Why a stream stopped before its end.
enum Stop {
    /// The room is full.
    Full,
    /// The input is used up.
    Starved,
    /// The library said so.
    Library(String),
}

type Step<A> = unsafe fn(*mut <A as Api>::Stream, &mut Io, c_int) -> c_int;

/// An open stream at a fixed address.
struct Stream<A: Api> {
    at: *mut A::Stream,
    end: unsafe fn(*mut A::Stream),
    owner: PhantomData<A>,
}

// SAFETY: the libraries keep all state in the stream and have no ties to a thread.
unsafe impl<A: Api> Send for Stream<A> {}

impl<A: Api> Stream<A> {
    fn open(
        init: impl Fn(*mut A::Stream) -> c_int,
        end: unsafe fn(*mut A::Stream),
    ) -> Result<Stream<A>, String> {
        // Zeroed, yet never assumed to be a valid `z_stream`: its allocator functions may not be null in
        // the eyes of Rust, and are until the init has run.
        let zeroed: Box<std::mem::MaybeUninit<A::Stream>> = Box::new(std::mem::MaybeUninit::zeroed());
        let at: *mut A::Stream = Box::into_raw(zeroed).cast();
        let code = init(at);
        if code == Z_OK {
            return Ok(Stream { at, end, owner: PhantomData });
        }
        // SAFETY: `at` came from `Box::into_raw` of this type and was not opened.
        drop(unsafe { Box::from_raw(at.cast::<std::mem::MaybeUninit<A::Stream>>()) });
        Err(format!("the library refused the stream (code {code})"))
    }

    /// Runs the stream to its end; the bytes of input left over.
    fn run(
        &mut self,
        mode: Mode,
        input: &[u8],
        room: &mut Room,
        all: usize,
        step: Step<A>,
    ) -> Result<usize, Stop> {
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

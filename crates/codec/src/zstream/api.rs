//! The functions of a library with the `z_stream` interface, and the macro that binds one.

use std::ffi::{c_char, c_int};

use crate::Info;

/// Parameters that are fixed when a stream is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub level: c_int,
    /// In the form of `deflateInit2`: negative for raw, plus 16 for gzip.
    pub window_bits: c_int,
    pub mem_level: c_int,
    pub strategy: c_int,
}

/// Input and output of one call, before and after.
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

/// One call of a library on a stream; updates `$io`.
macro_rules! step {
    ($s:ident, $io:ident, $call:expr) => {{
        (*$s).next_in = $io.next_in.cast_mut();
        (*$s).avail_in = $io.avail_in;
        (*$s).next_out = $io.next_out;
        (*$s).avail_out = $io.avail_out;
        let code = $call;
        $io.avail_in = (*$s).avail_in;
        $io.avail_out = (*$s).avail_out;
        code
    }};
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

            unsafe fn deflate(s: *mut Self::Stream, io: &mut $crate::zstream::Io, flush: i32) -> i32 {
                // SAFETY: the caller passes an open stream; `io` describes memory that outlives the call.
                unsafe { $crate::zstream::step!(s, io, $sys::deflate(s, flush)) }
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

            unsafe fn inflate(s: *mut Self::Stream, io: &mut $crate::zstream::Io, flush: i32) -> i32 {
                // SAFETY: the caller passes an open stream; `io` describes memory that outlives the call.
                unsafe { $crate::zstream::step!(s, io, $sys::inflate(s, flush)) }
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
pub(crate) use {api, step};

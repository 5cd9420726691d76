//! What lz4 and lz4hc share: LZ4's C functions that the binding leaves out, and the block decoder.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::Error;
use crate::room::{Room, grounded};

// Part of the stable API of the library that `lz4-sys` builds; the binding declares only some of it.
unsafe extern "C" {
    fn LZ4_versionString() -> *const c_char;
    pub fn LZ4_sizeofState() -> c_int;
    pub fn LZ4_compress_fast_extState(
        state: *mut c_void,
        src: *const c_char,
        dst: *mut c_char,
        src_size: c_int,
        dst_capacity: c_int,
        acceleration: c_int,
    ) -> c_int;
    pub fn LZ4_sizeofStateHC() -> c_int;
    pub fn LZ4_compress_HC_extStateHC(
        state: *mut c_void,
        src: *const c_char,
        dst: *mut c_char,
        src_size: c_int,
        max_dst_size: c_int,
        level: c_int,
    ) -> c_int;
}

/// The library's name and version.
pub(crate) fn library() -> String {
    // SAFETY: returns a string of static lifetime.
    let version = unsafe { CStr::from_ptr(LZ4_versionString()) };
    format!("lz4 {}", version.to_string_lossy())
}

/// One of the two encoders over a caller's state, with level or acceleration last.
pub(crate) type Compress =
    unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_char, c_int, c_int, c_int) -> c_int;

/// An encoder with its state, which is allocated once.
pub(crate) struct Encoder {
    codec: &'static str,
    /// In units of 8 bytes, for the alignment the library asks for.
    state: Vec<u64>,
    compress: Compress,
    level: c_int,
}

impl Encoder {
    pub fn new(codec: &'static str, size: c_int, compress: Compress, level: c_int) -> Encoder {
        Encoder { codec, state: vec![0; (size.max(0) as usize).div_ceil(8)], compress, level }
    }

    pub fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |message: String| Error::Encode { codec: self.codec, message };
        let input = grounded(input);
        let len = c_int::try_from(input.len())
            .map_err(|_| failed(format!("a block cannot hold {} bytes", input.len())))?;
        // SAFETY: takes no pointer.
        let bound = unsafe { lz4_sys::LZ4_compressBound(len) };
        if bound <= 0 {
            return Err(failed(format!("a block cannot hold {len} bytes")));
        }
        let mut room = Room::unlimited(out);
        let (at, _) = room.offer(bound as usize);
        // SAFETY: the state has the size and alignment the library asks for, `input` is readable, and
        // `bound` bytes at `at` are writable.
        let written = unsafe {
            (self.compress)(
                self.state.as_mut_ptr().cast(),
                input.as_ptr().cast(),
                at.cast(),
                len,
                bound,
                self.level,
            )
        };
        if written <= 0 {
            return Err(failed("the library gave no output".into()));
        }
        // SAFETY: the library wrote that many bytes to `at`.
        unsafe { room.commit(written as usize) };
        Ok(())
    }
}

/// Decodes one block.
pub(crate) fn decode(
    codec: &'static str,
    input: &[u8],
    expected: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let failed = |message: String| Error::Decode { codec, message };
    let input = grounded(input);
    let mut room = Room::expecting(codec, expected, out)?;
    let (at, size) = room.offer(expected + 1);
    let (Ok(len), Ok(size)) = (c_int::try_from(input.len()), c_int::try_from(size)) else {
        return Err(failed("a block is smaller than 2 GiB".into()));
    };
    // SAFETY: `input` is readable and `size` bytes at `at` are writable; the function is made for
    // hostile input.
    let written = unsafe { lz4_sys::LZ4_decompress_safe(input.as_ptr().cast(), at.cast(), len, size) };
    if written < 0 {
        return Err(failed(format!("the block is damaged, or holds more than {expected} bytes")));
    }
    // SAFETY: the library wrote that many bytes to `at`.
    unsafe { room.commit(written as usize) };
    room.close(codec)
}

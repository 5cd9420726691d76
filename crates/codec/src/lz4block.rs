//! The common part of lz4 and lz4hc: LZ4's C functions that the binding lacks, and their coder.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::room::{Room, grounded};
use crate::{Codec, Coder, Error, Info, Params};

// Part of the stable API of the library that `lz4-sys` builds; the binding declares only some of it.
unsafe extern "C" {
    fn LZ4_versionString() -> *const c_char;
    pub(crate) fn LZ4_sizeofState() -> c_int;
    pub(crate) fn LZ4_compress_fast_extState(
        state: *mut c_void,
        src: *const c_char,
        dst: *mut c_char,
        src_size: c_int,
        dst_capacity: c_int,
        acceleration: c_int,
    ) -> c_int;
    pub(crate) fn LZ4_sizeofStateHC() -> c_int;
    pub(crate) fn LZ4_compress_HC_extStateHC(
        state: *mut c_void,
        src: *const c_char,
        dst: *mut c_char,
        src_size: c_int,
        max_dst_size: c_int,
        level: c_int,
    ) -> c_int;
}

/// One of the two codecs.
pub(crate) struct Lz4 {
    pub(crate) info: &'static Info,
    pub(crate) size: unsafe extern "C" fn() -> c_int,
    pub(crate) compress: Compress,
    pub(crate) setting: fn(&Params) -> c_int,
}

impl Codec for Lz4 {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn library(&self) -> String {
        // SAFETY: returns a string of static lifetime.
        let version = unsafe { CStr::from_ptr(LZ4_versionString()) };
        format!("lz4 {}", version.to_string_lossy())
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(self.info)?;
        // SAFETY: takes no pointer.
        let size = unsafe { (self.size)() };
        // In units of 8 bytes, for the alignment that the library needs.
        let state = vec![0; (size.max(0) as usize).div_ceil(8)];
        let (codec, compress, level) = (self.info.name, self.compress, (self.setting)(params));
        Ok(Box::new(Block { codec, state, compress, level }))
    }
}

/// One of the two encoders over a caller's state, with level or acceleration last.
type Compress = unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_char, c_int, c_int, c_int) -> c_int;

/// A coder of blocks; the encoder's state is allocated once.
struct Block {
    codec: &'static str,
    /// In units of 8 bytes, for the alignment that the library needs.
    state: Vec<u64>,
    compress: Compress,
    level: c_int,
}

impl Coder for Block {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
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

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |message: String| Error::Decode { codec: self.codec, message };
        let input = grounded(input);
        let mut room = Room::expecting(self.codec, expected, out)?;
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
        room.close(self.codec)
    }
}

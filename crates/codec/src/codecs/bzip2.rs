//! bzip2 through the C library. A stream cannot be reset, so each call makes one and frees it: every program that uses
//! the library pays for this.

use std::ffi::{CStr, c_char, c_int};

use bzip2_sys as sys;

use crate::room::{MODE, Mode, Room, Stop, finished};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, Params};

unsafe extern "C" {
    /// The binding lacks only this function.
    fn BZ2_bzlibVersion() -> *const c_char;
}

static INFO: Info = Info {
    name: "bzip2",
    format: Format::Bzip2,
    levels: Some(LevelRange { min: 1, max: 9, default: 9, representative: &[1, 9] }),
    options: &[MODE],
    sets: &["archive"],
    nominal: &[(1, 14.0), (9, 12.0)],
};

/// The codec over libbzip2.
pub struct Bzip2;

impl Codec for Bzip2 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        // SAFETY: returns a string of static lifetime, `1.0.8, 13-Jul-2019`.
        let version = unsafe { CStr::from_ptr(BZ2_bzlibVersion()) }.to_string_lossy();
        format!("bzip2 {}", version.split(',').next().unwrap_or_default())
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        Ok(Box::new(Both { mode: Mode::of(params), level: params.level_or_default(&INFO) }))
    }
}

struct Both {
    mode: Mode,
    level: i32,
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |message: String| Error::Encode { codec: INFO.name, message };
        let mut stream = Stream::new(sys::BZ2_bzCompressEnd);
        // SAFETY: a zeroed stream. 0, 0: silent, and the library's own work factor.
        let code = unsafe { sys::BZ2_bzCompressInit(&mut *stream.raw, self.level, 0, 0) };
        if code != sys::BZ_OK {
            return Err(failed(describe(code)));
        }
        // The most that incompressible input grows to, according to the library's manual.
        let all = input.len() + input.len() / 100 + 600;
        let ran = stream.run(self.mode, input, &mut Room::unlimited(out), all, |raw, last| {
            // SAFETY: the stream was set up and describes valid input and room.
            unsafe { sys::BZ2_bzCompress(raw, if last { sys::BZ_FINISH } else { sys::BZ_RUN }) }
        });
        finished(INFO.name, ran, describe)
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |message: String| Error::Decode { codec: INFO.name, message };
        let mut stream = Stream::new(sys::BZ2_bzDecompressEnd);
        // SAFETY: a zeroed stream. 0, 0: silent, and the quick algorithm.
        let code = unsafe { sys::BZ2_bzDecompressInit(&mut *stream.raw, 0, 0) };
        if code != sys::BZ_OK {
            return Err(failed(describe(code)));
        }
        let mut room = Room::expecting(INFO.name, expected, out)?;
        let ran = stream.run(self.mode, input, &mut room, expected + 1, |raw, _| {
            // SAFETY: as for the encoder.
            unsafe { sys::BZ2_bzDecompress(raw) }
        });
        room.decoded(INFO.name, ran, describe)
    }
}

/// A stream at a fixed address: the library compares it with the address of the first call.
struct Stream {
    raw: Box<sys::bz_stream>,
    end: unsafe extern "C" fn(*mut sys::bz_stream) -> c_int,
}

impl Stream {
    fn new(end: unsafe extern "C" fn(*mut sys::bz_stream) -> c_int) -> Stream {
        // SAFETY: all zeros is a stream that was not set up; the structure holds numbers and nullable pointers.
        Stream { raw: Box::new(unsafe { std::mem::zeroed() }), end }
    }

    /// Runs the stream to its end; returns the number of unread bytes of input.
    fn run(
        &mut self,
        mode: Mode,
        input: &[u8],
        room: &mut Room,
        all: usize,
        step: impl Fn(&mut sys::bz_stream, bool) -> c_int,
    ) -> Result<usize, Stop<c_int>> {
        let mut after = input.len();
        for (piece, last) in mode.pieces(input) {
            after -= piece.len();
            // The library reads what is there and never writes to it.
            self.raw.next_in = piece.as_ptr().cast_mut().cast();
            self.raw.avail_in = piece.len() as u32;
            loop {
                let (next_out, size) = room.offer(mode.window(all));
                if size == 0 {
                    return Err(Stop::Full);
                }
                self.raw.next_out = next_out.cast();
                self.raw.avail_out = size as u32;
                let code = step(&mut self.raw, last);
                // SAFETY: the library has written all of the room but what it says is left.
                unsafe { room.commit(size - self.raw.avail_out as usize) }
                let taken = self.raw.avail_in == 0;
                match code {
                    sys::BZ_STREAM_END => return Ok(after + self.raw.avail_in as usize),
                    sys::BZ_RUN_OK if taken => break,
                    sys::BZ_OK if taken && self.raw.avail_out > 0 => break,
                    sys::BZ_OK | sys::BZ_RUN_OK | sys::BZ_FINISH_OK => {}
                    code => return Err(Stop::Library(code)),
                }
            }
        }
        Err(Stop::Starved)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the function belongs to the direction that the stream was set up for; it refuses one that was not.
        unsafe { (self.end)(&mut *self.raw) };
    }
}

fn describe(code: c_int) -> String {
    match code {
        sys::BZ_MEM_ERROR => "no memory".into(),
        sys::BZ_DATA_ERROR => "the data is damaged".into(),
        sys::BZ_DATA_ERROR_MAGIC => "not a bzip2 stream".into(),
        code => format!("code {code}"),
    }
}

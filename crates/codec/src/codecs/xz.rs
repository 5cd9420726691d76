//! The .xz container through liblzma. Encoder and decoder are initialised again in the same stream, which keeps their
//! memory between calls.

use std::ffi::CStr;
use std::ptr::null_mut;

use liblzma_sys as sys;

use crate::room::{MODE, Mode, Room, Stop, finished};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, OptionSpec, OptionValues, Params};

/// The memory limit of a decoder: twice the dictionary of level 9, the largest that we write.
const MEMORY_LIMIT: u64 = 128 << 20;

static INFO: Info = Info {
    name: "xz",
    format: Format::Xz,
    levels: Some(LevelRange { min: 0, max: 9, default: 6, representative: &[0, 3, 6, 9] }),
    options: &[
        MODE,
        OptionSpec {
            name: "extreme",
            values: OptionValues::Range(0, 1),
            about: "1: spend far more time for a little less size; default 0",
        },
        OptionSpec {
            name: "check",
            values: OptionValues::Words(&["none", "crc32", "crc64", "sha256"]),
            about: "the integrity check stored with the data; default crc64, as of the xz program",
        },
    ],
    sets: &["archive"],
    nominal: &[(0, 25.0), (3, 8.0), (6, 3.0), (9, 2.5)],
};

pub struct Xz;

impl Codec for Xz {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        // SAFETY: returns a string of static lifetime.
        let version = unsafe { CStr::from_ptr(sys::lzma_version_string()) };
        format!("liblzma {}", version.to_string_lossy())
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        let extreme = if params.number("extreme") == Some(1) { sys::LZMA_PRESET_EXTREME } else { 0 };
        Ok(Box::new(Both {
            mode: Mode::of(params),
            preset: params.level_or_default(&INFO) as u32 | extreme,
            check: match params.word("check") {
                Some("none") => sys::LZMA_CHECK_NONE,
                Some("crc32") => sys::LZMA_CHECK_CRC32,
                Some("sha256") => sys::LZMA_CHECK_SHA256,
                _ => sys::LZMA_CHECK_CRC64,
            },
            encoder: Stream::new(),
            decoder: Stream::new(),
        }))
    }
}

struct Both {
    mode: Mode,
    preset: u32,
    check: sys::lzma_check,
    encoder: Stream,
    decoder: Stream,
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |message: String| Error::Encode { codec: INFO.name, message };
        let stream: *mut sys::lzma_stream = &mut *self.encoder.0;
        // SAFETY: a zeroed stream, or one that was set up before; liblzma frees or reuses what it held.
        let code = unsafe { sys::lzma_easy_encoder(stream, self.preset, self.check) };
        if code != sys::LZMA_OK {
            return Err(failed(describe(code)));
        }
        let mut room = Room::unlimited(out);
        // SAFETY: takes no pointer.
        let all = unsafe { sys::lzma_stream_buffer_bound(input.len()) };
        finished(INFO.name, self.encoder.run(self.mode, input, &mut room, all), describe)
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |message: String| Error::Decode { codec: INFO.name, message };
        let stream: *mut sys::lzma_stream = &mut *self.decoder.0;
        // SAFETY: as for the encoder.
        let code = unsafe { sys::lzma_stream_decoder(stream, MEMORY_LIMIT, 0) };
        if code != sys::LZMA_OK {
            return Err(failed(describe(code)));
        }
        let mut room = Room::expecting(INFO.name, expected, out)?;
        let ran = self.decoder.run(self.mode, input, &mut room, expected + 1);
        room.decoded(INFO.name, ran, describe)
    }
}

struct Stream(Box<sys::lzma_stream>);

// SAFETY: liblzma's single-threaded coders have no ties to a thread.
unsafe impl Send for Stream {}

impl Stream {
    fn new() -> Stream {
        // SAFETY: all zeros is LZMA_STREAM_INIT; the structure holds numbers and nullable pointers.
        Stream(Box::new(unsafe { std::mem::zeroed() }))
    }

    /// Runs the stream to its end; returns the number of unread bytes of input.
    fn run(
        &mut self,
        mode: Mode,
        input: &[u8],
        room: &mut Room,
        all: usize,
    ) -> Result<usize, Stop<sys::lzma_ret>> {
        let mut after = input.len();
        for (piece, last) in mode.pieces(input) {
            after -= piece.len();
            self.0.next_in = piece.as_ptr();
            self.0.avail_in = piece.len();
            let action = if last { sys::LZMA_FINISH } else { sys::LZMA_RUN };
            loop {
                let (next_out, size) = room.offer(mode.window(all));
                if size == 0 {
                    return Err(Stop::Full);
                }
                self.0.next_out = next_out;
                self.0.avail_out = size;
                // SAFETY: the stream was set up; it describes the rest of `piece` and the room offered.
                let code = unsafe {
                    let code = sys::lzma_code(&mut *self.0, action);
                    room.commit(size - self.0.avail_out);
                    code
                };
                match code {
                    sys::LZMA_STREAM_END => return Ok(after + self.0.avail_in),
                    sys::LZMA_OK | sys::LZMA_BUF_ERROR if self.0.avail_in == 0 && self.0.avail_out > 0 => {
                        break;
                    }
                    sys::LZMA_OK => {}
                    code => return Err(Stop::Library(code)),
                }
            }
        }
        Err(Stop::Starved)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.next_in = null_mut();
        // SAFETY: the stream is zeroed or was set up, and is not used again.
        unsafe { sys::lzma_end(&mut *self.0) }
    }
}

fn describe(code: sys::lzma_ret) -> String {
    match code {
        sys::LZMA_MEM_ERROR => "no memory".into(),
        sys::LZMA_MEMLIMIT_ERROR => format!("the data asks for more than {} MiB", MEMORY_LIMIT >> 20),
        sys::LZMA_FORMAT_ERROR => "not an .xz stream".into(),
        sys::LZMA_OPTIONS_ERROR => "unsupported options".into(),
        sys::LZMA_DATA_ERROR => "the data is damaged".into(),
        code => format!("code {}", code as i64),
    }
}

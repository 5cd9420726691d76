//! ISA-L's igzip. It has no version call: the version is that of the binding, whose build metadata is the commit of
//! ISA-L, as resolved in Cargo.lock.

use std::mem::MaybeUninit;

use isal_sys::igzip_lib as sys;

use crate::container::{CONTAINER, Container};
use crate::room::{MODE, Mode, Room, Stop};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, Params};

static INFO: Info = Info {
    name: "isal",
    format: Format::Gzip,
    levels: Some(LevelRange { min: 0, max: 3, default: 2, representative: &[0, 1, 2, 3] }),
    options: &[CONTAINER, MODE],
    sets: &["web", "fast"],
    nominal: &[(0, 351.0), (1, 336.0), (3, 175.0)],
};

pub struct Isal;

impl Codec for Isal {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        format!("isa-l (isal-sys {})", env!("CRATE_ISAL_SYS"))
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        let level = params.level_or_default(&INFO);
        Ok(Box::new(Both {
            container: Container::of(params),
            mode: Mode::of(params),
            level: level as u32,
            encoder: None,
            decoder: None,
        }))
    }
}

struct Both {
    container: Container,
    mode: Mode,
    level: u32,
    encoder: Option<Encoder>,
    decoder: Option<Decoder>,
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let (level, container) = (self.level, self.container);
        let encoder = self.encoder.get_or_insert_with(|| Encoder::new(level, container));
        encoder.run(self.mode, input, &mut Room::unlimited(out))
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let decoder = self.decoder.get_or_insert_with(Decoder::new);
        let mut room = Room::expecting(INFO.name, expected, out)?;
        let ran = decoder.run(self.container, self.mode, input, &mut room);
        room.decoded(INFO.name, ran, describe)
    }
}

/// A zeroed structure on the heap; both of ISA-L's are too large for the stack of a thread.
fn zeroed<T>() -> Box<MaybeUninit<T>> {
    let mut place = Box::<T>::new_uninit();
    // SAFETY: the place is as large as a `T`.
    unsafe { place.as_mut_ptr().write_bytes(0, 1) };
    place
}

struct Encoder {
    stream: Box<MaybeUninit<sys::isal_zstream>>,
    buffer: Vec<u8>,
    wrapper: u16,
}

// SAFETY: the pointers within lead to the encoder's own buffer, static tables, or memory of the last call.
unsafe impl Send for Encoder {}

impl Encoder {
    fn new(level: u32, container: Container) -> Encoder {
        let mut stream = zeroed();
        let size = match level {
            0 => sys::ISAL_DEF_LVL0_DEFAULT,
            1 => sys::ISAL_DEF_LVL1_DEFAULT,
            2 => sys::ISAL_DEF_LVL2_DEFAULT,
            _ => sys::ISAL_DEF_LVL3_DEFAULT,
        };
        let mut buffer = vec![0; size as usize];
        let stream_at: *mut sys::isal_zstream = stream.as_mut_ptr();
        // SAFETY: a zeroed structure of the right type; the buffer lives as long as the stream.
        unsafe {
            sys::isal_deflate_init(stream_at);
            (*stream_at).level = level;
            (*stream_at).level_buf = buffer.as_mut_ptr();
            (*stream_at).level_buf_size = size;
        }
        let wrapper = match container {
            Container::Raw => sys::IGZIP_DEFLATE,
            Container::Zlib => sys::IGZIP_ZLIB,
            Container::Gzip => sys::IGZIP_GZIP,
        } as u16;
        Encoder { stream, buffer, wrapper }
    }

    fn run(&mut self, mode: Mode, input: &[u8], room: &mut Room) -> Result<(), Error> {
        let at = self.stream.as_mut_ptr();
        // Room for stored blocks (at most 65,535 bytes each, 5 bytes of header) and the container.
        let all = input.len() + input.len() / 4096 + 1024;
        // SAFETY: the stream was initialised; its own buffer and the memory named here outlive each call.
        unsafe {
            sys::isal_deflate_reset(at);
            (*at).level_buf = self.buffer.as_mut_ptr();
            // The encoder marks here that the header is written, and a reset does not clear the mark.
            (*at).gzip_flag = self.wrapper;
            (*at).flush = sys::NO_FLUSH as u16;
            for (piece, last) in mode.pieces(input) {
                (*at).next_in = piece.as_ptr().cast_mut();
                (*at).avail_in = piece.len() as u32;
                (*at).end_of_stream = u16::from(last);
                loop {
                    let (next_out, size) = room.offer(mode.window(all));
                    (*at).next_out = next_out;
                    (*at).avail_out = size as u32;
                    let code = sys::isal_deflate(at);
                    room.commit(size - (*at).avail_out as usize);
                    if code != sys::COMP_OK as i32 {
                        return Err(Error::Encode { codec: INFO.name, message: format!("code {code}") });
                    }
                    if (*at).avail_out > 0 {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

struct Decoder {
    state: Box<MaybeUninit<sys::inflate_state>>,
}

// SAFETY: the pointers within lead to memory of the last call only, which set them.
unsafe impl Send for Decoder {}

impl Decoder {
    fn new() -> Decoder {
        Decoder { state: zeroed() }
    }

    /// Runs the stream to its end; returns the number of unread bytes of input.
    fn run(
        &mut self,
        container: Container,
        mode: Mode,
        input: &[u8],
        room: &mut Room,
    ) -> Result<usize, Stop<i32>> {
        let at = self.state.as_mut_ptr();
        // SAFETY: a zeroed or used structure of the right type is what the init takes; the memory named
        // here outlives each call.
        unsafe {
            sys::isal_inflate_init(at);
            (*at).crc_flag = match container {
                Container::Raw => sys::ISAL_DEFLATE,
                Container::Zlib => sys::ISAL_ZLIB,
                Container::Gzip => sys::ISAL_GZIP,
            };
            let mut after = input.len();
            for (piece, _) in mode.pieces(input) {
                after -= piece.len();
                (*at).next_in = piece.as_ptr().cast_mut();
                (*at).avail_in = piece.len() as u32;
                loop {
                    let (next_out, size) = room.offer(mode.window(usize::MAX));
                    if size == 0 {
                        return Err(Stop::Full);
                    }
                    (*at).next_out = next_out;
                    (*at).avail_out = size as u32;
                    let code = sys::isal_inflate(at);
                    room.commit(size - (*at).avail_out as usize);
                    if code != sys::ISAL_DECOMP_OK as i32 {
                        return Err(Stop::Library(code));
                    }
                    if (*at).block_state == sys::isal_block_state_ISAL_BLOCK_FINISH {
                        let buffered = ((*at).read_in_length.max(0) / 8) as usize;
                        return Ok(after + (*at).avail_in as usize + buffered);
                    }
                    if (*at).avail_out > 0 {
                        break;
                    }
                }
            }
        }
        Err(Stop::Starved)
    }
}

fn describe(code: i32) -> String {
    match code {
        sys::ISAL_INVALID_BLOCK => "invalid block".into(),
        sys::ISAL_INVALID_SYMBOL => "invalid symbol".into(),
        sys::ISAL_INVALID_LOOKBACK => "a match reaches before the start".into(),
        sys::ISAL_INVALID_WRAPPER => "invalid container header".into(),
        sys::ISAL_UNSUPPORTED_METHOD => "unsupported method".into(),
        sys::ISAL_INCORRECT_CHECKSUM => "incorrect checksum".into(),
        code => format!("code {code}"),
    }
}

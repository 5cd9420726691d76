//! The `z_stream` interface, written once for the three libraries that share it.
//!
//! A codec file names its `-sys` crate with [`api!`]; everything else is here. The stream stays at a fixed address from
//! init to end, because the libraries keep a pointer to it.

mod api;
mod stream;

use std::ffi::{CStr, c_int};

use crate::container::{CONTAINER, Container};
use crate::room::{MODE, Mode, Room, finished};
use crate::{Codec, Coder, Error, Info, OptionSpec, OptionValues, Params};
pub(crate) use api::{Api, Io, Settings, api, step};
use stream::Stream;

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
        let ran = stream.run(self.mode, input, &mut room, bound, A::deflate);
        finished(codec, ran, |message| message)
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        self.decoder.decode(input, expected, out)
    }
}

/// A reusable decoder, also for encoders without one.
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
        let ran = stream.run(self.mode, input, &mut room, expected + 1, A::inflate);
        room.decoded(codec, ran, |message| message)
    }
}

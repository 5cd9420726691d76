//! zstd. Contexts with their dictionaries are kept between calls, because making one costs more than a small page.

use std::cell::RefCell;

use zstd_safe::zstd_sys::ZSTD_EndDirective as End;
use zstd_safe::{CCtx, CParameter, DCtx, InBuffer, OutBuffer};

use crate::transform::transform;
use crate::{Coding, Error, Operation, Plan, stream::Stream};

/// How many contexts a thread keeps, and the most bytes of one.
const CONTEXTS: usize = 4;
const CONTEXT: usize = 8 << 20;

thread_local! {
    static KEPT: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// An encoder and a decoder for a level and a dictionary, which they have loaded.
struct Context {
    level: i32,
    dictionary: Vec<u8>,
    encoder: CCtx<'static>,
    decoder: DCtx<'static>,
}

fn failed(code: usize) -> Error {
    Error::Failed(Coding::Zstd, zstd_safe::get_error_name(code).into())
}

fn encoder(plan: &Plan) -> Result<CCtx<'static>, Error> {
    let mut encoder = CCtx::try_create().ok_or(Error::Memory(0))?;
    encoder.set_parameter(CParameter::CompressionLevel(plan.level)).map_err(failed)?;
    encoder.load_dictionary(plan.dictionary).map_err(failed)?;
    Ok(encoder)
}

impl Context {
    fn new(plan: &Plan) -> Result<Context, Error> {
        let mut decoder = DCtx::try_create().ok_or(Error::Memory(0))?;
        decoder.load_dictionary(plan.dictionary).map_err(failed)?;
        let dictionary = plan.dictionary.to_vec();
        Ok(Context { level: plan.level, dictionary, encoder: encoder(plan)?, decoder })
    }
}

/// Calls with the context of the plan. It is kept unless it is large, or the call failed.
fn with_context(plan: &Plan, call: impl FnOnce(&mut Context) -> Result<(), Error>) -> Result<(), Error> {
    KEPT.with_borrow_mut(|kept| {
        let is_it = |one: &Context| one.level == plan.level && one.dictionary == plan.dictionary;
        let known = kept.iter().position(is_it).map(|at| kept.remove(at));
        let mut context = known.map_or_else(|| Context::new(plan), Ok)?;
        call(&mut context)?;
        if context.dictionary.len() * 2 + context.encoder.sizeof() + context.decoder.sizeof() <= CONTEXT {
            kept.insert(0, context);
            kept.truncate(CONTEXTS);
        }
        Ok(())
    })
}

/// Writes a frame into an empty vector.
pub(crate) fn encode(plan: &Plan, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let size = zstd_safe::compress_bound(data.len());
    out.try_reserve(size).map_err(|_| Error::Memory(size))?;
    with_context(plan, |context| context.encoder.compress2(out, data).map(drop).map_err(failed))
}

/// Appends what frames decode to, at most `limit` bytes.
pub(crate) fn decode(plan: &Plan, data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let damaged = |what: &str| Error::Damaged(Coding::Zstd, what.into());
    let told = zstd_safe::get_frame_content_size(data).map_err(|_| damaged("it has no header of a frame"))?;
    let told = told.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    if told.is_some_and(|size| size > limit) {
        return Err(Error::TooLarge(Coding::Zstd, limit));
    }
    with_context(plan, |context| {
        let step = |data: &[u8], room: &mut [u8]| {
            let (mut input, mut output) = (InBuffer::around(data), OutBuffer::around(room));
            let result = context.decoder.decompress_stream(&mut output, &mut input);
            let left = result.map_err(|code| damaged(zstd_safe::get_error_name(code)))?;
            Ok((input.pos(), output.pos(), left == 0 && input.pos() == data.len()))
        };
        transform(Coding::Zstd, data, (told.unwrap_or(data.len() * 4), limit), out, step).map(drop)
    })
}

/// An encoder of one stream.
pub(crate) struct Encoder(CCtx<'static>);

impl Encoder {
    pub fn new(plan: &Plan) -> Result<Encoder, Error> {
        encoder(plan).map(Encoder)
    }
}

impl Stream for Encoder {
    fn run(&mut self, data: &[u8], operation: Operation, out: &mut Vec<u8>) -> Result<(), Error> {
        let end = [End::ZSTD_e_continue, End::ZSTD_e_flush, End::ZSTD_e_end][operation as usize];
        let step = |data: &[u8], room: &mut [u8]| {
            let (mut input, mut output) = (InBuffer::around(data), OutBuffer::around(room));
            let left = self.0.compress_stream2(&mut output, &mut input, end).map_err(failed)?;
            let is_given = left == 0 || operation == Operation::Process;
            Ok((input.pos(), output.pos(), is_given && input.pos() == data.len()))
        };
        transform(Coding::Zstd, data, (data.len() / 4, usize::MAX), out, step).map(drop)
    }
}

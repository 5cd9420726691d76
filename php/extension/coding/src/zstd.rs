//! zstd and dcz. Contexts and digested dictionaries are kept between calls, see [`crate::kept`].

use zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict, InBuffer, OutBuffer, zstd_sys};

use crate::{Coding, Error, Plan};

/// The largest window that a client must take (RFC 9659), as base-2 logarithm.
const WINDOW: u32 = 23;

fn failed(coding: Coding) -> impl Fn(usize) -> Error {
    move |code| Error::Failed { coding, what: zstd_safe::get_error_name(code).into() }
}

/// Appends the encoded data; `dictionary` is the plan's, digested, of `zstd`. `dcz` refers to the bytes themselves.
pub(crate) fn encode(
    plan: &Plan,
    context: &mut CCtx<'static>,
    dictionary: Option<&CDict<'static>>,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let size = zstd_safe::compress_bound(data.len());
    let mut whole = Vec::new();
    // The library fills a vector from its start.
    let target = if out.is_empty() { &mut *out } else { &mut whole };
    target.try_reserve(size).map_err(|_| Error::Memory(size))?;
    let result = match (plan.coding, dictionary, plan.dictionary) {
        (Coding::Zstd, Some(dictionary), _) => context.compress_using_cdict(target, data, dictionary),
        (Coding::Dcz, _, Some(bytes)) => {
            let mut context = CCtx::create();
            prepare_shared(&mut context, plan.level, bytes, Some(data.len())).map_err(failed(plan.coding))?;
            context.compress2(target, data)
        }
        _ => context.compress(target, data, plan.level),
    };
    result.map_err(failed(plan.coding))?;
    out.append(&mut whole);
    Ok(())
}

/// Sets a context up for a dictionary that is referred to as it is (RFC 9842): the window covers it and the data, as far as
/// clients must take it, which is 1.25 times the dictionary or 8 MB.
fn prepare_shared<'a>(
    context: &mut CCtx<'a>,
    level: i32,
    bytes: &'a [u8],
    size: Option<usize>,
) -> Result<(), usize> {
    let most = (bytes.len() + bytes.len() / 4).max(1 << WINDOW).ilog2().min(27);
    let all = bytes.len() + size.unwrap_or(1 << WINDOW);
    let window = all.next_power_of_two().ilog2().clamp(17, most);
    context.set_parameter(CParameter::CompressionLevel(level))?;
    context.set_parameter(CParameter::WindowLog(window))?;
    context.ref_prefix(bytes)?;
    Ok(())
}

/// Appends what the data decodes to, at most `limit` bytes.
pub(crate) fn decode(
    plan: &Plan,
    context: &mut DCtx<'static>,
    dictionary: Option<&DDict<'static>>,
    data: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let coding = plan.coding;
    let damaged = |what: &str| Error::Damaged { coding, what: what.into() };
    if data.is_empty() {
        return Err(damaged("it is empty"));
    }
    let said = zstd_safe::get_frame_content_size(data).map_err(|_| damaged("it has no header of a frame"))?;
    let said = said.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    if said.is_some_and(|size| size > limit) {
        return Err(Error::TooLarge { coding, limit });
    }
    let guess = data.len().saturating_mul(4).max(64 * 1024);
    let mut room = said.unwrap_or(guess).min(limit);
    loop {
        out.clear();
        out.try_reserve(room).map_err(|_| Error::Memory(room))?;
        let mut place = Place { out, size: room };
        let result = match (dictionary, plan.dictionary) {
            (Some(dictionary), _) => context.decompress_using_ddict(&mut place, data, dictionary),
            (None, Some(bytes)) => {
                let mut context = DCtx::create();
                context.ref_prefix(bytes).map_err(failed(coding))?;
                context.decompress(&mut place, data)
            }
            (None, None) => context.decompress(&mut place, data),
        };
        match result {
            Ok(_) => return Ok(()),
            Err(code) if !is_too_small(code) => return Err(damaged(zstd_safe::get_error_name(code))),
            Err(_) if room == limit => return Err(Error::TooLarge { coding, limit }),
            // Frames follow one another, or do not say their sizes.
            Err(_) => room = room.saturating_mul(2).max(64 * 1024).min(limit),
        }
    }
}

/// Whether the library's error says that the output did not fit: an error is its negated number.
fn is_too_small(code: usize) -> bool {
    code.wrapping_neg() == zstd_sys::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize
}

/// The first `size` bytes of an empty vector's capacity: a vector that was larger before offers the library all of it.
struct Place<'a> {
    out: &'a mut Vec<u8>,
    size: usize,
}

// SAFETY: `size` bytes are reserved, the vector is empty, and `filled_until` is told how many of them were written.
unsafe impl zstd_safe::WriteBuf for Place<'_> {
    fn as_slice(&self) -> &[u8] {
        self.out
    }

    fn capacity(&self) -> usize {
        self.size
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.out.as_mut_ptr()
    }

    unsafe fn filled_until(&mut self, n: usize) {
        // SAFETY: the caller vouches for the bytes, which are within the capacity.
        unsafe { self.out.set_len(n.min(self.size)) }
    }
}

/// A stream in pieces, with the dictionary that it refers to.
pub(crate) struct Stream {
    // Dropped in this order.
    context: CCtx<'static>,
    _bytes: Vec<u8>,
    coding: Coding,
}

impl Stream {
    pub fn new(plan: &Plan) -> Result<Stream, Error> {
        let failed = failed(plan.coding);
        let mut context = CCtx::try_create().ok_or(Error::Memory(0))?;
        let mut owned = Vec::new();
        context.set_parameter(CParameter::CompressionLevel(plan.level)).map_err(&failed)?;
        match plan.dictionary {
            Some(bytes) if plan.coding == Coding::Dcz => {
                owned = bytes.to_vec();
                // SAFETY: the bytes do not move with the vector, and the context is dropped before them.
                let bytes: &'static [u8] = unsafe { std::slice::from_raw_parts(owned.as_ptr(), owned.len()) };
                prepare_shared(&mut context, plan.level, bytes, None).map_err(&failed)?;
            }
            Some(bytes) => drop(context.load_dictionary(bytes).map_err(&failed)?),
            None => {}
        }
        Ok(Stream { context, _bytes: owned, coding: plan.coding })
    }

    /// Takes all data, and appends what is encoded of it so far.
    pub fn run(
        &mut self,
        data: &[u8],
        end: zstd_sys::ZSTD_EndDirective,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut input = InBuffer::around(data);
        loop {
            let size = CCtx::out_size();
            out.try_reserve(size).map_err(|_| Error::Memory(size))?;
            let at = out.len();
            let mut place = OutBuffer::around_pos(out, at);
            let left =
                self.context.compress_stream2(&mut place, &mut input, end).map_err(failed(self.coding))?;
            let is_done = match end {
                zstd_sys::ZSTD_EndDirective::ZSTD_e_continue => input.pos() == data.len(),
                _ => left == 0 && input.pos() == data.len(),
            };
            if is_done {
                return Ok(());
            }
        }
    }
}

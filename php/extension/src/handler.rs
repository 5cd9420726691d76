//! The output handler: whole pages in one call with their length, flushed pages as a stream, everything else untouched.
//!
//! PHP resolves `output_handler` in php.ini and the argument of `ob_start()` alike: an alias that an extension registered, else any
//! function of that name, called with a buffer and flags. This is such a function: no layout of PHP's structures is needed. When it returns
//! false, PHP sends the buffer as it is and does not call again.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ext_php_rs::binary_slice::BinarySlice;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::ffi::{
    PHP_OUTPUT_HANDLER_CLEAN, PHP_OUTPUT_HANDLER_FINAL, PHP_OUTPUT_HANDLER_FLUSH, PHP_OUTPUT_HANDLER_START,
};
use ext_php_rs::prelude::*;
use ext_php_rs::types::Zval;
use weighbridge_coding::{Coding, Encoder, Error, Head, Plan, Settings, choose, encode};

use crate::made::{Made, made};
use crate::{buffering, fault, ini, response};

/// The name for php.ini and `ob_start()`.
pub(crate) const NAME: &str = "weighbridge_output_handler";

/// Adds the handler to the module.
pub(crate) fn add(module: ModuleBuilder) -> ModuleBuilder {
    module.function(wrap_function!(weighbridge_output_handler))
}

/// What is on the page. PHP lets only one handler of ours be on it by name; others, behind closures, are known by their levels: how many
/// buffers are below the handler that the page belongs to.
#[derive(Default)]
enum Page {
    /// Nothing has been decided.
    #[default]
    Untouched,
    /// All output was discarded before any was sent: what comes next is the first.
    Cleaned { level: usize },
    /// Part of a stream has been sent.
    Streaming { encoder: Box<Encoder>, level: usize },
    /// A stream that could not go on: anything more would be decoded as garbage.
    Broken { level: usize },
}

impl Page {
    /// The level of the handler that it belongs to.
    fn level(&self) -> Option<usize> {
        match self {
            Page::Untouched => None,
            Page::Cleaned { level } | Page::Streaming { level, .. } | Page::Broken { level } => Some(*level),
        }
    }

    fn is_started(&self) -> bool {
        matches!(self, Page::Streaming { .. } | Page::Broken { .. })
    }
}

thread_local! {
    static PAGE: RefCell<Page> = const { RefCell::new(Page::Untouched) };
}

/// Forgets the page at the end of its request. A stream that is still open was broken off: PHP discards what is buffered where memory
/// ended, and calls no handler. It is ended here, so that the client has what was flushed as a whole page; past the buffers, so only where
/// none is below.
pub(crate) fn end() {
    let Page::Streaming { mut encoder, level: 0 } = PAGE.take() else { return };
    let mut last = Vec::new();
    if encoder.finish(&mut last).is_ok() {
        buffering::send_past(&last);
    }
}

/// For `output_handler` in php.ini and for `ob_start()`.
#[php_function]
pub fn weighbridge_output_handler(buffer: BinarySlice<u8>, flags: i64) -> Zval {
    let flags = u32::try_from(flags).unwrap_or(0);
    let mut answer = Zval::new();
    match catch_unwind(AssertUnwindSafe(|| answered(&buffer, flags))) {
        Ok(Answer::AsItIs) => answer.set_bool(false),
        Ok(Answer::Bytes(bytes)) => bytes.set_zval(&mut answer, false).unwrap_or_default(),
        Err(_) if break_off() => Made::empty().set_zval(&mut answer, false).unwrap_or_default(),
        Err(_) => answer.set_bool(false),
    }
    answer
}

enum Answer {
    AsItIs,
    Bytes(Made),
}

impl Answer {
    fn nothing() -> Answer {
        Answer::Bytes(Made::empty())
    }
}

/// Ends a stream where it is; false, and nothing, if none has been sent.
fn break_off() -> bool {
    PAGE.with_borrow_mut(|page| {
        let level = page.level().filter(|_| page.is_started());
        *page = level.map_or(Page::Untouched, |level| Page::Broken { level });
        level.is_some()
    })
}

fn answered(buffer: &[u8], flags: u32) -> Answer {
    let has = |flag: u32| flags & flag != 0;
    let (is_flushed, is_last) = (has(PHP_OUTPUT_HANDLER_FLUSH), has(PHP_OUTPUT_HANDLER_FINAL));
    let Some(level) = buffering::level() else { return Answer::AsItIs };
    let (owner, is_started) = PAGE.with_borrow(|page| (page.level(), page.is_started()));
    if owner.is_some_and(|owner| owner != level) {
        // Another page cannot start inside of one that is being sent.
        return Answer::AsItIs;
    }
    if has(PHP_OUTPUT_HANDLER_CLEAN) {
        // PHP discards what is returned.
        if is_last {
            end();
        } else if !is_started {
            PAGE.set(Page::Cleaned { level });
        }
        return Answer::nothing();
    }
    if is_started {
        return go_on(buffer, is_flushed, is_last);
    }
    PAGE.take();
    if !has(PHP_OUTPUT_HANDLER_START) && owner.is_none() {
        return Answer::AsItIs;
    }
    let Some((head, settings)) = page(level) else { return Answer::AsItIs };
    if is_last { whole(buffer, &head, &settings) } else { begin(buffer, &head, &settings, is_flushed, level) }
}

/// The header of a page that may be encoded here, and the settings.
fn page(level: usize) -> Option<(Head, Settings)> {
    let head = response::head().filter(Head::may_be_encoded)?;
    let settings = ini::settings().unwrap_or_default();
    let is_ours = !settings.codings().is_empty()
        && !buffering::somebody_encodes()
        && buffering::nothing_is_below(level);
    is_ours.then_some((head, settings))
}

fn chosen(settings: &Settings) -> Option<Coding> {
    choose(response::accept_encoding().as_deref(), settings.codings())
}

fn plan(settings: &Settings, coding: Coding) -> Result<Plan<'static>, Error> {
    Plan::new(coding, Some(settings.level(coding).into()), None)
}

/// A page that was never flushed.
fn whole(buffer: &[u8], head: &Head, settings: &Settings) -> Answer {
    if buffer.len() < settings.min_bytes {
        return Answer::AsItIs;
    }
    response::vary(head);
    let Some(coding) = chosen(settings) else { return Answer::AsItIs };
    let encoded = plan(settings, coding).and_then(|plan| {
        made(|out| {
            fault::at("page");
            encode(&plan, buffer, out)
        })
    });
    match encoded {
        Ok(bytes) if bytes.len() < buffer.len() && response::encoded(head, coding, Some(bytes.len())) => {
            Answer::Bytes(bytes)
        }
        _ => Answer::AsItIs,
    }
}

/// The first piece of a page that is flushed, or grew beyond the size that `ob_start()` was given.
fn begin(buffer: &[u8], head: &Head, settings: &Settings, is_flushed: bool, level: usize) -> Answer {
    response::vary(head);
    let Some(coding) = chosen(settings) else { return Answer::AsItIs };
    let Ok(encoder) = plan(settings, coding).and_then(|plan| Encoder::new(&plan)) else {
        return Answer::AsItIs;
    };
    if !response::encoded(head, coding, None) {
        return Answer::AsItIs;
    }
    PAGE.set(Page::Streaming { encoder: Box::new(encoder), level });
    buffering::keep_to_the_end();
    go_on(buffer, is_flushed, false)
}

/// The next piece of a stream. Once a part was sent, there is no way back to identity: after an error nothing more is sent.
fn go_on(buffer: &[u8], is_flushed: bool, is_last: bool) -> Answer {
    let piece = made(|out| {
        PAGE.with_borrow_mut(|page| {
            let Page::Streaming { encoder, .. } = page else { return Ok(()) };
            fault::at("piece");
            encoder.add(buffer, out)?;
            if is_last {
                encoder.finish(out)
            } else if is_flushed {
                encoder.flush(out)
            } else {
                Ok(())
            }
        })
    });
    match piece {
        _ if is_last => drop(PAGE.take()),
        Err(_) => drop(break_off()),
        Ok(_) => {}
    }
    piece.map_or_else(|_| Answer::nothing(), Answer::Bytes)
}

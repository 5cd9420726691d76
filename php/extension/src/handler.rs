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

/// What is on the page. PHP lets only one handler of ours be on it.
#[derive(Default)]
enum Page {
    /// Nothing has been decided.
    #[default]
    Untouched,
    /// All output was discarded before any was sent: what comes next is the first.
    Cleaned,
    /// Part of a stream has been sent; `past` is whether its end may be sent past PHP's buffers, because none is below.
    Streaming { encoder: Box<Encoder>, past: bool },
    /// A stream that could not go on: anything more would be decoded as garbage.
    Broken,
}

thread_local! {
    static PAGE: RefCell<Page> = const { RefCell::new(Page::Untouched) };
}

/// Forgets the page at the end of its request. A stream that is still open was broken off: PHP discards what is buffered where memory
/// ended, and calls no handler. It is ended here, so that the client has what was flushed as a whole page.
pub(crate) fn end() {
    let Page::Streaming { mut encoder, past: true } = PAGE.take() else { return };
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
        Err(_) => match PAGE.replace(Page::Broken) {
            Page::Streaming { .. } | Page::Broken => {
                Made::empty().set_zval(&mut answer, false).unwrap_or_default()
            }
            Page::Untouched | Page::Cleaned => {
                PAGE.take();
                answer.set_bool(false);
            }
        },
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

fn answered(buffer: &[u8], flags: u32) -> Answer {
    let has = |flag: u32| flags & flag != 0;
    let (is_flushed, is_last) = (has(PHP_OUTPUT_HANDLER_FLUSH), has(PHP_OUTPUT_HANDLER_FINAL));
    let is_started = PAGE.with_borrow(|page| matches!(page, Page::Streaming { .. } | Page::Broken));
    if has(PHP_OUTPUT_HANDLER_CLEAN) {
        // PHP discards what is returned.
        if is_last {
            end();
        } else if !is_started {
            PAGE.set(Page::Cleaned);
        }
        return Answer::nothing();
    }
    if is_started {
        // Another page cannot start inside of one that is being sent.
        return if has(PHP_OUTPUT_HANDLER_START) {
            Answer::AsItIs
        } else {
            go_on(buffer, is_flushed, is_last)
        };
    }
    let is_cleaned = matches!(PAGE.take(), Page::Cleaned);
    if !(has(PHP_OUTPUT_HANDLER_START) || is_cleaned) {
        return Answer::AsItIs;
    }
    let Some((head, settings)) = page() else { return Answer::AsItIs };
    if is_last { whole(buffer, &head, &settings) } else { begin(buffer, &head, &settings, is_flushed) }
}

/// The header of a page that may be encoded here, and the settings.
fn page() -> Option<(Head, Settings)> {
    let head = response::head().filter(Head::may_be_encoded)?;
    let settings = ini::settings().unwrap_or_default();
    let is_ours =
        !settings.codings().is_empty() && !buffering::somebody_encodes() && buffering::nothing_is_below();
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
fn begin(buffer: &[u8], head: &Head, settings: &Settings, is_flushed: bool) -> Answer {
    response::vary(head);
    let Some(coding) = chosen(settings) else { return Answer::AsItIs };
    let Ok(encoder) = plan(settings, coding).and_then(|plan| Encoder::new(&plan)) else {
        return Answer::AsItIs;
    };
    if !response::encoded(head, coding, None) {
        return Answer::AsItIs;
    }
    PAGE.set(Page::Streaming { encoder: Box::new(encoder), past: buffering::is_outermost() });
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
        Err(_) => PAGE.set(Page::Broken),
        Ok(_) => {}
    }
    piece.map_or_else(|_| Answer::nothing(), Answer::Bytes)
}

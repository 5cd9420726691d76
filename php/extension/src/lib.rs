//! An optional PHP extension: gzip, deflate, Brotli and Zstandard for whole pages, streams and values, and an output handler that
//! php.ini can name. What it does without PHP is in `weighbridge-coding`.
//!
//! Neither a panic nor a fatal error of PHP, which jumps over the frames of Rust, leaves anything behind: functions run inside a frame that
//! turns panics into exceptions, and while PHP can jump, no lock is held and no memory is owned. Output is made in a buffer of the thread.

// PHP calls functions with a calling convention of its own on Windows.
#![cfg_attr(windows, feature(abi_vectorcall))]

use ext_php_rs::prelude::*;
use ext_php_rs::zend::ModuleEntry;
use ext_php_rs::{info_table_end, info_table_row, info_table_start};
use weighbridge_coding::libraries;

mod bytes;
mod functions;
mod handler;
mod http;
mod ini;
mod output;

/// The start of the module.
extern "C" fn startup(_kind: i32, module: i32) -> i32 {
    ini::register(module);
    handler::register();
    output::install();
    0
}

/// The end of the module: PHP may unload it.
extern "C" fn shutdown(_kind: i32, _module: i32) -> i32 {
    output::remove();
    0
}

/// The start of a request; php.ini's buffers have been started.
extern "C" fn request_startup(_kind: i32, _module: i32) -> i32 {
    handler::start_request();
    0
}

/// The end of a request: no code of the application and no module can write any more.
extern "C" fn post_deactivate() -> i32 {
    output::finish(handler::end_request);
    0
}

/// The block in `phpinfo()`.
extern "C" fn info(module: *mut ModuleEntry) {
    info_table_start!();
    info_table_row!("Weighbridge", env!("CARGO_PKG_VERSION"));
    info_table_row!("output handler", handler::NAME);
    for (library, version) in libraries() {
        info_table_row!(library, version.as_str());
    }
    info_table_end!();
    ini::show(module);
}

/// The extension.
#[php_module]
pub fn get_module(module: ModuleBuilder) -> ModuleBuilder {
    let module = module
        .name("weighbridge")
        .startup_function(startup)
        .shutdown_function(shutdown)
        .request_startup_function(request_startup)
        .post_deactivate_function(post_deactivate)
        .info_function(info);
    functions::add(module)
}

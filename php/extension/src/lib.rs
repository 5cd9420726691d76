//! An optional PHP extension: gzip, deflate, Brotli and Zstandard for whole pages, flushed pages and values, and an output handler that
//! php.ini can name. What it does without PHP is in `weighbridge-coding`.
//!
//! Every function runs inside a frame of ext-php-rs that turns a panic into an exception. A fatal error of PHP jumps over the frames of Rust, so
//! nothing that PHP can interrupt holds a lock or memory: output is made in a buffer of the thread, and copied to PHP when it is done.

// PHP calls functions with a calling convention of its own on Windows.
#![cfg_attr(windows, feature(abi_vectorcall))]

use ext_php_rs::prelude::*;
use ext_php_rs::zend::ModuleEntry;
use ext_php_rs::{info_table_end, info_table_row, info_table_start};
use weighbridge_coding::libraries;

mod buffering;
mod encoder;
mod exception;
mod fault;
mod functions;
mod handler;
mod ini;
mod made;
mod response;

/// Registers the settings, and that two of our handlers cannot be on one page.
extern "C" fn startup(_kind: i32, module: i32) -> i32 {
    ini::register(module);
    buffering::register();
    0
}

/// Ends and forgets the page of the request that ends.
extern "C" fn request_shutdown(_kind: i32, _module: i32) -> i32 {
    // Nothing may cross into PHP.
    let _ = std::panic::catch_unwind(handler::end);
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
        .request_shutdown_function(request_shutdown)
        .info_function(info);
    handler::add(functions::add(module)).class::<encoder::WeighbridgeEncoder>()
}

//! What the PHP extension does without PHP: content codings whole, in pieces, and back within a bound; which of them a client
//! accepts; which pages may be encoded. It knows no PHP, so it is tested and fuzzed without one.
//!
//! Output always goes to the end of a vector of the caller, which keeps its capacity from call to call.

mod brotli;
mod coding;
mod deflate;
mod error;
mod kept;
mod negotiate;
mod page;
mod settings;
mod stream;
mod whole;
mod zstd;

pub use coding::{Coding, Plan};
pub use error::Error;
pub use negotiate::choose;
pub use page::{Head, names_encoding, weakened};
pub use settings::Settings;
pub use stream::Encoder;
pub use whole::{decode, encode};

/// The libraries and their versions, one line each for `phpinfo()`.
pub fn libraries() -> Vec<(&'static str, String)> {
    vec![
        ("libdeflate (gzip, deflate)", deflate::version().into()),
        ("zlib-rs (gzip and deflate in pieces)", zlib_version()),
        ("Brotli (br, dcb)", brotli::version()),
        ("Zstandard (zstd, dcz)", zstd_safe::version_string().into()),
    ]
}

fn zlib_version() -> String {
    option_env!("CRATE_ZLIB_RS").unwrap_or("unknown").into()
}

//! What the PHP extension does without PHP: content codings whole, in pieces, and back within a bound; which of them a client
//! accepts; which pages may be encoded. It knows no PHP, so it is tested and fuzzed without one.
//!
//! Output always goes to the end of a vector of the caller, which keeps its capacity from call to call.

mod brotli;
mod coding;
mod deflate;
mod error;
mod negotiate;
mod request;
mod response;
mod settings;
mod stream;
mod transform;
mod zstd;

pub use coding::{Coding, Plan, decode, encode};
pub use error::Error;
pub use negotiate::choose;
pub use request::{Breach, is_withheld, without_weakness};
pub use response::Head;
pub use settings::Settings;
pub use stream::{Encoder, Operation};

/// The libraries that tell their versions, for `phpinfo()`.
pub fn libraries() -> [(&'static str, String); 2] {
    [("Brotli", brotli::version()), ("Zstandard", zstd_safe::version_string().into())]
}

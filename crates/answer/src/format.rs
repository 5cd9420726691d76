//! Formats: one report in many forms. This module decides how results look; it does not measure, read records, or use
//! the file system: every format returns bytes.
//!
//! A new format is a file in `format/` and its line in [`FORMATS`] (with the `mod` above it).

pub mod composed;
pub mod csv;
mod form;
pub mod html;
pub mod json;
pub mod live;
pub mod markdown;
#[cfg(feature = "png")]
pub mod png;
pub mod svg;
pub mod terminal;

use anyhow::Result;
use weigh_model::suggest::nearest_hint;

use crate::text::clean;

pub use crate::output::{Detail, Options, Rendered};
pub use form::{Form, Format, Medium};

/// Every format, in the order of help; a build without `png` has all but that.
pub static FORMATS: &[&dyn Format] = &[
    &terminal::Terminal,
    &html::Html,
    &markdown::Markdown,
    &csv::Csv,
    &json::Json,
    &svg::Svg,
    #[cfg(feature = "png")]
    &png::Png,
];

/// The formats that this build has.
pub fn available() -> impl Iterator<Item = &'static dyn Format> {
    FORMATS.iter().copied().filter(|format| format.unavailable().is_none())
}

/// The format of that name.
///
/// # Errors
/// One line that names the nearest, or those there are.
pub fn named(name: &str) -> Result<&'static dyn Format> {
    let known = || FORMATS.iter().map(|format| format.name());
    FORMATS.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
        anyhow::anyhow!("no report format named {}{}", clean(name), nearest_hint(name, known()))
    })
}

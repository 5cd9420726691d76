//! The containers of DEFLATE data, as an option that all codecs of that family share.

use crate::{Format, OptionSpec, OptionValues, Params};

pub(crate) const CONTAINER: OptionSpec = OptionSpec {
    name: "container",
    values: OptionValues::Words(&["raw", "zlib", "gzip"]),
    about: "what wraps the DEFLATE data: gzip (default), zlib (HTTP's `deflate`) or raw",
};

/// A container of DEFLATE data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Raw,
    Zlib,
    Gzip,
}

impl Container {
    pub fn of(params: &Params) -> Container {
        match params.word("container") {
            Some("raw") => Container::Raw,
            Some("zlib") => Container::Zlib,
            _ => Container::Gzip,
        }
    }

    pub fn format(self) -> Format {
        match self {
            Container::Raw => Format::Deflate,
            Container::Zlib => Format::Zlib,
            Container::Gzip => Format::Gzip,
        }
    }
}

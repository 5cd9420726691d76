//! One codec per file; a new codec adds its file and one line here.

use crate::Codec;

/// Declares the modules and lists their codecs. (`cargo fmt` does not find modules inside a macro: these files are
/// passed to rustfmt by name.)
macro_rules! codecs {
    ($($module:ident::$codec:ident),* $(,)?) => {
        $(pub(crate) mod $module;)*

        /// Every codec that this build knows.
        pub fn all() -> Vec<Box<dyn Codec>> {
            vec![$(Box::new($module::$codec)),*]
        }
    };
}

codecs! {
    identity::Identity,
    zlib::Zlib,
    zlib_ng::ZlibNg,
    zlib_rs::ZlibRs,
    libdeflate::Libdeflate,
    isal::Isal,
    zopfli::Zopfli,
    brotli::Brotli,
    zstd::Zstd,
    lz4::LZ4,
    lz4hc::LZ4_HC,
    snappy::Snappy,
    bzip2::Bzip2,
    xz::Xz,
}

pub fn find(name: &str) -> Option<Box<dyn Codec>> {
    all().into_iter().find(|c| c.info().name == name)
}

//! The encoded variants of a file, as a build would put them beside it: each coding at the highest level of its library.

use anyhow::{Context, Result, anyhow};
use weigh_codec::{Params, codecs};
use weigh_load::accept::Accept;

use super::ways::CODING;
use weigh_model::setting::Setting;
use weigh_model::way::ENCODER;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    pub coding: &'static str,
    /// What is added to the file's name.
    pub ending: &'static str,
    /// The codec that makes it, with its level.
    codec: &'static str,
    level: i32,
    container: Option<&'static str>,
}

/// The variants that a pre-encoded cell needs: those that it asks for, or the one that its setting names.
pub fn wanted(setting: &Setting, accept: &str) -> Vec<Variant> {
    let encoder = setting.options.get(ENCODER).map(String::as_str);
    let only = setting.options.get(CODING);
    let accept = Accept::parse(accept);
    let asked = accept.asked().filter(|coding| only.is_none_or(|only| only == coding));
    let mut variants: Vec<Variant> = asked.filter_map(|coding| variant(coding, encoder)).collect();
    variants.sort();
    variants.dedup();
    variants
}

/// The variant with this ending, by this encoder where the coding has several; none for one that nothing here writes.
pub fn with_ending(ending: &str, encoder: Option<&str>) -> Option<Variant> {
    ["gzip", "br", "zstd"]
        .into_iter()
        .filter_map(|coding| variant(coding, encoder))
        .find(|v| v.ending == ending)
}

/// How a coding is made; none for one that nothing here writes.
fn variant(coding: &str, encoder: Option<&str>) -> Option<Variant> {
    let deflate = match encoder {
        Some("libdeflate") => ("libdeflate", 12),
        Some("zopfli") => ("zopfli", 15),
        _ => ("zlib", 9),
    };
    let (coding, ending, (codec, level), container) = match coding {
        "gzip" => ("gzip", "gz", deflate, Some("gzip")),
        "deflate" => ("deflate", "zz", deflate, Some("zlib")),
        "br" => ("br", "br", ("brotli", 11), None),
        "zstd" => ("zstd", "zst", ("zstd", 19), None),
        _ => return None,
    };
    Some(Variant { coding, ending, codec, level, container })
}

impl Variant {
    /// A word for it in names of folders: `gzip-zlib`.
    pub fn word(&self) -> String {
        format!("{}-{}", self.coding, self.codec)
    }

    pub fn encode(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let codec = codecs::find(self.codec).ok_or_else(|| anyhow!("this program has no {}", self.codec))?;
        let options = self.container.map(|container| ("container".to_owned(), container.to_owned()));
        let params =
            Params { level: Some(self.level), options: options.into_iter().collect(), ..Params::default() };
        let mut encoded = Vec::new();
        let coder = codec.coder(&params).and_then(|mut coder| coder.encode(bytes, &mut encoded));
        coder.with_context(|| format!("a {} variant cannot be made", self.coding))?;
        Ok(encoded)
    }
}

#[cfg(test)]
mod tests;

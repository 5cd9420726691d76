//! Variants that were not written here: they stay as they are, and a server sends them. Whether a browser gets the file from them is looked at.

use std::io;
use std::path::{Path, PathBuf};

use weigh_codec::independent::{self, is_large_brotli, zstd_excess};
use weigh_codec::{Format, Params, codecs};

use super::each::each;
use super::names::variant_of;
use super::outcome::{Problem, Wrong};
use super::plan::open_source;
use super::run::Run;
use weigh_content::types::VARIANTS;
use weigh_model::text::clean_path;
use weigh_os::regular::whole;

/// The longest file that is compared with what its variant decodes to; of longer ones only what the variant begins with is looked at.
const LONGEST: u64 = 64 << 20;

impl Run<'_> {
    /// What is wrong with the variants beside files of the tree that are not from here.
    pub fn examine(&mut self) -> Vec<Problem> {
        let is_own = |path: &PathBuf| {
            let of = variant_of(path).and_then(|source| self.manifest.entries.get(source.as_path()));
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            of.and_then(|entry| entry.variant(ending)).is_some_and(|variant| variant.sum.is_some())
        };
        let foreign: Vec<PathBuf> = self.beside.iter().filter(|path| !is_own(path)).cloned().collect();
        let (mut problems, root, interrupt) = (Vec::new(), &self.root, self.interrupt);
        each(
            // Two long files at a time.
            self.ask.jobs.min(2),
            &foreign,
            || (),
            |(), path| wrong(root, path),
            |path, found| {
                problems.extend(found.map(|what| Problem { path: clean_path(path), what }));
                !interrupt.is_set()
            },
        );
        problems
    }
}

/// What is wrong with a variant, if anything. What cannot be read here is not judged.
fn wrong(root: &Path, path: &Path) -> Option<Wrong> {
    let ending = path.extension()?.to_str()?;
    let format = match VARIANTS.iter().find(|(_, known)| *known == ending)?.0 {
        "gzip" => Format::Gzip,
        "br" => Format::Brotli,
        "zstd" => Format::Zstd,
        _ => return None,
    };
    let read = |path: &Path| -> io::Result<Vec<u8>> {
        if root.join(path).is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        whole(open_source(root, path)?, LONGEST)
    };
    let encoded = read(path).ok()?;
    let is_too_large = match format {
        Format::Zstd => zstd_excess(&encoded).is_some(),
        _ => format == Format::Brotli && is_large_brotli(&encoded),
    };
    if is_too_large {
        return Some(Wrong::Window);
    }
    let content = read(&variant_of(path)?).ok()?;
    match decoded(format, &encoded, content.len()) {
        Ok(decoded) => (decoded != content).then_some(Wrong::Other),
        Err(weigh_codec::Error::TooLarge { .. }) => Some(Wrong::Other),
        Err(_) => Some(Wrong::Undecodable),
    }
}

/// What a variant decodes to: several frames one after the other, which browsers take too, only the format's own library decodes.
fn decoded(format: Format, encoded: &[u8], expected: usize) -> Result<Vec<u8>, weigh_codec::Error> {
    let strict = independent::decode(format, encoded, expected, None).map(|(decoded, _)| decoded);
    if !matches!((&strict, format), (Err(weigh_codec::Error::Decode { .. }), Format::Zstd)) {
        return strict;
    }
    let mut out = Vec::new();
    let coder = codecs::find("zstd").map(|codec| codec.coder(&Params::default())).transpose()?;
    match coder.map(|mut coder| coder.decode(encoded, expected, &mut out)) {
        Some(Ok(())) => Ok(out),
        _ => strict,
    }
}

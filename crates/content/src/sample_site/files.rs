//! What the sample site has: which content of the corpus is which of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{pages, write};
use crate::{Library, Names, resolve};
use weigh_codec::{Params, codecs};
use weigh_model::payload::Payload;
use weigh_model::text::clean_path;
use weigh_os::{regular, umask};

/// Files of the document root with their content.
const ASSETS: [(&str, &str); 22] = [
    ("css/bootstrap.min.css", "corpus:bootstrap-5.3.3.min.css"),
    ("css/print.css", "synthetic:css-900"),
    ("css/theme.css", "synthetic:css-12k"),
    ("data/countries.json", "corpus:countries"),
    ("data/languages.json", "corpus:languages-th"),
    ("data/regions.json", "corpus:regions"),
    ("docs/log.html", "corpus:page-log"),
    ("docs/synopsis.html", "corpus:page-synopsis"),
    ("fonts/icons.woff2", "corpus:icons-font"),
    ("images/flags.png", "corpus:flags"),
    ("images/gear.svg", "corpus:icon-gear"),
    ("images/icons.svg", "corpus:icons-sprite"),
    ("images/photo.jpg", "corpus:photo"),
    ("js/analytics.js", "synthetic:js-24k"),
    ("js/app.js", "synthetic:js-6k"),
    ("js/bootstrap.bundle.min.js", "corpus:bootstrap-5.3.3.bundle.min"),
    ("js/d3.min.js", "corpus:d3-7.9.0.min"),
    ("js/jquery.min.js", "corpus:jquery-3.7.1.min"),
    ("js/lodash.min.js", "corpus:lodash-4.17.21.min"),
    ("js/menu.js", "synthetic:js-1500"),
    ("js/react-dom.min.js", "corpus:react-dom-18.3.1.min"),
    ("wasm/sql.wasm", "corpus:sql-wasm"),
];

pub(super) const COMMON: [&str; 9] = [
    "/css/bootstrap.min.css?v=5.3.3",
    "/css/theme.css",
    "/js/jquery.min.js",
    "/js/bootstrap.bundle.min.js?v=5.3.3",
    "/js/menu.js",
    "/js/app.js",
    "/js/analytics.js",
    "/fonts/icons.woff2",
    "/images/gear.svg",
];

/// Assets of some pages: those of the front page first, then of articles by their number.
pub(super) const MORE: [&[&str]; 6] = [
    &["/images/photo.jpg", "/images/icons.svg"],
    &["/js/d3.min.js", "/data/countries.json"],
    &["/images/photo.jpg", "/css/print.css"],
    &["/js/lodash.min.js", "/data/languages.json"],
    &["/images/flags.png", "/js/react-dom.min.js"],
    &["/wasm/sql.wasm", "/data/regions.json"],
];

/// The text of the front page, and those that articles take in turn.
const TEXTS: [(&str, &str); 6] = [
    ("index.html", "corpus:page-log"),
    ("article-1.html", "corpus:page-synopsis"),
    ("article-2.html", "corpus:page-zlib"),
    ("article-3.html", "synthetic:html-32k"),
    ("article-4.html", "synthetic:html-9k"),
    ("article-5.html", "corpus:page-path"),
];

/// Cached values, and how many of each there are at most.
const VALUES: [(&str, usize); 7] = [
    ("value:rows-1k", 48),
    ("value:rows-4k", 24),
    ("value:rows-16k", 24),
    ("value:i18n-16k", 24),
    ("value:meta-16k", 24),
    ("value:rows-64k", 8),
    ("value:tree-64k", 8),
];

/// Extensions of the types that both configurations encode.
const ENCODED: [&str; 7] = ["html", "css", "js", "json", "svg", "txt", "xml"];

/// Brings content of the corpus to a folder for work.
pub(super) struct Stage<'a> {
    library: &'a Library,
    work: &'a Path,
    names: Names,
    stand_ins: &'a mut BTreeSet<String>,
}

impl<'a> Stage<'a> {
    pub fn new(library: &'a Library, work: &'a Path, stand_ins: &'a mut BTreeSet<String>) -> Stage<'a> {
        Stage { library, work, names: Names::new(), stand_ins }
    }

    /// One content, with the other instances of its shape where there are such.
    fn payload(&mut self, id: &str, family: bool) -> Result<Payload> {
        let mut found = resolve(self.library, id)?;
        let one = found.pop().with_context(|| format!("{id} names nothing"))?;
        if one.stand_in.is_some() {
            self.stand_ins.insert(id.to_owned());
        }
        one.stage(self.library, self.work, &mut self.names, family)
    }

    pub fn bytes(&mut self, id: &str) -> Result<Vec<u8>> {
        read(&self.payload(id, false)?.blob)
    }

    fn copy(&mut self, id: &str, to: &Path) -> Result<()> {
        let payload = self.payload(id, false)?;
        let fail = || format!("cannot write {}", clean_path(to));
        to.parent().map_or(Ok(()), fs::create_dir_all).with_context(fail)?;
        umask::copy(&payload.blob, to).with_context(fail).map(drop)
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    regular::read(path, regular::RESULT)
}

pub(super) fn assets(stage: &mut Stage<'_>, public: &Path) -> Result<()> {
    ASSETS.iter().try_for_each(|(path, id)| stage.copy(id, &public.join(path)))
}

/// Writes the texts of pages, and gives how large each is: the front page's first.
pub(super) fn texts(stage: &mut Stage<'_>, folder: &Path) -> Result<Vec<Size>> {
    let one = |(name, id): &(&str, &str)| {
        let path = folder.join(name);
        write(&path, &pages::at_home(&stage.bytes(id)?)?)?;
        Size::of(&path)
    };
    TEXTS.iter().map(one).collect()
}

/// Writes the cached values, a file each; how many.
pub(super) fn values(stage: &mut Stage<'_>, folder: &Path) -> Result<usize> {
    let mut written = 0;
    for (id, most) in VALUES {
        let payload = stage.payload(id, true)?;
        let all = read(&payload.blob)?;
        let mut rest = all.as_slice();
        for (at, bytes) in payload.items.iter().take(most).enumerate() {
            let bytes = usize::try_from(*bytes)?;
            let (value, after) =
                rest.split_at_checked(bytes).context("a value is shorter than its length")?;
            let name = format!("{}-{:02}", id.trim_start_matches("value:"), at + 1);
            write(&folder.join(name), value)?;
            rest = after;
            written += 1;
        }
    }
    Ok(written)
}

/// How large a file is, as it is and as the server sends it in gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes of the file.
    pub plain: u64,
    /// Bytes that a client receives that accepts gzip.
    pub sent: u64,
}

impl Size {
    /// Of a file; one of a type that the configurations encode is encoded as they do, with zlib's lowest level.
    pub fn of(path: &Path) -> Result<Size> {
        let content = read(path)?;
        let plain = content.len() as u64;
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if !ENCODED.contains(&extension) {
            return Ok(Size { plain, sent: plain });
        }
        let codec = codecs::find("zlib").context("this build has no zlib")?;
        let mut coder = codec.coder(&Params { level: Some(1), ..Params::default() })?;
        let mut encoded = Vec::new();
        coder.encode(&content, &mut encoded)?;
        Ok(Size { plain, sent: encoded.len() as u64 })
    }
}

/// The files below the document root by their paths in URLs: `/css/theme.css`. Scripts are left out.
pub(super) fn served(public: &Path) -> Result<BTreeMap<String, Size>> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(public).sort_by_file_name() {
        let entry = entry.context("cannot read the document root")?;
        let path = entry.path();
        if entry.file_type().is_file() && path.extension().is_none_or(|e| e != "php") {
            let below = path.strip_prefix(public).context("a file is outside of the document root")?;
            found.insert(format!("/{}", below.display()), Size::of(path)?);
        }
    }
    Ok(found)
}

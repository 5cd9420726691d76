//! The trees that are packed: real scripts and style sheets from pinned packages of npm, fetched once, and ten thousand small files that
//! are cut from them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use walkdir::WalkDir;
use weigh_codec::{Params, codecs};

use crate::common::{kept, progress, unpack};

/// The packages.
const PACKAGES: [&str; 16] = [
    "@fortawesome/fontawesome-free@6.6.0",
    "bootstrap@5.3.3",
    "chart.js@4.4.4",
    "codemirror@5.65.17",
    "d3@7.9.0",
    "jquery@3.7.1",
    "jquery-ui-dist@1.13.3",
    "leaflet@1.9.4",
    "lodash@4.17.21",
    "moment@2.30.1",
    "react-dom@18.3.1",
    "swiper@11.1.12",
    "three@0.168.0",
    "tinymce@7.3.0",
    "video.js@8.17.4",
    "vue@3.4.38",
];
/// Files of each, the largest first, that are no longer than this.
const EACH: usize = 5;
const LONGEST: u64 = 400_000;
/// Small files, and how many stand in a folder.
const SMALL: usize = 10_000;
const IN_FOLDER: usize = 250;

/// The real tree, in a folder that stays.
pub fn real() -> Result<PathBuf> {
    let tree = kept("pack-tree")?;
    for package in PACKAGES {
        let place = tree.join(package.replace(['/', '@'], "_"));
        if !place.is_dir() {
            progress(&format!("fetching {package}"));
            fetch(package, &place).with_context(|| package.to_owned())?;
        }
    }
    Ok(tree)
}

fn fetch(package: &str, place: &Path) -> Result<()> {
    let work = tempfile::tempdir()?;
    unpack(package, work.path())?;
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    for entry in WalkDir::new(work.path()).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
        let is_asset = entry.path().extension().is_some_and(|ending| ending == "js" || ending == "css");
        let bytes = entry.metadata()?.len();
        if is_asset && bytes <= LONGEST {
            found.push((bytes, entry.path().to_owned()));
        }
    }
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let draft = tempfile::tempdir_in(place.parent().context("no folder")?)?;
    for (at, (_, file)) in found.iter().take(EACH).enumerate() {
        let name = file.file_name().context("no name")?.to_string_lossy();
        fs::copy(file, draft.path().join(format!("{at}-{name}")))?;
    }
    fs::rename(draft.keep(), place)?;
    Ok(())
}

/// Small files: cuts of 300 to 3,000 bytes.
pub fn small(real: &Path, into: &Path) -> Result<()> {
    let text: Vec<u8> = files(real)?.iter().map(fs::read).collect::<std::io::Result<Vec<_>>>()?.concat();
    let mut at = 0;
    for number in 0..SMALL {
        let folder = into.join((number / IN_FOLDER).to_string());
        fs::create_dir_all(&folder)?;
        let length = 300 + number * 7919 % 2701;
        at = (at + 104_729) % (text.len() - 4000);
        let ending = if number % 4 == 3 { "css" } else { "js" };
        // Lossy, so that each is text; what is cut in the middle of a character is replaced.
        fs::write(
            folder.join(format!("{number}.{ending}")),
            String::from_utf8_lossy(&text[at..at + length]).as_bytes(),
        )?;
    }
    Ok(())
}

/// The files of a tree, by name.
pub fn files(tree: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in WalkDir::new(tree).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_file() {
            all.push(entry.into_path());
        }
    }
    Ok(all)
}

/// How many files there are, their bytes, and those of the largest.
pub fn size(tree: &Path) -> Result<(usize, u64, u64)> {
    let sizes: Vec<u64> =
        files(tree)?.iter().map(|file| Ok(file.metadata()?.len())).collect::<Result<_>>()?;
    Ok((sizes.len(), sizes.iter().sum(), sizes.iter().copied().max().unwrap_or(0)))
}

/// CPU seconds of the libraries alone, for all three codings of a tree.
pub fn libraries(tree: &Path) -> Result<f64> {
    let contents: Vec<Vec<u8>> = files(tree)?.iter().map(fs::read).collect::<std::io::Result<_>>()?;
    let before = cpu(UsageWho::RUSAGE_SELF)?;
    for (codec, level) in [("libdeflate", 12), ("brotli", 11), ("zstd", 19)] {
        let mut coder = codecs::find(codec).context("no such codec")?.coder(&Params::level(level))?;
        let mut out = Vec::new();
        contents.iter().try_for_each(|content| coder.encode(content, &mut out))?;
    }
    Ok(cpu(UsageWho::RUSAGE_SELF)? - before)
}

/// CPU seconds so far.
pub fn cpu(who: UsageWho) -> Result<f64> {
    let usage = getrusage(who)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}

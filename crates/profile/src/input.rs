//! A file of the user's: opened, unpacked where it is compressed, and told by what it begins with.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;

use super::{cachegrind, collapsed};
use weigh_model::profile::Profile;
use weigh_model::text::{clean, clean_path};
use weigh_os::interrupt::{INTERRUPTED, Interrupt, Watched};
use weigh_os::regular;

/// The largest file that is unpacked, in bytes.
const LARGEST: u64 = 64 << 30;
/// Bytes that are looked at to tell what a file is.
const LOOK: u64 = 8 << 10;

/// Reads a profile of any kind that is known.
///
/// # Errors
/// It is none, it is damaged, or the user wants an end.
pub fn read(path: &Path, interrupt: &Interrupt) -> Result<Profile> {
    let doing = || format!("{}: cannot be read as a profile", clean_path(path));
    let file = regular::open(path).with_context(doing)?;
    read_profile(Watched { input: file, interrupt }).map(cleaned).with_context(doing)
}

/// With names that are safe to show: they are text from outside, also that of scripts which define functions as they run.
fn cleaned(mut profile: Profile) -> Profile {
    let clean_some = |text: &mut Option<String>| *text = text.take().map(|text| clean(&text));
    clean_some(&mut profile.creator);
    clean_some(&mut profile.command);
    for function in &mut profile.functions {
        function.name = clean(&function.name);
        clean_some(&mut function.file);
    }
    profile
}

fn read_profile(mut file: Watched<'_, File>) -> Result<Profile> {
    let (mut file, broken) = match begin(&mut file)?.starts_with(b"\x1f\x8b") {
        true => unpacked(file)?,
        false => (file, None),
    };
    let begin = begin(&mut file)?;
    match kind(&begin) {
        Some(Kind::Cachegrind) => cachegrind::read(file, broken),
        Some(Kind::Collapsed) => collapsed::read(BufReader::new(file), broken),
        None if begin.is_empty() => bail!("{}", broken.unwrap_or("it is empty".into())),
        None => bail!("not a known format: cachegrind (Xdebug, callgrind), collapsed stacks"),
    }
}

/// The first bytes; the file stands at its beginning afterwards.
fn begin(file: &mut Watched<'_, File>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Read::by_ref(file).take(LOOK).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(bytes)
}

/// The content of a compressed file, in a file without a name that goes when it is closed, and why it ends too early, where
/// it does.
fn unpacked(file: Watched<'_, File>) -> Result<(Watched<'_, File>, Option<String>)> {
    let interrupt = file.interrupt;
    let mut content = tempfile::tempfile().context("no place for temporary files")?;
    let mut packed = MultiGzDecoder::new(BufReader::new(file));
    let mut buffer = vec![0; 256 << 10];
    let (mut size, mut broken) = (0u64, None);
    loop {
        if interrupt.is_set() {
            bail!(INTERRUPTED);
        }
        match packed.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                size += count as u64;
                if size > LARGEST {
                    bail!("it unpacks to more than {} GiB", LARGEST >> 30);
                }
                content.write_all(&buffer[..count]).context("it cannot be unpacked")?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                broken = Some(format!("it cannot be unpacked to its end: {error}"));
                break;
            }
        }
    }
    content.seek(SeekFrom::Start(0))?;
    Ok((Watched { input: content, interrupt }, broken))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cachegrind,
    Collapsed,
}

/// What a file is that begins so.
fn kind(begin: &[u8]) -> Option<Kind> {
    let mut lines = begin.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty());
    let is_header = |line: &[u8]| {
        let starts =
            [&b"version:"[..], b"creator:", b"events:", b"positions:", b"desc:", b"cmd:", b"fl=", b"fn="];
        line.starts_with(b"# callgrind") || starts.iter().any(|start| line.starts_with(start))
    };
    let first = lines.by_ref().find(|line| !line.starts_with(b"#") || is_header(line))?;
    if is_header(first) {
        return Some(Kind::Cachegrind);
    }
    collapsed::split(first).map(|_| Kind::Collapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_what_they_begin_with() {
        assert_eq!(kind(b"version: 1\ncreator: xdebug"), Some(Kind::Cachegrind));
        assert_eq!(kind(b"# callgrind format\n"), Some(Kind::Cachegrind));
        assert_eq!(kind(b"{main};foo;bar 12\n"), Some(Kind::Collapsed));
        assert_eq!(kind(b"{\n  \"shared\": {"), None);
        assert_eq!(kind(b"a;b 12\n"), Some(Kind::Collapsed));
        assert_eq!(kind(b"<html>"), None);
    }

    #[test]
    fn names_are_safe_to_show() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"a\x1b[31m;b\x1b]0;title\x07 12\n").unwrap();
        let profile = read(file.path(), &Interrupt::new()).unwrap();
        let names = profile.functions.iter().all(|f| !f.name.contains(char::is_control));
        assert!(names, "{:?}", profile.functions);
    }

    #[test]
    fn nothing_more_is_read_once_the_user_wants_an_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"a;b 12\n").unwrap();
        let interrupt = Interrupt::new();
        assert!(read(file.path(), &interrupt).is_ok());
        interrupt.set();
        let error = format!("{:#}", read(file.path(), &interrupt).unwrap_err());
        assert!(error.ends_with(": interrupted"), "{error}");
    }

    #[test]
    fn an_end_while_a_file_is_unpacked_is_no_damage_of_it() {
        let mut packed = tempfile::NamedTempFile::new().unwrap();
        let mut gzip = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
        gzip.write_all(b"a;b 12\n").unwrap();
        gzip.finish().unwrap();
        let interrupt = Interrupt::new();
        let watched = || Watched { input: File::open(packed.path()).unwrap(), interrupt: &interrupt };
        assert_eq!(unpacked(watched()).unwrap().1, None);
        interrupt.set();
        assert_eq!(unpacked(watched()).err().unwrap().to_string(), INTERRUPTED);
    }
}

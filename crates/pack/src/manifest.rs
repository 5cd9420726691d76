//! The manifest: what was written for which content, so that the next run makes only what is missing and removes only what is its own.
//!
//! It is one line of JSON for each source, in `.weigh-pack-NAME.ndjson` beside the folder NAME that is written, so that no server sends it. While a run goes on, a line is appended
//! before each variant gets its name: whenever the program is killed, every file of its own is in the manifest. A line that cannot be read,
//! such as a torn last one, is left out. At the end of a run the file is written anew and renamed into place.

mod file;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

pub use file::ManifestFile;
use file::remove;

use super::names::{DRAFT, MAP_ENDING, is_coded};
use super::source::FileStamp;
use super::sum::{Short, Sum};
use weigh_model::text::clean_path;
use weigh_os::digest::hex;
use weigh_os::open_folder::OpenFolder;

/// Where it was until version 0.2, in the folder itself.
pub const FORMER: &str = ".weigh-pack.ndjson";
/// The version of its form.
pub const SCHEMA: u32 = 1;
/// The longest line in bytes; a path has 4096 at most.
const LONGEST: u64 = 64 << 10;
/// The largest file in bytes; a million entries have a tenth.
const LARGEST: u64 = 1 << 30;

/// What is known of a source.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub sum: Sum,
    /// What the file system said of it.
    pub seen: FileStamp,
    /// The share that a trial saves of it, if there was one.
    pub saving: Option<f64>,
    pub variants: Vec<Variant>,
    /// Whether the source was found in this run.
    pub is_there: bool,
}

/// What became of one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// What is added to the source's name.
    pub ending: Arc<str>,
    pub by: Arc<str>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its content; none: it saves too little, and there is no such file.
    pub sum: Option<Short>,
    /// What stood there before, which a killed run may have left.
    pub former: Vec<Short>,
    /// A file of the user's has its name.
    pub is_theirs: bool,
}

impl Variant {
    /// Whether a file with this content is one that was written here.
    pub fn is_own(&self, sum: &Short) -> bool {
        self.sum.as_ref() == Some(sum) || self.former.contains(sum)
    }
}

impl Entry {
    /// The variant with this ending.
    pub fn variant(&self, ending: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| &*variant.ending == ending)
    }

    /// Forgets the variant with this ending.
    pub fn drop(&mut self, ending: &str) {
        self.variants.retain(|known| &*known.ending != ending);
    }

    /// Puts a variant in the place of that with the same ending.
    pub fn put(&mut self, variant: Variant) {
        self.variants.retain(|known| known.ending != variant.ending);
        self.variants.push(variant);
    }
}

#[derive(Debug, Default)]
pub struct Manifest {
    /// By the source's path below the tree.
    pub entries: BTreeMap<Arc<Path>, Entry>,
    words: HashSet<Arc<str>>,
    /// Whether the file does not say what is here.
    pub is_changed: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Line {
    /// The version, in the first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    weigh_pack: Option<u32>,
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    /// In hexadecimal, of a name that is not UTF-8.
    #[serde(skip_serializing_if = "String::is_empty")]
    path_hex: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    sha256: String,
    #[serde(skip_serializing_if = "is_zero")]
    bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    mtime: i64,
    #[serde(skip_serializing_if = "is_zero")]
    ctime: i64,
    #[serde(skip_serializing_if = "is_zero")]
    inode: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    saving: Option<f64>,
    /// It adds to what is known of the source.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    adds: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<VariantLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct VariantLine {
    ending: String,
    by: String,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    theirs: bool,
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

impl Manifest {
    /// That of a folder; empty if there is none. What cannot be read is said to `note`.
    ///
    /// # Errors
    /// One line: the file cannot be read at all.
    pub fn read(file: &ManifestFile, target: &OpenFolder, note: &mut dyn FnMut(String)) -> Result<Manifest> {
        let mut manifest = Manifest::default();
        if file.name != FORMER {
            manifest.is_changed = manifest.add(target, FORMER.as_ref(), note)?;
        }
        manifest.add(&file.folder, &file.name, note)?;
        Ok(manifest)
    }

    /// Takes what a file says; false if there is none.
    fn add(&mut self, folder: &OpenFolder, name: &OsStr, note: &mut dyn FnMut(String)) -> Result<bool> {
        let named = clean_path(&folder.path().join(name));
        let file = match folder.file(name, OFlags::RDONLY) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error).with_context(|| format!("{named}: cannot be read")),
        };
        let about = file.metadata()?;
        ensure!(about.len() <= LARGEST, "{named}: larger than 1 GB, which none is; remove it");
        if is_of_others(&about) {
            self.is_changed = true;
            note(format!(
                "{named}: other users may have written it; files that it names are left as they are unless they hold what would be written"
            ));
            return Ok(true);
        }
        let (mut reader, mut bytes, mut damaged, mut count) = (BufReader::new(file), Vec::new(), 0, 0);
        loop {
            bytes.clear();
            let got = std::io::Read::take(&mut reader, LONGEST).read_until(b'\n', &mut bytes);
            if got.with_context(|| format!("{named}: cannot be read"))? == 0 {
                break;
            }
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let line = serde_json::from_slice::<Line>(&bytes).ok();
            let is_head = count == 0 && line.as_ref().is_some_and(|line| line.weigh_pack.is_some());
            count += 1;
            match line {
                Some(line) if is_head => {
                    if line.weigh_pack != Some(SCHEMA) {
                        note(format!(
                            "{named} is of another version; what it says of files is used as far as it is known"
                        ));
                        self.is_changed = true;
                    }
                }
                Some(line) => damaged += usize::from(self.take(line).is_none()),
                None => damaged += 1,
            }
        }
        if damaged > 0 {
            self.is_changed = true;
            note(format!(
                "{named}: {damaged} of {count} lines cannot be read; files that they name are left as they are unless they hold what would be written"
            ));
        }
        Ok(true)
    }

    /// A word that is kept once.
    pub fn word(&mut self, word: &str) -> Arc<str> {
        if let Some(known) = self.words.get(word) {
            return Arc::clone(known);
        }
        let word: Arc<str> = word.into();
        self.words.insert(Arc::clone(&word));
        word
    }

    fn take(&mut self, line: Line) -> Option<()> {
        let path = line.place()?;
        let sum: Sum = unhex(&line.sha256)?;
        let variants: Vec<_> =
            line.variants.into_iter().map(|one| self.variant(one)).collect::<Option<_>>()?;
        let seen = FileStamp { bytes: line.bytes, mtime: line.mtime, ctime: line.ctime, inode: line.inode };
        if !line.adds {
            let saving = line.saving;
            self.entries.insert(path, Entry { sum, seen, saving, variants, is_there: false });
            return Some(());
        }
        // Appended by a run that did not come to its end.
        self.is_changed = true;
        let entry = self.entries.entry(path).or_default();
        if entry.sum != sum {
            (entry.sum, entry.seen) = (sum, FileStamp::default());
        }
        variants.into_iter().for_each(|variant| entry.put(variant));
        Some(())
    }

    fn variant(&mut self, line: VariantLine) -> Option<Variant> {
        // What has another ending is nothing that is written here.
        let is_ending = is_coded(&line.ending) || line.ending == MAP_ENDING;
        let sum = match line.sha256 {
            Some(text) => Some(unhex(&text)?),
            None => None,
        };
        let former = line.former.iter().map(|text| unhex(text)).collect::<Option<_>>()?;
        let (ending, by) = (self.word(&line.ending), self.word(&line.by));
        is_ending.then_some(Variant { ending, by, bytes: line.bytes, sum, former, is_theirs: line.theirs })
    }

    /// Writes it anew.
    ///
    /// # Errors
    /// One line: the folder cannot be written; what stood there is still there.
    pub fn write(&mut self, to: &ManifestFile, target: &OpenFolder) -> Result<()> {
        let doing = || format!("{}: cannot be written", clean_path(&to.path()));
        let (folder, mut draft) = (&to.folder, to.name.clone());
        draft.push(DRAFT.1);
        // Nobody else writes it: the tree is locked.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let file = folder.file(&draft, flags).with_context(doing)?;
        let mut out = BufWriter::new(file);
        let head = Line { weigh_pack: Some(SCHEMA), ..Line::default() };
        let written = line_to(&mut out, &head)
            .and_then(|()| {
                self.entries.iter().try_for_each(|(path, entry)| line_to(&mut out, &make_line(path, entry)))
            })
            .and_then(|()| out.flush())
            .and_then(|()| folder.rename(&draft, &to.name, true));
        if written.is_err() {
            let _ = folder.remove(&draft, false);
        }
        self.is_changed = false;
        written.with_context(doing)?;
        if to.name == FORMER { Ok(()) } else { remove(target, FORMER.as_ref()) }
    }
}

/// Whether somebody else, who is not root, may have written a file.
fn is_of_others(about: &Metadata) -> bool {
    let own = rustix::process::geteuid().as_raw();
    !(about.uid() == own || about.uid() == 0) || about.mode() & 0o022 != 0
}

/// What is appended while a run goes on.
#[derive(Debug)]
pub struct Journal<'f> {
    open: Mutex<Option<File>>,
    file: &'f ManifestFile,
}

impl Journal<'_> {
    /// The file is made with the first line.
    pub fn of(file: &ManifestFile) -> Journal<'_> {
        Journal { open: Mutex::new(None), file }
    }

    /// Says that a variant is about to be written.
    ///
    /// # Errors
    /// As the file system says.
    pub fn append(&self, path: &Path, sum: &Sum, variant: &Variant) -> std::io::Result<()> {
        let entry = Entry { sum: *sum, variants: vec![variant.clone()], ..Entry::default() };
        let line = Line { adds: true, ..make_line(path, &entry) };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        let mut held = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
            let file = self.file.folder.file(&self.file.name, flags)?;
            // What a killed run began to append stays a line of its own.
            bytes.insert(0, b'\n');
            if file.metadata()?.len() == 0 {
                bytes.remove(0);
            }
            *held = Some(file);
        }
        held.as_mut().map_or(Ok(()), |file| file.write_all(&bytes))
    }
}

fn line_to(out: &mut impl Write, line: &Line) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn make_line(path: &Path, entry: &Entry) -> Line {
    let (text, path_hex) = match path.to_str() {
        Some(text) => (text.to_owned(), String::new()),
        None => (String::new(), hex(path.as_os_str().as_bytes())),
    };
    let variant = |one: &Variant| VariantLine {
        ending: one.ending.to_string(),
        by: one.by.to_string(),
        bytes: one.bytes,
        sha256: one.sum.map(hex),
        former: one.former.iter().map(hex).collect(),
        theirs: one.is_theirs,
    };
    Line {
        path: text,
        path_hex,
        sha256: hex(entry.sum),
        bytes: entry.seen.bytes,
        mtime: entry.seen.mtime,
        ctime: entry.seen.ctime,
        inode: entry.seen.inode,
        saving: entry.saving,
        variants: entry.variants.iter().map(variant).collect(),
        ..Line::default()
    }
}

impl Line {
    /// The path, if it leads to something below the folder.
    fn place(&self) -> Option<Arc<Path>> {
        let bytes = match self.path_hex.as_str() {
            "" => self.path.clone().into_bytes(),
            text => bytes(text)?,
        };
        let path = Path::new(OsStr::from_bytes(&bytes));
        let is_below = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        (is_below && !bytes.is_empty() && !bytes.contains(&0)).then(|| path.into())
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    bytes(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn variant(manifest: &mut Manifest, ending: &str, sum: Short) -> Variant {
        let (ending, by) = (manifest.word(ending), manifest.word("brotli:11"));
        Variant { ending, by, bytes: 7, sum: Some(sum), former: Vec::new(), is_theirs: false }
    }

    /// The manifest's file of a folder in a folder of its own, and the folder.
    fn open(home: &Path) -> (ManifestFile, OpenFolder) {
        let target = home.join("www");
        fs::create_dir_all(&target).unwrap();
        (ManifestFile::of(&target).unwrap(), OpenFolder::open(&target).unwrap())
    }

    fn read(home: &Path) -> (Manifest, Vec<String>) {
        let (mut notes, (file, target)) = (Vec::new(), open(home));
        let manifest = Manifest::read(&file, &target, &mut |note| notes.push(note)).unwrap();
        (manifest, notes)
    }

    /// One in the folder itself, where it was, counts until the next one is written, and is gone then.
    #[test]
    fn a_former_one_moves_out_of_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let (file, target) = open(home.path());
        let mut manifest = Manifest::default();
        let first = variant(&mut manifest, "br", [1; 16]);
        let entry = Entry { sum: [1; 32], variants: vec![first], ..Entry::default() };
        manifest.entries.insert(Path::new("a.js").into(), entry);
        manifest.write(&file, &target).unwrap();
        fs::rename(file.path(), home.path().join("www").join(FORMER)).unwrap();
        let (mut again, notes) = read(home.path());
        assert!(again.entries.len() == 1 && again.is_changed && notes.is_empty(), "{notes:?}");
        again.write(&file, &target).unwrap();
        assert_eq!(fs::read_dir(home.path().join("www")).unwrap().count(), 0);
        assert!(
            home.path().join(".weigh-pack-www.ndjson").exists() && read(home.path()).0.entries.len() == 1
        );
    }

    #[test]
    fn it_is_read_back_whatever_names_it_has() {
        let home = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::default();
        let odd: Arc<Path> = Path::new(OsStr::from_bytes(b"caf\xe9/a \"b\"\n.js")).into();
        for path in [Path::new("js/a.js").into(), Arc::clone(&odd)] {
            let variants = vec![variant(&mut manifest, "br", [3; 16])];
            let seen = FileStamp { bytes: 9, mtime: -5, ctime: 6, inode: 7 };
            let entry = Entry { sum: [9; 32], seen, saving: Some(0.25), variants, is_there: true };
            manifest.entries.insert(path, entry);
        }
        let (file, target) = open(home.path());
        manifest.write(&file, &target).unwrap();
        let (again, notes) = read(home.path());
        assert!(notes.is_empty() && !again.is_changed);
        assert_eq!(again.entries.len(), 2);
        let entry = &again.entries[&odd];
        assert_eq!((entry.sum, entry.seen.mtime, entry.saving), ([9; 32], -5, Some(0.25)));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_a_killed_run_appended_counts_and_a_torn_line_does_not() {
        let home = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::default();
        let first = variant(&mut manifest, "br", [1; 16]);
        let entry = Entry { sum: [1; 32], variants: vec![first.clone()], ..Entry::default() };
        manifest.entries.insert(Path::new("a.js").into(), entry);
        let (place, target) = open(home.path());
        manifest.write(&place, &target).unwrap();
        let journal = Journal::of(&place);
        let next = Variant { sum: Some([2; 16]), former: vec![[1; 16]], ..first };
        journal.append(Path::new("a.js"), &[2; 32], &next).unwrap();
        let file = place.path();
        let mut text = fs::read(&file).unwrap();
        text.extend(b"{\"path\":\"b.js\",\"sha2");
        fs::write(&file, text).unwrap();
        Journal::of(&place).append(Path::new("c.js"), &[4; 32], &next).unwrap();
        let (again, notes) = read(home.path());
        let entry = &again.entries[Path::new("a.js")];
        assert!(entry.sum == [2; 32] && entry.variants == [next]);
        assert!(entry.variants[0].is_own(&[1; 16]) && !entry.variants[0].is_own(&[3; 16]));
        assert!(again.entries.contains_key(Path::new("c.js")) && again.entries.len() == 2);
        assert!(again.is_changed && notes.len() == 1 && notes[0].contains("cannot be read"), "{notes:?}");
    }

    #[test]
    fn nothing_outside_of_the_folder_can_be_named() {
        for path in ["/etc/passwd", "../a", "a/../../b", "", "a\0b"] {
            assert!(Line { path: path.into(), ..Line::default() }.place().is_none(), "{path:?}");
        }
    }
}

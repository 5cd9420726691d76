//! A configuration as its server reads it: the root file with everything that it includes, in one tree of directives, each with its file
//! and line. Also from what a server prints of its configuration, and from one site's file, for which the root is found beside it.
//!
//! It owns reading, within bounds. It refuses to judge what a directive means, but where that decides what is read next.

mod conditions;
mod dump;
mod flat;
mod includes;
mod printed;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256};

use super::rules::Rules;
use super::syntax::{Directive, SourcePosition, Syntax, Wrong};
use weigh_content::types::listed;
use weigh_model::text::clean_path;
use weigh_model::way::PLACEHOLDER;
use weigh_os::digest;
use weigh_os::regular;

pub use conditions::{Defines, module_name};
pub use includes::tidy;

/// The longest file in bytes.
pub const LONGEST: u64 = 1 << 20;
/// The most bytes of all files.
const MOST_BYTES: u64 = 16 << 20;
/// The most files, each counted as often as it is included.
const MOST_FILES: usize = 2000;
/// Includes in includes, at most.
const DEEPEST: usize = 16;

/// A configuration as a whole.
#[derive(Clone, Debug)]
pub struct Tree {
    pub syntax: Syntax,
    /// The files that were read, in order; places name them by their number.
    pub files: Vec<PathBuf>,
    /// SHA-256 of all that was read, hexadecimal.
    pub sha256: String,
    /// The folder that relative paths of configuration files begin in.
    pub base: PathBuf,
    /// The directives, with what is included in the place of each include.
    pub directives: Vec<Directive>,
    /// Whether it has all that the server needs; else it is a part that stands alone.
    pub is_whole: bool,
    /// The file whose sites are meant, where one of several was given.
    pub only: Option<u32>,
    /// Modules that it loads by name, `deflate`; none: it does not say.
    pub modules: Option<BTreeSet<String>>,
    /// Media types by extension, of a list that it names; none: it names none.
    pub types: Option<BTreeMap<String, String>>,
    /// What folders have of their own, `.htaccess`.
    pub folders: BTreeMap<PathBuf, Vec<Directive>>,
}

impl Tree {
    /// Reads the configuration that a file is the root of, a part of, or a print of. `text` is what the file has,
    /// `program` the server's, which prints some configurations itself.
    ///
    /// # Errors
    /// One line: the file, the line, and what is wrong there.
    pub fn read(rules: &Rules, program: Option<&Path>, given: &Path, text: &str) -> Result<Tree> {
        if !rules.print.is_empty() {
            return printed::read(rules, &rules.print, program, given, text);
        }
        let file = std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
        if let Some(printed) = dump::of_nginx(rules.syntax, text) {
            let (root, _) = &printed[0];
            let (root, home) = (root.clone(), root.parent().unwrap_or(Path::new("/")).to_owned());
            let printed = printed.into_iter().collect();
            return Reader::new(rules, home, Some(printed)).whole(&root, None);
        }
        if let Some(directives) = dump::of_apache(rules.syntax, text)? {
            return Ok(printed_by_apache(rules, directives, text));
        }
        let is_root = is_root(rules, &file, text);
        match above(rules, &file).filter(|_| !is_root) {
            Some(root) => beside(rules, &root, &file),
            None => {
                let home = file.parent().unwrap_or(Path::new("/")).to_owned();
                let mut reader = Reader::new(rules, home, None);
                reader.shown = Some(given.to_owned());
                let tree = reader.whole(&file, Some(text))?;
                Ok(Tree { is_whole: is_root, ..tree })
            }
        }
    }

    /// Takes in what the folders above these files have of their own, up to the document root `from`, which is `root` in the
    /// configuration. What cannot be read is left out, with a line on it.
    pub fn take_folders(
        &mut self,
        rules: &Rules,
        from: &Path,
        root: &Path,
        files: &[PathBuf],
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let below = |file: &Path| {
            let below: Vec<PathBuf> = file.ancestors().skip(1).map(Path::to_owned).collect();
            below
        };
        let folders: BTreeSet<PathBuf> = files.iter().flat_map(|file| below(file)).collect();
        // Of a folder of somebody else nothing is read through a link that only this program's user could read.
        let real = from.canonicalize().unwrap_or_else(|_| from.to_owned());
        for folder in folders.into_iter().filter(|_| !rules.folder_file.is_empty()).take(MOST_FILES) {
            let path = from.join(&folder).join(&rules.folder_file);
            if !path.is_file() {
                continue;
            }
            let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
            self.files.push(path.clone());
            let file = regular::open_below((&real, &[], true), &path);
            let read = file.and_then(|file| regular::whole(file, LONGEST));
            let read = read.map_err(unread).and_then(as_text).and_then(|text| {
                let parsed = self.syntax.parse(&text, number);
                parsed.map_err(|wrong| anyhow::anyhow!("line {}: {}", wrong.at.line, wrong.what))
            });
            match read {
                Ok(directives) => {
                    let directives = conditions::kept(directives, self.modules.as_ref());
                    drop(self.folders.insert(root.join(&folder), directives));
                }
                Err(error) => notes.push(format!("left out {}: {error:#}", clean_path(&path))),
            }
        }
        notes
    }

    /// Media types by extension as its server has them: of a list that it names, or of its own blocks; empty where it has neither.
    pub fn media_types(&self) -> BTreeMap<String, String> {
        let mut found = self.types.clone().unwrap_or_default();
        if self.syntax == Syntax::Blocks {
            blocks_of_types(&self.directives, &mut found);
        }
        found
    }

    /// A place for people: `sites-enabled/shop, line 12`.
    pub fn place(&self, at: SourcePosition) -> String {
        match self.files.get(at.file as usize) {
            Some(file) => format!("{}, line {}", clean_path(file), at.line),
            None => format!("line {}", at.line),
        }
    }

    /// The same in one word: `/etc/nginx/sites-enabled/shop:12`.
    pub fn word(&self, at: SourcePosition) -> String {
        match self.files.get(at.file as usize) {
            Some(file) => format!("{}:{}", clean_path(file), at.line),
            None => format!(":{}", at.line),
        }
    }

    /// What is wrong as an error that names the place.
    pub fn error(&self, wrong: &Wrong) -> anyhow::Error {
        anyhow::anyhow!("{}: {}", self.place(wrong.at), wrong.what)
    }
}

/// The text of a file of the user's.
///
/// # Errors
/// Why it cannot be read, without its name.
pub fn text(path: &Path) -> Result<String> {
    weigh_load::regular::read(path, LONGEST).map_err(unread).and_then(as_text)
}

fn unread(error: io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::InvalidInput => anyhow!("{error}; give the file with the server's site"),
        ErrorKind::FileTooLarge => anyhow!("larger than a configuration can be ({LONGEST} bytes)"),
        _ => anyhow!("cannot be read: {error}"),
    }
}

fn as_text(bytes: Vec<u8>) -> Result<String> {
    if bytes.contains(&0) {
        bail!("not a text file");
    }
    // Comments may be in any encoding.
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Whether a file is a server's root: it has what only a root does, or the name of one and includes that may have it.
fn is_root(rules: &Rules, file: &Path, text: &str) -> bool {
    let is_named = file.file_name().is_some_and(|name| name == rules.root.as_str());
    let all = rules.syntax.parse(text, 0).unwrap_or_default();
    let is_whole = |d: &Directive| rules.whole.iter().any(|name| d.is(name));
    let includes = |d: &Directive| d.is("include") || d.is("IncludeOptional");
    all.iter().any(|d| is_whole(d) || is_named && includes(d))
}

/// The root file in the folder above that of a part, by the names that either has.
fn above(rules: &Rules, file: &Path) -> Option<PathBuf> {
    let real = file.canonicalize().ok();
    let folders = [Some(file), real.as_deref()];
    let roots =
        folders.into_iter().flatten().filter_map(|file| Some(file.parent()?.parent()?.join(&rules.root)));
    roots.into_iter().find(|root| root.is_file())
}

/// The tree of a root, in which the sites of one file are meant.
fn beside(rules: &Rules, root: &Path, part: &Path) -> Result<Tree> {
    let home = root.parent().unwrap_or(Path::new("/")).to_owned();
    let mut reader = Reader::new(rules, home, None);
    reader.part = part.canonicalize().ok();
    let mut tree = reader.whole(root, None)?;
    let is_part = |file: &PathBuf| file.canonicalize().ok() == part.canonicalize().ok();
    tree.only = tree.files.iter().position(is_part).and_then(|at| u32::try_from(at).ok());
    Ok(tree)
}

/// What Apache printed. It names neither modules nor the folder of the server; where the file that it names is on this machine, both are
/// those of that file.
fn printed_by_apache(rules: &Rules, (files, directives): dump::Printed, text: &str) -> Tree {
    let root = files.first().filter(|root| root.is_file());
    let here = root.and_then(|root| {
        let home = root.parent()?.to_owned();
        Reader::new(rules, home, None).whole(root, None).ok()
    });
    let base = base_of(&files);
    let loads =
        here.iter().flat_map(|tree| &tree.directives).filter(|d| d.is("LoadModule") || d.is("ServerRoot"));
    let loads = loads.cloned().map(|d| Directive { at: SourcePosition { file: 0, ..d.at }, ..d });
    let directives: Vec<Directive> = loads.chain(directives).collect();
    Tree {
        syntax: rules.syntax,
        types: types(&directives, &base),
        files,
        sha256: digest::sha256(text.as_bytes()),
        base,
        is_whole: here.as_ref().is_some_and(|tree| tree.modules.is_some()),
        directives,
        only: None,
        modules: here.and_then(|tree| tree.modules),
        folders: BTreeMap::new(),
    }
}

fn base_of(files: &[PathBuf]) -> PathBuf {
    files.first().and_then(|file| file.parent()).unwrap_or(Path::new("/")).to_owned()
}

/// The media types of the list that a configuration names.
fn types(directives: &[Directive], base: &Path) -> Option<BTreeMap<String, String>> {
    let named = directives.iter().rfind(|d| d.is("TypesConfig"))?;
    let text = text(&base.join(named.first())).ok()?;
    Some(listed(&text).map(|(extension, of)| (extension.to_lowercase(), of.to_owned())).collect())
}

/// The media types of nginx's `types` blocks, whatever block they are in.
fn blocks_of_types(directives: &[Directive], into: &mut BTreeMap<String, String>) {
    for directive in directives {
        match directive.is("types") {
            true => directive.within().iter().for_each(|row| {
                let name = row.name.trim_matches(['"', '\'']);
                into.extend(row.words().iter().map(|extension| (extension.to_lowercase(), name.to_owned())));
            }),
            false => blocks_of_types(directive.within(), into),
        }
    }
}

/// What reads files, and what was read so far.
struct Reader<'r> {
    rules: &'r Rules,
    files: Vec<PathBuf>,
    /// Files as a server printed them, in place of those of this machine.
    printed: Option<BTreeMap<PathBuf, String>>,
    digest: Sha256,
    bytes: u64,
    /// The folder of the root file, and the one that relative names begin in.
    home: PathBuf,
    base: PathBuf,
    /// A file that is read at the end of the sites if no include names it.
    part: Option<PathBuf>,
    defines: Defines,
    /// What the root file is called before readers.
    shown: Option<PathBuf>,
    /// The files that are open, the root first.
    open: Vec<PathBuf>,
}

impl<'r> Reader<'r> {
    fn new(rules: &'r Rules, home: PathBuf, printed: Option<BTreeMap<PathBuf, String>>) -> Reader<'r> {
        let defines = Defines::of(&home, rules);
        let (files, open, part, shown) = (Vec::new(), Vec::new(), None, None);
        let (digest, bytes, base) = (Sha256::new(), 0, home.clone());
        Reader { rules, files, printed, digest, bytes, home, base, part, defines, shown, open }
    }

    fn whole(mut self, root: &Path, text: Option<&str>) -> Result<Tree> {
        self.open.push(root.canonicalize().unwrap_or_else(|_| root.to_owned()));
        let read = self.file(root, text, None).and_then(|directives| {
            let directives = self.expand(directives)?;
            self.with_part(directives)
        });
        let modules = self.defines.modules();
        let tree = Tree {
            syntax: self.rules.syntax,
            files: self.files,
            sha256: digest::finish(self.digest),
            base: self.base,
            directives: Vec::new(),
            is_whole: true,
            only: None,
            modules,
            types: None,
            folders: BTreeMap::new(),
        };
        match read {
            Ok(directives) => Ok(Tree { types: types(&directives, &tree.base), directives, ..tree }),
            Err(wrong) => Err(tree.error(&wrong)),
        }
    }

    /// The directives of a file; `from` is what includes it.
    fn file(
        &mut self,
        path: &Path,
        text: Option<&str>,
        from: Option<SourcePosition>,
    ) -> Result<Vec<Directive>, Wrong> {
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let at = from.unwrap_or(SourcePosition { file: number, line: 1 });
        let shown = clean_path(path);
        if self.files.len() == MOST_FILES {
            return Err(Wrong::at(at, format!("more than {MOST_FILES} files are included")));
        }
        let read = match (text, &self.printed) {
            (Some(text), _) => Ok(text.to_owned()),
            (None, Some(printed)) => {
                printed.get(path).cloned().context("it is not in what the server printed")
            }
            (None, None) => self::text(path),
        };
        let text = read.map_err(|error| Wrong::at(at, format!("{shown}: {error:#}")))?;
        self.bytes += text.len() as u64;
        if self.bytes > MOST_BYTES {
            return Err(Wrong::at(at, format!("all files together have more than {MOST_BYTES} bytes")));
        }
        self.digest.update(text.as_bytes());
        self.files.push(self.shown.take().unwrap_or_else(|| path.to_owned()));
        if let Some(line) = text.lines().position(|line| line.contains(PLACEHOLDER)) {
            let line = u32::try_from(line + 1).unwrap_or(0);
            return Err(Wrong::at(
                SourcePosition { file: number, line },
                format!("{PLACEHOLDER} has a meaning to Weighbridge"),
            ));
        }
        self.rules.syntax.parse(&text, number)
    }

    /// The directives, with the content of other files in the place of what includes them.
    fn expand(&mut self, directives: Vec<Directive>) -> Result<Vec<Directive>, Wrong> {
        match self.rules.syntax {
            Syntax::Blocks => self.expand_blocks(directives),
            Syntax::Sections => self.expand_sections(directives),
            // What their servers print has everything in its place.
            Syntax::Assigned | Syntax::Json => Ok(directives),
        }
    }

    /// The directives of the files that an include names.
    fn included(&mut self, directive: &Directive, is_optional: bool) -> Result<Vec<Directive>, Wrong> {
        if self.open.len() > DEEPEST {
            return Err(Wrong::at(directive.at, "includes are nested too deep"));
        }
        let mut found = Vec::new();
        for path in self.matching(directive, is_optional)? {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if self.open.contains(&real) {
                return Err(Wrong::at(directive.at, format!("{} includes itself", clean_path(&path))));
            }
            let directives = self.file(&path, None, Some(directive.at))?;
            self.open.push(real);
            let expanded = self.expand(directives);
            self.open.pop();
            found.extend(expanded?);
        }
        Ok(found)
    }
}

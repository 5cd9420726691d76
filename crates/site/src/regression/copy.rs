//! A private copy of the files of a site that a trial asks for, with precompressed files beside some of them, at the paths that the
//! configuration has for them. Nothing is written to the site.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use walkdir::WalkDir;
use weigh_codec::codecs;
use weigh_model::policy::{Encoder, Policy};
use weigh_model::setting::Request;
use weigh_model::site::{Kind, Site};

use weigh_content::class::extension;
use weigh_content::types::{self, TYPES};
use weigh_os::regular;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_run::subject::delivery::url;

/// The most that is copied of a file, in bytes.
const LONGEST: u64 = 256 << 10;
/// Files of the document root that are looked at, and how deep below it.
const MOST_FILES: usize = 20_000;
const DEEPEST: usize = 12;
/// Files that stand for their type or their folder, at most.
const MOST_OF_TYPES: usize = 80;
const MOST_OF_FOLDERS: usize = 60;
/// Small files have at least as many bytes, where there are such.
const SMALL: u64 = 100;
/// The folder of what no site has.
const OWN: &str = "weigh-trial";
/// Files that a configuration may refuse, as applications and their tools leave them.
const PRIVATE: [&str; 8] = [
    ".env",
    ".git/config",
    ".htpasswd",
    "composer.json",
    "package.json",
    "backup.sql",
    "vendor/composer/installed.json",
    "config.yml",
];

/// The copy; it is removed with this value.
pub struct Copy {
    /// What stands for `/`.
    pub tree: PathBuf,
    /// The document root in it.
    pub docroot: PathBuf,
    /// The paths of the URLs of files that are asked for, those of the sample first.
    pub files: Vec<String>,
    /// Files that hold [`Copy::SECRET`] and that nobody is to be sent: in the document root and in each folder above it.
    pub outside: Vec<PathBuf>,
    /// Variants that `weigh pack` makes none like, by the URL of a file that may be refused: where it is sent, there are none.
    pub spare: BTreeMap<String, Vec<PathBuf>>,
    /// Those of `files` that are not there, but a variant of them.
    pub alone: BTreeSet<String>,
    /// Whether files have variants that save nothing.
    every: bool,
    _shelter: Shelter,
}

/// How the variants of a policy are made: ending, codec and level.
type Variant = (&'static str, String, Option<i32>);

impl Copy {
    /// The name of such files.
    pub const OUTSIDE: &str = "weigh-trial-outside.txt";
    /// What files hold that no handing over may reach.
    pub const SECRET: &str = "weigh-trial: a file that is not for downloads";

    /// Copies what stands for the site. `root` is the document root as the configuration has it, `folder_file` the name of files that folders
    /// have of their own; `every`: all files of the policy's types have variants.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn of(
        site: &Site,
        policy: &Policy,
        (root, folder_file, every): (&Path, &str, bool),
        user: Option<OwnUser>,
    ) -> Result<Copy> {
        let shelter = Shelter::of(user).context("no temporary folder")?;
        let tree = shelter.path().join("tree");
        let docroot = tree.join(root.strip_prefix("/").unwrap_or(root));
        let (files, outside, spare) = Default::default();
        let mut copy =
            Copy { tree, docroot, files, outside, spare, alone: BTreeSet::new(), every, _shelter: shelter };
        let variants = variants(policy);
        copy.fill(site, folder_file, &variants).context("no temporary folder")?;
        copy.hide(root).context("no temporary folder")?;
        open(&copy.tree).context("no temporary folder")?;
        user.map_or(Ok(()), |user| user.give(&copy.tree)).context("no temporary folder")?;
        Ok(copy)
    }

    fn fill(&mut self, site: &Site, folder_file: &str, variants: &[Variant]) -> std::io::Result<()> {
        fs::create_dir_all(&self.docroot)?;
        let mut known = BTreeSet::new();
        let sampled = site.strata.iter().filter(|one| matches!(one.kind, Kind::Asset | Kind::Download));
        for path in sampled.flat_map(|one| &one.sample).map(|sample| sample.path.as_str()) {
            let Some((folder, rest)) = site.sources.folder(path) else { continue };
            let is_docroot = site.sources.docroot.as_deref() == Some(folder);
            let place = match is_docroot {
                true => self.docroot.join(rest),
                false => self.tree.join(folder.trim_start_matches('/')).join(rest),
            };
            if is_below(rest)
                && known.insert(path.to_owned())
                && copied_with_variants(Path::new(folder), rest, &place)?
            {
                self.take(path, &place, Some(variants).filter(|_| is_text(path)))?;
            }
        }
        let Some(from) = site.sources.docroot.as_deref().map(Path::new) else { return self.plant(variants) };
        let all = listed(from);
        for name in all.iter().filter(|(name, _)| name.rsplit('/').next() == Some(folder_file)) {
            copied(from, name.0, &self.docroot.join(name.0))?;
        }
        for (path, is_private) in chosen(&all, folder_file) {
            let place = self.docroot.join(&path);
            if known.insert(path.clone()) && copied_with_variants(from, &path, &place)? {
                let packed = is_private || self.every && is_text(&path);
                self.take(&path, &place, Some(variants).filter(|_| packed))?;
                // Servers may send a variant whose file is not there.
                if let Some(of) = variant_of(&path).filter(|of| is_text(of) && !all.contains_key(*of)) {
                    let url = format!("/{}", url::file(of));
                    self.alone.insert(url.clone());
                    self.files.push(url);
                }
            }
        }
        self.plant(variants)
    }

    /// Adds a file that was copied, with its variants. Those that save nothing are none, as `weigh pack` has it.
    fn take(&mut self, path: &str, place: &Path, variants: Option<&[Variant]>) -> std::io::Result<()> {
        let url = format!("/{}", url::file(path));
        for (ending, codec, level) in variants.unwrap_or_default() {
            let beside = PathBuf::from(format!("{}.{ending}", place.display()));
            if beside.exists() {
                continue;
            }
            let content = regular::whole(regular::open(place)?, LONGEST)?;
            let is_kept = |own: &Vec<u8>| self.every || own.len() < content.len();
            if let Some(encoded) = encoded(codec, *level, &content).filter(is_kept) {
                fs::write(&beside, encoded)?;
                let is_spare = !is_text(path);
                is_spare.then(|| self.spare.entry(url.clone()).or_default().push(beside));
            }
        }
        self.files.push(url);
        Ok(())
    }

    /// Files that no site may have today: one of each type that is text, small and large, and such as configurations refuse.
    fn plant(&mut self, variants: &[Variant]) -> std::io::Result<()> {
        for path in PRIVATE {
            let place = self.docroot.join(path);
            if !place.exists() && write(&place, &text(1500)).is_ok() {
                self.take(path, &place, Some(variants))?;
            }
        }
        for of in TYPES.iter().filter(|of| of.compressible) {
            for (name, bytes) in [("small", 400), ("large", 9000)] {
                let path = format!("{OWN}/{name}.{}", of.extensions[0]);
                let place = self.docroot.join(&path);
                write(&place, &text(bytes))?;
                self.take(&path, &place, None)?;
            }
        }
        write(&self.docroot.join(OWN).join("page.php"), b"<?php\n")
    }

    /// Puts a file that nobody is to be sent into the document root and each folder above it.
    fn hide(&mut self, root: &Path) -> std::io::Result<()> {
        for folder in root.ancestors().filter(|folder| folder.is_absolute()) {
            let file = self.tree.join(folder.strip_prefix("/").unwrap_or(folder)).join(Copy::OUTSIDE);
            write(&file, Copy::SECRET.as_bytes())?;
            self.outside.push(file);
        }
        Ok(())
    }
}

/// The variants that a policy has made beforehand; of each content coding, where it has none.
fn variants(policy: &Policy) -> Vec<Variant> {
    let rules: Vec<_> = policy.decisions.iter().filter(|one| !one.keep).flat_map(|one| &one.rules).collect();
    [("gzip", "zlib"), ("br", "brotli"), ("zstd", "zstd")]
        .into_iter()
        .map(|(coding, codec)| {
            let rule = rules.iter().find(|rule| rule.by == Encoder::Beforehand && rule.coding == coding);
            let asked = rule.and_then(|rule| Request::parse(rule.encoder.as_deref()?).ok());
            let level = asked.as_ref().and_then(Request::level);
            let codec = asked.map_or_else(|| codec.to_owned(), |asked| asked.name);
            (types::ending(coding), codec, level)
        })
        .collect()
}

fn encoded(codec: &str, level: Option<i32>, content: &[u8]) -> Option<Vec<u8>> {
    let codec = codecs::find(codec)?;
    let level = level.or(codec.info().levels.as_ref().map(|levels| levels.max));
    let mut out = Vec::new();
    let params = weigh_codec::Params { level, ..weigh_codec::Params::default() };
    codec.coder(&params).ok()?.encode(content, &mut out).ok()?;
    Some(out)
}

/// The files below a folder that are not variants of others, by their paths, with their lengths.
fn listed(folder: &Path) -> BTreeMap<String, u64> {
    let entries = WalkDir::new(folder).max_depth(DEEPEST).into_iter().filter_map(Result::ok);
    let file = |entry: walkdir::DirEntry| {
        let path = entry.path().strip_prefix(folder).ok()?.to_str()?.to_owned();
        let bytes = entry.metadata().ok().filter(fs::Metadata::is_file)?.len();
        Some((path, bytes))
    };
    entries.filter_map(file).take(MOST_FILES).collect()
}

/// One small and one large file of each extension, and one of each extension in each folder near the document root, such as a
/// configuration may refuse: whether it looks like one.
fn chosen(all: &BTreeMap<String, u64>, folder_file: &str) -> Vec<(String, bool)> {
    let is_variant = |path: &str| variant_of(path).is_some_and(|of| all.contains_key(of));
    let mut by_type: BTreeMap<String, Vec<(&String, u64)>> = BTreeMap::new();
    let mut by_folder: BTreeMap<(String, String), &String> = BTreeMap::new();
    for (path, bytes) in all.iter().filter(|(path, _)| !is_variant(path)) {
        by_type.entry(extension(path)).or_default().push((path, *bytes));
        let folder: Vec<&str> = path.split('/').rev().skip(1).collect();
        let near: Vec<&str> = folder.into_iter().rev().take(2).collect();
        by_folder.entry((near.join("/"), extension(path))).or_insert(path);
    }
    let mut chosen: Vec<(String, bool)> = Vec::new();
    for files in by_type.values().take(MOST_OF_TYPES) {
        let small = files.iter().filter(|(_, bytes)| *bytes >= SMALL).min_by_key(|(_, bytes)| bytes);
        let large = files.iter().filter(|(_, bytes)| *bytes <= LONGEST).max_by_key(|(_, bytes)| bytes);
        let both = small.or(files.first()).into_iter().chain(large.or(files.last()));
        chosen.extend(both.map(|(path, _)| ((*path).clone(), is_private(path, folder_file))));
    }
    let of_folders = by_folder.values().map(|path| ((*path).clone(), is_private(path, folder_file)));
    let (private, others): (Vec<_>, Vec<_>) = of_folders.partition(|(_, is_private)| *is_private);
    chosen.extend(private.into_iter().chain(others).take(MOST_OF_FOLDERS));
    chosen
}

/// The path of the file that a path is a variant of by its ending.
fn variant_of(path: &str) -> Option<&str> {
    types::VARIANTS.iter().find_map(|(_, ending)| path.strip_suffix(ending)?.strip_suffix('.'))
}

/// Whether a file looks like one that a configuration refuses.
fn is_private(path: &str, folder_file: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let endings =
        ["sql", "bak", "log", "ini", "yml", "yaml", "inc", "lock", "md", "twig", "dist", "sh", "conf"];
    path.split('/').any(|part| part.starts_with('.') || part == "vendor")
        || name == folder_file
        || ["composer.json", "package.json"].contains(&name)
        || endings.contains(&extension(path).as_str())
}

fn is_text(path: &str) -> bool {
    types::is_compressible(types::of_extension(&extension(path)))
}

/// Whether a path leads nowhere above where it begins.
fn is_below(path: &str) -> bool {
    !path.split('/').any(|part| part == "..")
}

/// Copies the begin of a regular file below a folder; whether there is one. A link is followed within the folder, and to what every user may read.
fn copied(folder: &Path, below: &str, to: &Path) -> std::io::Result<bool> {
    let open = |root: PathBuf| regular::open_below((&root, &[], true), &root.join(below));
    let Ok(file) = folder.canonicalize().and_then(open) else { return Ok(false) };
    let mut content = Vec::new();
    file.take(LONGEST).read_to_end(&mut content)?;
    write(to, &content).map(|()| true)
}

/// The same with the precompressed files beside it, unless only its begin is copied.
fn copied_with_variants(folder: &Path, below: &str, to: &Path) -> std::io::Result<bool> {
    if !copied(folder, below, to)? {
        return Ok(false);
    }
    let is_whole = folder.join(below).metadata().is_ok_and(|of| of.len() <= LONGEST);
    for (_, ending) in types::VARIANTS.iter().filter(|_| is_whole) {
        let beside = PathBuf::from(format!("{}.{ending}", to.display()));
        copied(folder, &format!("{below}.{ending}"), &beside)?;
    }
    Ok(true)
}

fn write(to: &Path, content: &[u8]) -> std::io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(to, content)
}

/// Lets whoever runs the server read everything.
fn open(tree: &Path) -> std::io::Result<()> {
    for entry in WalkDir::new(tree).into_iter().filter_map(Result::ok) {
        let mode = if entry.file_type().is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Text of this length that compresses as text does.
pub fn text(bytes: usize) -> Vec<u8> {
    let line = |n: u32| {
        format!("item-{:04x} {{ width: {}px; height: {n}px }}\n", n.wrapping_mul(40_503) % 65_536, n % 97)
    };
    let mut text: Vec<u8> = (0..)
        .map(line)
        .scan(0, |length, line| {
            let is_more = *length < bytes;
            *length += line.len();
            is_more.then_some(line)
        })
        .flat_map(String::into_bytes)
        .collect();
    text.truncate(bytes);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_leads_to_what_not_everybody_may_read() {
        let home = tempfile::tempdir().unwrap();
        let (site, secret) = (home.path().join("site"), home.path().join("secret"));
        fs::create_dir(&site).unwrap();
        fs::write(&secret, "theirs").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(site.join("a.css"), "a {}").unwrap();
        std::os::unix::fs::symlink(&secret, site.join("b.css")).unwrap();
        std::os::unix::fs::symlink("a.css", site.join("c.css")).unwrap();
        let to = home.path().join("copy.css");
        assert!(copied(&site, "a.css", &to).unwrap() && copied(&site, "c.css", &to).unwrap());
        assert!(!copied(&site, "b.css", &home.path().join("leaked.css")).unwrap());
        assert!(!home.path().join("leaked.css").exists());
    }

    #[test]
    fn a_file_has_no_variant_that_saves_nothing_unless_every_file_has_one() {
        let variants = [("gz", "zlib".to_owned(), Some(9))];
        for every in [false, true] {
            let shelter = Shelter::of(None).unwrap();
            let docroot = shelter.path().to_owned();
            let (files, outside, spare) = Default::default();
            let tree = docroot.clone();
            let mut copy = Copy {
                tree,
                docroot,
                files,
                outside,
                spare,
                alone: BTreeSet::new(),
                every,
                _shelter: shelter,
            };
            for (name, content) in [("tiny.js", "var a;".to_owned()), ("large.js", "var a;\n".repeat(100))] {
                let place = copy.docroot.join(name);
                fs::write(&place, content).unwrap();
                copy.take(name, &place, Some(&variants)).unwrap();
            }
            let place = copy.docroot.join(".env");
            fs::write(&place, "A=1\n".repeat(100)).unwrap();
            copy.take(".env", &place, Some(&variants)).unwrap();
            assert_eq!(copy.spare.keys().collect::<Vec<_>>(), ["/.env"]);
            let has = |name: &str| copy.docroot.join(name).exists();
            assert!(has("large.js.gz"));
            assert_eq!(has("tiny.js.gz"), every);
        }
    }
}

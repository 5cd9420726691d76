//! The files beside `site.toml`: pages and values that stand for theirs. Written to a folder of their own first, and put in place with
//! `site.toml`; nobody but the user reads them.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use weigh_model::site::Sample;
use weigh_model::text::clean_path;
use weigh_os::digest;

/// Where `site.toml` and its files go.
#[derive(Clone, Debug)]
pub struct SiteFile {
    /// `site.toml`.
    pub file: PathBuf,
    /// What may be written over: what stands there.
    pub force: bool,
}

/// The files while they are written.
#[derive(Debug)]
pub struct Draft {
    place: SiteFile,
    folder: tempfile::TempDir,
    count: usize,
}

impl SiteFile {
    /// The folder's name: `site-sample` beside `site.toml`.
    fn name(&self) -> String {
        let stem = self.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        format!("{}-sample", stem.unwrap_or_else(|| "site".into()))
    }

    pub fn parent(&self) -> &Path {
        self.file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn folder(&self) -> PathBuf {
        self.parent().join(self.name())
    }

    /// Makes sure that nothing is written over without the user's word.
    ///
    /// # Errors
    /// One line: what is in the way.
    pub fn check(&self) -> Result<()> {
        let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
        if is_there(&self.file) && !self.force {
            bail!(
                "{} exists; --force looks again and keeps the figures that you gave, --out FILE writes another",
                clean_path(&self.file)
            );
        }
        if is_there(&self.folder()) && !self.force {
            bail!("{} exists; --force replaces it, --out FILE writes elsewhere", clean_path(&self.folder()));
        }
        Ok(())
    }

    /// Begins the files.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn begin(self) -> Result<Draft> {
        let parent = self.parent();
        let doing = || format!("{}: cannot be written; choose another place with --out", clean_path(parent));
        fs::create_dir_all(parent).with_context(doing)?;
        let folder =
            tempfile::Builder::new().prefix(".weigh-site-").tempdir_in(parent).with_context(doing)?;
        Ok(Draft { place: self, folder, count: 0 })
    }
}

impl Draft {
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds a file, with the share of its stratum that it stands for.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, group: &str, name: &str, bytes: &[u8], share: f64) -> Result<Sample> {
        self.count += 1;
        let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
        let name: String =
            name.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().map(plain).collect();
        let name = format!("{:03}-{}", self.count, name.trim_matches(['.', '-']));
        let into = self.folder.path().join("new").join(group);
        fs::create_dir_all(&into)
            .and_then(|()| fs::write(into.join(&name), bytes))
            .with_context(|| format!("{}: cannot be written", clean_path(&self.place.folder())))?;
        let path = format!("{}/{group}/{name}", self.place.name());
        Ok(Sample { path, bytes: bytes.len() as u64, sha256: digest::sha256(bytes), share, sent: Vec::new() })
    }

    /// Puts the files in place, then `site.toml` with this text. Without files there is no folder.
    ///
    /// # Errors
    /// Something cannot be written; what stood there before is still there.
    pub fn finish(self, text: &str) -> Result<()> {
        let (folder, file) = (self.place.folder(), &self.place.file);
        let doing = || format!("{}: cannot be written; choose another place with --out", clean_path(file));
        let mut draft = tempfile::NamedTempFile::new_in(self.place.parent()).with_context(doing)?;
        draft.write_all(text.as_bytes()).and_then(|()| draft.flush()).with_context(doing)?;
        let former = self.folder.path().join("former");
        let is_moved = match fs::rename(&folder, &former) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(error).with_context(doing),
        };
        if self.count > 0
            && let Err(error) = fs::rename(self.folder.path().join("new"), &folder)
        {
            if is_moved {
                let _ = fs::rename(&former, &folder);
            }
            return Err(error).with_context(doing);
        }
        draft.persist(file).map_err(|error| error.error).with_context(doing)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_come_into_place_together_and_nothing_is_written_over_unasked() {
        let home = tempfile::tempdir().unwrap();
        let place = |force| SiteFile { file: home.path().join("shop.toml"), force };
        let write = |force, name: &str| {
            let place = place(force);
            place.check()?;
            let mut draft = place.begin()?;
            let sample = draft.add("pages", name, b"page", 1.0)?;
            draft.finish("text")?;
            Ok::<_, anyhow::Error>(sample)
        };
        let sample = write(false, "../../a b.html").unwrap();
        assert_eq!(sample.path, "shop-sample/pages/001-a-b.html");
        assert_eq!(fs::read(home.path().join(&sample.path)).unwrap(), b"page");
        assert!(write(false, "x").unwrap_err().to_string().contains("exists; --force looks again"));
        let second = write(true, "other.html").unwrap();
        assert!(home.path().join(&second.path).is_file() && !home.path().join(&sample.path).exists());
        let mode = |path: &str| fs::metadata(home.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("shop.toml"), 0o600, "a temporary file's own mode, whatever the umask");
        let mut names: Vec<_> = fs::read_dir(home.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        names.sort();
        assert_eq!(names, ["shop-sample", "shop.toml"], "nothing else is left");
    }
}

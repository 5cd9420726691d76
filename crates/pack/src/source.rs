//! A file that may have variants, and what the file system says of it.

use std::borrow::Cow;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use weigh_content::class;
use weigh_content::types::MediaTypes;
use weigh_model::site::Kind;

/// The largest file that has variants, in bytes: it is encoded and decoded again in memory.
const LARGEST: u64 = 256 << 20;

/// What tells whether a file may have changed: where all of it is the same, so is the content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// Length in bytes.
    pub bytes: u64,
    /// The time of the last modification, in nanoseconds since 1970.
    pub mtime: i64,
    /// The time of the last change of the inode, which no program can set.
    pub ctime: i64,
    pub inode: u64,
}

impl FileStamp {
    /// Of what the file system says.
    pub fn of(meta: &Metadata) -> FileStamp {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        FileStamp {
            bytes: meta.len(),
            mtime: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            ctime: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
        }
    }
}

/// A file of the tree.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: Arc<Path>,
    /// What the file system says of it; of a link, of what it leads to.
    pub seen: FileStamp,
    /// What visitors do with it.
    pub kind: Kind,
    pub format: Cow<'static, str>,
    /// Whether a trial, now or in an earlier run, found that encoding is worth it; none: there was none.
    pub is_worth: Option<bool>,
}

impl Source {
    /// The file with this path.
    ///
    /// # Errors
    /// Why it has no variants, whatever it holds.
    pub fn of(path: &Path, meta: &Metadata) -> Result<Source, &'static str> {
        if meta.len() > LARGEST {
            return Err("larger than 256 MB, which would have to be in memory");
        }
        let name = path.to_string_lossy();
        let class = class::classify_file(&name, meta.len(), true, &MediaTypes::default(), &|| false);
        let class = class.map_err(|_| "PHP source")?;
        if class.format.starts_with("video/") || class.format.starts_with("audio/") {
            return Err("sound or video, which clients fetch in parts");
        }
        let (path, seen) = (path.into(), FileStamp::of(meta));
        Ok(Source { path, seen, kind: class.kind, format: class.format, is_worth: None })
    }
}

//! Files below a folder, by the path that a URL has: nothing outside the folder is opened, and no file is read beyond a limit.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, bail};
use url::Url;

use weigh_model::text::clean_path;
use weigh_os::regular::{open_below, plain_error, whole};

/// The path of a URL below the site's root: decoded, without a slash at its begin. None: it is not a path of a file.
pub fn site_path(url: &Url) -> Option<String> {
    let path = percent_encoding::percent_decode_str(url.path()).decode_utf8().ok()?;
    let path = path.trim_start_matches('/');
    let is_plain = !path.contains('\0') && !path.split('/').any(|part| part == "..");
    is_plain.then(|| path.to_owned())
}

/// What a URL from the first slash on leads to on the host of another.
pub fn resolve_target(url: &Url, from_path: &str) -> Url {
    let (path, query) =
        from_path.split_once('?').map_or((from_path, None), |(path, query)| (path, Some(query)));
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(query);
    url
}

/// Opens a regular file below a folder; a symbolic link is followed as long as it stays below it, or in one of the `others`, or leads to a
/// file that everybody may read where `follows`.
///
/// # Errors
/// One line without the path: why it cannot be opened.
pub fn open_inside(folder: &Path, path: &str, (others, follows): (&[PathBuf], bool)) -> Result<(File, u64)> {
    let relative = Path::new(path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        bail!("not a path below {}", clean_path(folder));
    }
    let plain = |error| anyhow::anyhow!(plain_error(&error));
    let root = folder.canonicalize().map_err(plain)?;
    let file = open_below((&root, others, follows), &folder.join(relative)).map_err(plain)?;
    let length = file.metadata().map_err(plain)?.len();
    Ok((file, length))
}

/// Reads a regular file below a folder.
///
/// # Errors
/// As [`open_inside`]; it is longer than `most` bytes.
pub fn read_inside(folder: &Path, path: &str, most: u64) -> Result<Vec<u8>> {
    Ok(whole(open_inside(folder, path, (&[], false))?.0, most)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_opened() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(root.path().join("secret"), "s").unwrap();
        std::fs::write(inside.join("a b.txt"), "abc").unwrap();
        std::os::unix::fs::symlink("../secret", inside.join("out")).unwrap();
        std::os::unix::fs::symlink("a b.txt", inside.join("in")).unwrap();
        let read = |path: &str| read_inside(&inside, path, 3).map_err(|error| error.to_string());
        let of = |url: &str| site_path(&Url::parse(url).unwrap());
        assert_eq!(of("http://x/a%20b.txt?v=1").as_deref(), Some("a b.txt"));
        assert_eq!(of("http://x/%2e%2e%2fsecret"), None);
        assert_eq!(read("a b.txt"), Ok(b"abc".to_vec()));
        assert_eq!(read("in"), Ok(b"abc".to_vec()));
        assert!(read("out").unwrap_err().contains("leads out of"));
        assert!(read("../secret").unwrap_err().contains("not a path below"));
        assert!(read("/etc/passwd").unwrap_err().contains("not a path below"));
        assert!(read_inside(&inside, "a b.txt", 2).unwrap_err().to_string().contains("longer"));
        assert!(
            read(".").unwrap_err().contains("not a path below") || read(".").unwrap_err().contains("folder")
        );
    }
}

//! Names: of variants, of type maps, and of what this program itself writes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use weigh_content::types;
use weigh_rig::server::dictionaries::{read_ending, read_name};

/// What is added to the name of a source for its type map.
pub const MAP_ENDING: &str = "var";
/// What the names of drafts begin and end with.
pub const DRAFT: (&str, &str) = (".weigh-pack-", ".draft");

/// Whether a name is one of a draft, which only a killed run leaves.
pub fn is_draft(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(DRAFT.0.as_bytes()) && name.ends_with(DRAFT.1.as_bytes())
}

/// Whether a name is one of this program's own files: drafts, the manifest and the lock.
pub fn is_own(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".weigh-pack")
}

/// Where a variant of a file is, below the tree.
pub fn append_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Whether this is the ending of an encoded variant.
pub fn is_coded(ending: &str) -> bool {
    types::VARIANTS.iter().any(|(_, known)| *known == ending) || read_ending(ending).is_some()
}

/// The file that one with this name would be a variant of; none: it has not the name of a variant.
pub fn variant_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.as_bytes();
    let cut = |name: &[u8]| name.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0);
    let end = cut(name)?;
    let last = str::from_utf8(&name[end + 1..]).ok()?;
    let end = match read_name(&String::from_utf8_lossy(name)) {
        Some(_) => cut(&name[..end])?,
        None if is_coded(last) || last == MAP_ENDING => end,
        None => return None,
    };
    Some(path.with_file_name(OsStr::from_bytes(&name[..end])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_known_by_their_bytes() {
        let of = |name: &[u8]| variant_of(Path::new(OsStr::from_bytes(name)));
        let path = |name: &[u8]| Some(PathBuf::from(OsStr::from_bytes(name)));
        assert_eq!(of(b"js/latin\xe9.js.br"), path(b"js/latin\xe9.js"));
        assert_eq!(of("é.css.gz".as_bytes()), path("é.css".as_bytes()));
        for none in [&b"latin\xe9.js"[..], b".br", b"a.js.\xe9", b"archive.tar"] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}

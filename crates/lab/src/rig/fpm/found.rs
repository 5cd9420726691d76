//! The PHP-FPM binaries of the machine.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

/// A PHP-FPM binary that tells its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FoundFpm {
    /// The binary.
    pub binary: PathBuf,
    /// Its PHP version as queried: `8.2.36`.
    pub version: String,
}

/// Where administrators' programs are although they may not be on an ordinary user's `PATH`.
pub const ADMINISTRATORS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The folders of `path` and those of [`ADMINISTRATORS`], each once.
pub fn folders(path: &OsStr) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let all = std::env::split_paths(path).chain(ADMINISTRATORS.into_iter().map(PathBuf::from));
    all.filter(|f| f.is_absolute() && seen.insert(f.clone())).collect()
}

/// PHP-FPM binaries (`php-fpm`, `php-fpm8.2`), each once whatever its links, that tell their version.
pub fn find(path: &OsStr) -> Vec<FoundFpm> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for folder in folders(path) {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut names: Vec<_> = entries.flatten().map(|e| e.file_name()).filter(|n| is_fpm(n)).collect();
        names.sort();
        for binary in names.into_iter().map(|name| folder.join(name)) {
            let new = binary.canonicalize().is_ok_and(|real| seen.insert(real));
            found.extend(new.then(|| named(&binary)).flatten());
        }
    }
    found
}

/// One binary, if it is PHP-FPM.
pub fn named(binary: &Path) -> Option<FoundFpm> {
    let mut command = Command::new(binary);
    command.arg("-v").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    let version = version(&String::from_utf8_lossy(&output.stdout))?;
    Some(FoundFpm { binary: binary.to_owned(), version })
}

/// From `PHP 8.2.36 (fpm-fcgi) (built: …)`.
fn version(text: &str) -> Option<String> {
    let line = text.lines().find(|l| l.contains("(fpm-fcgi)"))?;
    Some(line.strip_prefix("PHP ")?.split_whitespace().next()?.to_owned())
}

fn is_fpm(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|n| n.strip_prefix("php-fpm"));
    rest.is_some_and(|r| r.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fpm_is_known_by_its_name_and_by_what_it_says() {
        assert!(is_fpm(OsStr::new("php-fpm8.2")) && is_fpm(OsStr::new("php-fpm")));
        assert!(!is_fpm(OsStr::new("php-fpm8.2.conf")) && !is_fpm(OsStr::new("php8.2")));
        assert_eq!(version("PHP 8.2.36 (fpm-fcgi) (built: x)\nCopyright").as_deref(), Some("8.2.36"));
        assert_eq!(version("PHP 8.2.36 (cli) (built: x)"), None);
        assert_eq!(named(Path::new("/nonexistent/php-fpm")), None);
    }
}

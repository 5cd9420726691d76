//! Sources: packages of a registry by name and version, and the files in them.
//!
//! `npm:jquery@3.7.1:dist/jquery.min.js`. Names and versions are checked so strictly that a package client can take
//! them for nothing else: no option, address, folder or tag.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, bail};

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Registry {
    /// Through `npm`.
    Npm,
    /// Through `pip`; wheels only, because a source distribution runs its own code when it is downloaded.
    Pypi,
    /// Through `apt-get`.
    Deb,
}

impl Registry {
    pub fn word(self) -> &'static str {
        match self {
            Registry::Npm => "npm",
            Registry::Pypi => "pypi",
            Registry::Deb => "deb",
        }
    }

    /// What its archives are called: `tgz`, `whl`, `deb`.
    pub fn extension(self) -> &'static str {
        match self {
            Registry::Npm => "tgz",
            Registry::Pypi => "whl",
            Registry::Deb => "deb",
        }
    }

    /// `true` when a name and version mean the same bytes for ever.
    pub fn is_stable(self) -> bool {
        self != Registry::Deb
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Package {
    pub registry: Registry,
    /// Its name, with npm's scope.
    pub name: String,
    pub version: String,
}

impl Package {
    /// A file name for its archive, unique among packages.
    pub fn file_name(&self) -> String {
        let name = self.name.replace('/', "+");
        format!("{}-{name}-{}.{}", self.registry.word(), self.version, self.registry.extension())
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}@{}", self.registry.word(), self.name, self.version)
    }
}

/// A file, or with a `/` at its end a folder, in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub package: Package,
    /// The path in its archive, relative, without npm's leading folder.
    pub path: String,
}

impl Source {
    /// `true` for a folder.
    pub fn is_folder(&self) -> bool {
        self.path.ends_with('/')
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.package, self.path)
    }
}

impl FromStr for Package {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Package> {
        let Some((word, rest)) = text.split_once(':') else { bail!("`{text}` is not REGISTRY:NAME@VERSION") };
        let registry = match word {
            "npm" => Registry::Npm,
            "pypi" => Registry::Pypi,
            "deb" => Registry::Deb,
            _ => bail!("`{text}`: no registry named `{word}`; there are npm, pypi and deb"),
        };
        // A scope begins with the same sign as the version.
        let at = rest.get(1..).and_then(|tail| tail.find('@'));
        let Some(at) = at else { bail!("`{text}` is not REGISTRY:NAME@VERSION") };
        let (name, version) = (&rest[..=at], &rest[at + 2..]);
        let bare = match (registry, name.strip_prefix('@')) {
            (Registry::Npm, Some(scoped)) => match scoped.split_once('/') {
                Some((scope, bare)) if is_word(scope, "._-") => bare,
                _ => bail!("`{text}`: `{name}` is not a package name"),
            },
            _ => name,
        };
        if !is_word(bare, "._-+") {
            bail!("`{text}`: `{name}` is not a package name");
        }
        if !is_word(version, ".+~-") || !version.starts_with(|c: char| c.is_ascii_digit()) {
            bail!("`{text}`: `{version}` is not a version");
        }
        Ok(Package { registry, name: name.into(), version: version.into() })
    }
}

impl FromStr for Source {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Source> {
        let cut = text.match_indices(':').nth(1).map(|(at, _)| at);
        let Some(cut) = cut else { bail!("`{text}` is not REGISTRY:NAME@VERSION:PATH") };
        let path = text[cut + 1..].to_owned();
        if !is_safe_path(path.strip_suffix('/').unwrap_or(&path)) {
            bail!("`{text}`: `{path}` is not a plain relative path");
        }
        Ok(Source { package: text[..cut].parse()?, path })
    }
}

/// Begins with a letter or digit and holds only those and `more`.
pub(crate) fn is_word(text: &str, more: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

/// `true` for a relative path with forward slashes that stays where it is put.
pub(crate) fn is_safe_path(path: &str) -> bool {
    !path.contains(['\\', '\0', ':'])
        && !path.chars().any(char::is_control)
        && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_and_written_alike() {
        for text in [
            "npm:jquery@3.7.1:dist/jquery.min.js",
            "npm:@mdn/browser-compat-data@8.1.9:data.json",
            "deb:nodejs-doc@18.20.4+dfsg-1~deb12u3:usr/share/doc/nodejs/api/",
            "pypi:robotframework@6.1.1:robot/log.html",
        ] {
            let source: Source = text.parse().unwrap();
            assert_eq!(source.to_string(), text);
        }
        let source: Source = "npm:@a/b@1.0.0:x/".parse().unwrap();
        assert_eq!((source.package.name.as_str(), source.package.version.as_str()), ("@a/b", "1.0.0"));
        assert!(source.is_folder());
        assert_eq!(source.package.file_name(), "npm-@a+b-1.0.0.tgz");
    }

    #[test]
    fn nothing_that_a_client_could_take_for_something_else() {
        for text in [
            "jquery@3.7.1:x",
            "git:jquery@3.7.1:x",
            "npm:--registry@3.7.1:x",
            "npm:../x@1.0.0:x",
            "npm:@scope@1.0.0:x",
            "npm:a/b@1.0.0:x",
            "npm:jquery@latest:x",
            "npm:jquery@^3:x",
            "npm:jquery@3.7.1",
            "npm:jquery@3.7.1:/etc/passwd",
            "npm:jquery@3.7.1:a/../../b",
            "npm:jquery@3.7.1:a//b",
            "npm:jquery@3.7.1:a\\b",
            "npm:jquery@3.7.1:",
            "npm:",
            "npm:é@1:x",
        ] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }
}

//! The corpus's table, `corpus/corpus.toml`, as types: read strictly, checked as a whole.

use std::collections::BTreeSet;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Deserializer};

use super::source::{Package, Source, is_word};

/// The table that is built into the program.
const EMBEDDED: &str = include_str!("../embedded/corpus/corpus.toml");

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(rename = "archive", default)]
    pub archives: Vec<ArchivePin>,
    /// The files used as they are.
    #[serde(rename = "file", default)]
    pub files: Vec<FilePin>,
    /// What PHP values are made from.
    #[serde(rename = "family", default)]
    pub families: Vec<Family>,
    #[serde(rename = "value", default)]
    pub values: Vec<ValuePin>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivePin {
    #[serde(deserialize_with = "parsed")]
    pub source: Package,
    pub licence: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePin {
    /// Its name in studies, after `corpus:`.
    pub id: String,
    /// `html`, `js`, …
    pub kind: String,
    #[serde(deserialize_with = "parsed")]
    pub source: Source,
    pub licence: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
    #[serde(default)]
    pub sets: Vec<String>,
}

/// Where a kind of PHP value comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// `rows`, `tree`, `i18n`, `meta`.
    pub name: String,
    /// A file or a folder of an archive.
    #[serde(deserialize_with = "parsed")]
    pub source: Source,
    /// SPDX identifier of the data.
    pub licence: String,
    /// What it is, for people.
    pub about: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuePin {
    /// Its name in studies, after `value:`.
    pub id: String,
    pub family: String,
    /// The most its serialization may take, in bytes.
    pub limit: u64,
    /// The only locale, for a catalogue of one language.
    pub locale: Option<String>,
    /// Length in bytes of its `serialize()` form.
    pub bytes: u64,
    /// SHA-256 of its `serialize()` form, hexadecimal.
    pub sha256: String,
    /// Values of its shape that are measured together with it, it being the first; none of a large one.
    pub instances: Option<InstancesPin>,
    #[serde(default)]
    pub sets: Vec<String>,
}

/// All instances of a value, one after the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstancesPin {
    pub count: usize,
    /// Length in bytes of their `serialize()` form.
    pub bytes: u64,
    /// SHA-256 of their `serialize()` form, hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// The table that is built into the program.
    pub fn embedded() -> Result<Manifest> {
        Manifest::parse(EMBEDDED).context("corpus.toml")
    }

    /// Reads and checks a table.
    pub fn parse(text: &str) -> Result<Manifest> {
        let manifest: Manifest = toml::from_str(text)?;
        manifest.check()?;
        Ok(manifest)
    }

    pub fn archive(&self, package: &Package) -> Option<&ArchivePin> {
        self.archives.iter().find(|pin| pin.source == *package)
    }

    pub fn family(&self, name: &str) -> Option<&Family> {
        self.families.iter().find(|family| family.name == name)
    }

    fn check(&self) -> Result<()> {
        let mut ids = BTreeSet::new();
        let files = self.files.iter().map(|f| (&f.id, &f.sha256, &f.sets));
        let values = self.values.iter().map(|v| (&v.id, &v.sha256, &v.sets));
        for (id, sha256, sets) in files.chain(values) {
            if !is_word(id, ".-") || id.len() > 60 {
                bail!("`{id}` is not an identifier: letters, digits, `.` and `-`");
            }
            if !ids.insert(id) {
                bail!("`{id}` is there twice");
            }
            check_digest(id, sha256)?;
            if let Some(set) = sets.iter().find(|set| !is_word(set, "-") || *set == "all") {
                bail!("`{id}`: `{set}` cannot be a set's name");
            }
        }
        for value in &self.values {
            if let Some(all) = &value.instances {
                check_digest(&value.id, &all.sha256)?;
                if all.count < 2 {
                    bail!("`{}`: {} is no number of instances", value.id, all.count);
                }
            }
        }
        for pin in &self.archives {
            check_digest(&pin.source.to_string(), &pin.sha256)?;
        }
        let sources = self.files.iter().map(|f| &f.source).chain(self.families.iter().map(|f| &f.source));
        for source in sources {
            if self.archive(&source.package).is_none() {
                bail!("`{source}`: its archive is not pinned");
            }
        }
        if let Some(file) = self.files.iter().find(|file| file.source.is_folder()) {
            bail!("`{}`: a file's source cannot be a folder", file.id);
        }
        match self.values.iter().find(|value| self.family(&value.family).is_none()) {
            Some(value) => bail!("`{}`: no family named `{}`", value.id, value.family),
            None => Ok(()),
        }
    }
}

fn check_digest(of: &str, sha256: &str) -> Result<()> {
    if sha256.len() != 64 || !sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        bail!("`{of}`: `{sha256}` is not a SHA-256 in lower-case hexadecimal");
    }
    Ok(())
}

fn parsed<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = anyhow::Error>,
{
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_is_whole_and_small() {
        let manifest = Manifest::embedded().unwrap();
        let total: u64 = manifest.archives.iter().map(|pin| pin.bytes).sum();
        assert!(total < 60_000_000, "{total} bytes to download");
        for family in ["rows", "tree", "i18n", "meta"] {
            assert!(manifest.values.iter().any(|value| value.family == family), "{family}");
            let about = manifest.family(family).unwrap();
            assert!(about.source.package.registry.is_stable(), "{family}'s values must stay the same");
        }
        for kind in ["html", "css", "js", "json", "svg", "font", "image", "wasm", "text", "map"] {
            assert!(manifest.files.iter().any(|file| file.kind == kind), "{kind}");
        }
        assert!(manifest.files.iter().any(|file| file.kind == "html" && file.bytes >= 1_800_000));
        let big = manifest.values.iter().find(|value| value.id == "tree-2.4m").unwrap();
        assert!((2_390_000..=2_400_000).contains(&big.bytes));
    }

    #[test]
    fn mistakes_are_named() {
        let digest = "a".repeat(64);
        let archive =
            format!("[[archive]]\nsource='npm:a@1.0.0'\nlicence='MIT'\nbytes=1\nsha256='{digest}'\n");
        let file = |id: &str, source: &str, sha: &str| {
            format!(
                "[[file]]\nid='{id}'\nkind='js'\nsource='{source}'\nlicence='MIT'\nbytes=1\nsha256='{sha}'\n"
            )
        };
        let good = file("a", "npm:a@1.0.0:x", &digest);
        assert!(Manifest::parse(&format!("{archive}{good}")).is_ok());
        for (text, said) in [
            (format!("{archive}{good}{good}"), "twice"),
            (good.clone(), "not pinned"),
            (format!("{archive}{}", file("../a", "npm:a@1.0.0:x", &digest)), "not an identifier"),
            (format!("{archive}{}", file("a", "npm:a@1.0.0:x/", &digest)), "cannot be a folder"),
            (format!("{archive}{}", file("a", "npm:a@1.0.0:../x", &digest)), "relative path"),
            (format!("{archive}{}", file("a", "npm:a@1.0.0:x", "beef")), "SHA-256"),
            (format!("{archive}{good}colour='red'\n"), "colour"),
        ] {
            let error = format!("{:#}", Manifest::parse(&text).unwrap_err());
            assert!(error.contains(said), "{error}");
        }
    }
}

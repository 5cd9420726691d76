//! What is made: from a policy, or the usual variants at one of three efforts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};

use super::against::{Delta, Previous};
use super::recipe::{Coded, Recipe, Scope};
use super::source::Source;
use weigh_codec::{Params, codecs, delta};
use weigh_content::types;
use weigh_model::policy::{Encoder, Policy, Rule};
use weigh_model::setting::Setting;
use weigh_model::site::WORTH_ENCODING;
use weigh_model::text::{clean, clean_path};

/// Below this many bytes, precompressed files do not cost less CPU time than compression per request (docs/RESULTS.md), and what they save
/// is less than the headers.
pub const MIN_BYTES: u64 = 256;
/// A variant that saves a smaller share is not worth its place.
pub const MIN_SAVING: f64 = 0.05;

/// How much CPU time the usual variants may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// A twentieth of the CPU time, and about 9% larger.
    Fast,
    /// Within 1.5% in all, at less than half of the CPU time.
    Balanced,
    #[default]
    Best,
}

impl Effort {
    pub const ALL: [Effort; 3] = [Effort::Fast, Effort::Balanced, Effort::Best];

    pub fn name(self) -> &'static str {
        match self {
            Effort::Fast => "fast",
            Effort::Balanced => "balanced",
            Effort::Best => "best",
        }
    }

    /// The levels of libdeflate, brotli and zstd: docs/STACK.md has the measured curve that they are chosen from.
    fn levels(self) -> [i32; 3] {
        match self {
            Effort::Fast => [9, 5, 9],
            Effort::Balanced => [10, 10, 17],
            Effort::Best => [12, 11, 19],
        }
    }
}

/// The usual variants, as the user chose them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usual {
    pub effort: Effort,
    pub zopfli: bool,
    /// zstd at its highest level.
    pub ultra: bool,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The kinds of variants, by ending.
    pub recipes: Vec<Arc<dyn Recipe>>,
    /// The smallest share that a variant must save.
    pub min_saving: f64,
    /// Whether a variant is written that saves nothing.
    pub every: bool,
    /// The template of Apache's type maps, if they are wanted.
    pub type_map: Option<String>,
    /// Files without a delta, and why.
    pub left_out: Option<BTreeMap<Arc<Path>, &'static str>>,
    /// Files that the server's configuration does not send: they have no variants.
    pub refused: BTreeSet<PathBuf>,
}

impl Settings {
    /// The usual variants of these codings.
    pub fn usual(usual: Usual, codings: &[String], min_bytes: Option<u64>) -> Result<Settings> {
        let [deflate, brotli, zstd] = usual.effort.levels();
        let gzip = if usual.zopfli { Setting::at("zopfli", 15) } else { Setting::at("libdeflate", deflate) };
        let zstd = Setting::at("zstd", if usual.ultra { 22 } else { zstd });
        let all = [("gzip", gzip), ("br", Setting::at("brotli", brotli)), ("zstd", zstd)];
        if let Some(unknown) = codings.iter().find(|name| !all.iter().any(|(coding, _)| coding == name)) {
            bail!("`{}` is no content coding that is written here; known: gzip, br, zstd", clean(unknown));
        }
        let wanted = |coding: &str| codings.is_empty() || codings.iter().any(|name| name == coding);
        let coded = |(coding, setting)| {
            let min_bytes = min_bytes.unwrap_or(MIN_BYTES);
            Coded { coding, ending: types::ending(coding), setting, min_bytes, scope: Scope::All }
        };
        let recipes = all.into_iter().filter(|(coding, _)| wanted(coding)).map(coded);
        Ok(Settings::of(recipes.map(|one| Arc::new(one) as Arc<dyn Recipe>).collect()))
    }

    /// What a policy asks to make beforehand.
    ///
    /// # Errors
    /// One line: the policy has nothing of the kind, or an encoder that is not here.
    pub fn of_policy(policy: &Policy, codings: &[String], min_bytes: Option<u64>) -> Result<Settings> {
        let mut recipes: Vec<Arc<dyn Recipe>> = Vec::new();
        for decision in &policy.decisions {
            let is_meant = |rule: &&Rule| {
                rule.by == Encoder::Beforehand && (codings.is_empty() || codings.contains(&rule.coding))
            };
            for rule in decision.rules.iter().filter(is_meant) {
                let scope = Scope::Decided { kind: decision.kind, types: rule.types.clone() };
                let mut coded = Coded::of_rule(rule, scope)?;
                coded.min_bytes = min_bytes.unwrap_or(coded.min_bytes);
                recipes.push(Arc::new(coded));
            }
        }
        ensure!(
            !recipes.is_empty(),
            "the policy precompresses nothing: none of its rules has by = \"beforehand\""
        );
        Ok(Settings::of(recipes))
    }

    fn of(recipes: Vec<Arc<dyn Recipe>>) -> Settings {
        Settings {
            recipes,
            min_saving: MIN_SAVING,
            every: false,
            type_map: None,
            left_out: None,
            refused: BTreeSet::new(),
        }
    }

    /// Adds deltas against the versions of before in a folder.
    ///
    /// # Errors
    /// One line: a folder that cannot be read, or one in which no file of the tree has a version of before.
    pub fn add_deltas(&mut self, tree: &Path, previous: &Path, min_bytes: Option<u64>) -> Result<()> {
        let mut found = Previous::of(tree, previous)?;
        let left_out = std::mem::take(&mut found.left_out);
        ensure!(
            !found.is_empty(),
            "{}: no file of the tree has another version there: name the folder of the last deployment",
            clean_path(previous)
        );
        // Of several deployments, any may have a version.
        match &mut self.left_out {
            None => self.left_out = Some(left_out),
            Some(all) => all.retain(|path, _| left_out.contains_key(path)),
        }
        self.add(Arc::new(found), min_bytes);
        Ok(())
    }

    /// Adds deltas of all pages against one dictionary.
    ///
    /// # Errors
    /// One line: the dictionary cannot be read.
    pub fn add_dictionary(&mut self, tree: &Path, dictionary: &Path, min_bytes: Option<u64>) -> Result<()> {
        self.add(Arc::new(Previous::shared(tree, dictionary)?), min_bytes);
        Ok(())
    }

    fn add(&mut self, found: Arc<Previous>, min_bytes: Option<u64>) {
        let min_bytes = min_bytes.unwrap_or(MIN_BYTES);
        let delta = |coding| Delta { coding, previous: Arc::clone(&found), min_bytes };
        self.recipes.extend(delta::Coding::ALL.map(|coding| Arc::new(delta(coding)) as Arc<dyn Recipe>));
    }

    /// What is known of whether a source is worth encoding. `found`: what a trial of it saved; none: it was not read.
    pub fn is_worth(&self, source: &Source, found: Option<Option<f64>>) -> Option<bool> {
        match found {
            _ if self.refused.contains(&*source.path) => Some(false),
            // A server's rewrites ask for a variant of every file of their types.
            _ if self.every => Some(types::is_compressible(&source.format)),
            Some(saving) => Some(saving.is_none_or(|saving| saving >= self.least())),
            None => None,
        }
    }

    /// The share that a trial has to save of a source; none: there is none to be made.
    pub fn trial(&self, source: &Source) -> Option<f64> {
        (source.is_worth.is_none() && !self.refused.contains(&*source.path)).then(|| self.least())
    }

    fn least(&self) -> f64 {
        self.min_saving.min(WORTH_ENCODING)
    }

    /// Why a source has no variants.
    pub fn refusal(&self, source: &Source) -> String {
        let least = self.recipes.iter().map(|recipe| recipe.min_bytes()).min().unwrap_or_default();
        match source.is_worth {
            _ if self.refused.contains(&*source.path) => "the server's configuration does not send it".into(),
            _ if source.seen.bytes == 0 => "empty".into(),
            _ if source.seen.bytes < least => format!("smaller than {least} bytes"),
            Some(false) if self.every => "not of a type that the servers' configurations encode".into(),
            Some(false) => format!("compressed already: zstd 1 saves less than {:.0}%", 100.0 * self.least()),
            _ => "not what the policy precompresses".into(),
        }
    }

    /// The variants of a source, one for each ending.
    pub fn wanted<'s>(&'s self, source: &'s Source) -> impl Iterator<Item = usize> + 's {
        let is_first = |at: usize| {
            let ending = self.recipes[at].ending(&source.path);
            let is_same =
                |recipe: &Arc<dyn Recipe>| recipe.takes(source) && recipe.ending(&source.path) == ending;
            !self.recipes[..at].iter().any(is_same)
        };
        (0..self.recipes.len()).filter(move |at| self.recipes[*at].takes(source) && is_first(*at))
    }

    /// Whether a variant of this length is worth its place.
    pub fn saves(&self, bytes: u64, encoded: u64) -> bool {
        self.every
            || (encoded as f64) < bytes as f64 && encoded as f64 <= bytes as f64 * (1.0 - self.min_saving)
    }
}

impl Coded {
    /// A rule's variant.
    ///
    /// # Errors
    /// One line: an encoder that is not here.
    pub fn of_rule(rule: &Rule, scope: Scope) -> Result<Coded> {
        let usual = match rule.coding.as_str() {
            "gzip" => {
                ("gzip", "libdeflate:12", &["libdeflate", "zopfli", "zlib", "zlib-ng", "zlib-rs", "isal"][..])
            }
            "br" => ("br", "brotli:11", &["brotli"][..]),
            "zstd" => ("zstd", "zstd:19", &["zstd"][..]),
            other => {
                bail!("policy: nothing here writes precompressed files in the coding `{}`", clean(other))
            }
        };
        let (coding, default, codecs) = usual;
        let text = rule.encoder.as_deref().unwrap_or(default);
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let wrong = || {
            anyhow::anyhow!(
                "policy: `{}` is no encoder of {coding}; known: {}",
                clean(text),
                codecs.join(", ")
            )
        };
        let level = level.map(str::parse::<i32>).transpose().map_err(|_| wrong())?;
        let codec = codecs::find(name).filter(|_| codecs.contains(&name)).ok_or_else(wrong)?;
        let params = Params { level, ..Params::default() };
        let level = codec.info().levels.map(|_| params.level_or_default(codec.info()));
        params.check(codec.info()).map_err(|error| anyhow::anyhow!("policy: {error}"))?;
        let setting = Setting { codec: name.to_owned(), level, options: Default::default() };
        Ok(Coded { coding, ending: types::ending(coding), setting, min_bytes: rule.min_bytes, scope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn source(home: &Path, name: &str, bytes: usize) -> Source {
        let path = home.join(name);
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        Source::of(Path::new(name), &path.metadata().unwrap()).unwrap()
    }

    fn made(settings: &Settings, source: &Source) -> Vec<String> {
        settings.wanted(source).map(|at| settings.recipes[at].by(&source.path)).collect()
    }

    #[test]
    fn the_usual_variants_are_for_text_of_some_size() {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings::usual(Usual::default(), &[], None).unwrap();
        let all = ["libdeflate:12", "brotli:11", "zstd:19"];
        assert_eq!(made(&settings, &source(home.path(), "a.js", 256)), all);
        assert!(made(&settings, &source(home.path(), "b.js", 255)).is_empty());
        let mut dense = source(home.path(), "c.png", 5000);
        assert_eq!(settings.trial(&dense), Some(0.05), "it is tried first");
        dense.is_worth = settings.is_worth(&dense, Some(Some(0.04)));
        assert!(made(&settings, &dense).is_empty() && settings.refusal(&dense).contains("less than 5%"));
        let some = Usual { effort: Effort::Fast, zopfli: true, ultra: true };
        let settings = Settings::usual(some, &["zstd".into(), "gzip".into()], Some(0)).unwrap();
        assert_eq!(made(&settings, &source(home.path(), "d.svg", 1)), ["zopfli:15", "zstd:22"]);
        assert!(Settings::usual(some, &["bz2".into()], None).unwrap_err().to_string().contains("`bz2`"));
    }

    #[test]
    fn a_variant_has_to_save_its_share() {
        let mut settings = Settings::usual(Usual::default(), &[], None).unwrap();
        assert!(settings.saves(1000, 950) && !settings.saves(1000, 951));
        settings.min_saving = 0.0;
        assert!(settings.saves(1000, 999) && !settings.saves(1000, 1000));
        settings.every = true;
        assert!(settings.saves(0, 20));
    }

    #[test]
    fn windows_are_those_that_browsers_accept() {
        let coded = |codec: &str, level| Coded {
            coding: "br",
            ending: "br",
            setting: Setting::at(codec, level),
            min_bytes: 0,
            scope: Scope::All,
        };
        let window = |codec: &str, level, bytes| {
            super::super::recipe::window(&coded(codec, level), bytes).unwrap_or_default()
        };
        assert_eq!(window("brotli", 11, 100), 16);
        assert_eq!(window("brotli", 11, (1 << 22) - 16), 22);
        assert_eq!(window("brotli", 11, (1 << 22) - 15), 23);
        assert_eq!(window("brotli", 11, 1 << 30), 23);
        assert_eq!(window("zstd", 22, 1 << 30), 23);
        assert_eq!(window("zstd", 19, 1 << 30), 0, "as the library has it: 8 MB");
    }
}

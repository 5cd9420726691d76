//! The TOML file of a study, read strictly: an unknown key is an error that names the nearest one.
//!
//! It owns what every study has. Blocks, and keys beside them, are a [`Part`] of the subject that they are for.

pub mod block;

use std::any::Any;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use crate::subject;
use block::Part;
use weigh_model::gate::Gate;
pub use weigh_model::study::{Budget, Precision};
use weigh_model::study::{Links, StudyText};
use weigh_model::suggest::{nearest_hint, readable};
use weigh_model::text::clean;

/// The version of the file format that this program reads.
pub const SCHEMA: u32 = 1;

/// A study as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The version of the file format; [`SCHEMA`].
    pub schema: u32,
    /// `cache-levels`: lower case, digits and hyphens.
    pub name: String,
    /// A heading.
    pub title: String,
    /// The question, one sentence.
    pub question: String,
    /// How to read the answer.
    pub reading: String,
    /// How long.
    #[serde(default)]
    pub budget: Budget,
    /// How exact.
    #[serde(default)]
    pub precision: Precision,
    /// Links whose total times are computed.
    #[serde(default)]
    pub links: Option<Links>,
    /// Limits that results must keep.
    #[serde(default)]
    pub gate: Vec<Gate>,
    /// The text that it was read from; what was changed in it afterwards is not there.
    #[serde(skip)]
    pub(crate) source: String,
    /// What it asks of each subject.
    #[serde(skip)]
    pub(crate) parts: Vec<Arc<dyn Part>>,
}

/// The keys of every study.
const KEYS: [&str; 9] =
    ["schema", "name", "title", "question", "reading", "budget", "precision", "links", "gate"];

impl Study {
    /// Reads a study's text; `whence` names it in errors.
    ///
    /// # Errors
    /// One line without control characters: where, what was wrong, and the nearest known key.
    pub fn parse(text: &str, whence: &str) -> Result<Study> {
        // Errors quote what the file says.
        Study::read(text, whence).map_err(|error| anyhow!(clean(&format!("{error:#}"))))
    }

    fn read(text: &str, whence: &str) -> Result<Study> {
        let readable = |error: toml::de::Error| readable(&error, text, whence);
        let table = DeTable::parse(text).map_err(readable)?;
        let span = table.span();
        let of = |keys: &[&str]| {
            let own = table.get_ref().iter().filter(|(key, _)| keys.contains(&key.get_ref().as_ref()));
            let own = own.map(|(key, value)| (key.clone(), value.clone()));
            Deserializer::from(Spanned::new(span.clone(), own.collect()))
        };
        let parts = subject::parts();
        let known = || KEYS.into_iter().chain(parts.iter().flat_map(|part| part.keys().iter().copied()));
        let keys = table.get_ref().keys().filter(|key| known().all(|known| known != key.get_ref()));
        if let Some(key) = keys.min_by_key(|key| key.span().start) {
            let line = 1 + text[..key.span().start].matches('\n').count();
            let hint = nearest_hint(key.get_ref(), known());
            bail!("{whence}, line {line}: unknown key `{}`{hint}", key.get_ref());
        }
        let mut study = Study::deserialize(of(&KEYS)).map_err(readable)?;
        let parts = parts.iter().map(|part| part.read(of(part.keys())));
        study.parts = parts.collect::<Result<_, _>>().map_err(readable)?;
        text.clone_into(&mut study.source);
        study.check().with_context(|| whence.to_owned())?;
        Ok(study)
    }

    fn check(&self) -> Result<()> {
        if self.schema != SCHEMA {
            bail!("schema = {} is not known; this program reads schema = {SCHEMA}", self.schema);
        }
        if self.name.is_empty()
            || !self.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            bail!("name `{}` may hold lower-case letters, digits and hyphens only", self.name);
        }
        let asked: Vec<&dyn Part> = self.asked().collect();
        if asked.is_empty() {
            let all: Vec<String> = self.parts.iter().map(|part| format!("[[{}]]", part.keys()[0])).collect();
            let (last, others) = all.split_last().context("no subject")?;
            bail!("a study needs at least one block of {} or {last}", others.join(", "));
        }
        for (at, a) in asked.iter().enumerate() {
            let (own, others) = (a.keys()[0], &asked[at + 1..]);
            let may_stand = |b: &dyn Part| a.beside() == Some(b.keys()[0]) || b.beside() == Some(own);
            if let Some(b) = others.iter().find(|b| !may_stand(**b)) {
                bail!("a study has [[{own}]] or [[{}]], not both; make two studies", b.keys()[0]);
            }
        }
        self.parts.iter().try_for_each(|part| part.check())?;
        for (value, key) in [
            (self.budget.seconds, "budget.seconds"),
            (self.budget.quick_seconds, "budget.quick_seconds"),
            (self.budget.cell_seconds, "budget.cell_seconds"),
            (self.precision.half_width, "precision.half_width"),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                bail!("{key} = {value} must be above zero");
            }
        }
        if self.precision.max_rounds == 0 || self.precision.min_samples == 0 {
            bail!("precision.max_rounds and precision.min_samples must be at least 1");
        }
        if let Some(links) = &self.links {
            links.check()?;
        }
        self.gate.iter().try_for_each(|gate| gate.limit().map(drop))?;
        Ok(())
    }

    /// The part that travels into the plan.
    pub fn text(&self) -> StudyText {
        let mut text = StudyText {
            name: self.name.clone(),
            title: self.title.clone(),
            question: self.question.clone(),
            reading: self.reading.clone(),
            links: self.links.clone(),
            gates: self.gate.clone(),
            ..StudyText::default()
        };
        self.parts.iter().for_each(|part| part.say(&mut text));
        text
    }

    /// What it asks of a subject.
    pub fn part<P: Part + Clone + Default>(&self) -> P {
        let own = self.parts.iter().find_map(|part| (&**part as &dyn Any).downcast_ref::<P>());
        own.cloned().unwrap_or_default()
    }

    /// The study with this in place of what it asks of the subject.
    #[must_use]
    pub fn with(mut self, part: impl Part) -> Study {
        self.parts.retain(|known| known.keys() != part.keys());
        self.parts.push(Arc::new(part));
        self
    }

    /// Its parts that have blocks.
    fn asked(&self) -> impl Iterator<Item = &dyn Part> {
        self.parts.iter().map(|part| &**part).filter(|part| !part.abouts().is_empty())
    }

    /// The blocks of this kind of part are what is measured: those that they may stand beside come first.
    pub fn measures(&self, kind: &dyn Part) -> bool {
        let has = |key| self.asked().any(|part| part.keys()[0] == key);
        has(kind.keys()[0]) && !kind.beside().is_some_and(has)
    }

    /// The links that what is measured goes over, by the text that names them.
    pub fn all_links(&self) -> Vec<String> {
        self.asked().filter(|part| self.measures(*part)).flat_map(Part::links).collect()
    }

    /// Keeps the blocks whose `about` has these words, in whatever case.
    ///
    /// # Errors
    /// None has: the line names what there is.
    pub fn only(&mut self, words: &str) -> Result<()> {
        let wanted = words.to_lowercase();
        let left: Vec<_> = self.parts.iter().map(|part| part.only(&wanted)).collect();
        let all = std::mem::replace(&mut self.parts, left);
        if self.asked().next().is_none() {
            let known = all.iter().flat_map(|part| part.abouts()).filter(|about| !about.is_empty());
            let known: Vec<String> = known.map(|about| format!("`{about}`")).collect();
            let known = if known.is_empty() { "none has a description".into() } else { known.join(", ") };
            bail!("--only {words}: no block of {} matches; blocks: {known}", self.name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! The TOML file of a study, read strictly: an unknown key is an error that names the nearest one.
//!
//! What blocks of a subject are is its own.

pub mod block;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use crate::subject::client::study::{ClientBlock, Variants};
use crate::subject::codec::study::CellBlock;
use crate::subject::delivery::study::DeliveryBlock;
use block::{Block, links_of};
use weigh_model::gate::Gate;
pub use weigh_model::study::{Budget, Precision};
use weigh_model::study::{Links, Published, StudyText};
use weigh_model::suggest::readable;
use weigh_model::text::clean;

/// The version of the file format that this program reads.
pub const SCHEMA: u32 = 1;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The version of the file format; [`SCHEMA`].
    pub schema: u32,
    /// `cache-levels`: lower case, digits and hyphens.
    pub name: String,
    pub title: String,
    pub question: String,
    /// How to read the answer.
    pub reading: String,
    #[serde(default)]
    pub budget: Budget,
    #[serde(default)]
    pub precision: Precision,
    /// Links whose total times are computed.
    pub links: Option<Links>,
    /// A table published elsewhere, to compare with.
    pub published: Option<Published>,
    /// Limits that results must keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<Gate>,
    /// The text that it was read from, if it was; what was changed in it afterwards is not there.
    #[serde(skip)]
    pub source: String,
    /// Blocks of codecs; a cell that several name is measured once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellBlock>,
    /// Blocks of what servers send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<DeliveryBlock>,
    /// Blocks of clients of stores. In a study that has cells they are measured in place of those, when a store is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientBlock>,
    /// Other ways to run a PHP, by name.
    #[serde(default, skip_serializing_if = "Variants::is_empty")]
    pub variants: Variants,
}

/// What a study's blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// `[[cells]]`.
    Cells,
    /// `[[deliveries]]`.
    Deliveries,
    /// `[[clients]]`.
    Clients,
}

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
        let mut study: Study = toml::from_str(text).map_err(|error| readable(&error, text, whence))?;
        text.clone_into(&mut study.source);
        study.check().with_context(|| whence.to_owned())?;
        Ok(study)
    }

    /// The text that [`Study::parse`] reads.
    ///
    /// # Errors
    /// None is known.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("the study cannot be written")
    }

    /// Makes sure that it can be planned.
    ///
    /// # Errors
    /// One line: the key, and what is wrong with it.
    pub fn check(&self) -> Result<()> {
        if self.schema != SCHEMA {
            bail!("schema = {} is not known; this program reads schema = {SCHEMA}", self.schema);
        }
        if self.name.is_empty()
            || !self.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            bail!("name `{}` may hold lower-case letters, digits and hyphens only", self.name);
        }
        match (self.cells.is_empty(), self.deliveries.is_empty(), self.clients.is_empty()) {
            (true, true, true) => {
                bail!("a study needs at least one block of [[cells]], [[deliveries]] or [[clients]]")
            }
            (false, false, _) => bail!("a study has [[cells]] or [[deliveries]], not both; make two studies"),
            (_, false, false) => {
                bail!("a study has [[deliveries]] or [[clients]], not both; make two studies")
            }
            _ => {}
        }
        self.deliveries.iter().try_for_each(DeliveryBlock::check)?;
        self.clients.iter().try_for_each(ClientBlock::check)?;
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
        self.published.as_ref().map_or(Ok(()), Published::check)?;
        self.gate.iter().try_for_each(|gate| gate.limit().map(drop))?;
        Ok(())
    }

    /// The part that travels into the plan.
    pub fn text(&self) -> StudyText {
        StudyText {
            name: self.name.clone(),
            title: self.title.clone(),
            question: self.question.clone(),
            reading: self.reading.clone(),
            links: self.links.clone(),
            published_table: self.published.clone(),
            gates: self.gate.clone(),
        }
    }

    pub fn measured(&self) -> Blocks {
        match (self.cells.is_empty(), self.deliveries.is_empty()) {
            (false, _) => Blocks::Cells,
            (true, false) => Blocks::Deliveries,
            (true, true) => Blocks::Clients,
        }
    }

    /// The links that what is measured goes over, by the text that names them.
    pub fn all_links(&self) -> Vec<String> {
        match self.measured() {
            Blocks::Cells => links_of(&self.cells),
            Blocks::Deliveries => links_of(&self.deliveries),
            Blocks::Clients => links_of(&self.clients),
        }
    }

    /// Keeps the blocks whose `about` has these words, in whatever case.
    ///
    /// # Errors
    /// None has: the line names what there is.
    pub fn only(&mut self, words: &str) -> Result<()> {
        let wanted = words.to_lowercase();
        let mut known: Vec<String> = Vec::new();
        let mut is_meant = |about: &str| {
            known.extend((!about.is_empty()).then(|| format!("`{about}`")));
            about.to_lowercase().contains(&wanted)
        };
        self.cells.retain(|block| is_meant(block.about()));
        self.deliveries.retain(|block| is_meant(block.about()));
        self.clients.retain(|block| is_meant(block.about()));
        if self.cells.is_empty() && self.deliveries.is_empty() && self.clients.is_empty() {
            let known = if known.is_empty() { "none has a description".into() } else { known.join(", ") };
            bail!("--only {words}: no block of {} matches; blocks: {known}", self.name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! The TOML file of a study, read strictly: an unknown key is an error that names the nearest one.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::study::block::{Block, Quick, links_of, quick_factors, words};
use crate::study::{ClientBlock, DeliveryBlock, Links, Published, PublishedDelivery, StudyText, Variants};
use crate::suggest::readable;

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
    /// The blocks of cells; a cell that several blocks name is measured once.
    #[serde(default)]
    pub cells: Vec<CellBlock>,
    /// The blocks of deliveries; a study has either these or cells.
    #[serde(default)]
    pub deliveries: Vec<DeliveryBlock>,
    /// The blocks of clients of stores. In a study that has cells they are measured in place of those, when a store is named.
    #[serde(default)]
    pub clients: Vec<ClientBlock>,
    /// Other ways to run a PHP, by name, for the blocks of clients.
    #[serde(default)]
    pub variants: Variants,
    /// Links whose total times are computed.
    #[serde(default)]
    pub links: Option<Links>,
    /// Figures published elsewhere.
    #[serde(default)]
    pub published: Option<Published>,
    /// Figures of deliveries published elsewhere.
    #[serde(default)]
    pub published_delivery: Option<PublishedDelivery>,
}

/// How long a run may take, in seconds of wall time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// The whole study.
    pub seconds: f64,
    /// Its quick form.
    pub quick_seconds: f64,
    /// One cell, in all its visits.
    pub cell_seconds: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { seconds: 900.0, quick_seconds: 120.0, cell_seconds: 20.0 }
    }
}

/// When a cell is settled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Precision {
    /// Rounds at most.
    pub max_rounds: u32,
    /// Samples a cell needs.
    pub min_samples: u32,
    /// Half-width of the 95% interval ÷ CPU time.
    pub half_width: f64,
}

impl Default for Precision {
    fn default() -> Self {
        Precision { max_rounds: 30, min_samples: 7, half_width: 0.02 }
    }
}

/// Every combination of these factors is a cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellBlock {
    /// What the block is for.
    #[serde(default)]
    pub about: String,
    /// Contents by name: `value:tree-2.4m`, `corpus:jquery`, `set:web`.
    pub content: Vec<String>,
    /// `native`, `php` (every PHP of the run), or one runtime's name.
    pub runtimes: Vec<String>,
    /// Serializers; `-` is a cell on bytes. Absent: bytes only.
    #[serde(default = "bytes_only")]
    pub serializers: Vec<String>,
    /// Settings: see [`crate::setting::Request`].
    pub codecs: Vec<String>,
    /// Measure every cell to the end, because its own figures are shown.
    #[serde(default)]
    pub keep: bool,
    /// Cut the content into items of this many bytes, each encoded on its own.
    #[serde(default)]
    pub block_bytes: Option<u64>,
    /// What the quick form does with this block; absent: the same as the whole study.
    #[serde(default)]
    pub quick: Option<Quick<QuickCellFactors>>,
}

fn bytes_only() -> Vec<String> {
    words(["-"])
}

quick_factors!(QuickCellFactors of CellBlock: content: Vec<String>, serializers: Vec<String>, codecs: Vec<String>);

impl Study {
    /// Reads a study's text; `whence` names it in errors.
    ///
    /// # Errors
    /// One line: where, what was wrong, and the nearest known key.
    pub fn parse(text: &str, whence: &str) -> Result<Study> {
        let study: Study = toml::from_str(text).map_err(|e| readable(&e, text, whence))?;
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
        self.clients.iter().try_for_each(ClientBlock::check)?;
        if self.published_delivery.is_some() && self.deliveries.is_empty() {
            bail!("[published_delivery] belongs to a study of [[deliveries]]");
        }
        self.deliveries.iter().try_for_each(DeliveryBlock::check)?;
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
            let ascending = links.mbit.windows(2).all(|w| w[0] < w[1]);
            if links.mbit.is_empty() || !ascending || links.mbit.iter().any(|m| m.is_nan() || *m <= 0.0) {
                bail!("links.mbit must be speeds above zero in ascending order");
            }
        }
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
            published: self.published.clone(),
            published_delivery: self.published_delivery.clone(),
        }
    }

    /// Its clients are what is measured.
    pub fn is_client(&self) -> bool {
        self.cells.is_empty() && !self.clients.is_empty()
    }

    /// The links that its deliveries or its clients go over, by the text that names them.
    pub fn all_links(&self) -> Vec<String> {
        let clients = if self.is_client() { links_of(&self.clients) } else { Vec::new() };
        clients.into_iter().chain(links_of(&self.deliveries)).collect()
    }

    /// Keeps the blocks whose `about` has these words, in whatever case.
    ///
    /// # Errors
    /// None has: the line names what there is.
    pub fn only(&mut self, words: &str) -> Result<()> {
        fn keep<B: Block>(blocks: &mut Vec<B>, wanted: &str, known: &mut Vec<String>) {
            let abouts = blocks.iter().map(Block::about).filter(|about| !about.is_empty());
            known.extend(abouts.map(|about| format!("`{about}`")));
            blocks.retain(|block| block.about().to_lowercase().contains(wanted));
        }
        let (wanted, mut known) = (words.to_lowercase(), Vec::new());
        keep(&mut self.cells, &wanted, &mut known);
        keep(&mut self.deliveries, &wanted, &mut known);
        keep(&mut self.clients, &wanted, &mut known);
        if self.cells.is_empty() && self.deliveries.is_empty() && self.clients.is_empty() {
            let known = if known.is_empty() { "none says what it is for".into() } else { known.join(", ") };
            bail!("--only {words}: no block of the study {} speaks of that: {known}", self.name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! A result that is not a run, such as that of a load or a profile: what every format shows of it.

use anyhow::{Result, bail};

use crate::block::Block;
use crate::flame::Flame;
use crate::output::{Picture, Rendered};

/// Blocks for screens and pages, and the result as JSON.
#[derive(Clone, Debug)]
pub struct Composed {
    /// What it is, with its article: `a load`.
    pub noun: &'static str,
    /// In the order of the report; the first heading is the title of a page.
    pub blocks: Vec<Block>,
    /// Its charts, which stand where [`Block::StudyCharts`] is.
    pub pictures: Vec<Picture>,
    /// Its flame graphs, for the page.
    pub flames: Vec<Flame>,
    /// The whole result as JSON.
    pub json: String,
}

impl Composed {
    /// The files of its pictures.
    ///
    /// # Errors
    /// It has none.
    pub(super) fn drawn(&self, file: impl Fn(&Picture) -> Result<Rendered>) -> Result<Vec<Rendered>> {
        if self.pictures.is_empty() {
            bail!("{} has no charts; its figures: --format terminal, html or json", self.noun);
        }
        self.pictures.iter().map(file).collect()
    }
}

/// Lines of facts as one block, which pages and documents show as one.
pub(crate) fn joined(blocks: Vec<Block>) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    for block in blocks {
        match (all.last_mut(), block) {
            (Some(Block::Literal(lines)), Block::Literal(line)) => {
                lines.push('\n');
                lines.push_str(&line);
            }
            (_, block) => all.push(block),
        }
    }
    all
}

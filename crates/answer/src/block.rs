//! Parts of a report: plain text and tables, independent of how they are shown.

use weigh_model::units;

use crate::load_view::LoadView;
use crate::table::Grid;

/// A part of the report. Texts are cleaned, and not escaped for any format.
#[derive(Clone, Debug)]
pub enum Block {
    /// A heading; 1 is the report's own.
    Heading(u8, String),
    Text(String),
    /// A remark: how to read a table, or the source of a number.
    Remark(String),
    /// The answer: sentences; the first one is the recommendation.
    Answer(Vec<String>),
    Steps(Vec<Step>),
    /// What figures are compared, and the figures before and after; pages show them.
    Tiles(String, Vec<Tile>),
    /// Sentences; the second part is the remedy.
    Points(Vec<(String, Option<String>)>),
    Table(Grid),
    /// A command or other literal line.
    Literal(String),
    /// Loads in a browser, where a format shows pictures.
    Loads(Vec<LoadView>),
    /// The place of a group's charts (its index among the groups), where a format shows pictures.
    Charts(usize),
    /// The place of the charts of the whole study.
    StudyCharts,
}

/// Something to do, or a numbered sentence, which has its text alone.
#[derive(Clone, Debug, Default)]
pub struct Step {
    pub text: String,
    /// What it brings.
    pub change: Vec<String>,
    /// What it needs that is not there, and the commands that install it, which pages show.
    pub needs: Vec<String>,
    pub install: Vec<String>,
    /// The command of each deployment.
    pub deploy: Option<String>,
}

impl Step {
    pub fn new(text: impl Into<String>) -> Step {
        Step { text: text.into(), ..Step::default() }
    }

    /// All of it in sentences.
    pub fn sentences(&self) -> String {
        let change = (!self.change.is_empty()).then(|| format!(" {}.", self.change.join(", ")));
        let needs = (!self.needs.is_empty()).then(|| format!(" Needs {}.", units::list(&self.needs)));
        let deploy = self.deploy.as_ref().map(|command| format!(" Run at each deployment: {command}."));
        [change, needs, deploy].into_iter().flatten().fold(self.text.clone(), |text, part| text + &part)
    }
}

/// A figure before and after, as text.
#[derive(Clone, Debug)]
pub struct Tile {
    pub name: String,
    pub before: String,
    pub after: String,
    pub change: String,
    /// Whether it gets better; none: unknown, or neither.
    pub is_better: Option<bool>,
}

/// The number of further ones in the full report; empty if there are none.
pub(crate) fn more(left: usize, one: &str, several: &str) -> Option<Block> {
    (left > 0).then(|| Block::Remark(format!("{} in the full report.", units::count(left, one, several))))
}

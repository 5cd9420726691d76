//! `weigh run --profile`: profiles of a run's cells, shown after its results and written into its folder.

use std::path::Path;

use anyhow::Result;

use super::live::Preparing;
use super::profile::{Named, output};
use super::report::options;
use super::terminal;
use crate::content::names::Names;
use crate::interrupt::Interrupt;
use crate::lab::{Lab, profiled};
use crate::plan::Plan;
use crate::profile::document::{Document, Shown};
use crate::report::Detail;
use crate::report::profile::{self, Choice, Sort};

/// Functions that are shown of each cell; the files have all.
const TOP: usize = 8;

/// Profiles the cells whose ids have these words.
///
/// # Errors
/// None has, or a profile cannot be made or written.
pub fn run(
    lab: &Lab,
    path: &Path,
    plan: &Plan,
    words: &str,
    stores: &[String],
    interrupt: &Interrupt,
    json: bool,
) -> Result<()> {
    let cells = profiled::profile(lab, path, plan, words, stores, (interrupt, &mut Preparing::new()))?;
    let choice = Choice { sort: Sort::Own, top: TOP, function: None };
    let (folder, mut names) = (path.join("profiles"), Names::new());
    for cell in cells {
        let shown = Shown::of(&cell.cell, &cell.profile, Some(cell.run.clone()));
        let document = Document::of(vec![shown], None);
        let out = folder.join(names.give(&cell.cell.replace(['/', ':', '*'], "-")));
        let name = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let named = Named {
            name,
            profile: cell.profile.clone(),
            run: None,
            file: Some(cell.file.clone()),
            _made: None,
        };
        output::folder(&out, &document, &choice, &[named])?;
        if !json {
            terminal::print(&profile::terminal(&document, &choice, &options(Detail::Summary, None)))?;
        }
    }
    terminal::note(&format!("profiles  {}", folder.display()));
    Ok(())
}

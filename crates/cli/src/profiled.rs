//! `weigh run --profile`: profiles of a run's configurations, shown after its results and written into its folder.

use std::path::Path;

use anyhow::Result;

use crate::live::Preparing;
use crate::profiles::{self, Named};
use crate::results::options;
use crate::terminal;
use weigh_answer::format::Detail;
use weigh_answer::profile::document::{Document, ShownProfile};
use weigh_answer::profile::report::{self, Choice, Sort};
use weigh_content::names::Names;
use weigh_model::plan::Plan;
use weigh_os::interrupt::Interrupt;
use weigh_profile::script::Profiled;
use weigh_run::lab::Lab;
use weigh_run::profiled::{self, Contents};

/// Functions that are shown of each cell; the files have all.
const TOP: usize = 8;

/// Profiles the cells that were chosen, if any were.
pub fn run(
    lab: &Lab,
    (path, plan, contents): (&Path, &Plan, &Contents),
    stores: &[String],
    json: bool,
    interrupt: &Interrupt,
) -> Result<()> {
    let cells = profiled::profile(lab, path, plan, contents, stores, (interrupt, &mut Preparing::new()))?;
    if cells.is_empty() {
        return Ok(());
    }
    let choice = Choice { sort: Sort::Own, top: TOP, function: None };
    let (folder, mut names) = (path.join("profiles"), Names::new());
    for cell in cells {
        let Profiled { profile, run, file } = cell.made;
        let shown = ShownProfile::of(&cell.cell, &profile, Some(run));
        let document = Document::of(vec![shown]);
        let out = folder.join(names.give(&cell.cell.replace(['/', ':', '*'], "-")));
        let name = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let named = Named { name, profile, run: None, file: Some(file) };
        profiles::folder(&out, &document, &choice, &[named])?;
        if !json {
            terminal::print(&report::terminal(&document, &choice, &options(Detail::Summary, None)))?;
        }
    }
    terminal::note(&format!("Profiles: {}", folder.display()));
    Ok(())
}

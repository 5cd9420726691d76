//! `weigh runs show` of what is not a run: the folder of a load, or of a profile.

use std::path::Path;

use anyhow::{Result, anyhow};

use super::Args;
use crate::exit::OrRefuse;
use crate::results::{options, print_files, write_files};
use crate::terminal;
use weigh_answer::format::composed::Composed;
use weigh_answer::format::{Detail, Format, Medium, Options};
use weigh_answer::page::PATHS;
use weigh_answer::profile::report::{Choice, Sort};
use weigh_answer::{load, profile};
use weigh_model::text::clean_path;
use weigh_profile::stored as profiles;
use weigh_run::loading::stored as loads;

/// Functions of a profile that are shown: in a summary, and in a page. Its folder has all.
const FEW: usize = 30;
const MANY: usize = 500;

pub fn is_other(folder: &Path) -> bool {
    loads::is_load(folder) || profiles::is_profile(folder)
}

pub fn show(folder: &Path, args: &Args, formats: &[&dyn Format]) -> Result<()> {
    let flags = [("--at", args.at.is_some()), ("--columns", args.wanted.columns.is_some())];
    if let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) {
        let shown = clean_path(folder);
        return Err(anyhow!("{flag} is for runs; {shown} is the result of a load or a profile"))
            .or_usage_error();
    }
    for format in formats {
        // Pages and files are always complete, as those of runs.
        let is_screen = format.medium() == Medium::Screen;
        let detail = if is_screen && !args.full { Detail::Summary } else { Detail::Full };
        let shown = options(detail, None);
        let color = shown.color && is_screen && args.out.is_none();
        let options = Options { color, ..shown };
        let files = format
            .render_composed(&composed(folder, &options).or_usage_error()?, &options)
            .or_usage_error()?;
        match &args.out {
            Some(out) => {
                for path in write_files(&files, out)? {
                    terminal::print(&format!("{}\n", path.display()))?;
                }
            }
            None => print_files(&files, *format)?,
        }
    }
    Ok(())
}

fn composed(folder: &Path, options: &Options) -> Result<Composed> {
    if loads::is_load(folder) {
        return load::report::composed(&loads::read(folder)?, options);
    }
    let document = profiles::read(folder)?;
    let flames = profiles::flames(folder, &document, PATHS);
    let top = if options.detail == Detail::Full { MANY } else { FEW };
    let choice = Choice { sort: Sort::Own, top, function: None };
    profile::report::composed(&document, &choice, options, flames)
}

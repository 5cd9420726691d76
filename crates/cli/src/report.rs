//! `weigh runs show`: a run again, in any format.

mod other;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use crate::exit::{Exit, OrRefuse};
use crate::results::{ColumnsFlag, OutputOptions, flames, further, options, print, write};
use crate::{listing, terminal};
use weigh_answer::document;
use weigh_answer::document::ranking::{self, RankingDocument};
use weigh_answer::format::{self, Detail, FORMATS, Format, Medium, Options};
use weigh_answer::report::Report;
use weigh_answer::report::ranking::Conditions;
use weigh_history::Filter;
use weigh_model::text::clean_path;
use weigh_run::dir::StoredRun;
use weigh_run::list::{LATEST, below, find_below};

/// Flags of `weigh runs show`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A run's folder, its name in weigh-runs, or `latest`; or the folder of a load or a profile
    #[arg(value_name = "RUN", default_value = LATEST)]
    run: PathBuf,
    #[arg(long, short, default_value = "terminal", value_name = "FORMAT", value_parser = known_format, help = formats())]
    format: Vec<&'static dyn Format>,
    /// Write files into this folder instead of printing; pictures need it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// All evidence instead of the answer
    #[arg(long)]
    full: bool,
    /// As JSON
    #[arg(long, conflicts_with_all = ["format", "full"])]
    json: bool,
    /// Rank the configurations under your conditions, such as link=10:40,reads=100 (the address of a run's page has them too)
    #[arg(long, value_name = "CONDITIONS", conflicts_with_all = ["format", "out", "columns"])]
    at: Option<String>,
    #[command(flatten)]
    wanted: ColumnsFlag,
}

const EXAMPLES: &str = "Examples:
  weigh runs show latest --full            the newest run with all evidence
  weigh runs show latest -f html --out .   one page for a browser
  weigh runs show latest --at link=1.6:150,connection=new  what is best over 1.6 Mbit/s with 150 ms

Conditions of --at, with commas between them; what is left out is as in the study:
  goal=time or money      what is to be least
  link=MBIT:MS[:SHARE]    speed and round trip; several links with + between them
  connection=warm, idle or new
  reads=N                 reads per write
  core-hour, gb, second   prices: of a core for an hour, of 10^9 bytes sent, of a second that a visitor waits";

fn known_format(text: &str) -> Result<&'static dyn Format, String> {
    format::named(text).map_err(|e| e.to_string())
}

/// What `--format` takes, for its help.
fn formats() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    format!("{} (repeatable)", names.join(", "))
}

/// Runs the verb; names are those of runs in this folder.
pub fn run(args: &Args, folder: &Path) -> Result<ExitCode> {
    let word = &args.run;
    if !below(word).is_empty() {
        terminal::note(&format!("{} is a folder of runs; name one of them", clean_path(word)));
        return listing::show(word, &Filter::default(), args.json);
    }
    let json: &[&dyn Format] = &[&format::json::Json];
    let formats = if args.json { json } else { &args.format };
    if let Some(why) = formats.iter().find_map(|format| format.unavailable()) {
        return Err(anyhow::anyhow!(why)).or_usage_error();
    }
    let picture = formats.iter().find(|format| format.medium() == Medium::Picture);
    if let (Some(picture), None) = (picture, &args.out) {
        let name = picture.name();
        let how = format!("weigh runs show {} -f {name} --out DIR", clean_path(word));
        return Err(anyhow::anyhow!("{name} is a picture and needs a folder: {how}")).or_usage_error();
    }
    if let Some(out) = args.out.as_ref().filter(|out| out.exists() && !out.is_dir()) {
        return Err(anyhow::anyhow!("--out {}: not a folder", clean_path(out))).or_usage_error();
    }
    if other::is_other(word) {
        other::show(word, args, formats)?;
        return Ok(Exit::Fine.into());
    }
    let path = find_below(folder, word).or_usage_error()?;
    let stored = StoredRun::read(&path).or_usage_error()?;
    let results = stored.report();
    if let Some(text) = &args.at {
        return at(&results, text, args);
    }
    let shown = OutputOptions::new(args.full, args.json, &args.wanted);
    document::check(&results, &shown.columns).or_usage_error()?;
    let OutputOptions { detail, columns, .. } = shown;
    let flames = flames(&path, formats);
    let options = Options { columns, flames, ..options(detail, Some(&stored.file)) };
    for format in formats {
        match &args.out {
            Some(folder) => {
                for path in write(&results, *format, &options, folder)? {
                    terminal::print(&format!("{}\n", path.display()))?;
                }
            }
            None => print(&results, *format, &options)?,
        }
    }
    if args.out.is_none() && formats.iter().any(|format| format.medium() == Medium::Screen) {
        further(&path, detail);
    }
    Ok(Exit::Fine.into())
}

/// Prints the ranking under these conditions.
fn at(results: &Report, text: &str, args: &Args) -> Result<ExitCode> {
    let usual = Conditions::of(results);
    let conditions = usual.with(text).map_err(|why| anyhow::anyhow!("--at {why}")).or_usage_error()?;
    let options = options(if args.full { Detail::Full } else { Detail::Summary }, None);
    terminal::show(args.json, &RankingDocument::of(results, &conditions), || {
        format::terminal::text(&ranking::blocks(results, &conditions, &options), &options)
    })?;
    Ok(Exit::Fine.into())
}

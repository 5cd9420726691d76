//! `weigh codec`: codec × level on the user's files and folders, natively and inside PHP.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cli::live::Preparing;
use crate::cli::report::Wanted;
use crate::cli::run::{More, measure, run_folder, seconds};
use crate::lab::{Lab, Planning};
use crate::planner::Ask;
use crate::shelter::Shelter;
use crate::study::{Budget, Precision, SCHEMA, Study};
use crate::subject::codec::study::{CellBlock, CellBlocks};
use weigh_answer::format::Detail;
use weigh_model::setting::{LevelRequest, Request};

/// Flags of `weigh codec`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files, each a content of its own, and folders, whose files are encoded one by one
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Measure inside this PHP too (repeatable): a binary, or a fetched runtime's name
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// Settings: `zstd`, `zlib:1..9`, `brotli:4,window=22`; several by repeating or with spaces
    #[arg(long, value_name = "SETTING", num_args = 1..)]
    codecs: Vec<String>,
    /// Named sets of codecs: web, cache, fast, archive, all
    #[arg(long, value_name = "SET", num_args = 1..)]
    sets: Vec<String>,
    /// Levels where a setting names none: 6, 1..9, 1|6|9, all, default, representative
    #[arg(long, default_value = "representative", allow_hyphen_values = true)]
    levels: String,
    /// Cut each file into blocks of this many bytes, encoded one by one
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(64..))]
    block: Option<u64>,
    /// Seconds to measure at most
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = seconds)]
    budget: f64,
    /// Measure everything to the last round
    #[arg(long)]
    exhaustive: bool,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to write the run; default: a new folder in weigh-runs/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wanted: Wanted,
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs)?;
    let ask = Ask {
        quick: false,
        seed: args.seed,
        budget_seconds: Some(args.budget),
        exhaustive: args.exhaustive,
        levels: LevelRequest::parse(&args.levels, &args.levels)?,
    };
    let inventory = if args.php.is_empty() { lab.native() } else { lab.inventory(&args.php)? };
    let staging = Shelter::new().context("no temporary folder for the content")?;
    if args.php.is_empty() {
        name_php(&lab, &args.codecs)?;
    }
    let study = study_of(args, !args.php.is_empty());
    let (staging, progress) = (staging.path(), &mut Preparing::new());
    let mut planning = Planning { ask: &ask, inventory: &inventory, staging, progress };
    let plan = lab.plan_paths(&study, &args.paths, &mut planning)?;
    let folder = run_folder(args.out.as_deref(), "codec");
    let more = More { columns: args.wanted.columns(), ..More::default() };
    Ok(measure(&lab, plan, &folder, &more, Detail::Full, args.json)?.code())
}

/// A codec that only PHP has is asked for without one: says so, because the nearest native name would mislead.
fn name_php(lab: &Lab, settings: &[String]) -> Result<()> {
    let native = lab.native();
    for text in settings {
        let name = Request::parse(text)?.name;
        let here = native.runtimes.iter().any(|r| r.codec(&name).is_some());
        if !here && lab.definitions.php_codec_names().contains(&name) {
            bail!("`{name}` is a codec inside PHP: name a PHP to measure it in, such as --php php");
        }
    }
    Ok(())
}

/// The question as a study: what the user's flags say, and nothing hidden.
fn study_of(args: &Args, php: bool) -> Study {
    let mut codecs = args.codecs.clone();
    codecs.extend(args.sets.iter().map(|s| format!("set:{s}")));
    if codecs.is_empty() {
        codecs.push("set:all".into());
    }
    let mut runtimes = vec!["native".to_owned()];
    if php {
        runtimes.push("php".into());
    }
    let study = Study {
        schema: SCHEMA,
        name: "codec".into(),
        title: "Codecs on your content".into(),
        question: "Which codec and level are worth their time on this content?".into(),
        reading: "CPU time is the headline; throughput divides by uncompressed bytes, both ways. A setting is on the Pareto front when no other \
                  is at least as small and as fast to encode, and better in one of the two; the others are dimmed."
            .into(),
        budget: Budget { seconds: args.budget, quick_seconds: args.budget, cell_seconds: args.budget / 4.0 },
        precision: Precision::default(),
        ..Study::default()
    };
    let block = CellBlock {
        about: String::new(),
        // The paths, which need not be text, go to the lab beside the study.
        content: Vec::new(),
        runtimes,
        serializers: vec!["-".into()],
        codecs,
        keep: false,
        block_bytes: args.block,
        quick: None,
    };
    study.with(CellBlocks { cells: vec![block], published: None })
}

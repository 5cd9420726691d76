//! `weigh codec`: codecs and levels on the user's files and folders, natively and inside PHP.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};

use crate::exit::OrRefuse;
use crate::live::Preparing;
use crate::measuring::{After, measure_and_show};
use crate::on::OnFlags;
use crate::placed::{Placed, run_options};
use crate::quantity;
use crate::results::{ColumnsFlag, OutputOptions};
use weigh_content::user::{Extent, Wanted};
use weigh_model::link::LinkSpec;
use weigh_model::plan::Plan;
use weigh_model::setting::{LevelRequest, Request};
use weigh_model::study::Links;
use weigh_model::units;
use weigh_os::shelter::Shelter;
use weigh_run::dir::refuse_used;
use weigh_run::lab::Lab;
use weigh_run::measure::run_folder;
use weigh_run::planner::PlanOptions;
use weigh_run::planning::Planning;
use weigh_run::study::{Budget, SCHEMA, Study};
use weigh_run::subject::codec::study::CellBlock;

/// Flags of `weigh codec`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, each a content of its own, and folders, whose files are encoded one by one
    #[arg(required_unless_present = "list", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// A file with one path per line, or with a NUL after each: these files are encoded one by one (repeatable)
    #[arg(long, value_name = "FILE")]
    list: Vec<PathBuf>,
    /// Measure as many files as it takes to know a folder's totals within this share, such as 1% (with 95% confidence)
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with_all = ["exact", "block"])]
    sample: Option<f64>,
    /// Measure all files, however many they are
    #[arg(long, conflicts_with = "block")]
    exact: bool,
    /// Measure inside this PHP too (repeatable): a binary, or a fetched runtime's name
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// Settings, separated by commas: zstd, zlib:1..9, brotli:4,window=22 (repeatable)
    #[arg(long, value_name = "SETTINGS")]
    codecs: Vec<String>,
    /// Sets of codecs, separated by commas: web, cache, fast, archive, all (repeatable)
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    sets: Vec<String>,
    /// Levels where a setting names none: 6, 1..9, 1|6|9, all, default, representative
    #[arg(long, default_value = "representative", allow_hyphen_values = true)]
    levels: String,
    /// Cut each file into blocks of this size, such as 1KB, and encode them one by one
    #[arg(long, value_name = "SIZE", value_parser = block)]
    block: Option<u64>,
    /// The link to visitors, such as 100mbit or 100mbit/20ms; default: 10mbit/40ms, assumed
    #[arg(long, value_name = "LINK", value_parser = link)]
    link: Option<LinkSpec>,
    /// How often a file is sent each time it is encoded
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = quantity::count::<u32>)]
    reads: u32,
    /// The longest time to measure, such as 60, 60s or 2m; default: 15s for one path, 60s for more and for folders
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    budget: Option<f64>,
    /// Measure everything to the last round
    #[arg(long)]
    exhaustive: bool,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
    /// Where to write the run; default: a new folder in weigh-runs/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// All evidence: every row, findings, method
    #[arg(long)]
    full: bool,
    /// The results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wanted: ColumnsFlag,
    #[command(flatten)]
    on: OnFlags,
}

const EXAMPLES: &str = "Examples:
  weigh codec page.html --codecs zstd:1..9,brotli:4 --link 100mbit
  weigh codec --php php8.2 --sets cache var/cache/     inside PHP, a folder
  weigh codec values.json --block 1KB --codecs zstd:3  blocks, one by one
  weigh codec /srv/www --sample 1% --on ray            a sample, on a cluster";

/// A block that is shorter is mostly the frame around it.
fn block(text: &str) -> Result<u64, String> {
    quantity::size(text)
        .ok()
        .filter(|bytes| *bytes >= SMALLEST_BLOCK)
        .ok_or_else(|| format!("give a size of at least {SMALLEST_BLOCK} bytes, such as 1500, 64KB or 1MiB"))
}

/// A link with a speed; the round trip is that of the assumed link where none is given.
fn link(text: &str) -> Result<LinkSpec, String> {
    let whole = if text.contains('/') { text.to_owned() } else { format!("{text}/{ROUND_TRIP}") };
    let link = LinkSpec::parse(&whole).map_err(|error| format!("{error:#}"))?;
    if link.down_kbps.is_none() { Err("give a speed, such as 100mbit".into()) } else { Ok(link) }
}

/// The error of totals that a sample may have.
fn share(text: &str) -> Result<f64, String> {
    let wrong =
        || format!("`{text}` is no share; write 1% or 0.01, at least {}", units::percent(LEAST_ERROR));
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().map_err(|_| wrong())? / scale;
    if (LEAST_ERROR..1.0).contains(&share) { Ok(share) } else { Err(wrong()) }
}

/// A smaller error takes nearly all files: `--exact` says so.
const LEAST_ERROR: f64 = 0.001;
/// The error of a folder that is too large to be measured as a whole, where nothing else is asked for.
const ERROR: f64 = 0.01;
/// Bytes of a block at least.
const SMALLEST_BLOCK: u64 = 64;

/// A link of visitors, where none is given.
const ASSUMED: &str = "10mbit";
/// Its round trip.
const ROUND_TRIP: &str = "40ms";

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    let staging = Shelter::new().context("no temporary folder for the content")?;
    if let (Some(on), true) = (&args.on.on, defs.is_some() || !args.php.is_empty()) {
        let flag = if defs.is_some() { "--defs" } else { "--php" };
        let why = "is of this machine, and";
        return Err(anyhow!("{flag} {why} --on {on} measures on others; leave one of them out"))
            .or_usage_error();
    }
    let plan = plan(&lab, args, staging.path()).or_usage_error()?;
    let placed = Placed::asked(&args.on, &lab, None).or_usage_error()?.map(|(placed, _)| placed);
    let folder = run_folder(args.out.as_deref(), "codec");
    let after = After { shown: OutputOptions::new(args.full, args.json, &args.wanted), ..After::default() };
    let options = run_options(&[], placed);
    Ok(measure_and_show(&lab, plan, &folder, &options, &after)?.code())
}

fn plan(lab: &Lab, args: &Args, staging: &Path) -> Result<Plan> {
    let levels = LevelRequest::parse(&args.levels, &args.levels)?;
    let codecs: Vec<String> = args.codecs.iter().flat_map(|text| settings(text)).collect();
    are_paths(lab, &args.paths)?;
    args.out.iter().try_for_each(|out| refuse_used(out))?;
    let options = PlanOptions {
        quick: false,
        seed: args.seed,
        budget_seconds: Some(budget(args)),
        exhaustive: args.exhaustive,
        levels: levels.clone(),
        configurations: Vec::new(),
    };
    let inventory = if args.php.is_empty() { lab.native() } else { lab.inventory(&args.php)? };
    if args.php.is_empty() {
        name_php(lab, &codecs)?;
    }
    let progress = &mut Preparing::new();
    let study = study_of(args, codecs);
    let mut planning = Planning { options: &options, inventory: &inventory, staging, progress };
    let plan = lab.plan_paths(&study, &wanted(args), &mut planning)?;
    let unused = unused_levels(&levels, &plan);
    if !unused.is_empty() {
        bail!("--levels {}: no codec measured here has level {}", args.levels, span(&unused));
    }
    Ok(plan)
}

/// The longest time to measure, in seconds.
fn budget(args: &Args) -> f64 {
    let is_one_file = args.list.is_empty() && matches!(args.paths.as_slice(), [path] if path.is_file());
    args.budget.unwrap_or(if is_one_file { 15.0 } else { 60.0 })
}

/// The content that is asked for.
fn wanted(args: &Args) -> Vec<Wanted> {
    let extent = match (args.sample, args.exact, args.block) {
        (Some(within), ..) => Extent::Within(within),
        (None, true, _) => Extent::Every,
        (None, false, Some(_)) => Extent::Even,
        (None, false, None) => Extent::Fitting(ERROR),
    };
    let is_parted = args.on.on.is_some();
    let one = |path: &PathBuf, is_list| Wanted { path: path.clone(), is_list, extent, is_parted };
    let paths = args.paths.iter().map(|path| one(path, false));
    paths.chain(args.list.iter().map(|list| one(list, true))).collect()
}

/// The settings of a text: a comma separates two, unless an option of the first follows.
fn settings(text: &str) -> Vec<String> {
    let mut settings: Vec<String> = Vec::new();
    for part in text.split([',', ' ']) {
        match settings.last_mut() {
            Some(last) if part.contains('=') => *last = format!("{last},{part}"),
            _ => settings.push(part.to_owned()),
        }
    }
    settings
}

/// A word that is no path, but the name of a codec or set, was meant for another flag.
fn are_paths(lab: &Lab, paths: &[PathBuf]) -> Result<()> {
    let native = lab.native();
    let codecs = || native.runtimes.iter().flat_map(|runtime| &runtime.codecs);
    for path in paths.iter().filter(|path| !path.exists()) {
        let text = path.to_string_lossy();
        let name = Request::parse(&text).map_or_else(|_| text.to_string(), |request| request.name);
        if codecs().any(|codec| codec.name == name) {
            bail!("{text}: no such file; for a further codec write --codecs A,{text}");
        }
        if name == "all" || codecs().any(|codec| codec.sets.contains(&name)) {
            bail!("{text}: no such file; for a further set of codecs write --sets A,{text}");
        }
    }
    Ok(())
}

/// The levels that were listed and that no configuration has.
fn unused_levels(levels: &LevelRequest, plan: &Plan) -> Vec<i32> {
    let LevelRequest::Listed(levels) = levels else { return Vec::new() };
    // A configuration that is left out, such as for the budget, has its level in its id.
    let in_id = |id: &str| {
        let setting = id.rsplit('/').next()?.split(',').next()?;
        setting.split_once(':')?.1.parse::<i32>().ok()
    };
    let is_used = |level: &i32| {
        plan.cells.iter().any(|cell| cell.setting.level == Some(*level))
            || plan.exclusions.iter().any(|left_out| in_id(&left_out.cell) == Some(*level))
    };
    let has_levels = plan.cells.iter().any(|cell| cell.setting.level.is_some());
    levels.iter().copied().filter(|level| has_levels && !is_used(level)).collect()
}

/// Levels as short as they were written: `23 to 99`.
fn span(levels: &[i32]) -> String {
    match levels {
        [first, .., last] => format!("{first} to {last}"),
        _ => levels.iter().map(ToString::to_string).collect(),
    }
}

/// A codec that only PHP has is asked for without one: says so, because the nearest native name would mislead.
fn name_php(lab: &Lab, settings: &[String]) -> Result<()> {
    let native = lab.native();
    for text in settings {
        let name = Request::parse(text)?.name;
        let here = native.runtimes.iter().any(|r| r.codec(&name).is_some());
        if !here && lab.definitions.names("php/codecs").contains(&name) {
            bail!("`{name}` is a codec inside PHP: name a PHP to measure it in, such as --php php");
        }
    }
    Ok(())
}

/// The question as a study: what the user's flags say, and nothing hidden.
fn study_of(args: &Args, mut codecs: Vec<String>) -> Study {
    codecs.extend(args.sets.iter().map(|s| format!("set:{s}")));
    if codecs.is_empty() {
        codecs.push("set:web".into());
    }
    let mut runtimes = vec!["native".to_owned()];
    if !args.php.is_empty() {
        runtimes.push("php".into());
    }
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
    let assumed = || link(ASSUMED).expect("it is a link");
    let link = args.link.clone().unwrap_or_else(assumed);
    let mbit = link.down_kbps.unwrap_or_default() / 1e3;
    let mut speeds = vec![1.0, 10.0, 100.0, 1000.0, mbit];
    speeds.sort_by(f64::total_cmp);
    speeds.dedup();
    let reads = f64::from(args.reads);
    let links = Links {
        mbit: speeds,
        reads_per_write: if reads == 1.0 { vec![1.0] } else { vec![1.0, reads] },
        rtt_ms: link.rtt_ms,
        usual_mbit: Some(mbit),
        usual_reads: Some(reads),
        ..Links::default()
    };
    let at = match args.link {
        Some(_) => units::mbit(mbit),
        None => format!("{}, assumed (another link: --link 100mbit)", units::mbit(mbit)),
    };
    let budget = budget(args);
    Study {
        schema: SCHEMA,
        name: "codec".into(),
        title: "Codecs on your content".into(),
        question: format!("Which codec and level are worth their time on this content, at {at}?"),
        links: Some(links),
        reading: "CPU time is the headline; throughput divides by uncompressed bytes, both ways. A setting is on the Pareto front when no other \
                  is at least as small and as fast to encode, and better in one of the two; the others are dimmed."
            .into(),
        budget: Budget { seconds: budget, quick_seconds: budget, cell_seconds: budget / 4.0 },
        cells: vec![block],
        ..Study::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_settings_and_their_options() {
        assert_eq!(
            settings("zstd:3,brotli:4,window=22,mode=x,lz4"),
            ["zstd:3", "brotli:4,window=22,mode=x", "lz4"]
        );
        assert_eq!(settings("zstd zlib:1|9"), ["zstd", "zlib:1|9"]);
        assert_eq!(settings(""), [""]);
    }

    #[test]
    fn levels_read_as_a_span() {
        assert_eq!((span(&[23]), span(&[23, 24, 99])), ("23".into(), "23 to 99".into()));
    }
}

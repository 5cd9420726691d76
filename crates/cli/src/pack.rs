//! `weigh pack`: precompresses a tree, checks whether it is packed, keeps it packed, or removes what was written.

mod deltas;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::exit::{self, Exit, OrRefuse};
use crate::quantity::one_of;
use crate::terminal::Line;
use crate::{quantity, terminal};
use weigh_answer::table::{Grid, Kind, factor, field};
use weigh_load::units::bytes as read_bytes;
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::text::{clean, clean_path};
use weigh_model::units;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_pack::{Busy, Coding, Done, Effort, Listed, PackOutcome, PackRequest, Settings, Usual, Watch};
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::{Home, Lab};
use weigh_serverconf::site::Wanted;
use weigh_site::advise::read_policy;
use weigh_site::refused::refused;
use weigh_site::server_config::Configured;
use weigh_site::{folder_of, overrides, read};

/// Flags of `weigh pack`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder whose files are packed
    #[arg(value_name = "DIR")]
    tree: PathBuf,
    /// Make what this policy precompresses: a policy.toml, or the folder that `weigh advise` wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["effort", "zopfli", "ultra"])]
    policy: Option<PathBuf>,
    /// Write into a folder that mirrors DIR instead of beside its files
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How much CPU time it may take: `best` is smallest, `balanced` is within 1.5% of it at less than half of the CPU time
    #[arg(long, value_name = "EFFORT", default_value = "best", value_parser = one_of(&Effort::ALL, Effort::name))]
    effort: Effort,
    /// gzip by Zopfli: about 0.5% smaller, at 15 times the CPU time
    #[arg(long)]
    zopfli: bool,
    /// zstd at its highest level, with the largest window that browsers accept
    #[arg(long)]
    ultra: bool,
    /// The web server's configuration, of which DIR is the document root: files that it does not send to everybody get no variants
    #[arg(long, value_name = "FILE", conflicts_with = "clean")]
    server_config: Option<PathBuf>,
    /// The site by its name, where the configuration has several of one document root
    #[arg(long, value_name = "NAME", requires = "server_config")]
    site: Option<String>,
    /// Only these content codings, with commas between them: gzip, br, zstd
    #[arg(long, value_name = "CODINGS", value_delimiter = ',')]
    codings: Vec<String>,
    /// The smallest file, such as 1KB or 0; without it that of the policy, or 256 bytes
    #[arg(long, value_name = "SIZE", value_parser = least)]
    min_bytes: Option<u64>,
    /// The smallest share of a file's bytes that a variant must save, in percent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = percent)]
    min_saving: f64,
    /// Write every variant even if it saves nothing (lighttpd needs this)
    #[arg(long, conflicts_with_all = ["min_bytes", "min_saving"])]
    every: bool,
    /// Also write Apache's type maps: NAME.var lists the variants of NAME
    #[arg(long)]
    type_map: bool,
    /// Also write deltas against the files of the last deployment, for browsers that have those (shared dictionaries, RFC 9842; repeatable)
    #[arg(long, value_name = "PREVIOUS_DIR", conflicts_with_all = ["every", "watch", "clean"])]
    against: Vec<PathBuf>,
    /// Also write deltas of all pages against one dictionary, a file below DIR; it is trained on the pages if it is not there yet
    #[arg(long, value_name = "FILE", conflicts_with_all = ["every", "watch", "clean"])]
    dictionary: Option<PathBuf>,
    /// Write the configuration with which nginx and Apache send the deltas into a new folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["check", "clean", "watch", "dry_run", "json"])]
    dictionary_config: Option<PathBuf>,
    /// Threads; without it one per core
    #[arg(long, value_name = "N", value_parser = quantity::count::<u16>)]
    jobs: Option<u16>,
    /// Say what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Read everything, write nothing, and exit with 4 if DIR is not packed
    #[arg(long, conflicts_with_all = ["dry_run", "watch", "clean"])]
    check: bool,
    /// Remove what was written here, and nothing else
    #[arg(long, conflicts_with = "watch")]
    clean: bool,
    /// Go on, and pack again when something changes
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    watch: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  weigh pack public                gzip, br and zstd next to each file
  weigh pack public --policy advice/policy.toml    what your policy asks for
  weigh pack public --check        in CI: exit code 4 if a file is not packed";

/// Paths that are named where files are left out for one reason.
const EXAMPLES_OF_ONE: usize = 3;
/// Paths that are named one by one.
const NAMED: usize = 20;

/// Bytes, which may be none.
fn least(text: &str) -> Result<u64, String> {
    read_bytes(text).map_err(|_| "give a size in bytes, such as 0, 1500 or 1KB".into())
}

/// A share as it is typed.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse().ok().filter(|share: &f64| (0.0..100.0).contains(share));
    number.map(|share| share / 100.0).ok_or_else(|| "give a percentage from 0 to below 100, such as 5".into())
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    let policy = args.policy.as_deref().map(read_policy).transpose().or_usage_error()?;
    weigh_pack::real(&args.tree).or_usage_error()?;
    let mut settings = settings(args, policy.as_ref(), &lab).or_usage_error()?;
    args.dictionary_config.as_deref().map_or(Ok(()), deltas::may_be_replaced).or_usage_error()?;
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    if let Some(configured) = configuration(args, &lab)? {
        let refused = refused(configured, &args.tree, &interrupt).or_usage_error()?;
        if !refused.by_address {
            terminal::note(
                "whether the server refuses visitors by their address is not known: it takes a network namespace, as root or by user namespaces",
            );
        }
        settings.refused = refused.files;
    }
    let jobs =
        args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get), usize::from);
    let ask = PackRequest {
        tree: &args.tree,
        out: args.out.as_deref(),
        settings: &settings,
        jobs,
        dry_run: args.dry_run,
    };
    if args.check {
        return checked(args, &weigh_pack::check(ask, &interrupt)?);
    }
    if args.clean {
        let outcome = or_busy(weigh_pack::clean(ask, &interrupt))?;
        return print_outcome(
            args,
            &outcome,
            &format!("{} removed\n", units::count(count(outcome.removed), "file", "files")),
        );
    }
    if args.watch {
        return watched(args, ask, &interrupt);
    }
    let outcome = packed(args, ask, &interrupt)?;
    let snippet =
        policy.as_ref().zip(args.policy.as_deref()).map(|(policy, file)| snippet(&lab, policy, file));
    let told = print_outcome(
        args,
        &outcome,
        &format!("{}{}", summary(&outcome), snippet.transpose()?.unwrap_or_default()),
    )?;
    if let Some(into) = &args.dictionary_config {
        terminal::print(&deltas::configure(args, &lab, into)?)?;
    }
    Ok(told)
}

/// The server's configuration: the given one, else that of the site which the policy was made for.
fn configuration(args: &Args, home: &Home) -> Result<Option<Configured>> {
    if let Some(file) = &args.server_config {
        let wanted = Wanted { name: args.site.clone(), docroot: Some(args.tree.clone()) };
        return overrides::read_configuration(home, file, None, &wanted).or_usage_error().map(Some);
    }
    let Some(policy) = args.policy.as_ref().filter(|_| !args.clean) else { return Ok(None) };
    // Beside the folder of advice, or in it.
    let real_policy = policy.canonicalize().unwrap_or_default();
    let folders = real_policy.ancestors().map(folder_of).take(2);
    let real = |tree: &Path| tree.canonicalize().ok();
    let is_of = |site: &Site| {
        let docroot = site.sources.docroot.as_ref().map(Path::new);
        docroot.is_some_and(|docroot| real(docroot).is_some() && real(docroot) == real(&args.tree))
    };
    let mut sites = folders.filter_map(|folder| read(&folder.join("site.toml")).ok()).filter(is_of);
    let Some(site) = sites.next() else { return Ok(None) };
    match overrides::configuration_of(home, &site) {
        Some(Err(error)) => {
            terminal::note(&format!("files that the server refuses get variants, too, for {error:#}"));
            Ok(None)
        }
        read => read.transpose(),
    }
}

fn settings(args: &Args, policy: Option<&Policy>, home: &Home) -> Result<Settings> {
    let least = if args.every { Some(0) } else { args.min_bytes };
    let usual = Usual { effort: args.effort, zopfli: args.zopfli, ultra: args.ultra };
    let mut settings = match policy {
        Some(policy) => Settings::of_policy(policy, &args.codings, least)?,
        None => Settings::usual(usual, &args.codings, least)?,
    };
    (settings.min_saving, settings.every) = (args.min_saving, args.every);
    deltas::add(args, &mut settings)?;
    if args.type_map {
        let all = Definition::load(&home.definitions)?;
        let maps = all.iter().flat_map(|one| {
            one.ways.iter().filter_map(|way| one.templates.get(way.mirror.as_ref()?.map.as_ref()?))
        });
        settings.type_map =
            Some(maps.into_iter().next().context("no server here has a template of type maps")?.clone());
    }
    Ok(settings)
}

/// Packs once, with a line about how far it is.
fn packed(args: &Args, ask: PackRequest<'_>, interrupt: &Interrupt) -> Result<PackOutcome> {
    let mut line = Line::new(args.json);
    let outcome = weigh_pack::pack(ask, interrupt, &mut |done: &Done| line.say(progress(done)));
    line.bar.finish_and_clear();
    or_busy(outcome)
}

/// Where another run is at work, this one is refused.
fn or_busy(outcome: Result<PackOutcome>) -> Result<PackOutcome> {
    outcome.map_err(|error| if error.is::<Busy>() { exit::refused(error) } else { error })
}

fn progress(done: &Done) -> String {
    let saved = done.from_bytes.saturating_sub(done.to_bytes);
    let variants = units::count(done.variants, "variant", "variants");
    format!("{variants} of {}, {} saved", units::count(done.files, "file", "files"), units::bytes(saved))
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn watched(args: &Args, ask: PackRequest<'_>, interrupt: &Interrupt) -> Result<ExitCode> {
    let mut watch = Watch::of(&args.tree, args.out.as_deref())?;
    if !watch.is_told() {
        terminal::note(
            "the system watches no more folders (fs.inotify.max_user_watches): the files are looked at every two seconds",
        );
    }
    let mut before = String::new();
    loop {
        let outcome = packed(args, ask, interrupt)?;
        if interrupt.is_set() {
            return Ok(Exit::Fine.into());
        }
        let text = summary(&outcome);
        if outcome.written + outcome.removed > 0 || !outcome.failures.is_empty() || text != before {
            print_outcome(args, &outcome, &text)?;
        }
        before = text;
        if !watch.changed(interrupt)? {
            return Ok(Exit::Fine.into());
        }
    }
}

/// Prints what a run came to, what it could not do on stderr.
fn print_outcome(args: &Args, outcome: &PackOutcome, text: &str) -> Result<ExitCode> {
    terminal::show(args.json, outcome, || text.to_owned())?;
    remarks(outcome);
    if outcome.interrupted {
        anyhow::bail!("{INTERRUPTED}; what is written is whole, and the next run goes on from there");
    }
    Ok(Exit::of_failures(outcome.failures.len()).into())
}

/// What is to be said beside the result.
fn remarks(outcome: &PackOutcome) {
    outcome.notes.iter().for_each(|note| terminal::note(note));
    for (why, files) in &outcome.left_out {
        terminal::note(&left_out(why, files));
    }
    listed(&outcome.kept, "kept as it is, for it was not written here");
    listed(
        &outcome.links,
        "not followed: a link that leads to a folder (pack that folder with the same options), to what not everybody may read, or nowhere",
    );
    for failure in outcome.failures.iter().take(NAMED) {
        terminal::note(&format!("{}: {}", failure.path, failure.why));
    }
    more(outcome.failures.len(), "failures");
}

/// `left out 3 files (empty): a.css, b.css, …`
fn left_out(why: &str, files: &Listed) -> String {
    let all = count(files.count);
    let named = files.paths.iter().take(EXAMPLES_OF_ONE).cloned().collect::<Vec<_>>().join(", ");
    let more = if all > EXAMPLES_OF_ONE { ", …" } else { "" };
    format!("left out {} ({why}): {named}{more}", units::count(all, "file", "files"))
}

fn listed(paths: &Listed, what: &str) {
    paths.paths.iter().take(NAMED).for_each(|path| terminal::note(&format!("{path}: {what}")));
    more(count(paths.count), "of these");
}

fn more(all: usize, what: &str) {
    if all > NAMED {
        terminal::note(&format!("… and {} more {what}; --json has them", all - NAMED));
    }
}

/// A table of the codings and a sentence about the run.
fn summary(outcome: &PackOutcome) -> String {
    let row = |coding: &Coding| {
        let saved = (coding.source_bytes > 0)
            .then(|| 100.0 * (1.0 - coding.bytes as f64 / coding.source_bytes as f64));
        vec![
            factor("Coding", clean(&coding.coding)),
            factor("By", clean(&coding.by.join(", "))),
            field("Files", "", Kind::Whole, 1, coding.variants as f64),
            field("From", "KB", Kind::Fixed(1), 2, coding.source_bytes as f64 / 1e3),
            field("To", "KB", Kind::Fixed(1), 3, coding.bytes as f64 / 1e3),
            field("Saved", "%", Kind::Fixed(1), 4, saved),
            field("Left out", "", Kind::Whole, 5, coding.left_out as f64),
        ]
    };
    let table = if outcome.codings.is_empty() {
        String::new()
    } else {
        terminal::lines(&Grid::of(&outcome.codings, row)) + "\n"
    };
    let files = units::count(count(outcome.files), "file", "files");
    let changed = match (outcome.dry_run, outcome.written, outcome.removed) {
        (_, 0, 0) => "nothing to do".to_owned(),
        (true, written, removed) => format!("{written} to write, {removed} to remove"),
        (false, written, removed) => format!("{written} written, {removed} removed"),
    };
    let taken = match outcome.taken {
        0 => String::new(),
        taken => format!(" ({taken} copied from files with the same content)"),
    };
    let variants: u64 = outcome.codings.iter().map(|coding| coding.variants).sum();
    let bytes: u64 = outcome.codings.iter().map(|coding| coding.bytes).sum();
    format!(
        "{table}{files}: {}, {} on disk; {changed}{taken}.\n",
        units::count(count(variants), "variant", "variants"),
        units::bytes(bytes)
    ) + &problems(outcome)
}

/// What is not right, a line for each.
fn problems(outcome: &PackOutcome) -> String {
    let wrong = outcome.problems.len();
    let mut text: String = outcome
        .problems
        .iter()
        .take(NAMED)
        .map(|one| format!("{}: {}\n", one.path, one.what.words()))
        .collect();
    if wrong > NAMED {
        text.push_str(&format!("… and {} more; --json has them\n", wrong - NAMED));
    }
    text
}

fn checked(args: &Args, outcome: &PackOutcome) -> Result<ExitCode> {
    let (wrong, mut text) = (outcome.problems.len(), problems(outcome));
    let named = clean_path(&args.tree);
    text.push_str(&match wrong {
        0 => format!("{named} is packed: {}.\n", units::count(count(outcome.files), "file", "files")),
        _ => {
            let not_right = units::count(wrong, "variant is not right", "variants are not right");
            // Of those that are not from here, packing mends none.
            let is_ours = outcome.problems.iter().any(|one| !one.what.is_foreign());
            let remedy = if is_ours { format!(" Type: {}", without_check()) } else { String::new() };
            format!("{named} is not packed: {not_right}.{remedy}\n")
        }
    });
    let code = print_outcome(args, outcome, &text)?;
    Ok(if wrong > 0 { Exit::Worse.into() } else { code })
}

/// This very command, but that it packs.
fn without_check() -> String {
    let words = std::env::args().skip(1).filter(|word| !["--check", "--json"].contains(&word.as_str()));
    clean(&format!("weigh {}", shell_words::join(words)))
}

/// The part of the server's configuration that sends the files of a policy, and where it goes.
fn snippet(home: &Home, policy: &Policy, file: &Path) -> Result<String> {
    let all = Definition::load(&home.definitions)?;
    let Some(server) = all.iter().find(|one| Some(&one.name) == policy.server.as_ref()) else {
        return Ok(String::new());
    };
    let parts = server.policy.iter().flat_map(|emission| &emission.snippets);
    let Some(part) = parts.into_iter().find(|part| !part.downloads && !part.pages && !part.dictionaries)
    else {
        return Ok(String::new());
    };
    let folder = if file.is_dir() { file } else { file.parent().unwrap_or(Path::new("")) };
    let written = folder.join("config").join(&server.name).join(&part.template);
    let line = match part.line.as_str() {
        "" => String::new(),
        line => format!(": {line}"),
    };
    Ok(match written.is_file() {
        true => format!("{} sends them with {}, {}{line}\n", server.name, clean_path(&written), part.place),
        false => format!("`weigh advise` writes the configuration with which {} sends them.\n", server.name),
    })
}

//! `weigh lab link`: the profiles of links, one measured, a command run over one.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Subcommand;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::exit::{Exit, OrRefuse};
use crate::quantity::one_of;
use crate::{quantity, terminal};
use weigh_answer::table::Grid;
use weigh_content::defs::Definitions;
use weigh_model::link::{LinkSpec, Measured, Rate, Way};
use weigh_model::text::clean_path;
use weigh_model::units;
use weigh_os::umask;
use weigh_rig::link::{Link, Making};
use weigh_rig::runtime;

/// The version of the JSON this verb writes.
const SCHEMA: u32 = 1;
/// Tells a command the address of the other end.
const PEER: &str = "WEIGH_LINK_PEER";
/// How long the command at the far end has to end before it is killed.
const ENDING: Duration = Duration::from_secs(2);

/// Flags of `weigh lab link`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  weigh lab link\n  weigh lab link measure cable\n  weigh lab link run 3g -- curl http://127.0.0.1/"
)]
pub struct Args {
    #[command(subcommand)]
    what: Option<LinkVerb>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum LinkVerb {
    /// List the profiles, with their sources
    #[command(after_help = "Examples:\n  weigh lab link list\n  weigh lab link list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make links and measure them: requested and measured figures side by side; exit code 3 where they differ
    #[command(
        after_help = "Examples:\n  weigh lab link measure cable\n  weigh lab link measure 100mbit/20ms 10mbit:1mbit/50ms/0.1%"
    )]
    Measure {
        /// Profiles, or links such as 100mbit/20ms and 10mbit:1mbit/50ms/0.1%/queue=100KB
        #[arg(required = true, value_name = "LINK")]
        links: Vec<String>,
        #[command(flatten)]
        how: LinkFlags,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a command at the near end of a link; WEIGH_LINK_PEER is the address of the far end; the exit code is the command's
    #[command(
        after_help = "Examples:\n  weigh lab link run cable -- curl http://127.0.0.1/\n  weigh lab link run 3g --far 'nc -l -p 9000' -- sh -c 'nc $WEIGH_LINK_PEER 9000'"
    )]
    Run {
        /// A profile, or a link such as 100mbit/20ms
        link: String,
        #[command(flatten)]
        how: LinkFlags,
        /// A command that runs at the far end meanwhile, such as a server
        #[arg(long, value_name = "COMMAND")]
        far: Option<String>,
        /// The command with its arguments
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
}

/// How links are to be made.
#[derive(Debug, clap::Args)]
struct LinkFlags {
    /// Make the link by this method alone
    #[arg(long, value_name = "METHOD", value_parser = one_of(Way::ALL, Way::name))]
    method: Option<Way>,
    /// Seed of the losses
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
}

/// What `weigh lab link --json` and `weigh lab link measure --json` write.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Document {
    /// The version of this form.
    schema: u32,
    /// Every link.
    links: Vec<Row>,
}

/// One link.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Row {
    /// What is asked of it.
    asked: LinkSpec,
    /// What it was measured as; null in a list.
    measured: Option<Measured>,
    /// What is not as asked, a sentence each.
    off: Vec<String>,
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let definitions = Definitions::load(defs).or_usage_error()?;
    match &args.what {
        None => list(&definitions, args.json),
        Some(LinkVerb::List { json }) => list(&definitions, args.json || *json),
        Some(LinkVerb::Measure { links, how, json }) => measure(&definitions, links, how, args.json || *json),
        Some(LinkVerb::Run { link, how, far, command }) => {
            let far = words_of(far.as_deref()).or_usage_error()?;
            for command in [far.first(), command.first()].into_iter().flatten() {
                known_program(command).or_usage_error()?;
            }
            let link = make(definitions.link(link).or_usage_error()?, how)?;
            if !matches!(link.way(), Way::Loopback | Way::Netem | Way::Tun | Way::Rate) {
                let why = link.measured().passed_over.join("; ");
                return Err(anyhow!("a command needs a link between two networks, which takes root ({why})"))
                    .or_usage_error();
            }
            terminal::note(&in_one_line(&link));
            run_over(&link, &far, command)
        }
    }
}

fn list(definitions: &Definitions, json: bool) -> Result<ExitCode> {
    let names = definitions.link_names();
    let row = |name: &String| Ok(Row { asked: definitions.link(name)?, measured: None, off: Vec::new() });
    let listed = Document { schema: SCHEMA, links: names.iter().map(row).collect::<Result<_>>()? };
    terminal::show(json, &listed, || profile_table(&listed.links))?;
    Ok(Exit::Fine.into())
}

fn measure(definitions: &Definitions, links: &[String], how: &LinkFlags, json: bool) -> Result<ExitCode> {
    // A slip in the last one shows before the first is measured.
    let specs =
        links.iter().map(|name| definitions.link(name)).collect::<Result<Vec<_>>>().or_usage_error()?;
    let mut rows = Vec::new();
    for spec in specs {
        let link = make(spec, how)?;
        let off = link.measured().off(link.spec());
        rows.push(Row { asked: link.spec().clone(), measured: Some(link.measured().clone()), off });
    }
    let off = rows.iter().filter(|row| !row.off.is_empty()).count();
    let measured = Document { schema: SCHEMA, links: rows };
    terminal::show(json, &measured, || measured_table(&measured.links))?;
    Ok(Exit::of_failures(off).into())
}

fn make(spec: LinkSpec, how: &LinkFlags) -> Result<Link> {
    Link::make_with(&spec, &Making { way: how.method, seed: how.seed, ..Making::default() })
}

pub fn agent(task: &str, near: &Path, far: &Path) -> Result<ExitCode> {
    weigh_rig::link::serve(task, near, far)?;
    Ok(Exit::Fine.into())
}

/// The words of the command at the far end; none where there is no such command.
fn words_of(far: Option<&str>) -> Result<Vec<OsString>> {
    let Some(line) = far else { return Ok(Vec::new()) };
    let words =
        shell_words::split(line).with_context(|| format!("--far {line:?} cannot be split into words"))?;
    ensure!(!words.is_empty(), "--far needs a command, such as --far 'nc -l -p 9000'");
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Makes sure that a command can be started, before a link is made for it.
fn known_program(name: &OsString) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    ensure!(
        runtime::named(Path::new(name), &path).is_some(),
        "{}: no such program",
        clean_path(Path::new(name))
    );
    Ok(())
}

/// Runs a command at the near end to its end, beside one at the far end that is ended then. The exit code is the command's.
fn run_over(link: &Link, far: &[OsString], command: &[OsString]) -> Result<ExitCode> {
    // A command dies with the thread that starts it: each of these stays until the end.
    let peer = link.far_address();
    let status = link.far().within(|| -> Result<ExitStatus> {
        let _far = if far.is_empty() { None } else { Some(FarCommand(start_at(far, peer)?)) };
        link.near().within(|| start_at(command, peer)?.wait().context("the command is lost"))?
    })??;
    Ok(exit_of(status))
}

fn start_at(command: &[OsString], peer: Ipv4Addr) -> Result<Child> {
    let mut program = umask::users_launcher();
    program
        .args(command)
        .env(PEER, peer.to_string())
        .spawn()
        .with_context(|| format!("{} cannot be started", command[0].display()))
}

fn exit_of(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    ExitCode::from(u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1))
}

/// A command that ends with this value. It is asked first: a server's master then ends its workers, too.
struct FarCommand(Child);

impl Drop for FarCommand {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let deadline = Instant::now() + ENDING;
        while Instant::now() < deadline && matches!(self.0.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn profile_table(rows: &[Row]) -> String {
    let mut table = Grid::list(&["link", "down", "up", "round trip", "loss", "source"]);
    for Row { asked: spec, .. } in rows {
        let loss = if spec.loss > 0.0 { units::percent(spec.loss) } else { "–".into() };
        table.line(&[
            &spec.name,
            &speed(spec.down_kbps),
            &speed(spec.up_kbps),
            &ms(spec.rtt_ms),
            &loss,
            &spec.source,
        ]);
    }
    terminal::lines(&table)
}

/// What was measured beside what was requested, and what should be known about the method.
fn measured_table(rows: &[Row]) -> String {
    let mut table = Grid::list(&["link", "method", "figure", "requested", "measured", ""]);
    let mut notes: Vec<String> = Vec::new();
    for row in rows {
        let Some(measured) = &row.measured else { continue };
        let (mut name, mut way) = (row.asked.name.as_str(), measured.way.name());
        for [figure, asked, seen, verdict] in figures(&row.asked, measured) {
            table.line(&[name, way, &figure, &asked, &seen, &verdict]);
            (name, way) = ("", "");
        }
        for note in remarks(&row.asked, measured) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes.iter().fold(terminal::lines(&table), |text, note| format!("{text}{note}\n"))
}

/// One line about a link that is about to be used.
fn in_one_line(link: &Link) -> String {
    let figures = figures(link.spec(), link.measured());
    let figures: Vec<String> =
        figures.iter().map(|[figure, _, seen, _]| format!("{figure} {seen}")).collect();
    format!("link {} ({}): {}", link.spec().name, link.way().name(), figures.join(", "))
}

fn figures(asked: &LinkSpec, measured: &Measured) -> Vec<[String; 4]> {
    let verdict = |is_off: bool| if is_off { "off".to_owned() } else { "ok".to_owned() };
    let mut rows = Vec::new();
    if let Some(trip) = &measured.round_trip {
        let seen = format!("{} ± {}, p99 {}", ms(trip.median_ms), ms(trip.mad_ms), ms(trip.p99_ms));
        rows.push(["round trip".into(), ms(trip.expected_ms), seen, verdict(trip.is_off())]);
    }
    for (figure, rate) in [("down", &measured.down), ("up", &measured.up)] {
        if let Some(rate) = rate {
            rows.push([figure.into(), speed(rate.expected_kbps), carried(rate), verdict(rate.is_off())]);
        }
    }
    if let Some(lost) = &measured.lost {
        let seen = format!("{} of {} packets", lost.lost, lost.sent);
        rows.push(["loss".into(), units::percent(asked.loss), seen, verdict(lost.is_off(asked.loss))]);
    }
    rows
}

fn carried(rate: &Rate) -> String {
    let payload = units::mbit(rate.payload_kbps / 1e3);
    format!("{}, of which TCP carries {payload}", units::mbit(rate.measured_kbps / 1e3))
}

/// What to know about the way, a line each.
fn remarks(asked: &LinkSpec, measured: &Measured) -> Vec<String> {
    let way = measured.way.name();
    let mut remarks: Vec<String> =
        measured.passed_over.iter().map(|why| format!("not used: {why}")).collect();
    let sends = |name: &String| {
        let first = measured.initial_window.map(|packets| format!(", {packets} packets at first"));
        let again = measured
            .slow_start_after_idle
            .filter(|again| *again)
            .map(|_| ", and starts so again after a pause");
        let more = [first.as_deref(), again].into_iter().flatten().collect::<String>();
        format!("{}, {way}: the far end sends with {name}{more}", asked.name)
    };
    remarks.extend(measured.congestion_control.as_ref().map(sends));
    remarks.extend(measured.way.hides().map(|hidden| format!("{}, {way}: {hidden}", asked.name)));
    if measured.realtime == Some(false) {
        remarks.push(format!(
            "{}, {way}: no real-time priority: delays vary when the machine is busy",
            asked.name
        ));
    }
    remarks
}

fn ms(ms: f64) -> String {
    if ms == 0.0 { "–".into() } else { units::ns(ms * 1e6) }
}

fn speed(kbps: Option<f64>) -> String {
    kbps.map_or_else(|| "not limited".into(), |kbps| units::mbit(kbps / 1e3))
}

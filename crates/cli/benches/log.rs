//! Is an access log read quickly, and in little memory? A log of a million combined lines of a made-up site is written once, then read whole in
//! each round: plain, and as gzip. Each is read by a process of its own, so that the kernel's peak of resident memory is that of reading alone.
//!
//! `WEIGH_BENCH_LINES` gives another number of lines.

mod common;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use common::{SEED, Targets, peak_resident, progress, rounds};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_answer::estimate::QUANTILE;
use weigh_os::interrupt::Interrupt;
use weigh_site::log;
use weigh_stats::quantile;

/// Lines of the log, unless the environment asks for another number.
const LINES: u64 = 1_000_000;
/// Seconds of wall time for that many.
const SECONDS: f64 = 2.0;
/// Peak of resident memory, in bytes.
const MEMORY: u64 = 50_000_000;
/// What makes this program read one file and tell how it went.
const READ: &str = "--read-log";

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip_while(|arg| arg != READ).skip(1);
    match args.next() {
        Some(path) => common::end(read(path.into()).map(|()| Targets::default())),
        None => common::end(measure()),
    }
}

fn measure() -> Result<Targets> {
    let asked = std::env::var("WEIGH_BENCH_LINES").ok().and_then(|n| n.parse().ok());
    let lines = asked.unwrap_or(LINES);
    let home = tempfile::tempdir()?;
    let logs = [home.path().join("access.log"), home.path().join("access.log.1.gz")];
    write(&logs[0], &logs[1], lines)?;
    let mut read: [Vec<Read>; 2] = Default::default();
    for round in 1..=rounds(5) {
        for (log, read) in logs.iter().zip(&mut read) {
            let once = Read::of(log, lines)?;
            progress(&format!("round {round}: {:.3} s, {:.1} MB", once.seconds, once.memory as f64 / 1e6));
            read.push(once);
        }
    }
    let mut targets = Targets::default();
    for (name, read) in ["plain", "gzip"].iter().zip(&read) {
        judge(&mut targets, name, lines, read);
    }
    Ok(targets)
}

/// Neighbours only add to a time, so the low quantile is the reader's own; of memory the most counts.
fn judge(targets: &mut Targets, name: &str, lines: u64, read: &[Read]) {
    let seconds: Vec<f64> = read.iter().map(|read| read.seconds).collect();
    let low = quantile(&seconds, QUANTILE).unwrap_or(f64::INFINITY);
    let (least, most) = range(&seconds);
    let bound = SECONDS * lines as f64 / LINES as f64;
    targets.line(
        &format!("log-time {name}"),
        &format!("{low:.3} s [{least:.3}, {most:.3}]"),
        &format!("{lines} lines in ≤ {bound} s"),
        low <= bound,
    );
    let memory: Vec<f64> = read.iter().map(|read| read.memory as f64).collect();
    let (least, most) = range(&memory);
    targets.line(
        &format!("log-memory {name}"),
        &format!("{:.1} MB [{:.1}, {:.1}]", most / 1e6, least / 1e6, most / 1e6),
        &format!("≤ {} MB", MEMORY / 1_000_000),
        most <= MEMORY as f64,
    );
}

fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(0.0, f64::max))
}

/// How one reading went.
struct Read {
    seconds: f64,
    memory: u64,
}

impl Read {
    /// Starts a process that reads one file.
    fn of(log: &Path, lines: u64) -> Result<Read> {
        let output = Command::new(std::env::current_exe()?).arg(READ).arg(log).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout)?;
        let [seconds, memory, requests] = said.split_whitespace().collect::<Vec<_>>()[..] else {
            bail!("it told {said:?}");
        };
        ensure!(requests.parse() == Ok(lines), "{requests} of {lines} requests were counted");
        Ok(Read { seconds: seconds.parse()?, memory: memory.parse()? })
    }
}

/// Reads one file, and tells the seconds, the peak of memory in bytes, and the requests.
fn read(log: PathBuf) -> Result<()> {
    let begun = Instant::now();
    let counted = log::read(&[log], log::Names::default(), &Interrupt::new())?;
    let seconds = begun.elapsed().as_secs_f64();
    let memory = peak_resident(Path::new("/proc/self")).context("the kernel tells no peak")?;
    println!("{seconds} {memory} {}", counted.requests());
    Ok(())
}

/// Writes the log, plain and as gzip.
fn write(plain: &Path, gzip: &Path, lines: u64) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut plain = BufWriter::new(File::create(plain)?);
    let mut gzip = flate2::write::GzEncoder::new(File::create(gzip)?, flate2::Compression::new(6));
    let (mut line, mut bytes) = (String::new(), 0);
    // 30 days; the seconds between two requests are drawn.
    let step = 30.0 * 86_400.0 / lines as f64;
    let mut time = 1_767_225_600.0;
    for _ in 0..lines {
        time += step * 2.0 * random.random::<f64>();
        line.clear();
        request(&mut line, time as i64, &mut random)?;
        bytes += line.len();
        plain.write_all(line.as_bytes())?;
        gzip.write_all(line.as_bytes())?;
    }
    plain.flush()?;
    gzip.finish()?;
    progress(&format!("{lines} lines, {:.1} MB", bytes as f64 / 1e6));
    Ok(())
}

const AGENTS: [&str; 6] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/VERSION.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/VERSION.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/VERSION Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:VERSION.0) Gecko/20100101 Firefox/VERSION.0",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html) VERSION",
    "curl/8.VERSION.0",
];

/// One line. Few paths have most of the requests, one of 20 is asked once, and a third has a query string.
fn request(line: &mut String, time: i64, random: &mut impl Rng) -> Result<()> {
    let draw = |random: &mut dyn Rng, below: u64| random.next_u64() % below;
    let address = draw(random, 1 << 32);
    let when = jiff::Timestamp::from_second(time)?.strftime("%d/%b/%Y:%H:%M:%S +0000");
    write!(
        line,
        "{}.{}.{}.{} - - [{when}] \"GET /",
        address >> 24,
        address >> 16 & 255,
        address >> 8 & 255,
        address & 255
    )?;
    let popular = (random.random::<f64>().powi(4) * 20_000.0) as u64;
    match draw(random, 20) {
        0 => write!(line, "shop/product-{}.html", draw(random, 1 << 40))?,
        1..=7 => write!(line, "assets/build/app-{popular}.min.css?ver=6.4.2")?,
        8..=13 => write!(line, "media/catalogue/images/picture-{popular}.webp")?,
        14..=15 => write!(line, "search%20results/{popular}/?q=shoes+{}", draw(random, 10_000))?,
        _ => write!(line, "category/{}/page/{popular}/", popular % 17)?,
    }
    let status = [200, 200, 200, 200, 200, 200, 304, 304, 206, 404][draw(random, 10) as usize];
    let agent = AGENTS[draw(random, AGENTS.len() as u64) as usize]
        .replace("VERSION", &(100 + draw(random, 40)).to_string());
    writeln!(
        line,
        " HTTP/2.0\" {status} {} \"https://shop.example/category/{popular}/\" \"{agent}\"",
        draw(random, 200_000)
    )?;
    Ok(())
}

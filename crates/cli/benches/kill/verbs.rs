//! Every verb that starts something, ended at random instants by SIGKILL, SIGTERM and SIGINT: after the next start nothing of it is left.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{SEED, Targets, progress};
use crate::left::{Left, Watch};
use crate::{CODECS, SERVERS, weigh, whole};

/// Kills of all verbs together, where the environment asks for no other number.
pub const KILLS: usize = 200;
/// What is ended in an orderly way may take this long, and all of a killed one is to be gone by then.
const GONE: Duration = Duration::from_secs(15);
/// Half of all kills give no chance to clear up.
const SIGNALS: [Signal; 4] = [Signal::KILL, Signal::TERM, Signal::KILL, Signal::INT];

/// A verb's name and its arguments; `{home}`, `{out}` and `{url}` stand for its folder, a new run directory, and a server of the benchmark's.
struct Verb(&'static str, &'static str);

const VERBS: &[Verb] = &[
    Verb("codec", "codec {home}/content/page.html --budget 2 --out {out}"),
    Verb("codec --php", "codec {home}/content --php php --codecs gzdeflate:1..6 --budget 3 --out {out}"),
    Verb("plan", "run --dry-run {home}/codecs.toml"),
    Verb("check", "check --json"),
    Verb("run codecs", "run {home}/codecs.toml --budget 4 --out {out}"),
    Verb("run servers", "run {home}/servers.toml --out {out}"),
    Verb("run --server-config", "run {home}/servers.toml --server-config {home}/nginx.conf --out {out}"),
    Verb("run slow clients", "run {home}/slow.toml --out {out}"),
    Verb("run over a link", "run {home}/linked.toml --out {out}"),
    Verb("run clients", "run {home}/clients.toml --out {out}"),
    Verb("load", "load {url} -d 2s --json"),
    Verb("profile", "profile -- {home}/work.php"),
    Verb("link measure", "lab link measure 100mbit/20ms"),
    Verb("runs prune", "runs prune --older-than 1h --yes"),
    Verb("corpus site", "lab corpus site {out}"),
    Verb("advise", "advise {home}/site.toml --budget 4s --out {out}"),
    Verb("prove", "prove {home}/advice/policy.toml --site {home}/site.toml --budget 4s"),
    Verb("compare --paired", "compare --paired {url} {url} --for 4s --out {out}"),
    Verb("link run", "lab link run 100mbit/5ms -- sleep 1"),
];

const SLOW: &str = include_str!("slow.toml");

const LINKED: &str = include_str!("linked.toml");

const CLIENTS: &str = include_str!("clients.toml");

const NGINX: &str = "events {}\nhttp { server { listen 8080; root HOME/content; gzip on; } }\n";
const SCRIPT: &str = "<?php function work($n) { $s = 0; for ($i = 0; $i < $n; $i++) { $s += strlen(md5((string) $i)); } return $s; } echo work(300000);\n";

/// What kills of one verb came to.
#[derive(Default)]
struct Row {
    kills: usize,
    signals: [usize; 3],
    /// Kills that came after the end.
    late: usize,
    /// Right after the kill.
    at_once: Left,
    /// After the next start.
    then: Left,
    wrong: Vec<String>,
}

/// Kills them all, prints the table, and tells whether anything was left.
pub fn measure(wanted: usize, targets: &mut Targets) -> Result<()> {
    let server = serve()?;
    let each = wanted.div_ceil(VERBS.len());
    let mut all = Left::default();
    let mut kills = 0;
    let mut wrong = Vec::new();
    println!("verb                  kills  KILL  TERM  INT  late   after the next start");
    for verb in VERBS {
        let row = kills_of(verb, each, &server).with_context(|| verb.0.to_owned())?;
        let [kill, term, int] = row.signals;
        println!(
            "{:<21} {:>5} {kill:>5} {term:>5} {int:>4} {:>5}   {}",
            verb.0,
            row.kills,
            row.late,
            words(&row.then)
        );
        if !row.at_once.is_nothing() {
            println!("{:<21} right after a kill: {}", "", words(&row.at_once));
        }
        kills += row.kills;
        all.add(row.then);
        wrong.extend(row.wrong.into_iter().map(|what| format!("{}: {what}", verb.0)));
    }
    let measured = format!("{kills} kills of {} verbs: {}", VERBS.len(), words(&all));
    targets.line(
        "kill-verbs-left",
        &measured,
        "nothing after the next start",
        all == Left::default() && kills >= wanted,
    );
    targets.line(
        "kill-verbs-ended",
        &format!("{} that did not end well{}", wrong.len(), listed(&wrong)),
        "0",
        wrong.is_empty(),
    );
    Ok(())
}

fn listed(wrong: &[String]) -> String {
    if wrong.is_empty() { String::new() } else { format!(" ({})", wrong.join("; ")) }
}

fn words(left: &Left) -> String {
    if *left == Left::default() {
        return "nothing".into();
    }
    format!("{left:?}")
}

fn kills_of(verb: &Verb, wanted: usize, url: &str) -> Result<Row> {
    let home = tempfile::tempdir()?;
    let home = home.path();
    prepare(home)?;
    given(verb.0, home)?;
    let watch = Watch::over(home);
    let whole = whole(verb.0, &[0, 2, 3, 5], |out| start(verb, home, &home.join(out), url))?;
    let mut draw = ChaCha8Rng::seed_from_u64(SEED);
    let mut row = Row::default();
    for number in 0..wanted {
        let after = whole.mul_f64(draw.random_range(0.0..1.0));
        one(verb, home, &watch, number, after, url, &mut row)?;
    }
    Ok(row)
}

fn one(
    verb: &Verb,
    home: &Path,
    watch: &Watch,
    number: usize,
    after: Duration,
    url: &str,
    row: &mut Row,
) -> Result<()> {
    let signal = SIGNALS[number % SIGNALS.len()];
    let mut lab = start(verb, home, &home.join(format!("out-{number}")), url)?;
    std::thread::sleep(after);
    let is_late = lab.try_wait()?.is_some();
    row.kills += 1;
    row.late += usize::from(is_late);
    row.signals[usize::from(signal != Signal::KILL) + usize::from(signal == Signal::INT)] += 1;
    if !is_late {
        let id = i32::try_from(lab.id()).ok().and_then(Pid::from_raw).context("no process id")?;
        kill_process(id, signal)?;
    }
    if !ends(&mut lab)? {
        row.wrong.push(format!(
            "{signal:?} after {:.2} s did not end it within {} s",
            after.as_secs_f64(),
            GONE.as_secs()
        ));
        lab.kill()?;
        lab.wait()?;
    }
    row.at_once.add(watch.left_after(GONE));
    // The next start of any verb removes what a killed one could not.
    let next = weigh(home).args(["run", "--dry-run", "--json"]).stderr(Stdio::null()).status()?;
    ensure!(next.code().is_some(), "the next start ended by a signal");
    let left = watch.left_after(GONE);
    if left != Left::default() {
        progress(&format!("{}: {signal:?} after {:.2} s left {left:?}", verb.0, after.as_secs_f64()));
    }
    row.then.add(left);
    Ok(())
}

/// Whether it ends within [`GONE`].
fn ends(lab: &mut Child) -> Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < GONE {
        if lab.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(false)
}

fn start(verb: &Verb, home: &Path, out: &Path, url: &str) -> Result<Child> {
    let argument = |text: &str| {
        let text = text.replace("{home}", &home.to_string_lossy()).replace("{out}", &out.to_string_lossy());
        text.replace("{url}", url)
    };
    let mut command = weigh(home);
    command
        .args(verb.1.split(' ').map(argument))
        .current_dir(home.join("here"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    if verb.0 == "runs prune" {
        stored(&home.join("here/weigh-runs"))?;
    }
    command.spawn().context("weigh cannot be started")
}

/// What some verbs need beside files: a site, and a policy for it.
fn given(verb: &str, home: &Path) -> Result<()> {
    let site = ["site", "--docroot", "content", "--server", "nginx", "--out", "site.toml"];
    let advise = ["advise", "site.toml", "--budget", "4s", "--out", "advice"];
    let steps: &[&[&str]] = match verb {
        "advise" => &[&site],
        "prove" => &[&site, &advise],
        _ => &[],
    };
    for step in steps {
        let ended = weigh(home).args(*step).current_dir(home).stderr(Stdio::piped()).output()?;
        ensure!(ended.status.success(), "{}: {}", step.join(" "), String::from_utf8_lossy(&ended.stderr));
    }
    Ok(())
}

/// Some old runs, those that are there still among them.
fn stored(folder: &Path) -> Result<()> {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/runs/cache-levels");
    for number in 0..8 {
        let to = folder.join(format!("old-{number}"));
        std::fs::create_dir_all(&to)?;
        for name in ["run.json", "plan.json", "records.ndjson"] {
            std::fs::copy(run.join(name), to.join(name))?;
        }
    }
    Ok(())
}

/// The files that the verbs are given.
fn prepare(home: &Path) -> Result<()> {
    for folder in ["tmp", "content", "here"] {
        std::fs::create_dir(home.join(folder))?;
    }
    let page: String =
        (0..4000).map(|row| format!("<tr><td>{row}</td><td>row {}</td></tr>\n", row * 7919 % 4001)).collect();
    std::fs::write(home.join("content/page.html"), page)?;
    std::fs::write(home.join("work.php"), SCRIPT)?;
    std::fs::write(home.join("nginx.conf"), NGINX.replace("HOME", &home.to_string_lossy()))?;
    let studies = [
        ("codecs", CODECS.study),
        ("servers", SERVERS.study),
        ("slow", SLOW),
        ("linked", LINKED),
        ("clients", CLIENTS),
    ];
    for (name, text) in studies {
        std::fs::write(home.join(format!("{name}.toml")), text)?;
    }
    Ok(())
}

/// A server that answers every request with the same body, until the benchmark ends.
fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    Ok(url)
}

fn answer(mut stream: std::net::TcpStream) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    let mut kept = Vec::new();
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        kept.extend_from_slice(&buffer[..read]);
        while let Some(end) = kept.windows(4).position(|window| window == b"\r\n\r\n") {
            kept.drain(..end + 4);
            stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
            )?;
        }
    }
}

//! A private place for each test: a folder to work in, a cache, a place for temporary files.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::Value;

/// The program under test.
pub const WEIGH: &str = env!("CARGO_BIN_EXE_weigh");

/// How long a test waits for what must come: a busy machine has this long.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A study that is done in a moment: two native codecs on generated content. Its rounds end it, on a busy machine too.
pub const SMALL: &str = r#"
schema = 1
name = "small"
title = "A small study"
question = "Which of two?"
reading = "As it stands."
[budget]
seconds = 200
[precision]
max_rounds = 3
[[cells]]
content = ["synthetic:rows-4k"]
runtimes = ["native"]
codecs = ["identity", "zlib:1|6", "zstd:3"]
"#;

/// A study of this many seconds, rounds at most and samples at least, with these blocks.
pub fn study(name: &str, [seconds, rounds, samples]: [u32; 3], blocks: &str) -> String {
    format!(
        "schema = 1\nname = \"{name}\"\ntitle = \"A small study\"\nquestion = \"Which?\"\nreading = \"As it stands.\"\n\
         [budget]\nseconds = {seconds}\n[precision]\nmax_rounds = {rounds}\nmin_samples = {samples}\n{blocks}"
    )
}

/// A block of deliveries by nginx, with these further lines.
pub fn deliveries(subject: &str, content: &str, runtime: &str, more: &str) -> String {
    format!(
        "[[deliveries]]\nsubject = \"{subject}\"\ncontent = [\"{content}\"]\nservers = [\"nginx\"]\nruntimes = [\"{runtime}\"]\n\
         {more}\n"
    )
}

/// The private place. It goes when this is dropped.
pub struct Lab {
    home: tempfile::TempDir,
}

impl Lab {
    pub fn new() -> Lab {
        let home = tempfile::tempdir().unwrap();
        for folder in ["work", "cache", "tmp"] {
            std::fs::create_dir(home.path().join(folder)).unwrap();
        }
        // As /tmp does, it lets others through: servers and PHP of a lab of root's have a user of their own. Scripts of tests leave their marks in `work`.
        for (folder, mode) in [("", 0o711), ("tmp", 0o711), ("work", 0o777)] {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(home.path().join(folder), mode).unwrap();
        }
        Lab { home }
    }

    /// The folder that commands run in.
    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// The cache that commands use; no other test's.
    pub fn cache(&self) -> PathBuf {
        self.home.path().join("cache")
    }

    /// The place for temporary files, private instances among them.
    pub fn tmp(&self) -> PathBuf {
        self.home.path().join("tmp")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// A file in the folder that commands run in.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The records of a run, without their checksums being looked at.
    pub fn records(&self, run: &str) -> Vec<Value> {
        let text = self.read(&format!("{run}/records.ndjson"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The last visit to each cell of a run, by its id.
    pub fn visits(&self, run: &str) -> BTreeMap<String, Value> {
        let visits = self.records(run).into_iter().filter(|r| r["type"] == "visit");
        visits.map(|v| (v["cell"].as_str().unwrap().to_owned(), v)).collect()
    }

    /// Any command, in the folder and with the surroundings that are private to the test.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.work()).env("WEIGH_CACHE", self.cache()).env("HOME", self.home.path());
        command.env("TMPDIR", self.tmp());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        command.timeout(Duration::from_secs(900));
        command
    }

    pub fn weigh(&self, args: &[&str]) -> Command {
        let mut command = self.command(WEIGH);
        command.args(args);
        command
    }

    /// Runs to the end; the exit code, stdout and stderr.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.weigh(args).output().unwrap())
    }

    /// Runs a command that is to succeed; what it wrote to stdout.
    pub fn fine(&self, args: &[&str]) -> String {
        self.done(args).stdout
    }

    /// As [`Lab::fine`], of a command that writes JSON.
    pub fn told(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.fine(args)).unwrap()
    }

    /// As [`Lab::fine`], with all that it wrote.
    pub fn done(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Runs a command that is to be refused before anything is measured: exit code 2, nothing on stdout, and one line on stderr,
    /// which is given back.
    pub fn refused(&self, args: &[&str]) -> String {
        self.run(args).refusal()
    }

    /// What a command that goes on by itself has written to stderr.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.home.path().join("stderr")).unwrap()
    }

    /// Starts a command that goes on by itself.
    pub fn start(&self, args: &[&str]) -> Started {
        let mut command = std::process::Command::new(WEIGH);
        command.args(args).current_dir(self.work()).env("WEIGH_CACHE", self.cache());
        command.env("TMPDIR", self.tmp());
        let stderr = std::fs::File::create(self.home.path().join("stderr")).unwrap();
        Started(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn().unwrap())
    }

    /// Starts a server that is not ours, and waits until its ports take connections. It ends when this is dropped.
    pub fn serve(&self, program: &str, args: &[&str], ports: &[u16]) -> RunningServer {
        let mut command = std::process::Command::new(program);
        command.args(args).current_dir(self.work()).env("HOME", self.work());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = RunningServer(command.spawn().unwrap());
        ports
            .iter()
            .for_each(|port| wait_until(program, || TcpStream::connect(("127.0.0.1", *port)).is_ok()));
        server
    }

    /// What commands left in the place for temporary files.
    pub fn left_over(&self) -> usize {
        std::fs::read_dir(self.tmp()).unwrap().count()
    }

    /// Processes that were started with this test's cache or place for temporary files, which only its own have.
    pub fn processes(&self) -> Vec<String> {
        let (cache, tmp) = (self.cache(), self.tmp());
        let marks = [format!("WEIGH_CACHE={}", cache.display()), format!("TMPDIR={}", tmp.display())];
        let mine = |entry: &std::fs::DirEntry| {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|b| *b == 0).any(|part| marks.iter().any(|mark| part == mark.as_bytes()))
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter(mine).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

/// A command that has ended.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// See [`Lab::refused`].
    pub fn refusal(self) -> String {
        self.one_line(2)
    }

    /// As [`Ran::refusal`], of what failed on the way: exit code 1.
    pub fn failure(self) -> String {
        self.one_line(1)
    }

    fn one_line(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "not one line: {}", self.stderr);
        let line = self.stderr.strip_prefix("weigh: ").unwrap_or_else(|| panic!("{}", self.stderr));
        assert!(!line.trim_end_matches('\n').contains(char::is_control), "{line:?}");
        line.trim_end().to_owned()
    }
}

/// A command that goes on; it is killed when this is dropped.
pub struct Started(pub Child);

impl Started {
    pub fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    pub fn kill(&mut self) {
        self.0.kill().ok();
        self.0.wait().unwrap();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A server of a test.
pub struct RunningServer(Child);

impl Drop for RunningServer {
    /// Asks it for its end first: one that is killed leaves its workers.
    fn drop(&mut self) {
        let _ = std::process::Command::new("kill").arg(self.0.id().to_string()).status();
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE && !matches!(self.0.try_wait(), Ok(Some(_))) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody listens at: none of those that connections are given (`ip_local_port_range`), and each time another.
pub fn free_port() -> u16 {
    static ASKED: AtomicU16 = AtomicU16::new(0);
    let next = || {
        let first = u16::try_from(std::process::id() % 10_000).unwrap();
        20_000 + (first + ASKED.fetch_add(1, Ordering::Relaxed)) % 10_000
    };
    std::iter::repeat_with(next).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

/// Waits until something holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < patience, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Lines of a file that is still being written.
pub fn lines(path: &Path) -> usize {
    std::fs::read(path).map_or(0, |bytes| bytes.iter().filter(|b| **b == b'\n').count())
}

/// Whether there is a PHP on `PATH`. Where there is none a test says so and ends; in CI that is a failure.
pub fn has_php() -> bool {
    has("php", "apt install php-cli")
}

/// Whether what sends pages of PHP is on `PATH`, see [`has_php`].
pub fn serves_php() -> bool {
    has("nginx", "apt install nginx-light") && has("php-fpm8.2", "apt install php-fpm") && has_php()
}

/// Whether a program is on `PATH`, see [`has_php`].
pub fn has(program: &str, remedy: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    assert!(there || std::env::var_os("WEIGH_STRICT").is_none(), "there is no {program} here: {remedy}");
    if !there {
        println!("skipped: there is no {program} here: {remedy}");
    }
    there
}

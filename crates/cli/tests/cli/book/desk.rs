//! What a reader of the book has: a site with its servers' configurations and logs, runs, pages, profiles, two servers, a store.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use super::commands::Command;
use super::markdown::root;
use crate::lab::{Lab, Ran, WEIGH, deliveries, has, serves_php, study, wait_until};
use crate::load::server::{Server, response};
use crate::profile::cachegrind;
use crate::urls::gzip;

/// The desk. Its servers end with the test.
pub struct Desk {
    lab: Lab,
    /// What the book names, and what it is here.
    names: Vec<(&'static str, String)>,
    store: Option<Child>,
}

/// A page that loads some of the site's files.
fn page(n: usize) -> String {
    format!(
        "<!doctype html>\n<title>Page {n}</title>\n<link rel=stylesheet href=/css/theme.css>\n<p>It is the same each time, number {n}.</p>\n\
         <img src=/images/gear.svg alt=''>\n<script src=/js/app.js></script>\n"
    )
}

impl Desk {
    /// Whether this machine has what commands of the book need.
    pub fn can_be() -> bool {
        serves_php()
            && has("apache2", "apt install apache2")
            && has("redis-server", "apt install redis-server")
    }

    /// Without anything on it.
    pub fn bare() -> Desk {
        Desk { lab: Lab::new(), names: Vec::new(), store: None }
    }

    /// With the sample site, or with an empty one for chapters that have no command for a site.
    pub fn new(has_site: bool) -> Desk {
        let desk = Desk::bare();
        if has_site {
            desk.lab.fine(&["lab", "corpus", "site", "shop"]);
            let log = std::fs::read(desk.path("log/access.log")).unwrap();
            // All of it takes seconds to read.
            let log = log.split_inclusive(|b| *b == b'\n').take(2000).collect::<Vec<_>>().concat();
            desk.write("log/access.log", log);
            // Packing it takes as long as all else.
            for large in ["downloads/novel.txt", "data/regions.json"] {
                std::fs::remove_file(desk.path("public").join(large)).unwrap();
            }
        } else {
            desk.write("public/css/theme.css", "body { margin: 0; }\n");
            std::fs::create_dir(desk.path("values")).unwrap();
        }
        desk.filled()
    }

    /// With all that is not the site's.
    fn filled(self) -> Desk {
        let mut desk = self;
        for n in 0..8 {
            desk.write(&format!("public/docs/{n}.html"), page(n));
        }
        desk.write("page.html", page(0).repeat(200));
        desk.write("values.json", r#"{"name": "value", "number": 17}"#.repeat(1000));
        let pages = deliveries(
            "page",
            "synthetic:html-20k",
            "php8.2",
            "ways = [\"none\", \"gzencode:6\"]\nkeep = true",
        );
        desk.write("my-study.toml", study("mine", [4, 1, 1], &pages));
        desk.write("policy.toml", crate::pack::policy("zlib:6", "beforehand"));
        desk.write("mix.toml", "[[request]]\nurl = \"/\"\n");
        desk.write("import.php", "<?php for ($i = 0; $i < 30000; $i++) { strrev('x' . $i); }\n");
        let profile = cachegrind(1).replace("work", "App->boot");
        desk.write("cachegrind.out.1234.gz", gzip(profile.as_bytes()));
        for name in ["cachegrind.out.1234", "cachegrind.out.1", "before.out", "after.out"] {
            desk.write(name, &profile);
        }
        std::fs::create_dir_all(desk.path("var")).unwrap();
        copy(&desk.path("values"), &desk.path("var/cache"));
        copy(&desk.path("public"), &desk.path("last"));
        let style = "last/css/theme.css";
        desk.write(
            style,
            [&std::fs::read(desk.path(style)).unwrap()[..], b"/* the last version */\n"].concat(),
        );
        for (study, run) in [("cache-levels", "old"), ("cache-levels", "new"), ("page-output", "pages")] {
            copy(&root().join("docs/runs").join(study), &desk.path("weigh-runs").join(run));
        }
        desk.found();
        desk
    }

    /// Starts what stands for servers and stores of the book, and says what its names are here.
    fn found(&mut self) {
        let bin = self.path("bin");
        std::fs::create_dir(&bin).unwrap();
        for name in ["php8.2", "php8.4"] {
            std::os::unix::fs::symlink("/usr/bin/php", bin.join(name)).unwrap();
        }
        let [first, second] = [(); 2].map(|()| {
            let public = self.path("public");
            Server::new(move |head, _| {
                let path = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
                let file = if path.is_empty() { None } else { std::fs::read(public.join(path)).ok() };
                response("Server: nginx\r\n", &file.unwrap_or_else(|| page(0).into_bytes()))
            })
            .url("/")
        });
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut redis = std::process::Command::new("redis-server");
        redis
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .current_dir(self.lab.tmp());
        self.store = Some(redis.stdout(Stdio::null()).spawn().unwrap());
        wait_until("the store listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        self.names = vec![
            ("http://127.0.0.1:8080/", first.clone()),
            ("http://127.0.0.1:8081/", second),
            ("http://localhost/", first),
            ("redis://127.0.0.1:6379/", format!("redis://127.0.0.1:{port}/")),
            ("/opt/php84/bin/php", "php8.4".to_owned()),
            ("/usr/bin/php8.2", "php8.2".to_owned()),
            ("/var/www/shop/public", "public".to_owned()),
            ("/etc/nginx/nginx.conf", "nginx.conf".to_owned()),
            ("/var/log/nginx/access.log*", "log/access.log".to_owned()),
            ("/srv/releases/last/public", "last".to_owned()),
            ("../last/public", "last".to_owned()),
            // What seconds of measuring come to may precompress nothing.
            ("advice/policy.toml", "policy.toml".to_owned()),
        ];
    }

    /// The folder that a reader is in.
    fn path(&self, name: &str) -> PathBuf {
        self.lab.path("shop").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.lab.write(&format!("shop/{name}"), content);
    }

    /// The words of a command with what they name here.
    pub fn here(&self, words: &[String]) -> Vec<String> {
        let exact = [("access.log", "log/access.log"), ("access.log.1", "log/access.log.1.gz")];
        let here = |word: &String| match exact.iter().find(|(name, _)| name == word) {
            Some((_, here)) => (*here).to_owned(),
            None => self.names.iter().fold(word.clone(), |word, (name, here)| word.replace(name, here)),
        };
        words.iter().map(here).collect()
    }

    /// Runs the program as a reader would; what is wrong with how it ended.
    pub fn weigh(&self, command: &Command, words: &[String]) -> Option<String> {
        let began = std::time::Instant::now();
        let goes_on =
            words.get(1).is_some_and(|word| word == "open") || words.iter().any(|word| word == "--watch");
        let ran = if goes_on { self.interrupted(words) } else { self.ended(words) };
        let verdicts: &[i32] = match words[0].as_str() {
            "compare" | "prove" => &[0, 4, 5],
            "pack" if words.iter().any(|word| word == "--check") => &[0, 4],
            // A gate, and what a machine that is busy can do, are verdicts on a measurement of a moment.
            _ if words.iter().any(|word| word == "--gate" || word == "--find-capacity") => &[0, 4, 5],
            _ => &[0],
        };
        println!("{:>6.1} s  {}", began.elapsed().as_secs_f64(), words.join(" "));
        let is_fine = verdicts.contains(&ran.code) && !(ran.stdout.is_empty() && ran.stderr.is_empty());
        // In two seconds, a busy machine measures other configurations each time.
        let has_nothing_in_common =
            words[0] == "compare" && ran.stderr.contains("no configuration in common");
        let is_fine = is_fine || has_nothing_in_common;
        (!is_fine).then(|| {
            let Command { document, line, .. } = command;
            let run_as = words.join(" ");
            format!(
                "{document}: {line}\nrun as: weigh {run_as}\nended with {}: {}{}",
                ran.code, ran.stdout, ran.stderr
            )
        })
    }

    fn ended(&self, words: &[String]) -> Ran {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        Ran::of(self.lab.weigh(&words).current_dir(self.path("")).env("PATH", path).output().unwrap())
    }

    /// What goes on until Ctrl-C: it is interrupted when it has said something.
    fn interrupted(&self, words: &[String]) -> Ran {
        let said = self.path("said");
        let file = std::fs::File::create(&said).unwrap();
        let mut command = std::process::Command::new(WEIGH);
        command.args(words).current_dir(self.path("")).env("WEIGH_CACHE", self.lab.cache());
        command.env("TMPDIR", self.lab.tmp()).stdout(file.try_clone().unwrap()).stderr(file);
        let mut child = command.spawn().unwrap();
        wait_until("it says something", || std::fs::metadata(&said).unwrap().len() > 0);
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
        let code = child.wait().unwrap().code().unwrap_or(-1);
        let stdout = std::fs::read_to_string(said).unwrap();
        // Interrupted is how it ends.
        Ran { code: if code == 1 { 0 } else { code }, stdout, stderr: String::new() }
    }

    /// Whether the program knows the flags of a command, and takes their values; what it says if not.
    pub fn refuses(&self, line: &str) -> Option<String> {
        let mut words = shell_words::split(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let end = words.iter().position(|word| word == "--" || word == "--ab-args" || word == "&&");
        words.truncate(end.unwrap_or(words.len()));
        // A flag at the end is one that a sentence is about, without its value.
        let last = words.pop_if(|word| word.starts_with("--"));
        // Help is asked for after all others, which are read first.
        if words.get(1).is_none_or(|verb| verb != "help") {
            words.push("--help".to_owned());
        }
        let ran = Ran::of(self.lab.command(WEIGH).args(&words[1..]).output().unwrap());
        // The help of a verb leaves rare ones out; `weigh help VERB` has all.
        let all = |last: &str| self.lab.run(&["help", words[1].as_str()]).stdout.contains(last);
        let is_known = last.is_none_or(|last| ran.stdout.contains(&last) || all(&last));
        (ran.code != 0 || !is_known).then(|| format!("{line}: {}", ran.stderr))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let Some(store) = &mut self.store {
            store.kill().ok();
            store.wait().ok();
        }
    }
}

/// Copies a folder and what is below it.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

//! `weigh runs open`: who is answered, who is refused, what the pages say, and how a run is followed.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use weigh_run::log::{self, LogWriter};

use crate::lab::{Lab, SMALL, Started, WEIGH, has, wait_until};

/// A name as hostile as a folder's may be.
const HOSTILE: &str = "a<script>alert(1)<\\script>\"'&amp;%2e%2e";

/// A server of the lab's runs.
struct View {
    server: Started,
    host: String,
    token: String,
}

impl View {
    fn of(lab: &Lab, args: &[&str]) -> View {
        let mut command = Command::new(WEIGH);
        command.args(["runs", "open"]).args(args).current_dir(lab.work()).env("TMPDIR", lab.tmp());
        command.env("PATH", format!("{}:{}", lab.work().display(), std::env::var("PATH").unwrap()));
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (host, token) = line.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
        let (host, token) = (host.to_owned(), token.trim_end_matches('/').to_owned());
        assert!(token.len() == 32 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{line}");
        View { server: Started(child), host, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends a head as it is, and reads to the end.
    fn raw(&self, head: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A connection that is reset has said what it had to say.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn request(&self, method: &str, path: &str, headers: &str) -> Answer {
        let Self { host, token, .. } = self;
        self.raw(&format!("{method} /{token}{path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n"))
    }

    fn get(&self, path: &str) -> Answer {
        self.request("GET", path, "")
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

/// A lab with two runs, one of a hostile name.
fn measured() -> Lab {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "weigh-runs/small"]);
    copy(&lab.path("weigh-runs/small"), &lab.path("weigh-runs").join(HOSTILE));
    lab.write("secret.txt", "what is beside the runs");
    lab
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for name in ["run.json", "plan.json", "records.ndjson", "lock"] {
        fs::write(to.join(name), fs::read(from.join(name)).unwrap()).unwrap();
    }
}

#[test]
fn the_list_and_each_run_are_pages_and_names_stay_text() {
    let lab = measured();
    let view = View::of(&lab, &[]);
    let list = view.get("/");
    assert_eq!(list.status, 200, "{}", list.body);
    assert!(list.body.contains("<a href=\"run/small\">small</a>"), "{}", list.body);
    assert!(!list.body.contains("<script") && list.body.contains("a&lt;script&gt;alert(1)"), "{}", list.body);
    for header in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'",
    ] {
        assert!(list.head.contains(header), "{header}: {}", list.head);
    }
    // Every link of the list is one that is answered.
    let links: Vec<&str> =
        list.body.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 2, "{links:?}");
    for link in links {
        let page = view.get(&format!("/{link}"));
        assert_eq!(page.status, 200, "{link}: {}", page.body);
        assert!(
            page.body.contains("A small study") && page.head.contains("content-security-policy:"),
            "{link}"
        );
        let live = view.get(&format!("/{}", link.replace("run/", "live/")));
        assert!(live.status == 200 && !live.body.contains("<script>"), "{}", live.body);
    }
    for (file, kind) in [("style.css", "text/css"), ("live.js", "text/javascript")] {
        let file = view.get(&format!("/{file}"));
        assert!(file.status == 200 && file.head.contains(kind), "{}", file.head);
    }
    let head = view.request("HEAD", "/", "");
    assert!(head.status == 200 && head.body.is_empty(), "{}", head.body);
}

#[test]
fn other_origins_hosts_methods_tokens_and_paths_are_refused() {
    let lab = measured();
    let view = View::of(&lab, &[]);
    let View { host, token, .. } = &view;
    let port = host.split(':').nth(1).unwrap();
    let asked = |head: String| {
        let answer = view.raw(&head);
        assert!(
            !answer.body.contains("small") && !answer.body.contains("beside the runs"),
            "{head}: {}",
            answer.body
        );
        answer.status
    };
    let with = |headers: &str| asked(format!("GET /{token}/ HTTP/1.1\r\n{headers}\r\n"));
    for headers in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: localhost:{port}\r\n"),
        "Host: 127.0.0.1\r\n".into(),
        format!("Host: {host}\r\nHost: evil.example\r\n"),
        String::new(),
        format!("Host: {host}\r\nOrigin: https://evil.example\r\n"),
        format!("Host: {host}\r\nOrigin: http://127.0.0.1:1\r\n"),
        format!("Host: {host}\r\nOrigin: null\r\n"),
        format!("Host: {host}\r\nSec-Fetch-Site: cross-site\r\n"),
        format!("Host: {host}\r\nSec-Fetch-Site: same-site\r\n"),
        format!(
            "Host: {host}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
        ),
    ] {
        let status = with(&headers);
        assert!([400, 403].contains(&status), "{headers}: {status}");
    }
    assert_eq!(asked(format!("GET http://evil.example/{token}/ HTTP/1.1\r\nHost: {host}\r\n\r\n")), 403);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = view.request(method, "/", "Content-Length: 0\r\n");
        assert!(
            answer.status == 405 && answer.head.contains("allow: get, head"),
            "{method}: {}",
            answer.head
        );
    }
    let mut other = token.clone();
    other.replace_range(31.., if token.ends_with('0') { "1" } else { "0" });
    for path in [
        "/",
        "/run/small",
        &format!("/{other}/"),
        &format!("/{other}/run/small"),
        &format!("/{token}"),
        &format!("//{token}/"),
    ] {
        assert_eq!(asked(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")), 403, "{path}");
    }
    for path in [
        "/../secret.txt",
        "/run/../../secret.txt",
        "/run/..%2f..%2fsecret.txt",
        "/run/%2e%2e",
        "/run/.",
        "/run/",
        "/run/small/",
        "/run/small/records.ndjson",
        "/run/%2fetc%2fpasswd",
        "/live/nowhere",
        "/events/..",
        "/nowhere",
    ] {
        assert_eq!(asked(format!("GET /{token}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n")), 404, "{path}");
    }
    assert_eq!(view.get("/compare?a=small&b=..%2fsecret.txt").status, 400);
    assert_eq!(view.get("/").status, 200, "it still answers");
}

#[test]
fn requests_are_bounded() {
    let lab = measured();
    let view = View::of(&lab, &[]);
    let long = view.request("GET", "/", &format!("X: {}\r\n", "x".repeat(100_000)));
    assert!([0, 431].contains(&long.status), "{}", long.status);
    let many = view.request("GET", "/", &"X: x\r\n".repeat(100));
    assert!([0, 431].contains(&many.status), "{}", many.status);
    // Those that say nothing give their places to others, and are closed after a while.
    let silent: Vec<TcpStream> = (0..40).map(|_| view.connect()).collect();
    assert_eq!(view.get("/").status, 200, "nobody without the secret keeps out who has it");
    let is_closed = |stream: &&TcpStream| match (&**stream).read(&mut [0; 1]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    };
    assert_eq!(silent.iter().filter(is_closed).count(), silent.len());
    wait_until("it answers again", || view.get("/").status == 200);
}

/// Asks as another user of this machine would: with what everybody can see.
const NEIGHBOUR: &str = r#"
tr '\0' ' ' < /proc/$1/cmdline
tr '\0' ' ' < /proc/$1/environ 2>/dev/null
exec 3<>/dev/tcp/127.0.0.1/$2
printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' $2 >&3
cat <&3
"#;

#[test]
fn another_user_of_the_machine_sees_no_token_and_is_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can be another user");
        return;
    }
    needs!(has("setpriv", "apt install util-linux"), has("bash", "apt install bash"));
    let lab = measured();
    let opened = lab.write("xdg-open", "#!/bin/sh\nprintf %s \"$1\" > opened\n");
    fs::set_permissions(&opened, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let view = View::of(&lab, &["--open"]);
    let port = view.host.split(':').nth(1).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", NEIGHBOUR, "neighbour"]);
    let output = command.arg(view.server.0.id().to_string()).arg(port).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("view --open") && said.contains("403 Forbidden"), "{said}");
    assert!(!said.contains(&view.token) && !said.contains("small"), "{said}");

    // What opens the browser is given a file that only the user can read, not the address.
    wait_until("the browser is opened", || lab.path("opened").metadata().is_ok_and(|file| file.len() > 0));
    let page = lab.read("opened");
    assert!(!page.contains(&view.token), "{page}");
    assert!(fs::read_to_string(&page).unwrap().contains(&view.token));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&page).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // It leads to the list, once.
    let arrives = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    assert_eq!(view.request("GET", "/", arrives).status, 200);
    assert_eq!(view.request("GET", "/", arrives).status, 403);
}

/// Reads the next event: its name and its data.
fn event(events: &mut impl BufRead) -> (String, serde_json::Value) {
    let mut name = String::new();
    loop {
        let mut line = String::new();
        assert!(events.read_line(&mut line).unwrap() > 0, "the events ended");
        if let Some(of) = line.strip_prefix("event: ") {
            name = of.trim().to_owned();
        }
        if let Some(data) = line.strip_prefix("data: ") {
            return (name, serde_json::from_str(data).unwrap());
        }
    }
}

#[test]
fn a_run_that_measures_tells_its_samples_as_they_come_until_it_ends() {
    let lab = measured();
    let run = lab.path("weigh-runs/growing");
    copy(&lab.path("weigh-runs/small"), &run);
    let path = run.join("records.ndjson");
    let records = log::read(&path).unwrap().records;
    fs::remove_file(&path).unwrap();
    let mut writer = LogWriter::open(&path, 0).unwrap();
    let held = fs::File::open(run.join("lock")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let (before, after) = records.split_at(3);
    before.iter().for_each(|record| writer.append(record).unwrap());

    let view = View::of(&lab, &["growing", "small"]);
    assert!(view.get("/").body.contains("<a href=\"live/growing\">growing</a>"));
    let mut stream = view.connect();
    let (host, token) = (&view.host, &view.token);
    write!(stream, "GET /{token}/events/growing HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut events = BufReader::new(stream);
    let (name, told) = event(&mut events);
    assert_eq!(
        (name.as_str(), &told["samples"], &told["configurations"]),
        ("progress", &3.into(), &4.into())
    );
    // A line that is still being written is told when it is whole.
    let mut samples = 3;
    for record in after {
        writer.append(record).unwrap();
        let (name, told) = event(&mut events);
        let now = told["samples"].as_u64().unwrap();
        assert!(name == "progress" && now >= samples, "{told}");
        samples = now;
    }
    let (name, told) = event(&mut events);
    assert_eq!((name.as_str(), &told["complete"]), ("end", &true.into()), "{told}");
    assert_eq!((&told["samples"], &told["done"]), (&12.into(), &4.into()), "{told}");
}

#[test]
fn it_ends_at_once_and_well_when_the_user_wants_it_even_while_events_are_read() {
    let lab = measured();
    for signal in ["INT", "TERM"] {
        let mut view = View::of(&lab, &["latest"]);
        let mut stream = view.connect();
        let held = fs::File::open(lab.path("weigh-runs/small/lock")).unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();
        let (host, token) = (&view.host, &view.token);
        write!(stream, "GET /{token}/events/small HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        view.server.signal(signal);
        let status = view.server.0.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{signal}: {status}");
        assert!(TcpStream::connect(&view.host).is_err());
    }
    assert_eq!(lab.left_over(), 0);
}

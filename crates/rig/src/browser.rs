//! A real browser, headless Chromium, that loads pages and says what it asked for, when, and what it painted.
//!
//! It is driven by its DevTools protocol over two pipes: nobody else can connect to it. It has a fresh profile in a private directory, a user of its own
//! where the lab is root's, and the network of the thread that starts it, which should be one whose only peer is a private instance. It ends with this value
//! and with the lab, whatever a page does: pages are hostile, and every wait, message and list has a bound.

mod devtools;
mod load;
mod pipe;
mod record;
mod relay;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;

use devtools::DevTools;
use pipe::Pipe;
pub use record::{Frame, Initiator, LargestSeen, Painted, RecordedLoad, RecordedRequest, Timing};
pub use relay::Relay;
use weigh_model::page::Protocol;
use weigh_os::guard::{Guarded, Home, LaunchContext, Program};
use weigh_os::lifeline;
use weigh_os::programs::first_of;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;

/// What Chromium is called.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// How long a start may take.
const STARTING: Duration = Duration::from_secs(30);
/// What a start without a sandbox of its own says: the machine gives it no user namespaces. It is unprivileged anyway.
const NO_SANDBOX: &str = "sandbox";
/// Flags of every start: no service of its maker's, nothing that is asked or shown, no timer that is slowed down.
const FLAGS: [&str; 23] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-proxy-server",
    "--mute-audio",
    "--hide-scrollbars",
    "--password-store=basic",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--deny-permission-prompts",
    "--window-size=1350,940",
];

/// How a browser is started.
#[derive(Clone, Debug)]
pub struct BrowserSpec {
    /// Hosts with their ports, `shop.example:443`, and where they are reached instead; no other name leads anywhere.
    pub hosts: Vec<(String, SocketAddr)>,
    /// Whether any certificate is taken, as of a private instance whose network has nobody else.
    pub any_certificate: bool,
    /// The only protocol that it offers; none: what browsers do by default, without HTTP/3.
    pub protocol: Option<Protocol>,
    /// For HTTP/3: the SHA-256 of a public key in base64 whose certificates are taken; none: those that the system trusts.
    pub key: Option<String>,
    /// The guard's program: this same program, except in tests.
    pub launcher: OsString,
}

impl Default for BrowserSpec {
    fn default() -> BrowserSpec {
        let (any_certificate, protocol, key) = Default::default();
        BrowserSpec { hosts: Vec::new(), any_certificate, protocol, key, launcher: lifeline::this_program() }
    }
}

/// What a load may take.
#[derive(Clone, Copy, Debug)]
pub struct LoadLimits {
    /// In all.
    pub patience: Duration,
    /// After the load event, for requests that go on.
    pub after_load: Duration,
    /// Without any request on its way, after which a load is over.
    pub quiet: Duration,
    /// Requests.
    pub requests: usize,
    /// Whether a picture of the page is taken, and frames of how it comes to be. Such a load takes longer.
    pub picture: bool,
}

impl Default for LoadLimits {
    fn default() -> LoadLimits {
        LoadLimits {
            patience: Duration::from_secs(60),
            after_load: Duration::from_secs(3),
            quiet: Duration::from_millis(300),
            requests: weigh_model::page::MOST_RESOURCES,
            picture: false,
        }
    }
}

/// A running browser.
#[derive(Debug)]
pub struct Browser {
    tools: DevTools,
    version: String,
    has_sandbox: bool,
    /// Last: what runs in it ends before it goes.
    _shelter: Shelter,
}

/// The browser of this machine.
///
/// # Errors
/// One line: there is none, and how to install it.
pub fn program() -> Result<PathBuf> {
    first_of(&NAMES.map(str::to_owned)).context("no Chromium was found here: apt install chromium")
}

impl Browser {
    /// Starts one in the network of this thread, and waits until it answers.
    ///
    /// # Errors
    /// One line: there is none, or it does not start, in its last words.
    pub fn start(spec: &BrowserSpec) -> Result<Browser> {
        let program = program()?;
        let user = if spec.launcher == lifeline::this_program() {
            OwnUser::for_programs(std::iter::once(program.as_path()))
                .map_err(|denied| anyhow!("{}", denied.refused("the browser would run as root")))?
        } else {
            OwnUser::of_lab(&spec.launcher)
        };
        match Browser::attempt(&program, spec, user, true) {
            Err(error) if format!("{error:#}").to_lowercase().contains(NO_SANDBOX) => {
                Browser::attempt(&program, spec, user, false)
            }
            started => started,
        }
    }

    fn attempt(
        program: &Path,
        spec: &BrowserSpec,
        user: Option<OwnUser>,
        has_sandbox: bool,
    ) -> Result<Browser> {
        let shelter = Shelter::of(user).context("no temporary folder for the browser")?;
        let place = LaunchContext::new(shelter.path(), shelter.path().join("browser.log")).of(user);
        let place = LaunchContext { launcher: spec.launcher.clone(), ..place };
        let dir = place.directory("chromium").context("no temporary folder for the browser")?;
        let pipe = Pipe::make(dir.path()).context("no pipes to the browser")?;
        let command = command(program, dir.path(), spec, has_sandbox);
        let own = |name: &str, path: &str| (OsString::from(name), dir.path().join(path).into_os_string());
        let env = vec![
            own("HOME", ""),
            own("XDG_CONFIG_HOME", "config"),
            own("XDG_CACHE_HOME", "cache"),
            own("TMPDIR", ""),
        ];
        let program = Program { command, env, cpus: Vec::new() };
        let guarded =
            Guarded::start(&program, Home::Given(dir), &place).context("the browser cannot be started")?;
        let mut tools = DevTools::new(guarded, pipe);
        let answer = tools.call_by(Instant::now() + STARTING, None, "Browser.getVersion", &json!({}));
        let answer = answer.context("the browser does not start")?;
        let Some(version) = answer["product"].as_str() else { bail!("the browser does not say what it is") };
        let version = record::short(version);
        Ok(Browser { tools, version, has_sandbox, _shelter: shelter })
    }

    /// What it calls itself, `HeadlessChrome/140.0.0.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether it has a sandbox of its own around pages, which takes user namespaces.
    pub fn has_sandbox(&self) -> bool {
        self.has_sandbox
    }

    /// Loads a page with an empty cache and without cookies, as a new visitor does.
    ///
    /// # Errors
    /// One line: it cannot be loaded, leads elsewhere by itself, or the browser ended. After an error the browser may be of no further use.
    pub fn load(&mut self, url: &str, limits: &LoadLimits) -> Result<RecordedLoad> {
        load::load(&mut self.tools, url, limits)
    }
}

/// The command line: a shell gives it the pipes that it expects as its third and fourth file.
fn command(program: &Path, dir: &Path, spec: &BrowserSpec, has_sandbox: bool) -> Vec<OsString> {
    let script = format!("exec \"$@\" 3<{} 4>{}", pipe::TO, pipe::FROM);
    let mut command: Vec<OsString> = ["/bin/sh", "-c", &script, "sh"].map(OsString::from).to_vec();
    command.push(program.into());
    command.extend(FLAGS.map(OsString::from));
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(dir.join("profile"));
    command.push(profile);
    let mut rules: Vec<String> =
        spec.hosts.iter().map(|(host, address)| format!("MAP {host} {address}")).collect();
    if !rules.is_empty() {
        // In the browser's network there is nobody else anyway; so it need not try.
        rules.push("MAP * ~NOTFOUND".into());
        command.push(format!("--host-resolver-rules={}", rules.join(", ")).into());
    }
    match spec.protocol {
        Some(Protocol::Http3) => {
            let hosts: Vec<&str> = spec.hosts.iter().map(|(host, _)| host.as_str()).collect();
            command.push("--enable-quic".into());
            command.push(format!("--origin-to-force-quic-on={}", hosts.join(",")).into());
            let key =
                spec.key.iter().map(|key| format!("--ignore-certificate-errors-spki-list={key}").into());
            command.extend(key);
        }
        Some(Protocol::Http1) => command.extend(["--disable-quic", "--disable-http2"].map(OsString::from)),
        Some(Protocol::Http2) | None => command.push("--disable-quic".into()),
    }
    if spec.any_certificate {
        command.push("--ignore-certificate-errors".into());
    }
    if !has_sandbox {
        command.push("--no-sandbox".into());
    }
    command.push("about:blank".into());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_reaches_what_it_is_told_and_nobody_else() {
        let words = |spec: &BrowserSpec, has_sandbox| {
            let command = command("/usr/bin/chromium".as_ref(), "/tmp/x".as_ref(), spec, has_sandbox);
            command.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<String>>()
        };
        let hosts = vec![("shop.example:443".to_owned(), "127.0.0.1:8443".parse().unwrap())];
        let spec = BrowserSpec { hosts, any_certificate: true, ..BrowserSpec::default() };
        let all = words(&spec, false);
        let begin = ["/bin/sh", "-c", "exec \"$@\" 3<to-browser 4>from-browser", "sh", "/usr/bin/chromium"];
        assert_eq!(all[..5], begin);
        for word in [
            "--host-resolver-rules=MAP shop.example:443 127.0.0.1:8443, MAP * ~NOTFOUND",
            "--user-data-dir=/tmp/x/profile",
            "--ignore-certificate-errors",
            "--no-sandbox",
        ] {
            assert!(all.iter().any(|one| one == word), "{word}: {all:?}");
        }
        let spoken = |protocol| {
            let spec = BrowserSpec { protocol, key: Some("a+b=".into()), ..spec.clone() };
            words(&spec, true).join(" ")
        };
        assert!(spoken(Some(Protocol::Http1)).contains("--disable-quic --disable-http2"));
        assert!(!spoken(Some(Protocol::Http2)).contains("http2"));
        let forced = "--enable-quic --origin-to-force-quic-on=shop.example:443 --ignore-certificate-errors-spki-list=a+b=";
        assert!(spoken(Some(Protocol::Http3)).contains(forced));
        let none = words(&BrowserSpec::default(), true);
        assert!(!none.iter().any(|word| word.contains("resolver") || word.contains("certificate")));
        assert!(!none.contains(&"--no-sandbox".to_owned()));
        assert_eq!(none.last().unwrap(), "about:blank");
    }
}

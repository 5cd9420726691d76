//! The plan for URLs: what each answers to each content coding is looked at once, and what it answers with is a cell.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use weigh_load::protocol::coding::Coding;
use weigh_load::target::{Resolver, Scheme, Target, permit};

use super::UserOverrides;
use weigh_content::{Names, kind};
use weigh_model::cell::{Cell, Delivery, NO_PHP, Subject, Transport};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::{Exclusion, Plan, Server};
use weigh_model::setting::Setting;
use weigh_model::text::clean;
use weigh_model::way::{By, WayKind};
use weigh_os::digest;
use weigh_rig::http::{self, Reply};
use weigh_run::planner::{PlanOptions, policy};
use weigh_run::planning::Planning;
use weigh_run::study::Study;

/// The server's name in cells: nobody knows what stands behind a URL.
pub const SERVER: &str = "url";
/// The content codings that are asked for, each by itself.
const CODINGS: [(&str, Coding); 3] = [("gzip", Coding::Gzip), ("br", Coding::Brotli), ("zstd", Coding::Zstd)];
/// The least that a response is expected to take, in seconds.
const LEAST: f64 = 0.0002;
/// Words in the path of a page on which users are to say who they are.
const LOGIN: [&str; 8] = ["login", "log-in", "log_in", "signin", "sign-in", "sso", "oauth", "auth"];

/// What is asked where the user names no study.
const STUDY: &str = include_str!("urls.toml");

/// The study of URLs alone.
pub fn study() -> Result<Study> {
    Study::parse(STUDY, "the study of URLs")
}

/// The cells of URLs in place of those of a study.
///
/// # Errors
/// One line: which URL cannot or may not be measured, and what to do.
pub fn plan(study: &Study, own: &UserOverrides, planning: &mut Planning<'_>) -> Result<Plan> {
    let mut plan = empty(study, planning.options);
    let mut asking = Asking::new(&own.allow_remote);
    let mut said = Vec::new();
    for url in &own.urls {
        let Found { target, answer: plainly, payload } = asking.find("--url", url, planning)?;
        let doing = || format!("--url {}", clean(url));
        said.extend(plainly.shown_field("server"));
        let asked =
            |coding, answer: &Reply| cell(Subject::ASSET, &payload, &target, (coding, coding), answer);
        plan.cells.push(asked("identity", &plainly));
        for (name, coding) in CODINGS {
            let answer = ask_once(&target, name).with_context(doing)?;
            let cell = asked(name, &answer);
            let reason = match (answer.status, answer.coding) {
                (200..=299, sent) if sent == coding => {
                    plan.cells.push(cell);
                    continue;
                }
                (200..=299, sent) => format!("asked for {name}, the server sends {}", word(sent)),
                (status, _) => format!("asked for {name}, the server answers with status {status}"),
            };
            plan.exclusions.push(Exclusion { cell: cell.id, reason, remedy: None });
        }
        plan.payloads.push(payload);
    }
    said.dedup();
    plan.servers[0].version = said.join(", ");
    Ok(plan)
}

/// A plan of a study without anything in it.
pub fn empty(study: &Study, options: &PlanOptions) -> Plan {
    Plan {
        study: Study { published: None, ..study.clone() }.text(),
        seed: options.seed,
        policy: policy(study, options),
        payloads: Vec::new(),
        runtimes: Vec::new(),
        servers: vec![Server { name: SERVER.into(), ..Server::default() }],
        stores: Vec::new(),
        links: Vec::new(),
        cells: Vec::new(),
        sides: Vec::new(),
        exclusions: Vec::new(),
    }
}

/// URLs that are requested one after the other.
pub struct Asking<'a> {
    allowed: &'a [String],
    resolver: Resolver,
    names: Names,
}

impl<'a> Asking<'a> {
    /// `allowed`: hosts that are not this machine and may be asked.
    pub fn new(allowed: &'a [String]) -> Asking<'a> {
        Asking { allowed, resolver: Resolver::default(), names: Names::new() }
    }

    /// Makes sure that a URL's host may be asked.
    ///
    /// # Errors
    /// One line: why not, and what allows it.
    pub fn permit(&self, flag: &str, url: &str) -> Result<()> {
        let target = self.resolver.target(url).with_context(|| flag.to_owned())?;
        permit(&target, self.allowed).map_err(|why| anyhow!("{flag}: {why:#}"))
    }

    /// Asks a URL once, if it may be asked; `flag` is what it was given by.
    fn find(&mut self, flag: &str, url: &str, planning: &mut Planning<'_>) -> Result<Found> {
        let target = self.resolver.target(url)?;
        permit(&target, self.allowed)?;
        planning.progress.doing(&format!("asking {}", clean(url)));
        let doing = || format!("{flag} {}", clean(url));
        let answer = ask_once(&target, "identity").with_context(doing)?;
        welcome(flag, url, &answer)?;
        let payload =
            payload(url, &target, &answer, planning.staging, &mut self.names).with_context(doing)?;
        Ok(Found { target, answer, payload })
    }

    /// Adds what a URL sends to clients with these values of Accept-Encoding; gives the payload's name.
    ///
    /// # Errors
    /// One line: why the URL cannot or may not be measured, and what to do.
    pub fn add(
        &mut self,
        plan: &mut Plan,
        subject: Subject,
        (flag, url): (&str, &str),
        accepts: &[String],
        planning: &mut Planning<'_>,
    ) -> Result<String> {
        let Found { target, payload, .. } = self.find(flag, url, planning)?;
        let doing = || format!("{flag} {}", clean(url));
        for accept in accepts {
            let answer = ask_once(&target, accept).with_context(doing)?;
            welcome(flag, url, &answer)?;
            let first = accept.split(',').next().unwrap_or_default();
            plan.cells.push(cell(subject.clone(), &payload, &target, (first, accept), &answer));
        }
        let name = payload.name.clone();
        plan.payloads.push(payload);
        Ok(name)
    }
}

/// Adds the user's own page to the cells of a study, without a content coding: its response time is the scale of what the study's ways cost.
///
/// # Errors
/// One line: why the page cannot or may not be measured, and what to do.
pub fn add_page(plan: &mut Plan, url: &str, own: &UserOverrides, planning: &mut Planning<'_>) -> Result<()> {
    let mut asking = Asking::new(&own.allow_remote);
    plan.payloads.iter().for_each(|payload| drop(asking.names.give(&payload.name)));
    let Found { target, answer, payload } = asking.find("--page", url, planning)?;
    plan.cells.push(cell(Subject::PAGE, &payload, &target, ("identity", "identity"), &answer));
    plan.payloads.push(payload);
    let version = answer.shown_field("server").unwrap_or_default();
    plan.servers.push(Server { name: SERVER.into(), version, ..Server::default() });
    Ok(())
}

struct Found {
    target: Target,
    answer: Reply,
    payload: Payload,
}

fn ask_once(target: &Target, accept: &str) -> Result<Reply> {
    http::get(target, accept).map_err(|fault| anyhow!(fault.message))
}

/// Refuses what is not an answer to measure.
fn welcome(flag: &str, url: &str, answer: &Reply) -> Result<()> {
    let url = clean(url);
    let status = answer.status;
    let by_hand = format!("measure what a user sees with: weigh load --header 'Cookie: NAME=VALUE' {url}");
    match (status, answer.shown_field("location").as_deref()) {
        (401 | 403, _) => bail!("{flag} {url}: status {status}, it needs a login; {by_hand}"),
        (300..=399, Some(to)) if is_login(to) => {
            bail!("{flag} {url}: status {status}, it leads to a login at {to}; {by_hand}")
        }
        (300..=399, Some(to)) => {
            bail!("{flag} {url}: status {status}, it leads to {to}; measure that, with {flag}")
        }
        (200..=299, _) if answer.body.is_empty() => {
            bail!("{flag} {url}: status {status} without a body; there is nothing to measure")
        }
        (200..=299, _) => Ok(()),
        _ => bail!("{flag} {url}: status {status}; give a URL that answers with 200"),
    }
}

fn is_login(location: &str) -> bool {
    let path = location.split(['?', '#']).next().unwrap_or_default().to_lowercase();
    let words = path.split(['/', '.']);
    words.into_iter().any(|word| LOGIN.contains(&word) || word.contains("login") || word.contains("signin"))
}

fn word(coding: Coding) -> &'static str {
    match coding {
        Coding::Identity => "no coding",
        Coding::Gzip => "gzip",
        Coding::Deflate => "deflate",
        Coding::Brotli => "br",
        Coding::Zstd => "zstd",
        Coding::DictionaryBrotli => "dcb",
        Coding::DictionaryZstd => "dcz",
        Coding::Other => "another coding",
    }
}

/// What the URL sends, decoded.
fn payload(url: &str, target: &Target, answer: &Reply, staging: &Path, names: &mut Names) -> Result<Payload> {
    let bytes = answer.decoded()?;
    let path = target.location.path.split('?').next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().filter(|last| !last.is_empty());
    let name = names.give(last.unwrap_or(&target.location.host));
    let blob = staging.join(format!("{name}.bin"));
    std::fs::write(&blob, &bytes).with_context(|| format!("{}: cannot be written", blob.display()))?;
    let length = bytes.len() as u64;
    Ok(Payload {
        kind: kind::detect_kind(Path::new(path), &bytes[..bytes.len().min(512)]).to_owned(),
        name,
        blob,
        sha256: digest::sha256(&bytes),
        bytes: length,
        items: vec![length],
        family: false,
        value: None,
        parts: Vec::new(),
        origin: Origin::Url { url: url.trim().to_owned() },
    })
}

fn cell(
    subject: Subject,
    payload: &Payload,
    target: &Target,
    (coding, accept): (&str, &str),
    answer: &Reply,
) -> Cell {
    let transport = match target.location.scheme {
        Scheme::Http => Transport::Http,
        Scheme::Https => Transport::Https,
    };
    let kind = if coding == "identity" { WayKind::Plain } else { WayKind::OnTheFly };
    let delivery = Delivery {
        server: SERVER.to_owned(),
        transport,
        by: By::Server,
        kind,
        accept: accept.to_owned(),
        connections: 1,
        instances: 1,
        ..Delivery::default()
    };
    let setting = Setting::bare(coding);
    Cell {
        id: Cell::make_delivery_id(&payload.name, NO_PHP, &setting, &delivery),
        subject,
        payload: payload.name.clone(),
        runtime: NO_PHP.into(),
        setting,
        // Its own figures are what was asked for.
        keep: true,
        expected_seconds: answer.took.as_secs_f64().max(LEAST),
        delivery: Some(delivery),
        ..Cell::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_study_of_urls_is_a_study() {
        assert_eq!(study().unwrap().name, "urls");
    }

    #[test]
    fn a_login_is_known_by_its_path() {
        for login in
            ["/login", "https://sso.example/x/auth?next=/", "/wp-login.php", "/users/sign-in", "/signin.aspx"]
        {
            assert!(is_login(login), "{login}");
        }
        for other in ["/", "https://example/authors/", "/catalogue?login=no"] {
            assert!(!is_login(other), "{other}");
        }
    }
}

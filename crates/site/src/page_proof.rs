//! Loads of the site's pages before and after a policy: two private instances with its whole configuration and its application, one of them with the
//! policy's files and, in a copy of the document root, its precompressed variants, at the far end of each link; browsers at the near one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};

use anyhow::{Context, Result, anyhow, bail, ensure};
use url::Url;
use walkdir::{DirEntry, WalkDir};

use super::application::Application;
use super::own_php;
use super::page_loads::{Page, PageLoads};
use super::private::Private;
use super::regression::Subject;
use super::request::NamedPhp;
use super::served::Served;
use weigh_answer::compare::page_loads::PairedLoads;
use weigh_load::target::Location;
use weigh_model::link::LinkSpec;
use weigh_model::policy::{Encoder, Policy};
use weigh_model::site::{Kind, LoadedPage, Site};
use weigh_model::units;
use weigh_os::interrupt::Interrupt;
use weigh_os::network::Network;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_pack::{PackRequest, Settings};
use weigh_rig::http::{self, Peer, Security};
use weigh_run::lab::{Lab, Progress};
use weigh_serverconf::php;

/// What is copied at most: bytes, and files.
const LARGEST: u64 = 1 << 30;
const MOST: usize = 100_000;

/// A policy whose page loads are to be proved.
pub struct PageProof<'a> {
    pub lab: &'a Lab,
    pub site: &'a Site,
    pub policy: &'a Policy,
    /// Seconds of measuring over all links.
    pub seconds: f64,
    pub seed: u64,
}

/// An instance that answers: its network, and the address there.
type Answering = (Network, std::net::SocketAddr);

impl PageProof<'_> {
    /// Loads the page with the most views over each link, before and after in turn.
    ///
    /// # Errors
    /// One line: what is missing for it; what an instance or a load came to.
    pub fn loads(&self, links: &[LinkSpec], progress: &mut dyn Progress) -> Result<Vec<PairedLoads>> {
        let loaded = self.site.loaded.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        let loaded = loaded.context("no page was loaded in a browser (weigh site --browser)")?;
        let changed = || self.policy.decisions.iter().filter(|one| !one.keep && one.kind != Kind::Value);
        let is_by = |by: Encoder| changed().any(|one| one.rules.iter().any(|rule| rule.by == by));
        ensure!(!is_by(Encoder::Php), "PHP would encode them, and the application is not changed here");
        progress.doing("preparing the site before and after");
        let before = as_it_is(self.lab, self.site, progress)?;
        if self.site.visitors.tls && !before.is_secure() {
            progress.note("pages are loaded without TLS, as the configuration has none; predictions are of HTTP/2 over TLS");
        }
        let own = before.own.as_ref().context("the configuration cannot be run privately")?;
        let after = Subject { policy: self.policy, site: self.site, own }.carried_out()?;
        let shelter = Shelter::of(before.user()).context("no temporary folder")?;
        let copy = shelter.path().join("docroot");
        Interrupt::during(|interrupt| {
            let mut packed = None;
            if is_by(Encoder::Beforehand) {
                copied(before.docroot(), &copy, before.user())?;
                pack(self.policy, &copy, before.user(), interrupt)?;
                packed = Some(copy.as_path());
            }
            let after = before.configured(after, packed);
            self.between(&[before, after], loaded, links, interrupt, progress)
        })?
    }

    /// Starts both sides, and loads the page of each.
    fn between(
        &self,
        sides: &[Private; 2],
        loaded: &LoadedPage,
        links: &[LinkSpec],
        interrupt: &Interrupt,
        progress: &mut dyn Progress,
    ) -> Result<Vec<PairedLoads>> {
        let scheme = if sides[0].is_secure() { "https" } else { "http" };
        // An application may answer for the host alone that the site was asked by.
        let asked =
            self.site.sources.urls.iter().filter_map(|url| Some(Location::parse(url).ok()?.authority));
        let hosts = asked.take(1).chain([sides[0].host().to_owned()]);
        // Which page a front controller makes may be said by the query string.
        let recorded = loaded.graph.as_ref().and_then(|graph| Url::parse(&graph.resources.first()?.url).ok());
        let url = |host: String| {
            let mut url = Url::parse(&format!("{scheme}://{host}{}", loaded.page)).context("its URL")?;
            url.set_query(recorded.as_ref().and_then(Url::query));
            Ok(url)
        };
        let urls = hosts.map(url).collect::<Result<Vec<Url>>>()?;
        progress.doing("starting the site before and after");
        std::thread::scope(|scope| {
            let (started, starts): (Vec<_>, Vec<_>) = (0..sides.len()).map(|_| mpsc::channel()).unzip();
            let (ends, ended): (Vec<_>, Vec<_>) = (0..sides.len()).map(|_| mpsc::channel::<()>()).unzip();
            let all = sides.iter().zip(started).zip(ended);
            let running: Vec<_> = all
                .map(|((side, started), ended)| scope.spawn(move || run(side, interrupt, started, ended)))
                .collect();
            let loads = self.over(&urls, &starts, links, interrupt, progress);
            drop(ends);
            for (side, name) in running.into_iter().zip(["before", "after"]) {
                let done = side.join().map_err(|_| anyhow!("an instance was not ended"))?;
                done.with_context(|| format!("the site as it is {name}"))?;
            }
            loads
        })
    }

    /// Loads over each link, once both sides have started, by the first URL that works.
    fn over(
        &self,
        urls: &[Url],
        starts: &[Receiver<Answering>],
        links: &[LinkSpec],
        interrupt: &Interrupt,
        progress: &mut dyn Progress,
    ) -> Result<Vec<PairedLoads>> {
        let started = |start: &Receiver<Answering>| start.recv().context("it does not start");
        let [before, after] = [started(&starts[0])?, started(&starts[1])?];
        let url = urls.iter().find(|url| answers(url, &before)).or(urls.last()).context("it has no URL")?;
        let page = |(network, peer): Answering| Page {
            url: url.clone(),
            protocol: None,
            peer,
            network: Some(network),
        };
        let pages = [page(before), page(after)];
        let PageProof { seconds, seed, .. } = *self;
        let loads = PageLoads { pages: &pages, links, any_certificate: true, seconds, seed };
        loads.measure(interrupt, progress)
    }
}

/// The site's application in a private instance as it is today.
///
/// # Errors
/// One line: what is missing for it.
pub(crate) fn as_it_is(lab: &Lab, site: &Site, progress: &mut dyn Progress) -> Result<Private> {
    let sources = &site.sources;
    let (docroot, config) = sources.docroot.as_ref().zip(sources.server_config.as_ref()).context(
        "the document root and the server's configuration are not known (weigh site --docroot --server-config)",
    )?;
    let served = Served::of(sources);
    let named = |name: &String| NamedPhp { binary: name.into(), ..NamedPhp::default() };
    let php: Vec<NamedPhp> = sources.php.iter().map(named).collect();
    let own_php = sources.php_config.as_ref().map(|file| php::read(Path::new(file))).transpose()?;
    let render_as = sources.render_as.clone().map(Some);
    let account = own_php::account(render_as.as_ref(), own_php.as_ref())?;
    let application = Application {
        lab,
        served: Some(&served),
        docroot: Path::new(docroot),
        server_config: Some(Path::new(config)),
        server: sources.server.as_deref(),
        site: sources.site.as_deref(),
        php: &php,
        php_config: own_php.as_ref(),
        account: account.as_ref().map(|(name, account)| (name.as_str(), *account)),
        logged: &[],
        browser: false,
    };
    application.private(true, progress)
}

/// Whether an instance answers for a URL.
fn answers(url: &Url, (network, address): &Answering) -> bool {
    let Ok(location) = Location::parse(url.as_str()) else { return false };
    let security = if url.scheme() == "https" { Security::Own } else { Security::Plain };
    let peer = Peer { address: *address, security };
    let reply = network.within(|| http::get_from(peer, &location, "identity"));
    reply.is_ok_and(|reply| reply.is_ok_and(|reply| reply.status == 200))
}

/// Starts an instance, says where it is, and ends it when nobody waits for it any more.
fn run(side: &Private, interrupt: &Interrupt, started: Sender<Answering>, ended: Receiver<()>) -> Result<()> {
    side.with(interrupt, move |asker| {
        let told = started.send((Network::outside()?, asker.peer.address));
        told.ok().context("nobody waits for it")?;
        // Until the other end is dropped.
        let _ = ended.recv();
        Ok(())
    })
}

/// Copies a document root, but for what other users may not read.
fn copied(from: &Path, to: &Path, user: Option<OwnUser>) -> Result<()> {
    let is_open = |entry: &DirEntry| {
        let is_readable = entry.metadata().is_ok_and(|data| data.permissions().mode() & 0o004 != 0);
        entry.file_name() != ".git" && (user.is_none() || is_readable || entry.path_is_symlink())
    };
    let (mut bytes, mut count) = (0, 0);
    for entry in WalkDir::new(from).into_iter().filter_entry(is_open) {
        let entry = entry.context("the document root cannot be read")?;
        let target = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        let kind = entry.file_type();
        count += 1;
        let done = if kind.is_dir() {
            fs::create_dir_all(&target)
        } else if kind.is_symlink() {
            fs::read_link(entry.path()).and_then(|leads_to| symlink(leads_to, &target))
        } else if kind.is_file() {
            bytes += entry.metadata().map_or(0, |data| data.len());
            fs::copy(entry.path(), &target).map(drop)
        } else {
            Ok(())
        };
        done.context("the document root cannot be copied")?;
        if bytes > LARGEST || count > MOST {
            bail!(
                "the document root is too large to be copied: more than {} or {MOST} files",
                units::bytes(LARGEST)
            );
        }
    }
    user.map_or(Ok(()), |user| user.share(to)).context("the document root cannot be copied")
}

/// Makes what a policy has precompressed.
fn pack(policy: &Policy, tree: &Path, user: Option<OwnUser>, interrupt: &Interrupt) -> Result<()> {
    let settings = Settings::of_policy(policy, &[], None)?;
    let ask = PackRequest { tree, out: None, settings: &settings, jobs: 1, dry_run: false };
    let outcome = weigh_pack::pack(ask, interrupt, &mut |_| {})?;
    if let Some(failure) = outcome.failures.first() {
        bail!("{}: {}", failure.path, failure.why);
    }
    user.map_or(Ok(()), |user| user.share(tree)).context("the variants cannot be read")
}

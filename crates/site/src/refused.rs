//! Files that a web server's own configuration does not send: it is asked, in a private instance. A variant of one would be reachable under a
//! name of its own, and by a rewrite.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use walkdir::WalkDir;

use crate::configuration::own::instead;
use crate::private::{Account, Private};
use crate::server_config::Configured;
use weigh_content::types::VARIANTS;
use weigh_model::text::clean_path;
use weigh_model::way::OwnConfig;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::network;
use weigh_os::regular;
use weigh_os::user::OwnUser;
use weigh_pack::walk::{TreeEntry, walk};
use weigh_rig::asker::{Asker, Question};
use weigh_rig::http::Reply;
use weigh_run::subject::delivery::url;
use weigh_serverconf::places::{UrlFolder, places};
use weigh_serverconf::syntax::Directive;
use weigh_serverconf::syntax::json::{directive, get, string};
use weigh_serverconf::whole;

/// The address that strangers come from: of none of anybody's networks (RFC 5737).
const STRANGER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 77);
/// Links of a document root that are looked at, and how deep.
const MOST_LINKS: usize = 200;
const DEEPEST: usize = 8;
/// The longest content that is compared whole, in bytes; of longer files the length tells.
const LONGEST: u64 = 1 << 20;
/// Statuses by which a file is not sent.
pub const REFUSED: [u16; 4] = [401, 403, 404, 410];

/// Files that a server does not send to everybody.
#[derive(Clone, Debug)]
pub struct Refused {
    pub files: BTreeSet<PathBuf>,
    /// Whether strangers asked from an address of nobody's; else what depends on addresses is not known.
    pub by_address: bool,
}

/// The files of a tree, which is the document root of this configuration, that its server does not send, or that it sends not to strangers, who would
/// have their variants.
///
/// # Errors
/// One line: the server does not start or answer, it sends none of the files, or the user wants an end.
pub fn refused(configured: Configured, tree: &Path, interrupt: &Interrupt) -> Result<Refused> {
    let root = tree.canonicalize().with_context(|| clean_path(tree).to_string())?;
    let mut paths: Vec<PathBuf> = Vec::new();
    walk(&root, None, &mut |met| -> Result<()> {
        if let TreeEntry::Source(source) = met {
            paths.push(source.path.to_path_buf());
        }
        Ok(())
    })?;
    let program = configured.found.program.clone();
    let user = OwnUser::for_programs(program.as_deref().into_iter())
        .map_err(|denied| anyhow!("{}", denied.refused("the server would run as root")))?;
    let all = paths.len();
    let (docroot, begins) = urls_of(&configured, &root);
    // Those of the files that a question to the server is answered with yes for, at one of their URLs.
    let asked =
        |own: Configured, paths: &[PathBuf], from: Option<Ipv4Addr>, is_it: &Ask| -> Result<Refused> {
            let account = Account { user, shown: vec![docroot.clone(), root.clone()] };
            let private = Private::new(own.found.clone(), Some(own), &docroot, None, None, account);
            private.with(interrupt, |asker| {
                let by_address = from.map_or(Ok(false), network::come_from)?;
                let mut files = BTreeSet::new();
                for path in paths {
                    ensure!(!interrupt.is_set(), INTERRUPTED);
                    for begin in &begins {
                        let url = format!("/{}", url::file(&begin.join(path).to_string_lossy()));
                        if is_it(asker, &url, &root.join(path))? {
                            files.insert(path.clone());
                            break;
                        }
                    }
                }
                Ok(Refused { files, by_address })
            })
        };
    let strange = strange(&configured)?;
    let is_refused: &Ask = &|asker, url, file| Ok(!is_sent(asker, url, file)?);
    let mut found = asked(configured, &paths, None, is_refused)?;
    ensure!(
        all == 0 || found.files.len() < all,
        "{}: the server sends none of its files: it is not the document root of that configuration",
        clean_path(tree)
    );
    paths.retain(|path| !found.files.contains(path));
    let strangers = asked(strange, &paths, Some(STRANGER), &is_exposed)?;
    found.files.extend(strangers.files);
    Ok(Refused { by_address: strangers.by_address, ..found })
}

/// The document root, and what the paths of URLs begin with that lead to files of a folder: it may be below the document root, or reached by an alias or
/// a link. Any other folder stands for the document root.
fn urls_of(configured: &Configured, folder: &Path) -> (PathBuf, Vec<PathBuf>) {
    let (site, tree) = (&configured.read.site, &configured.read.tree);
    let own = site.root.canonicalize();
    let rules = configured.found.definition.own.as_ref();
    let mut ways: Vec<(PathBuf, PathBuf)> = Vec::new();
    if let Ok(root) = &own {
        let links = WalkDir::new(root).max_depth(DEEPEST).into_iter().flatten();
        let links = links.filter(|entry| entry.path_is_symlink() && entry.path().is_dir()).take(MOST_LINKS);
        let below = links
            .filter_map(|link| Some((link.path().strip_prefix(root).ok()?.to_owned(), link.into_path())));
        ways.extend(below);
        let alias = |place: UrlFolder| (PathBuf::from(place.url.trim_start_matches('/')), place.folder);
        ways.extend(rules.map(|rules| places(rules, tree, site)).unwrap_or_default().into_iter().map(alias));
        ways.push((PathBuf::new(), root.clone()));
    }
    let begin =
        |(url, to): (PathBuf, PathBuf)| Some(url.join(folder.strip_prefix(to.canonicalize().ok()?).ok()?));
    let begins: Vec<PathBuf> = ways.into_iter().filter_map(begin).collect();
    match own {
        Ok(root) if !begins.is_empty() => (root, begins),
        _ => (folder.to_owned(), vec![PathBuf::new()]),
    }
}

/// A question about the file of a URL.
type Ask = dyn Fn(&Asker<'_>, &str, &Path) -> Result<bool> + Sync;

fn ask(asker: &Asker<'_>, url: &str, is_head: bool) -> Result<Reply> {
    let question = Question { path: url, is_head, ..Question::default() };
    asker.ask(&question).map_err(|fault| anyhow!("{url}: {}", fault.message))
}

/// Whether the server sends a file itself, by this URL or by that to which it redirects, and nothing else in its place.
fn is_sent(asker: &Asker<'_>, url: &str, file: &Path) -> Result<bool> {
    let bytes = file.metadata().map_or(0, |of| of.len());
    let is_head = bytes > LONGEST;
    let mut reply = ask(asker, url, is_head)?;
    let location = reply.field("location").filter(|_| (300..400).contains(&reply.status));
    let location = location.map(|to| String::from_utf8_lossy(&to).into_owned());
    let to = location.as_deref().and_then(|to| match to.split_once("://") {
        Some((_, rest)) => Some(&rest[rest.find('/')?..]),
        None => Some(to).filter(|to| to.starts_with('/')),
    });
    match to {
        // To another host, or to TLS.
        Some(to) if to == url => return Ok(true),
        Some(to) => reply = ask(asker, to, is_head)?,
        None => {}
    }
    Ok(match reply.status {
        // A variant of it, for all.
        200 if reply.field("content-encoding").is_some() => true,
        200 if is_head => reply.length == Some(bytes),
        200 => regular::read(file, LONGEST).is_ok_and(|file| file == reply.body),
        _ => false,
    })
}

/// Whether a stranger, to whom a file is not sent, is not refused its variants by the same.
fn is_exposed(asker: &Asker<'_>, url: &str, file: &Path) -> Result<bool> {
    if is_sent(asker, url, file)? {
        return Ok(false);
    }
    // Questions for heads alone may be refused as such.
    let status = ask(asker, url, false)?.status;
    let mut is_same = status >= 400 && ![404, 410].contains(&status);
    for (_, ending) in &VARIANTS[..3] {
        is_same = is_same && ask(asker, &format!("{url}.{ending}"), false)?.status == status;
    }
    Ok(!is_same)
}

/// The same configuration for strangers.
fn strange(configured: &Configured) -> Result<Configured> {
    let mut own = configured.clone();
    let Some(rules) = own.found.definition.own.as_mut() else { return Ok(own) };
    *rules = rules.clone().for_strangers();
    own.read.tree.directives.iter_mut().for_each(without_logins);
    let made = whole::whole(rules, &configured.found.installed(), &own.read.tree, &own.read.site)?.written;
    let config = OwnConfig { text: made.text, origins: made.origins, ..own.read.config.clone() };
    Ok(instead(&own, config))
}

/// Has Caddy refuse where it asks who a visitor is.
fn without_logins(of: &mut Directive) {
    let asks = match get(of, "handler").and_then(string).as_deref() {
        Some("authentication") => true,
        Some("reverse_proxy") => ["rewrite", "handle_response"].iter().all(|key| get(of, key).is_some()),
        _ => false,
    };
    let Some(block) = &mut of.block else { return };
    if asks {
        let made = [("handler", json!("static_response")), ("status_code", json!(401))];
        *block = made.iter().map(|(key, value)| directive(key, value, of.at)).collect();
    }
    block.iter_mut().for_each(without_logins);
}

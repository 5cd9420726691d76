//! Files that a web server's own configuration does not send: it is asked, in a private instance. A variant of one would be reachable under a
//! name of its own, and by a rewrite.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;

use crate::configuration::own::instead;
use crate::private::{Account, Private};
use crate::server_config::Configured;
use weigh_content::types::VARIANTS;
use weigh_model::text::clean_path;
use weigh_model::way::OwnConfig;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::regular;
use weigh_os::user::OwnUser;
use weigh_pack::walk::{TreeEntry, walk};
use weigh_rig::asker::{Asker, Question};
use weigh_rig::http::Reply;
use weigh_run::subject::delivery::url;
use weigh_serverconf::syntax::Directive;
use weigh_serverconf::syntax::json::{directive, get, string};
use weigh_serverconf::whole;

/// The longest content that is compared whole, in bytes; of longer files the length tells.
const LONGEST: u64 = 1 << 20;
/// Statuses by which a file is not sent.
pub const REFUSED: [u16; 4] = [401, 403, 404, 410];

/// The files of a tree, which is the document root of this configuration, that its server does not send, or that it sends not to strangers, who would
/// have their variants.
///
/// # Errors
/// One line: the server does not start or answer, it sends none of the files, or the user wants an end.
pub fn refused(configured: Configured, tree: &Path, interrupt: &Interrupt) -> Result<BTreeSet<PathBuf>> {
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
    // Those of the files that a question to the server is answered with yes for.
    let asked = |own: Configured, paths: &[PathBuf], is_it: &Ask| -> Result<BTreeSet<PathBuf>> {
        let account = Account { user, shown: vec![root.clone()] };
        let private = Private::new(own.found.clone(), Some(own), &root, None, None, account);
        private.with(interrupt, |asker| {
            let mut found = BTreeSet::new();
            for path in paths {
                ensure!(!interrupt.is_set(), INTERRUPTED);
                let url = format!("/{}", url::file(&path.to_string_lossy()));
                if is_it(asker, &url, &root.join(path))? {
                    found.insert(path.clone());
                }
            }
            Ok(found)
        })
    };
    let strange = strange(&configured)?;
    let mut found = asked(configured, &paths, &|asker, url, file| Ok(!is_sent(asker, url, file)?))?;
    ensure!(
        all == 0 || found.len() < all,
        "{}: the server sends none of its files: it is not the document root of that configuration",
        clean_path(tree)
    );
    paths.retain(|path| !found.contains(path));
    if let Some(strange) = strange {
        found.extend(asked(strange, &paths, &is_exposed)?);
    }
    Ok(found)
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
    let status = ask(asker, url, true)?.status;
    let mut is_same = status >= 400 && ![404, 410].contains(&status);
    for (_, ending) in &VARIANTS[..3] {
        is_same = is_same && ask(asker, &format!("{url}.{ending}"), true)?.status == status;
    }
    Ok(!is_same)
}

/// The same configuration for strangers; none: everybody is sent the same.
fn strange(configured: &Configured) -> Result<Option<Configured>> {
    let mut own = configured.clone();
    let Some(rules) = own.found.definition.own.as_mut() else { return Ok(None) };
    *rules = rules.clone().for_strangers();
    own.read.tree.directives.iter_mut().for_each(without_logins);
    let made = whole::whole(rules, &configured.found.installed(), &own.read.tree, &own.read.site)?.written;
    // Files of folders are read where they are.
    let is_other = made.text != configured.read.config.text || !rules.folder_file.is_empty();
    let config = OwnConfig { text: made.text, origins: made.origins, ..own.read.config.clone() };
    Ok(is_other.then(|| instead(&own, config)))
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

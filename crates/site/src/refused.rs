//! Files that a web server's own configuration does not send: it is asked, in a private instance. A variant of one would be reachable under a
//! name of its own, and by a rewrite.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::private::{Account, Private};
use crate::server_config::Configured;
use weigh_model::text::clean_path;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::user::OwnUser;
use weigh_pack::walk::{TreeEntry, walk};
use weigh_rig::asker::Question;
use weigh_run::subject::delivery::url;

/// Statuses by which a file is not sent.
pub const REFUSED: [u16; 4] = [401, 403, 404, 410];

/// The files of a tree, which is the document root of this configuration, that its server does not send.
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
        .map_err(|denied| anyhow::anyhow!("{}", denied.refused("the server would run as root")))?;
    let account = Account { user, shown: vec![root.clone()] };
    let private = Private::new(configured.found.clone(), Some(configured), &root, None, None, account);
    let found = private.with(interrupt, |asker| {
        let mut found = BTreeSet::new();
        for path in &paths {
            ensure!(!interrupt.is_set(), INTERRUPTED);
            let url = format!("/{}", url::file(&path.to_string_lossy()));
            let question = Question { path: &url, is_head: true, ..Question::default() };
            let reply = asker.ask(&question).map_err(|fault| anyhow::anyhow!("{url}: {}", fault.message))?;
            if REFUSED.contains(&reply.status) {
                found.insert(path.clone());
            }
        }
        Ok(found)
    })?;
    ensure!(
        paths.is_empty() || found.len() < paths.len(),
        "{}: the server sends none of its files: it is not the document root of that configuration",
        clean_path(tree)
    );
    Ok(found)
}

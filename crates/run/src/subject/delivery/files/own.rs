//! The files of a site whose configuration is the user's: at their own paths, with what the owner has beside them and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Files, Instance, instances};
use crate::subject::delivery::{url, variants};
use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::{Origin, Payload};
use weigh_model::way::{By, OwnConfig};
use weigh_os::regular;

/// PHP's script for a page, and the path that is asked for where the configuration says nothing of PHP.
const PAGE: &str = "page.php";

impl Files {
    /// The user's configuration that a cell is about.
    pub(super) fn own_of(&self, cell: &Cell) -> Option<&OwnConfig> {
        let delivery = cell.delivery.as_ref().filter(|delivery| delivery.by == By::Server)?;
        let own =
            self.own.iter().find(|(server, own)| *server == delivery.server && own.way == cell.setting.codec);
        own.map(|(_, own)| own)
    }

    /// The path that a content of this name is asked for at, where the user's configuration decides; none: the lab does.
    pub fn own_path(&self, cell: &Cell, payload: &Payload, name: &str) -> Option<String> {
        let own = self.own_of(cell)?;
        if cell.subject == Subject::PAGE {
            return own.page.as_deref().map(|path| url::page(path, name));
        }
        own.samples.get(&payload.name).map(|sample| url::file(&sample.named(name).0))
    }

    /// The host that requests name; none: the address that they go to.
    pub fn own_host(&self, cell: &Cell) -> Option<&str> {
        self.own_of(cell)?.host.as_deref()
    }

    /// The folder that stands for `/`, with the content in it.
    pub(super) fn prepare_own(
        &mut self,
        own: &OwnConfig,
        cell: &Cell,
        payload: &Payload,
        blob: &Path,
    ) -> Result<PathBuf> {
        let tree = self.root.join(format!("own-{}", own.way));
        for instance in instances(payload) {
            if cell.subject == Subject::PAGE {
                self.write(&self.contents().join(&instance.name), || instance.read(blob))?;
            } else {
                self.write_own(own, &tree, payload, &instance, blob)?;
            }
        }
        for (path, text) in &own.folder_files {
            self.write(&below(&tree, path), || Ok(text.clone().into_bytes()))?;
        }
        let docroot = below(&tree, &own.root);
        fs::create_dir_all(&docroot).with_context(|| format!("{}: cannot be made", docroot.display()))?;
        if cell.subject == Subject::PAGE {
            self.scripts_in(&docroot)?;
            let script = docroot.join(PAGE);
            let page = own.page.as_deref().filter(|path| path.ends_with(".php"));
            let page = page.map(|path| path.trim_start_matches('/'));
            // A front controller is the page's script under its own name; to that of the document root other paths may be rewritten.
            for name in ["index.php"].into_iter().chain(page) {
                self.write(&docroot.join(name), || regular::read(&script, regular::TEXT))?;
            }
        }
        if let Some(user) = self.user {
            user.share(&tree).with_context(|| format!("{}: cannot be shared", tree.display()))?;
        }
        Ok(tree)
    }

    fn write_own(
        &mut self,
        own: &OwnConfig,
        tree: &Path,
        payload: &Payload,
        instance: &Instance,
        blob: &Path,
    ) -> Result<()> {
        let Some(sample) = own.samples.get(&payload.name) else {
            return self.write(&below(tree, &own.root).join(&instance.name), || instance.read(blob));
        };
        let file = below(tree, &sample.named(&instance.name).1);
        self.write(&file, || instance.read(blob))?;
        for ending in &sample.variants {
            let beside = PathBuf::from(format!("{}.{ending}", file.display()));
            self.write(&beside, || match &payload.origin {
                Origin::User { path, .. } if sample.is_whole => {
                    let source = PathBuf::from(format!("{}.{ending}", path.display()));
                    regular::read(&source, regular::RESULT)
                }
                // Of a part of a file, the owner has no variant: it is made as the lab's are.
                _ => variants::with_ending(ending, None)
                    .context("it has no such variant")?
                    .encode(&instance.read(blob)?),
            })?;
        }
        for (ending, encoder) in &sample.packed {
            let beside = PathBuf::from(format!("{}.{ending}", file.display()));
            let variant =
                variants::with_ending(ending, Some(encoder)).context("no such variant can be made")?;
            self.write(&beside, || variant.encode(&instance.read(blob)?))?;
        }
        Ok(())
    }
}

/// A path of the configuration in the folder that stands for `/`.
pub fn below(tree: &Path, path: &Path) -> PathBuf {
    tree.join(path.strip_prefix("/").unwrap_or(path))
}

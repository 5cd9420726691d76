//! What a web server's configuration says of today: what encodes each kind of content, and which document root is the site's.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::lab::Lab;
use crate::rig::programs::first_of;
use crate::rig::server::Definition;
use crate::rig::server::own::meaning::{self, Answer, Asked, Exists, Meaning};
use crate::rig::server::own::places::{Place, places};
use crate::rig::server::own::site::{self, Site, Wanted};
use crate::rig::server::own::syntax;
use crate::rig::server::own::tree::{self, Tree};
use crate::rig::server::own::{self, Rules, recognise};
use crate::rig::server::types::MediaTypes;
use crate::rig::service::FolderDefinition;
use weigh_model::site::{From, Kind, Today};
use weigh_model::text::{clean, clean_path};

/// A configuration that was read.
pub struct Configured {
    /// The server's name.
    pub server: String,
    /// The document root, if there is such a folder.
    pub docroot: Option<PathBuf>,
    rules: Rules,
    tree: Tree,
    site: Site,
}

/// What a browser accepts.
const ACCEPT: &str = "gzip, deflate, br, zstd";

impl Configured {
    /// Reads a configuration with what it includes, and finds the site that is meant.
    ///
    /// # Errors
    /// One line: what cannot be read, or which sites there are to choose from.
    pub fn read(lab: &Lab, file: &Path, server: Option<&str>, docroot: Option<&Path>) -> Result<Configured> {
        let named = format!("--server-config {}", clean_path(file));
        let text = tree::text(file).map_err(|error| anyhow::anyhow!("{named}: {error:#}"))?;
        let definitions = Definition::load(&lab.definitions)?;
        let definition = match server {
            Some(name) => own::named(&definitions, name)?,
            None => recognise(&definitions, file, &text)?,
        };
        let Some(rules) = definition.own.clone() else {
            bail!("{named}: a configuration of {} is not read yet; give --url", definition.name);
        };
        let program = first_of(&definition.programs);
        let read = |file: &Path| -> Result<(Tree, Site)> {
            let tree = Tree::read(&rules, program.as_deref(), file, &text)?;
            let wanted = Wanted { docroot: docroot.map(Path::to_owned), ..Wanted::default() };
            let site = site::choose(&rules, &tree, &wanted)?;
            Ok((tree, site))
        };
        let (tree, site) = read(file).map_err(|error| anyhow::anyhow!("{named}: {error:#}"))?;
        let root = Some(site.root.clone()).filter(|root| root.is_dir());
        Ok(Configured { server: definition.name.clone(), docroot: root, rules, tree, site })
    }

    /// The document root as the configuration says, on this machine or not.
    pub fn root(&self) -> &Path {
        &self.site.root
    }

    /// How it calls files.
    pub fn types(&self) -> MediaTypes {
        MediaTypes(self.tree.media_types())
    }

    /// The folders that are sent at paths of their own.
    pub fn places(&self) -> Vec<Place> {
        places(&self.rules, &self.tree, &self.site)
    }

    /// What is done today with a path of the site, of a kind and a length.
    pub fn today(&self, kind: Kind, path: &str, bytes: u64) -> Option<Today> {
        let at = |path: &Path| match path.metadata() {
            Ok(meta) if meta.is_file() => Exists::File,
            Ok(meta) if meta.is_dir() => Exists::Folder,
            _ => Exists::Nothing,
        };
        let path = format!("/{path}");
        let meaning = meaning::of(&self.rules, &self.tree, &self.site, &Asked { path: &path, exists: &at });
        if kind == Kind::Download && matches!(meaning.answer, Answer::Php { .. }) {
            let about = format!("sent by PHP, taken to be readfile ({})", self.server);
            return Some(Today { kind, method: "php/readfile".into(), about, from: From::Assumed });
        }
        let is_page = matches!(meaning.answer, Answer::Php { .. } | Answer::Elsewhere(_));
        if (kind == Kind::Page) != is_page || matches!(meaning.answer, Answer::Status(_) | Answer::Unknown) {
            return None;
        }
        let (method, about, place) = self.words(&meaning, bytes);
        // `nginx.conf:31`
        let word = |place| self.tree.word(place).rsplit('/').next().unwrap_or_default().to_owned();
        let at = place.map_or(String::new(), |place| format!(", {}", word(place)));
        Some(Today {
            kind,
            method,
            about: clean(&format!("{about} ({}{at})", self.server)),
            from: From::Configured,
        })
    }

    /// The method as a study names it, the same in words, and what decides it.
    fn words(&self, meaning: &Meaning, bytes: u64) -> (String, String, Option<syntax::Place>) {
        let (coding, place) = meaning.coding(ACCEPT, Some(bytes));
        let is_file = matches!(meaning.answer, Answer::File(_));
        if let Some(variant) = meaning.variants.iter().find(|v| is_file && v.is_there && v.coding == coding) {
            let way = method(Some(&self.server), &variant.coding, true);
            return (way, format!("{coding}, precompressed"), place);
        }
        let Some(made) = meaning.today.iter().find(|today| today.coding == coding) else {
            return ("server/plain".into(), "uncompressed".into(), place);
        };
        let way = method(Some(&self.server), coding, false);
        match made.level {
            Some(level) => (format!("{way}:{level}"), format!("{coding} {level} on the fly"), place),
            None => (way, format!("{coding} on the fly"), place),
        }
    }
}

/// The method of a server that sends this content coding, as a study names it.
pub fn method(server: Option<&str>, coding: &str, is_static: bool) -> String {
    let way = match (server, coding) {
        (Some("apache"), _) if is_static => return "server/rewrite".into(),
        (Some("caddy"), _) if is_static => return format!("server/precompressed,coding={coding}"),
        (Some("apache"), "gzip") => "mod_deflate",
        (Some("apache"), "br") => "mod_brotli",
        (_, "br") => "brotli",
        (_, other) => other,
    };
    format!("server/{way}{}", if is_static { "_static" } else { "" })
}

//! Where the files of a site lie: its document root, and the folders that its configuration sends at paths of their own.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::local;
use weigh_content::types::MediaTypes;
use weigh_model::site::{Alias, Kind, Sample, Sources, Stratum};
use weigh_os::regular::whole;
use weigh_serverconf::places::UrlFolder;

/// The folders of a site, as its sources have them.
#[derive(Clone, Debug, Default)]
pub struct Served {
    sources: Sources,
    /// Aliases of which only what somebody asks for is the site's: those that all sites of the server share.
    shared: Vec<String>,
    /// The document root is sent by an alias, and not at `/`.
    is_aliased: bool,
    /// Whether links are followed as the server follows them.
    is_configured: bool,
    /// Every folder that links may lead into.
    roots: Vec<PathBuf>,
    /// How the server calls files.
    pub types: MediaTypes,
}

/// A folder whose files are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// What the paths of its files begin with: `wp-content/`; nothing for the document root.
    pub begin: String,
    pub folder: PathBuf,
    /// Whether only files that somebody asks for count.
    pub asked_only: bool,
}

impl Served {
    /// The folders of a site with this document root; `root` is the one that its configuration says, with the configuration's aliases.
    pub fn new(docroot: Option<&Path>, configured: Option<(&Path, &[UrlFolder])>) -> Served {
        let real = |path: &Path| path.canonicalize().ok();
        let places = configured.map_or(&[][..], |(_, places)| places);
        let there: Vec<&UrlFolder> = places.iter().filter(|place| place.folder.is_dir()).collect();
        // A document root that the site does not have is a folder that it sends by an alias.
        let is_other = configured.is_some_and(|(root, _)| docroot.is_some_and(|own| real(own) != real(root)));
        let is_docroot = |place: &UrlFolder| docroot.is_some_and(|own| real(own) == real(&place.folder));
        let is_aliased = is_other && there.iter().any(|place| is_docroot(place));
        let is_shared = |place: &&&UrlFolder| place.is_shared && !(is_aliased && is_docroot(place));
        let shared = there.iter().filter(is_shared).map(|place| place.url.clone()).collect();
        let alias = |place: &&UrlFolder| {
            let folder = place.folder.to_string_lossy().into_owned();
            Alias { url: place.url.clone(), folder }
        };
        let sources = Sources {
            docroot: docroot.map(|docroot| docroot.to_string_lossy().into_owned()),
            aliases: there.iter().map(alias).collect(),
            ..Sources::default()
        };
        let roots = roots(&sources);
        let types = MediaTypes::default();
        Served { sources, shared, is_aliased, is_configured: configured.is_some(), roots, types }
    }

    /// Those of a site's file.
    pub fn of(sources: &Sources) -> Served {
        Served {
            sources: sources.clone(),
            is_configured: sources.server_config.is_some(),
            roots: roots(sources),
            ..Served::default()
        }
    }

    pub fn aliases(&self) -> &[Alias] {
        &self.sources.aliases
    }

    /// The aliases that lead to files of the sample.
    pub fn used(&self, layers: &[Stratum]) -> Vec<Alias> {
        let files = layers.iter().filter(|stratum| matches!(stratum.kind, Kind::Asset | Kind::Download));
        let paths: Vec<&str> =
            files.flat_map(|stratum| &stratum.sample).map(|sample| sample.path.as_str()).collect();
        let leads = |alias: &&Alias| paths.iter().any(|path| alias.rest(path).is_some());
        self.aliases().iter().filter(leads).cloned().collect()
    }

    /// The folders that links below the served ones lead to, outside of them, with files of the sample.
    pub fn linked(&self, layers: &[Stratum]) -> Vec<String> {
        let paths = layers.iter().filter(|stratum| stratum.kind == Kind::Asset).flat_map(|one| &one.sample);
        let folder = |sample: &Sample| {
            let (folder, rest) = self.sources.folder(&sample.path)?;
            let file = Path::new(folder).join(rest);
            let mut above: Vec<&Path> =
                file.ancestors().skip(1).take_while(|at| *at != Path::new(folder)).collect();
            above.reverse();
            let to = above.into_iter().find(|at| at.is_symlink())?.canonicalize().ok()?;
            let is_outside = !self.roots.iter().any(|root| to.starts_with(root));
            is_outside.then(|| to.to_string_lossy().into_owned())
        };
        let mut all: Vec<String> = paths.filter_map(folder).collect();
        all.sort();
        all.dedup();
        all
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    pub fn follows(&self) -> bool {
        self.is_configured
    }

    /// The folders whose files are counted.
    pub fn counted(&self) -> Vec<Counted> {
        let docroot = self.sources.docroot.as_ref().filter(|_| !self.is_aliased);
        let docroot =
            docroot.map(|folder| Counted { begin: String::new(), folder: folder.into(), asked_only: false });
        let alias = |alias: &Alias| Counted {
            begin: format!("{}/", alias.url.trim_matches('/')),
            folder: alias.folder.as_str().into(),
            asked_only: self.shared.contains(&alias.url) || self.is_aliased && !self.is_docroot(alias),
        };
        docroot.into_iter().chain(self.sources.aliases.iter().map(alias)).collect()
    }

    fn is_docroot(&self, alias: &Alias) -> bool {
        let real = |path: &str| Path::new(path).canonicalize().ok();
        self.sources.docroot.as_deref().is_some_and(|docroot| real(docroot) == real(&alias.folder))
    }

    /// Where the file of a URL's path lies, whether it is there or not. The path has no slash at its begin.
    pub fn locate(&self, path: &str) -> Option<PathBuf> {
        let (folder, rest) = self.sources.folder(path)?;
        Some(Path::new(folder).join(rest))
    }

    /// Opens the regular file of a URL's path; a symbolic link is followed as long as it stays in a folder that is served, and of a site
    /// whose configuration is known as the server follows it: to what everybody may read.
    ///
    /// # Errors
    /// One line without the path: why it cannot be opened.
    pub fn open(&self, path: &str) -> Result<(File, u64)> {
        let (folder, rest) = self.sources.folder(path).context("there is no document root")?;
        local::open_inside(Path::new(folder), rest, (&self.roots, self.is_configured))
    }

    /// Reads it.
    ///
    /// # Errors
    /// As [`Served::open`]; it is longer than `most` bytes.
    pub fn read(&self, path: &str, most: u64) -> Result<Vec<u8>> {
        Ok(whole(self.open(path)?.0, most)?)
    }
}

fn roots(sources: &Sources) -> Vec<PathBuf> {
    let folders = sources.aliases.iter().map(|alias| &alias.folder).chain(&sources.docroot);
    folders.filter_map(|folder| Path::new(folder).canonicalize().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn place(url: &str, folder: &Path, is_shared: bool) -> UrlFolder {
        UrlFolder { url: url.into(), folder: folder.into(), is_shared }
    }

    #[test]
    fn a_path_leads_through_an_alias_or_below_the_document_root() {
        let home = tempfile::tempdir().unwrap();
        let (root, content, lib) =
            (home.path().join("www"), home.path().join("content"), home.path().join("lib"));
        for (folder, name, text) in [
            (&root, "a.css", "a"),
            (&content, "b.css", "bb"),
            (&lib, "c.js", "ccc"),
            (&root, "themes/d.css", "dddd"),
        ] {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        fs::write(home.path().join("secret"), "s").unwrap();
        fs::set_permissions(home.path().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(home.path().join("public.css"), "fffff").unwrap();
        fs::set_permissions(home.path().join("public.css"), fs::Permissions::from_mode(0o644)).unwrap();
        symlink("../public.css", content.join("far.css")).unwrap();
        symlink(root.join("themes"), content.join("themes")).unwrap();
        symlink("../secret", content.join("out.css")).unwrap();
        let places = [
            place("/wp-content", &content, false),
            place("/lib", &lib, true),
            place("/gone", "/none".as_ref(), false),
        ];
        let served = Served::new(Some(&root), Some((&root, &places)));
        let read = |path: &str| served.read(path, 9).map(|bytes| bytes.len()).map_err(|e| e.to_string());
        assert_eq!(
            ["a.css", "wp-content/b.css", "lib/c.js", "wp-content/themes/d.css"]
                .map(|path| read(path).unwrap()),
            [1, 2, 3, 4]
        );
        assert_eq!(read("wp-content/far.css"), Ok(5), "as the server follows links");
        let alone = Served::new(Some(&content), None);
        assert!(alone.read("far.css", 9).is_err(), "without a configuration nothing outside is read");
        assert!(read("wp-content/out.css").unwrap_err().contains("leads out of"));
        assert!(read("wp-content/../secret").unwrap_err().contains("not a path below"));
        assert!(read("gone/x").is_err(), "a folder that is not here is no alias");
        let counted: Vec<(String, bool)> =
            served.counted().into_iter().map(|one| (one.begin, one.asked_only)).collect();
        assert_eq!(counted, [(String::new(), false), ("wp-content/".into(), false), ("lib/".into(), true)]);
    }

    #[test]
    fn a_document_root_may_be_a_folder_that_an_alias_sends() {
        let home = tempfile::tempdir().unwrap();
        let (root, app) = (home.path().join("html"), home.path().join("app"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&app).unwrap();
        let places = [place("/app", &app, true)];
        let counted = Served::new(Some(&app), Some((&root, &places))).counted();
        assert_eq!(counted, [Counted { begin: "app/".into(), folder: app, asked_only: false }]);
    }
}

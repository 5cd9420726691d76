//! What a server serves while what is written for it is checked, and the folders of the site's downloads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fancy_regex::Regex;

use weigh_model::advised::ADVISED;
use weigh_model::setting::Setting;
use weigh_model::site::{Kind, Sample, Site};
use weigh_rig::server::Site as Served;
use weigh_rig::server::emission::Downloads;
use weigh_serverconf::syntax::Directive;
use weigh_serverconf::syntax::assigned::Value;
use weigh_serverconf::tree::tidy;

/// Where downloads are if the site does not say it.
const DOWNLOADS: &str = "/srv/downloads";

/// What a private instance serves while it is checked: the document root if it can be read, else an empty folder.
pub(super) fn served(site: &Site, room: &Path) -> Served {
    let docroot = site.sources.docroot.as_ref().map(PathBuf::from).filter(|docroot| docroot.is_dir());
    Served {
        docroot: docroot.unwrap_or_else(|| room.to_owned()),
        way: Some(Setting::bare(ADVISED)),
        offload: Some(room.to_owned()),
        ..Served::default()
    }
}

/// The folders of the site's downloads. None lies in another, and none is wider than what it holds: the root of all files, the document root
/// and what lies above it are refused, and so are those that are not known. On the site's machine, each has a download.
pub fn downloads(site: &Site) -> Downloads {
    let samples: Vec<&Sample> = site.of(Kind::Download).flat_map(|stratum| &stratum.sample).collect();
    let file = |path: &str| {
        let (folder, rest) = site.sources.folder(path).unwrap_or(("/", path));
        tidy(&Path::new(folder).join(rest.trim_start_matches('/')))
    };
    let Some(docroot) = site.sources.docroot.as_ref().filter(|_| !samples.is_empty()) else {
        return Downloads { folders: vec![DOWNLOADS.into()], refused: Vec::new() };
    };
    let docroot = tidy(Path::new(docroot));
    let is_here = docroot.is_dir();
    let files = samples.iter().filter(|sample| !sample.is_made()).map(|sample| file(&sample.path));
    let files = files.filter(|file| !is_here || file.is_file());
    let all: BTreeSet<PathBuf> = files.filter_map(|file| Some(file.parent()?.to_owned())).collect();
    let why = |folder: &Path| match folder.parent() {
        None => Some("a rule for / would hand out every file of the machine"),
        Some(_) if folder == docroot => Some("it is the document root, which has more than downloads"),
        Some(_) if docroot.starts_with(folder) => Some("the document root lies in it"),
        Some(_) => None,
    };
    let made =
        samples.iter().filter(|sample| sample.is_made()).map(|sample| Path::new(&sample.path).parent());
    let made: BTreeSet<PathBuf> = made.flatten().map(Path::to_owned).collect();
    let unknown = "PHP made these answers, and where it has the files is not known";
    let mut downloads = Downloads {
        folders: Vec::new(),
        refused: made.into_iter().map(|folder| (folder, unknown)).collect(),
    };
    for folder in all {
        match why(&folder) {
            Some(why) => downloads.refused.push((folder, why)),
            None if downloads.folders.iter().any(|wider| folder.starts_with(wider)) => {}
            None => downloads.folders.push(folder),
        }
    }
    downloads
}

/// The same without what lighttpd's own configuration speaks against: folders that it refuses, and all where its programs name files already, for a list
/// of folders takes the place of theirs.
pub(super) fn beside_own(mut downloads: Downloads, directives: &[Directive], docroot: &str) -> Downloads {
    let is_used = names_files(directives);
    for folder in std::mem::take(&mut downloads.folders) {
        let below = folder.strip_prefix(tidy(Path::new(docroot)));
        let is_refused = below.is_ok_and(|below| refuses(directives, &format!("/{}/", below.display())));
        match (is_used, is_refused) {
            (true, _) => downloads.refused.push((folder, "the configuration has x-sendfile already")),
            (_, true) => downloads.refused.push((
                folder,
                "the configuration refuses its URLs, and whether PHP sends its files is not known",
            )),
            _ => downloads.folders.push(folder),
        }
    }
    downloads
}

/// Whether a program of a configuration may name files for lighttpd to send.
fn names_files(directives: &[Directive]) -> bool {
    let is_it = |d: &Directive| d.name == "fastcgi.server" && d.arguments.contains("x-send");
    directives.iter().any(|d| is_it(d) || names_files(d.within()))
}

/// Whether lighttpd answers no file of a folder, by its URL, in some of its conditions.
fn refuses(directives: &[Directive], url: &str) -> bool {
    directives.iter().any(|directive| {
        let value = Value::of(directive);
        let Some(within) = &directive.block else {
            let mut ends = value.iter().flat_map(Value::entries).map(|(_, end)| end.word());
            return directive.is("url.access-deny") && ends.any(|end| end.is_empty());
        };
        let text = value.map(|value| value.word()).unwrap_or_default();
        let holds = match directive.arguments.get(..2).filter(|_| directive.name == "$HTTP[\"url\"]") {
            None => true,
            Some("=~") => Regex::new(&text).and_then(|known| known.is_match(url)).unwrap_or(true),
            Some("=^") => url.starts_with(&text),
            Some(_) => false,
        };
        holds && refuses(within, url)
    })
}

//! What a server serves while what is written for it is checked, and the folders of the site's downloads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use weigh_model::advised::ADVISED;
use weigh_model::setting::Setting;
use weigh_model::site::{Kind, Site};
use weigh_rig::server::Site as Served;
use weigh_rig::server::emission::Downloads;
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
/// and what lies above it are refused.
pub fn downloads(site: &Site) -> Downloads {
    let samples = site.of(Kind::Download).flat_map(|stratum| &stratum.sample);
    let file = |path: &str| {
        let (folder, rest) = site.sources.folder(path).unwrap_or(("/", path));
        tidy(&Path::new(folder).join(rest.trim_start_matches('/')))
    };
    let all: BTreeSet<PathBuf> = samples.filter_map(|s| Some(file(&s.path).parent()?.to_owned())).collect();
    let Some(docroot) = site.sources.docroot.as_ref().filter(|_| !all.is_empty()) else {
        return Downloads { folders: vec![DOWNLOADS.into()], refused: Vec::new() };
    };
    let docroot = tidy(Path::new(docroot));
    let why = |folder: &Path| match folder.parent() {
        None => Some("a rule for / would hand out every file of the machine"),
        Some(_) if folder == docroot => Some("it is the document root, which has more than downloads"),
        Some(_) if docroot.starts_with(folder) => Some("the document root lies in it"),
        Some(_) => None,
    };
    let mut downloads = Downloads::default();
    for folder in all {
        match why(&folder) {
            Some(why) => downloads.refused.push((folder, why)),
            None if downloads.folders.iter().any(|wider| folder.starts_with(wider)) => {}
            None => downloads.folders.push(folder),
        }
    }
    downloads
}

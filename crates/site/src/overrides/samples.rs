//! What a user's configuration sends in place of each content of a plan: its URL, its file and its variants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::UserOverrides;
use weigh_content::types;
use weigh_model::advised::ADVISED;
use weigh_model::cell::Subject;
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Plan;
use weigh_model::policy::{Encoder, Policy, Rule};
use weigh_model::site::{Kind, Site, Stratum};
use weigh_model::way::{CONFIG, Sample};
use weigh_rig::server::{Definition, Found};
use weigh_run::subject::delivery::files::file_name;
use weigh_serverconf::places::places;
use weigh_serverconf::{Read, Rules, whole};

/// The endings of variants that servers look for.
const ENDINGS: [&str; 3] = ["gz", "br", "zst"];

/// Puts the samples of a configuration into the plan; what the user should know of them.
pub fn take(plan: &mut Plan, own: &UserOverrides, read: &Read, found: &Found) -> Result<Vec<String>> {
    let Some(rules) = &found.definition.own else { return Ok(Vec::new()) };
    let server = &found.definition.name;
    let Some(entry) = plan.servers.iter_mut().find(|s| s.name == *server) else { return Ok(Vec::new()) };
    let Some(config) = entry.own.iter_mut().find(|config| config.way == read.config.way) else {
        return Ok(Vec::new());
    };
    let (mut read, mut notes) = (read.clone(), Vec::new());
    let sent: Vec<&Payload> = plan
        .payloads
        .iter()
        .filter(|payload| {
            let cells = plan
                .cells
                .iter()
                .filter(|cell| cell.payload == payload.name && cell.subject != Subject::PAGE);
            cells.into_iter().any(|cell| cell.setting.codec == config.way)
        })
        .collect();
    let owner = Owner::new(rules, own, &read);
    let placed: BTreeMap<String, At> =
        sent.iter().map(|payload| (payload.name.clone(), owner.at(payload))).collect();
    if own.docroot.is_some() {
        for folder in &owner.folders {
            let (from, to) = (folder.here.as_deref(), &folder.said);
            let files: Vec<PathBuf> =
                placed.values().filter_map(|at| Some(at.file.strip_prefix(to).ok()?.to_owned())).collect();
            notes
                .extend(from.map(|from| read.tree.take_folders(rules, from, to, &files)).unwrap_or_default());
        }
        for (folder, directives) in &read.tree.folders {
            let made = whole::of_folder(rules, &found.installed(), &read.tree, &read.site, directives)?;
            config.folder_files.insert(folder.join(&rules.folder_file), made.written.text);
            notes.extend(made.notes);
        }
    }
    for payload in sent {
        config.samples.insert(payload.name.clone(), owner.sample(payload, &placed[&payload.name]));
    }
    Ok(notes)
}

/// Gives a policy on top of a configuration the samples of that configuration, with the variants that the policy has made beforehand.
pub fn take_on_top(plan: &mut Plan, server: &Definition, policy: &Policy, site: &Site) {
    // Where each file of an extension needs a variant, small ones have one, too.
    let is_every = server.policy.as_ref().is_some_and(|emission| emission.every);
    let of = |payload: &Payload| (payload.name.clone(), packed(policy, site, payload, is_every));
    let payloads: BTreeMap<String, BTreeMap<String, String>> = plan.payloads.iter().map(of).collect();
    let Some(entry) = plan.servers.iter_mut().find(|s| s.name == server.name) else { return };
    let Some(own) = entry.own.iter().find(|own| own.way == CONFIG).cloned() else { return };
    let Some(advised) = entry.own.iter_mut().find(|own| own.way == ADVISED) else { return };
    let of = |(name, sample): (&String, &Sample)| {
        let packed = payloads.get(name).cloned().unwrap_or_default();
        (name.clone(), Sample { packed, ..sample.clone() })
    };
    advised.samples = own.samples.iter().map(of).collect();
    advised.folder_files.clone_from(&own.folder_files);
    advised.page.clone_from(&own.page);
}

/// The variants of a content that a policy has made beforehand: the ending and the encoder of each.
fn packed(policy: &Policy, site: &Site, payload: &Payload, is_every: bool) -> BTreeMap<String, String> {
    let stands = |stratum: &&Stratum| stratum.sample.iter().any(|sample| sample.sha256 == payload.sha256);
    let Some(stratum) = site.of(Kind::Asset).find(stands) else { return BTreeMap::new() };
    let rules =
        policy.decisions.iter().filter(|decision| decision.kind == Kind::Asset).flat_map(|d| &d.rules);
    let holds = |rule: &&Rule| {
        rule.by == Encoder::Beforehand
            && (is_every || payload.bytes >= rule.min_bytes)
            && rule.is_for(&stratum.format)
    };
    let of = |rule: &Rule| {
        let (_, ending) = types::VARIANTS.iter().find(|(coding, _)| *coding == rule.coding)?;
        let encoder = rule.encoder.as_deref().unwrap_or_default();
        let encoder = encoder.split(':').next().unwrap_or_default();
        Some(((*ending).to_owned(), encoder.to_owned()))
    };
    rules.filter(holds).filter_map(of).collect()
}

/// A folder that the site sends files from.
struct Folder {
    /// What the paths of its URLs begin with, without a slash at the end; empty: the document root.
    url: String,
    /// As the configuration says.
    said: PathBuf,
    /// On this machine, if the owner's files are here.
    here: Option<PathBuf>,
}

struct At {
    /// The path of its URL.
    path: String,
    /// The file, as the configuration says.
    file: PathBuf,
}

/// The folders of the owner's files.
struct Owner {
    /// Those of aliases first, the document root last.
    folders: Vec<Folder>,
}

impl Owner {
    fn new(rules: &Rules, own: &UserOverrides, read: &Read) -> Owner {
        let root = read.site.root.clone();
        let places = places(rules, &read.tree, &read.site).into_iter();
        let here =
            |folder: &Path| Some(folder.to_owned()).filter(|folder| own.docroot.is_some() && folder.is_dir());
        let mut folders: Vec<Folder> = places
            .map(|place| Folder { url: place.url, here: here(&place.folder), said: place.folder })
            .collect();
        folders.push(Folder { url: String::new(), said: root, here: own.docroot.clone() });
        Owner { folders }
    }

    /// Where a content lies: at its own path, if it is in one of the folders.
    fn at(&self, payload: &Payload) -> At {
        let root = &self.folders[self.folders.len() - 1];
        let at = |folder: &Folder, below: &Path| At {
            path: format!("{}/{}", folder.url, below.to_string_lossy()),
            file: folder.said.join(below),
        };
        let Origin::User { path, .. } = &payload.origin else { return at(root, file_name(payload).as_ref()) };
        let here = self.folders.iter().filter_map(|folder| Some((folder, folder.here.as_ref()?)));
        // A link in a folder that is served is a file of that folder, wherever it leads.
        for (folder, here) in here.clone() {
            if let Ok(below) = path.strip_prefix(here) {
                return at(folder, below);
            }
        }
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        for (folder, here) in here {
            if let Some(below) =
                here.canonicalize().ok().and_then(|here| real.strip_prefix(here).ok().map(Path::to_owned))
            {
                return at(folder, &below);
            }
        }
        at(root, &real.file_name().map_or_else(|| file_name(payload).into(), PathBuf::from))
    }

    fn sample(&self, payload: &Payload, at: &At) -> Sample {
        let source = match &payload.origin {
            Origin::User { path, .. } => Some(path),
            _ => None,
        };
        let is_whole = match source {
            Some(path) => path.metadata().is_ok_and(|about| about.len() == payload.bytes) && !payload.family,
            None => payload.instances() == 1,
        };
        let beside = |ending: &&&str| {
            source.is_some_and(|path| PathBuf::from(format!("{}.{ending}", path.display())).is_file())
        };
        Sample {
            path: at.path.clone(),
            file: at.file.clone(),
            is_whole,
            variants: ENDINGS.iter().filter(beside).map(|e| (*e).to_owned()).collect(),
            packed: BTreeMap::new(),
        }
    }
}

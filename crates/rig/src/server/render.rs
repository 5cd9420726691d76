//! The files of an instance, from its server's templates and its site.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;

use super::definition::WayRow;
use super::dictionaries::{Dictionaries, Wish};
use super::docroot;
use super::emission::{Downloads, Emission};
use super::encodings::Encodings;
use super::found::Found;
use super::site::{Certificate, Site};
use crate::service::Draft;
use weigh_content::types::{self, TYPES, Type};
use weigh_model::advised::HeldPages;
use weigh_model::site::Alias;
use weigh_model::text::clean_path;
use weigh_model::way::{DIR, FPM, OwnConfig, TREE, UPSTREAM, WayKind};
use weigh_os::template::path_text as path;
use weigh_serverconf::{Syntax, TYPES_FILE};

/// What the names of templates begin with that only a configuration of the user's includes.
const OF_CONFIG: &str = "config.";
/// The socket that nobody listens on: for PHP where there is none.
const NOBODY: &str = "nobody.sock";
/// What the URLs of files begin with that PHP hands over.
const OFFLOAD: &str = "/offload";
/// The same names as the PHP library and the extension have.
const HARMLESS_COOKIES: &str = concat!(
    r"^[ \t;]*(?:(?:_ga|_gid|_fb[pc]|_clck|_clsk|Optanon(?:Consent|AlertBoxClosed)|CookieConsent|cookieyes-consent|euconsent-v2",
    r"|(?:_ga_|_gat|_gcl_|_dc_gtm_|_pk_|_hj|__utm|_uet|cookielawinfo-)[^;=]*)=[^;]*(?:;[ \t;]*|$))*$"
);

#[derive(Clone, Debug, Serialize)]
pub(super) struct Values {
    dir: String,
    /// The address that it listens on, and the port.
    host: String,
    port: u16,
    /// The path that is answered with the token.
    ready: String,
    /// What no other instance answers.
    token: String,
    /// The server's program and version.
    program: String,
    version: String,
    docroot: String,
    fpm: Option<String>,
    /// The socket of what stands for other programs.
    upstream: Option<String>,
    /// Where offloaded files are, each folder with the URL that leads into it.
    offloads: Vec<Offload>,
    /// Folders of downloads that no file is handed out of, and why.
    r#unsafe: Vec<Unsafe>,
    tls: Option<Files>,
    /// Processors that the server is pinned to.
    cpus: Vec<u32>,
    /// Whether it runs as root after all.
    root: bool,
    /// The way, `plain` without one.
    way: Way,
    /// Whether it is a configuration of the user's.
    own: bool,
    #[serde(flatten)]
    encodings: Encodings,
    /// The pages that a cache in front of PHP holds.
    page_cache: Option<HeldPages>,
    /// Options of the way and of the server, with their defaults.
    options: BTreeMap<String, String>,
    /// Every module that has a file, by name.
    modules: BTreeMap<String, String>,
    /// Those that this configuration needs and that have a file.
    load: Vec<Module>,
    /// Media types with their extensions.
    types: &'static [Type],
    compressible: Vec<&'static str>,
    /// Extensions worth sending as files.
    downloads: Vec<&'static str>,
    /// For each coding, the extensions all of whose files have a variant of it in the docroot.
    variants: BTreeMap<&'static str, Vec<String>>,
    /// The extensions that any coding has there.
    varied: BTreeSet<String>,
    /// Folders beside the docroot that files are sent from.
    aliases: Vec<Aliased>,
    /// Whether the site's own configuration is known.
    is_known: bool,
    /// Directives of the parts that it has.
    kept: Vec<String>,
    /// Content codings that it compresses with, beside those of the rules.
    codings: Vec<String>,
    /// Sections of it that are to hold for precompressed files, too.
    sections: String,
    /// What a field of cookies matches that are all of analytics and of consent.
    harmless_cookies: &'static str,
    /// The shared dictionaries of the files; none: no deltas are sent.
    dictionaries: Option<Dictionaries>,
}

/// A folder with a path of its own.
#[derive(Clone, Debug, Serialize)]
struct Aliased {
    /// The begin of the path as a regular expression.
    pattern: String,
    folder: String,
}

#[derive(Clone, Debug, Serialize)]
struct Offload {
    /// `/offload/`.
    url: String,
    /// The same without its last slash.
    prefix: String,
    folder: String,
}

#[derive(Clone, Debug, Serialize)]
struct Unsafe {
    folder: String,
    why: &'static str,
}

#[derive(Clone, Debug, Serialize)]
struct Files {
    chain: String,
    key: String,
}

#[derive(Clone, Debug, Serialize)]
struct Way {
    name: String,
    kind: WayKind,
    level: Option<i32>,
    /// Modules that it needs; of the user's own configuration those that this does not load itself.
    modules: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Module {
    name: String,
    path: String,
}

/// What changes from one attempt to the next.
pub(super) struct Attempt<'a> {
    pub dir: &'a Path,
    /// Where it listens.
    pub address: SocketAddrV4,
    /// What the ready path answers.
    pub token: &'a str,
    /// Whether the server runs as root after all.
    pub root: bool,
}

impl Values {
    /// Everything for one attempt to start a site.
    pub fn new(found: &Found, site: &Site, attempt: &Attempt<'_>) -> Result<Values> {
        let definition = &found.definition;
        let row = found.row(site.way.as_ref())?;
        let (name, kind) = row.map_or(("plain", WayKind::Plain), |r| (r.name.as_str(), r.kind));
        let default = row.and_then(|r| r.levels.as_ref()).map(|l| l.default);
        let level = site.way.as_ref().and_then(|w| w.level).or(default);
        let own = row.map_or(&[][..], |r| r.options.as_slice()).iter().chain(&definition.options);
        let mut options: BTreeMap<String, String> =
            own.filter_map(|o| Some((o.name.clone(), o.words.first()?.clone()))).collect();
        options.extend(site.way.iter().flat_map(|w| w.options.clone()));
        let encodings = Encodings::of(definition, row, level);
        let (modules, load) = modules(found, row, site.tls.is_some())?;
        let mirrored = row.is_some_and(|r| r.mirror.is_some());
        let root = if mirrored { attempt.dir.join(docroot::MIRROR) } else { absolute(&site.docroot)? };
        let variants =
            if kind == WayKind::PreEncoded { docroot::variants(&site.docroot) } else { BTreeMap::new() };
        let advised = definition.advised.as_ref().filter(|_| encodings.advised);
        let own_of_site = advised.and_then(|advised| advised.own.as_ref());
        let certificate = |c: &Certificate| {
            Ok::<_, anyhow::Error>(Files {
                chain: path(&absolute(&c.chain)?)?,
                key: path(&absolute(&c.key)?)?,
            })
        };
        Ok(Values {
            dir: path(attempt.dir)?,
            host: attempt.address.ip().to_string(),
            port: attempt.address.port(),
            ready: definition.ready.clone(),
            token: attempt.token.to_owned(),
            program: found.program.as_deref().map(path).transpose()?.unwrap_or_default(),
            version: found.version.clone().unwrap_or_default(),
            docroot: path(&root)?,
            fpm: site.fpm.as_deref().map(path).transpose()?,
            upstream: site.upstream.as_deref().map(path).transpose()?,
            offloads: offloads(site.offload.as_deref().map(absolute).transpose()?.as_slice())?,
            r#unsafe: Vec::new(),
            tls: site.tls.as_ref().map(certificate).transpose()?,
            cpus: site.cpus.clone(),
            root: attempt.root,
            way: Way {
                name: name.into(),
                kind,
                level,
                modules: row.map(|row| row.modules.clone()).unwrap_or_default(),
            },
            own: row.is_some_and(|row| definition.own_config(&row.name).is_some()),
            encodings,
            page_cache: definition.advised.as_ref().and_then(|advised| advised.page_cache.clone()),
            options,
            modules,
            load,
            types: &TYPES,
            compressible: types::compressible(),
            downloads: types::downloads(),
            aliases: aliases(found)?,
            is_known: own_of_site.is_some(),
            kept: own_of_site.map_or_else(Vec::new, |own| own.directives.clone()),
            codings: own_of_site.map_or_else(Vec::new, |own| own.codings.clone()),
            sections: own_of_site.map_or_else(String::new, |own| own.sections.clone()),
            harmless_cookies: HARMLESS_COOKIES,
            dictionaries: match kind {
                WayKind::Delta => Some(Dictionaries::of(&site.docroot, &Wish::default())?),
                _ => definition.dictionaries.clone(),
            },
            varied: variants.values().flatten().cloned().collect(),
            variants,
        })
    }

    /// What differs where a policy is written for the user: the folders of downloads, and the extensions that are to have variants.
    pub fn for_user(&mut self, found: &Found, docroot: &Path, downloads: &Downloads) -> Result<()> {
        // A way that needs another arrangement of files finds it in the user's own folder.
        self.docroot = path(docroot)?;
        self.offloads = offloads(&downloads.folders)?;
        let refused = downloads.refused.iter();
        self.r#unsafe =
            refused.map(|(folder, why)| Unsafe { folder: clean_path(folder).to_string(), why }).collect();
        if let Some(advised) = &found.definition.advised {
            self.variants = docroot::extensions_of(advised, docroot);
            self.varied = self.variants.values().flatten().cloned().collect();
        }
        Ok(())
    }

    /// Writes every template into the private directory, and the mirror of the docroot if the way needs one.
    pub fn write(&self, found: &Found, site: &Site, draft: &mut Draft<'_>) -> Result<()> {
        let definition = &found.definition;
        let row = found.row(site.way.as_ref())?;
        let maps: Vec<&String> =
            definition.ways.iter().filter_map(|w| w.mirror.as_ref()?.map.as_ref()).collect();
        let own = row.and_then(|row| definition.own_config(&row.name)).zip(definition.own.as_ref());
        let parts: Vec<&str> = definition.policy.iter().flat_map(Emission::templates).collect();
        let is_of_way = |name: &str| match own {
            Some((_, rules)) => name != rules.file,
            None => !name.starts_with(OF_CONFIG),
        };
        let is_file =
            |name: &str| !maps.iter().any(|map| *map == name) && !parts.contains(&name) && is_of_way(name);
        draft.render(&format!("servers/{}", definition.name), &definition.templates, is_file, self)?;
        if let Some((config, rules)) = own {
            let text = self.filled(config);
            let text = if rules.syntax == Syntax::Json { self.secured(&text)? } else { text };
            draft.write(&rules.file, text)?;
            if !config.types.is_empty() {
                draft.write(TYPES_FILE, config.types.clone())?;
            }
        }
        if let Some(mirror) = row.and_then(|r| r.mirror.as_ref()) {
            let map =
                mirror.map.as_ref().and_then(|m| Some((m.as_str(), definition.templates.get(m)?.as_str())));
            docroot::mirror(&site.docroot, &draft.path().join(docroot::MIRROR), mirror, map)?;
        }
        Ok(())
    }

    /// The text of a user's configuration, which is not a template, with what the instance has of its own.
    fn filled(&self, config: &OwnConfig) -> String {
        let nobody = format!("{}/{NOBODY}", self.dir);
        let socket = |known: &Option<String>| known.clone().unwrap_or_else(|| nobody.clone());
        let (fpm, upstream, port) = (socket(&self.fpm), socket(&self.upstream), self.port.to_string());
        // `/` itself stands for `/` where the files are served from where they are.
        let tree = self.docroot.trim_end_matches('/').to_owned();
        let root = format!("{tree}{}", config.root.display());
        let values = [
            (DIR, &self.dir),
            (TREE, &tree),
            ("@WEIGH-ROOT@", &root),
            (FPM, &fpm),
            (UPSTREAM, &upstream),
            ("@WEIGH-PORT@", &port),
            ("@WEIGH-HOST@", &self.host),
            ("@WEIGH-READY@", &self.ready),
            ("@WEIGH-TOKEN@", &self.token),
        ];
        values.iter().fold(config.text.clone(), |text, (name, value)| text.replace(name, value))
    }
}

/// Folders of downloads with their URLs: a number tells several apart.
fn offloads(folders: &[PathBuf]) -> Result<Vec<Offload>> {
    let one = |(prefix, folder): (String, &PathBuf)| {
        Ok(Offload { url: format!("{prefix}/"), prefix, folder: path(folder)? })
    };
    offload_prefixes(folders.len()).zip(folders).map(one).collect()
}

/// What URLs of downloads in this many folders begin with, each folder's its own: `/offload`, or `/offload/1` and so on.
pub fn offload_prefixes(folders: usize) -> impl Iterator<Item = String> {
    (1..=folders).map(move |at| if folders == 1 { OFFLOAD.to_owned() } else { format!("{OFFLOAD}/{at}") })
}

/// The aliases of a policy's site.
fn aliases(found: &Found) -> Result<Vec<Aliased>> {
    let all = found.definition.advised.iter().flat_map(|advised| &advised.aliases);
    let one = |alias: &Alias| {
        Ok(Aliased {
            pattern: regex::escape(&path(Path::new(&alias.url))?).replace("\\-", "-"),
            folder: path(Path::new(&alias.folder))?,
        })
    };
    all.map(one).collect()
}

impl Values {
    /// A configuration that is JSON with the instance's certificate, if it has one.
    fn secured(&self, text: &str) -> Result<String> {
        let Some(files) = &self.tls else { return Ok(text.to_owned()) };
        let mut whole: serde_json::Value = serde_json::from_str(text).context("no JSON")?;
        whole["apps"]["http"]["servers"]["own"]["tls_connection_policies"] =
            json!([{"default_sni": "localhost"}]);
        let pair = json!({"certificate": files.chain, "key": files.key});
        whole["apps"]["tls"] = json!({"certificates": {"load_files": [pair]}});
        Ok(serde_json::to_string_pretty(&whole)?)
    }
}

/// Every module that has a file, and those of them that this configuration needs.
fn modules(
    found: &Found,
    row: Option<&WayRow>,
    secure: bool,
) -> Result<(BTreeMap<String, String>, Vec<Module>)> {
    let files = found.modules.iter().filter_map(|(name, file)| Some((name.clone(), file.as_deref()?)));
    let files = files.map(|(name, file)| Ok((name, path(file)?))).collect::<Result<BTreeMap<_, _>>>()?;
    let definition = &found.definition;
    let tls = definition.tls.iter().filter(|_| secure).flat_map(|t| &t.modules);
    let mut load: Vec<Module> = Vec::new();
    let of_row = row.iter().flat_map(|r| r.modules.iter().chain(&r.optional));
    let of_dictionaries = definition.dictionaries.iter().flat_map(|_| definition.dictionary_modules());
    for name in definition.needs.iter().chain(tls).chain(of_row).chain(of_dictionaries) {
        if let Some(path) = files.get(name)
            && !load.iter().any(|m| m.name == *name)
        {
            load.push(Module { name: name.clone(), path: path.clone() });
        }
    }
    Ok((files, load))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("cannot serve {}", path.display()))
}

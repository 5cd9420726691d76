//! A store of packages, clients that serve from it, and a table that pins what is in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::client::Clients;
use crate::manifest::Manifest;
use crate::{FetchOptions, Library, Progress, State};
use weigh_os::digest::sha256;

/// All of it, gone when dropped.
pub(super) struct Fixture {
    pub(super) folder: tempfile::TempDir,
    table: String,
    pub(super) options: FetchOptions,
}

/// Serves STORE/SPEC as the client would, writes each call to STORE/log, and fails or hangs where told.
const CLIENT: &str = include_str!("client.sh");

impl Fixture {
    pub(super) fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let (script, store) = (folder.path().join("client.sh"), folder.path().join("store"));
        fs::write(&script, CLIENT).unwrap();
        fs::create_dir_all(store.join("@s")).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let client = vec!["sh".to_owned(), text(&script), text(&store)];
        // What is served as a Debian package is the inner tar itself.
        let unpack = vec!["sh".to_owned(), "-c".into(), "cat \"$2\"".into(), "dpkg-deb".into()];
        let clients = Clients {
            npm: client.clone(),
            pip: client.clone(),
            apt: client,
            dpkg_deb: unpack,
            patience: Duration::from_secs(60),
        };
        let options = FetchOptions { clients, php: None };
        Fixture { folder, table: String::new(), options }
    }

    pub(super) fn store(&self, name: &str) -> PathBuf {
        self.folder.path().join("store").join(name)
    }

    /// Puts an archive into the store, and pins it.
    pub(super) fn archive(&mut self, source: &str, served_as: &str, bytes: &[u8]) {
        fs::write(self.store(served_as), bytes).unwrap();
        self.pin(source, bytes.len(), &sha256(bytes));
    }

    pub(super) fn pin(&mut self, source: &str, bytes: usize, digest: &str) {
        self.table +=
            &format!("[[archive]]\nsource='{source}'\nlicence='MIT'\nbytes={bytes}\nsha256='{digest}'\n");
    }

    pub(super) fn file(&mut self, id: &str, source: &str, content: &[u8]) {
        self.table += &format!(
            "[[file]]\nid='{id}'\nkind='text'\nsource='{source}'\nlicence='MIT'\nbytes={}\nsha256='{}'\nsets=['some']\n",
            content.len(),
            sha256(content)
        );
    }

    /// An npm package of one file, pinned with it.
    pub(super) fn npm(&mut self, name: &str, content: &[u8]) {
        let tgz = gzip(&tar(&[("package/a.txt", content)]));
        self.archive(&format!("npm:{name}@1.0.0"), &format!("{name}@1.0.0"), &tgz);
        self.file(&name.replace(['@', '/'], ""), &format!("npm:{name}@1.0.0:a.txt"), content);
    }

    pub(super) fn library(&self) -> Library {
        Library::with(Manifest::parse(&self.table).unwrap(), &self.folder.path().join("cache"))
    }

    pub(super) fn fetch(&self) -> Vec<(String, State)> {
        self.fetch_telling(&mut |_| {})
    }

    pub(super) fn fetch_telling(&self, progress: &mut dyn FnMut(Progress)) -> Vec<(String, State)> {
        let outcomes = self.library().fetch(&[], &self.options, progress).unwrap();
        outcomes.into_iter().map(|outcome| (outcome.id, outcome.state)).collect()
    }

    pub(super) fn calls(&self) -> Vec<String> {
        let log = fs::read_to_string(self.store("log")).unwrap_or_default();
        let mut calls: Vec<String> = log.lines().map(str::to_owned).collect();
        calls.sort();
        calls
    }
}

pub(super) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // Written by hand, because the library refuses paths that lead elsewhere.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

pub(super) fn why(state: &State) -> &str {
    match state {
        State::Failed { why, .. } => why,
        other => panic!("{other:?} is no failure"),
    }
}

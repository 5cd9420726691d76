//! A docroot with pages, assets and their variants, a folder of downloads, and the servers over them.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use weigh_content::defs::Definitions;
use weigh_model::setting::Setting;
use weigh_os::guard::LaunchContext;
use weigh_rig::fpm::{self, FoundFpm, Pool, PoolSpec};
use weigh_rig::server::Definition;
use weigh_rig::server::Site;
use weigh_rig::server::{Found, Instance};
use weigh_rig::service::FolderDefinition;

use crate::lab::{PATIENCE, WEIGH};

/// A page by PHP; `?header=HEADER&value=…` hands a file over, `?burn=` uses microseconds of CPU time, and `?until=` waits for a file.
const PAGE: &str = include_str!("page.php");

/// A script and its variants by file name, encoded once for all tests.
static SCRIPT: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let script: String = (0..3000).map(|i| format!("function f{i}() {{ return {i}; }}\n")).collect();
    let encoded = |(codec, params, extension): (&str, &str, &str)| {
        let mut wish = weigh_codec::Params::default();
        if !params.is_empty() {
            wish.options.insert("container".into(), params.into());
        }
        let codec = weigh_codec::codecs::find(codec).unwrap();
        let mut out = Vec::new();
        codec.coder(&wish).unwrap().encode(script.as_bytes(), &mut out).unwrap();
        (format!("lib.js.{extension}"), out)
    };
    let variants =
        [("zlib", "gzip", "gz"), ("zlib", "zlib", "zz"), ("brotli", "", "br"), ("zstd", "", "zst")];
    let variants = variants.into_iter().map(encoded);
    let plain = ("lib.js".to_owned(), script.clone().into_bytes());
    [plain].into_iter().chain(variants).collect()
});

/// The private place of a test.
pub struct Rig {
    pub home: tempfile::TempDir,
}

impl Rig {
    pub fn new() -> Rig {
        let home = tempfile::tempdir().unwrap();
        for folder in ["www", "files", "run"] {
            std::fs::create_dir(home.path().join(folder)).unwrap();
        }
        let rig = Rig { home };
        std::fs::write(rig.docroot().join("page.php"), PAGE).unwrap();
        SCRIPT.iter().for_each(|(name, bytes)| std::fs::write(rig.docroot().join(name), bytes).unwrap());
        std::fs::write(rig.files().join("photo.jpg"), vec![0xd8; 300_000]).unwrap();
        rig
    }

    pub fn docroot(&self) -> PathBuf {
        self.home.path().join("www")
    }

    pub fn files(&self) -> PathBuf {
        self.home.path().join("files")
    }

    pub fn place(&self) -> LaunchContext {
        let place = LaunchContext::new(self.home.path().join("run"), self.home.path().join("log"));
        LaunchContext { launcher: WEIGH.into(), limit: PATIENCE, ..place }
    }

    pub fn script(&self) -> Vec<u8> {
        std::fs::read(self.docroot().join("lib.js")).unwrap()
    }

    /// A site without a way of the server's.
    pub fn site(&self, pool: Option<&Pool>) -> Site {
        Site {
            docroot: self.docroot(),
            fpm: pool.map(Pool::socket),
            offload: Some(self.files()),
            ..Site::default()
        }
    }

    /// The site with a way, `gzip:6,buffering=off`.
    pub fn with(&self, pool: Option<&Pool>, way: &str) -> Site {
        let (name, options) = way.split_once(',').unwrap_or((way, ""));
        let mut setting = match name.split_once(':') {
            Some((name, level)) => Setting::at(name, level.parse().unwrap()),
            None => Setting::bare(name),
        };
        setting.options =
            options.split(',').filter_map(|o| o.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect();
        Site { way: Some(setting), ..self.site(pool) }
    }

    pub fn start(&self, found: &Found, site: &Site) -> Instance {
        Instance::start(found, site, &self.place()).unwrap_or_else(|e| panic!("{e:#}"))
    }

    pub fn pool(&self, workers: u32) -> Option<Pool> {
        Some(
            Pool::start(&PoolSpec::new(&php_fpm()?, workers), &self.place())
                .unwrap_or_else(|e| panic!("{e:#}")),
        )
    }

    /// What instances have left in their place; a moment is given to a guard that is at it.
    pub fn left_over(&self) -> Vec<PathBuf> {
        let patience = Instant::now() + PATIENCE;
        loop {
            let entries = std::fs::read_dir(self.home.path().join("run")).unwrap();
            let left: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
            if left.is_empty() || Instant::now() > patience {
                return left;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A server by name; where it is not to be had, a test says so and ends.
pub fn server(name: &str) -> Option<Found> {
    let servers = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    let found = servers.iter().find(|s| s.name == name).unwrap().find();
    match &found.missing {
        None => Some(found),
        Some(why) => {
            skip(&format!("{name}: {why}: {}", found.remedy.as_deref().unwrap_or("-")));
            None
        }
    }
}

pub fn php_fpm() -> Option<FoundFpm> {
    let found = fpm::find(&std::env::var_os("PATH").unwrap_or_default()).into_iter().next();
    if found.is_none() {
        skip("no PHP-FPM: apt install php-fpm");
    }
    found
}

/// Says why a test does not run; in CI that is a failure.
pub fn skip(why: &str) {
    assert!(std::env::var_os("WEIGH_STRICT").is_none(), "cannot be tested here: {why}");
    println!("skipped: {why}");
}

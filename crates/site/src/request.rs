//! Which parts of a site are to be looked at.

use std::path::PathBuf;
use std::str::FromStr;

use weigh_model::text::clean;

#[derive(Clone, Debug, Default)]
pub struct SiteRequest {
    pub docroot: Option<PathBuf>,
    /// The web server's configuration.
    pub server_config: Option<PathBuf>,
    /// The web server, as the user says.
    pub server: Option<String>,
    /// Which site of its configuration, by a name.
    pub site: Option<String>,
    pub logs: Vec<PathBuf>,
    /// Hosts whose lines of the logs count; empty: those of the configuration or of the URLs.
    pub hosts: Vec<String>,
    pub urls: Vec<String>,
    /// Whether the site's own application makes its pages, in a private instance.
    pub render: bool,
    /// Whether pages are loaded in a browser too, and their loads recorded.
    pub browser: bool,
    /// Whether pages are asked for as several visitors, to learn which a cache may hold.
    pub page_cache: bool,
    /// Whether the running site is asked what its PHP keeps from one request to the next.
    pub worker: bool,
    /// The account that it runs as, by its name, or that of the pool's file; none: the lab's own user, where there is one.
    pub render_as: Option<Option<String>>,
    /// Hosts that are not this machine and may be asked.
    pub allow_remote: Vec<String>,
    /// A folder of cached values.
    pub values: Option<PathBuf>,
    /// The URL of a store.
    pub store: Option<String>,
    /// The first one serves the site.
    pub php: Vec<NamedPhp>,
    /// How long pages by several PHPs may take.
    pub seconds: f64,
    /// The settings of the PHP that serves the site: a php.ini, or a pool of PHP-FPM.
    pub php_config: Option<PathBuf>,
    pub name: Option<String>,
    /// The proxy or CDN in front of the server.
    pub front: Option<String>,
}

impl SiteRequest {
    /// Whether there is nowhere to look.
    pub fn is_empty(&self) -> bool {
        let none = self.docroot.is_none() && self.server_config.is_none() && self.values.is_none();
        none && self.php_config.is_none()
            && self.store.is_none()
            && self.logs.is_empty()
            && self.urls.is_empty()
            && !self.render
    }
}

/// A PHP, and settings that it gets beside those of its own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPhp {
    /// The binary, or the name of a fetched runtime.
    pub binary: PathBuf,
    /// `NAME=VALUE`.
    pub settings: Vec<String>,
}

impl NamedPhp {
    /// Its version with those settings that not all of these have, as `php -d` has them.
    pub fn named(&self, version: &str, all: &[NamedPhp]) -> String {
        let shared = NamedPhp::shared(all);
        let own = self.settings.iter().filter(|setting| !shared.contains(setting));
        let settings = own.map(|setting| format!(" -d {}", clean(setting)));
        clean(version) + &settings.collect::<String>()
    }

    /// The settings that all of these have.
    pub fn shared(all: &[NamedPhp]) -> Vec<&String> {
        let is_shared = |setting: &&String| all.iter().all(|other| other.settings.contains(setting));
        all.first().map_or_else(Vec::new, |first| first.settings.iter().filter(is_shared).collect())
    }
}

impl FromStr for NamedPhp {
    type Err = String;

    /// `php8.4`, `php8.4 -d opcache.jit=tracing`.
    fn from_str(text: &str) -> Result<NamedPhp, String> {
        let mut parts = text.split(" -d ").map(str::trim);
        let binary = parts.next().unwrap_or_default().into();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let setting = |part: &str| {
            let is_one = part.split_once('=').is_some_and(|(name, value)| {
                !name.is_empty() && name.chars().all(is_name) && !value.contains(['\n', '\r', '\0'])
            });
            is_one
                .then(|| part.to_owned())
                .ok_or_else(|| format!("`{}` is no setting; give -d NAME=VALUE", clean(part)))
        };
        Ok(NamedPhp { binary, settings: parts.map(setting).collect::<Result<_, _>>()? })
    }
}

//! Which parts of a site are to be looked at.

use std::path::PathBuf;

#[derive(Clone, Debug, Default)]
pub struct SiteRequest {
    pub docroot: Option<PathBuf>,
    /// The web server's configuration.
    pub server_config: Option<PathBuf>,
    /// The web server, as the user says.
    pub server: Option<String>,
    pub logs: Vec<PathBuf>,
    /// Hosts whose lines of the logs count; empty: those of the configuration or of the URLs.
    pub hosts: Vec<String>,
    pub urls: Vec<String>,
    /// Whether the site's own application makes its pages, in a private instance.
    pub render: bool,
    /// The account that it runs as, by its name, or that of the pool's file; none: the lab's own user, where there is one.
    pub render_as: Option<Option<String>>,
    /// Hosts that are not this machine and may be asked.
    pub allow_remote: Vec<String>,
    /// A folder of cached values.
    pub values: Option<PathBuf>,
    /// The URL of a store.
    pub store: Option<String>,
    pub php: Vec<PathBuf>,
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

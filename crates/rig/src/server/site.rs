//! One configuration of a server.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use weigh_model::setting::Setting;

/// One configuration of a server: everything that its templates are given. Two cells with equal sites share an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Site {
    /// The folder that is served; `*.php` in it goes to PHP, everything else is a static file. With a configuration of the user's it
    /// stands for `/` in the paths of that.
    pub docroot: PathBuf,
    /// The socket of the PHP-FPM pool; none: no PHP.
    pub fpm: Option<PathBuf>,
    /// With a configuration of the user's, the socket of what stands for other programs behind the server; none: nobody answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<PathBuf>,
    /// The server's own way, with its level and options (`gzip:6`, `gzip_static`, `x-accel-redirect`); none: it adds
    /// nothing to what PHP or the file gives.
    pub way: Option<Setting>,
    /// The folder of files that an offload header may name, outside of the docroot; offload URLs are below `/offload/`.
    pub offload: Option<PathBuf>,
    /// HTTPS with this certificate; none: HTTP.
    pub tls: Option<Certificate>,
    /// The processors that the server is pinned to; empty: all.
    pub cpus: Vec<u32>,
}

/// A certificate with its key, PEM files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Certificate {
    /// The chain.
    pub chain: PathBuf,
    /// The key.
    pub key: PathBuf,
}

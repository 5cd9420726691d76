//! The flags of what is the user's own in a study, which several verbs have.

use std::path::PathBuf;

use weigh_site::overrides::UserOverrides;

/// Flags of what a user brings beside the names of studies.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Your own", group = clap::ArgGroup::new("elsewhere").args(["url", "page", "store"]).multiple(true))]
pub struct OwnFlags {
    /// A file or folder of yours in place of the study's content (repeatable)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["docroot", "url"])]
    pub content: Vec<PathBuf>,
    /// Your document root: some of its assets, by type and size, in place of the study's; copies are served, nothing is written to it
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub docroot: Option<PathBuf>,
    /// Your web server's configuration, in a private instance beside the study's ways on that server
    #[arg(id = "server_config", long = "server-config", value_name = "FILE", conflicts_with = "url")]
    pub config: Option<PathBuf>,
    /// The server that the configuration is for, where the file does not tell
    #[arg(long, value_name = "NAME", requires = "server_config")]
    pub server: Option<String>,
    /// The site to measure, by its name, where the configuration has several and the document root does not tell
    #[arg(long, value_name = "NAME", requires = "server_config")]
    pub site: Option<String>,
    /// Measure a running server at this URL (repeatable). Its CPU time is included if it runs on this machine under your user
    #[arg(id = "url", long = "url", value_name = "URL")]
    pub urls: Vec<String>,
    /// Also time this page, and show each cost as a share of its response time
    #[arg(long, value_name = "URL", conflicts_with = "url")]
    pub page: Option<String>,
    /// Allow requests to this remote host (repeatable)
    #[arg(long, value_name = "HOST", requires = "elsewhere")]
    pub allow_remote: Vec<String>,
    /// A store to measure (repeatable): redis, or the URL of a running one. Keys of its own are used, and nothing is flushed
    #[arg(id = "store", long = "store", value_name = "STORE", conflicts_with = "url")]
    pub stores: Vec<String>,
}

impl OwnFlags {
    /// What they bring.
    pub fn overrides(&self) -> UserOverrides {
        let OwnFlags { content, docroot, config, server, site, urls, page, allow_remote, stores } =
            self.clone();
        UserOverrides {
            content,
            docroot,
            config,
            server,
            site,
            urls,
            page,
            allow_remote,
            stores,
            ..UserOverrides::default()
        }
    }
}

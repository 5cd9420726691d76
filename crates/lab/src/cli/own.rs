//! What `weigh run` and `weigh plan` take of the user's own: content, a document root, a server's configuration, URLs.

use std::path::PathBuf;

use crate::lab::Own;

/// The flags that both verbs share.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Your own", group = clap::ArgGroup::new("elsewhere").args(["url", "store"]).multiple(true))]
pub struct OwnArgs {
    /// A file or folder of yours in place of the study's content (repeatable)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["docroot", "url"])]
    content: Vec<PathBuf>,
    /// Your document root: some of its assets, by type and size, in place of the study's; copies are served, nothing is written to it
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    docroot: Option<PathBuf>,
    /// Your web server's configuration, in a private instance beside the study's ways on that server
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    server_config: Option<PathBuf>,
    /// The server that the configuration is for, where the file does not tell
    #[arg(long, value_name = "NAME", requires = "server_config")]
    server: Option<String>,
    /// A URL to measure from outside (repeatable): nothing is started, so no CPU time of a server is known
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// A host that is not this machine and may be asked, spelled out (repeatable)
    #[arg(long, value_name = "HOST", requires = "elsewhere")]
    allow_remote: Vec<String>,
    /// A store to measure (repeatable): a name such as redis, or the URL of a running one, such as redis://127.0.0.1:6379/2; with
    /// cache-levels, values are written and read there. Keys of its own are used, and nothing is flushed
    #[arg(long, value_name = "STORE", conflicts_with = "url")]
    store: Vec<String>,
}

impl OwnArgs {
    /// What they say.
    pub fn own(&self) -> Own {
        Own {
            content: self.content.clone(),
            docroot: self.docroot.clone(),
            config: self.server_config.clone(),
            server: self.server.clone(),
            urls: self.url.clone(),
            allow_remote: self.allow_remote.clone(),
            stores: self.store.clone(),
        }
    }
}

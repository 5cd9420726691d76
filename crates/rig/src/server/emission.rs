//! What a policy is written as: the parts of a server's configuration, as `server.toml` names them.

use std::path::PathBuf;

use serde::Deserialize;

/// What a policy is written as, as `server.toml` says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emission {
    /// The template of a configuration as a distribution ships it, in which the server checks the parts.
    pub stock: String,
    /// The name that the server's own check knows it by.
    pub r#as: String,
    /// Where users put the parts.
    pub home: String,
    /// The command that checks the user's configuration.
    pub check: String,
    /// The command that makes the server read it.
    pub reload: String,
    /// The command that switches a module on, which follows it; absent: modules need none.
    #[serde(default)]
    pub enable: Option<String>,
    /// What loads a module, and where; `{}` stands for its name.
    #[serde(default)]
    pub load: Option<String>,
    /// Directives of the parts that are left out where the user's configuration has them: what it inherits is its own business.
    #[serde(default)]
    pub kept: Vec<String>,
    /// Whether a block has each directive of the parts once: the user's own is in the way then.
    #[serde(default)]
    pub once: bool,
    /// Whether each file of an extension needs a variant where one of them has one.
    #[serde(default)]
    pub every: bool,
    /// What to do where the user's configuration has the same directives.
    pub clash: String,
    pub snippets: Vec<Snippet>,
}

/// A part with its place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snippet {
    /// Its template, which is the name of its file, too.
    pub template: String,
    /// Whether it holds for what PHP makes, where that differs.
    #[serde(default)]
    pub pages: bool,
    /// It goes into each block of the site that has this directive; absent: into the site itself.
    #[serde(default)]
    pub beside: Option<String>,
    /// Whether it goes around the site, into what all sites have in common.
    #[serde(default)]
    pub around: bool,
    /// Whether it is for a cache of pages.
    #[serde(default)]
    pub cache: bool,
    /// It goes into what this directive has in its own brackets; absent: it stands by itself.
    #[serde(default)]
    pub inside: Option<String>,
    /// Whether it is for downloads.
    #[serde(default)]
    pub downloads: bool,
    /// Whether it is for shared dictionaries.
    #[serde(default)]
    pub dictionaries: bool,
    /// Modules that it needs besides those of the methods.
    #[serde(default)]
    pub modules: Vec<String>,
    pub place: String,
    /// The line that includes it.
    pub line: String,
}

impl Emission {
    /// All templates that are not files of a private instance.
    pub fn templates(&self) -> Vec<&str> {
        let parts = self.snippets.iter().map(|snippet| snippet.template.as_str());
        parts.chain([self.stock.as_str()]).collect()
    }

    /// Whether what PHP makes can be given rules of its own.
    pub fn has_pages(&self) -> bool {
        self.snippets.iter().any(|snippet| snippet.pages)
    }
}

/// The folders of downloads on the user's machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Downloads {
    /// Those that files may be handed out of, none in another.
    pub folders: Vec<PathBuf>,
    /// Those that may not, and why.
    pub refused: Vec<(PathBuf, &'static str)>,
}

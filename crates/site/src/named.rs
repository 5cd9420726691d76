//! What a path of a URL names: a file of the site, or a page.

use super::served::Served;
use weigh_content::class;

/// Names of static front pages.
pub const FRONT: [&str; 2] = ["index.html", "index.htm"];

/// What a path of a URL names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The path of the file, or of the page, below the site's root.
    pub name: String,
    /// Whether an application makes it.
    pub is_page: bool,
}

impl Named {
    /// The file of a path, as far as the site has one: of a folder, its static front page.
    pub fn of(path: &str, served: Option<&Served>) -> Named {
        let is_page = class::is_page(path);
        let page = Named { name: path.to_owned(), is_page };
        let served = served.filter(|_| is_page && class::extension(path).is_empty());
        let Some(full) = served.and_then(|served| served.locate(path)) else { return page };
        if full.is_file() {
            return Named { is_page: false, ..page };
        }
        if !full.is_dir() || full.join("index.php").exists() {
            return page;
        }
        let Some(front) = FRONT.into_iter().find(|name| full.join(name).is_file()) else { return page };
        let folder = path.trim_end_matches('/');
        let name = if folder.is_empty() { front.to_owned() } else { format!("{folder}/{front}") };
        Named { name, is_page: false }
    }
}

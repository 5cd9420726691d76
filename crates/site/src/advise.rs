//! Advice: from a site to studies that measure what its decisions need, and from their runs to a policy.
//!
//! It owns which settings are worth measuring for a site. How they are measured is the business of studies, and what follows from
//! the figures that of [`weigh_answer::policy`].

mod encoded;
mod planned;
mod study;

use std::path::Path;

use anyhow::{Context, Result};

pub use encoded::Encodings;
pub use planned::{BUDGET, POLICY, plans, read_policy, server_of, studies_for};
pub use study::proofs;

use weigh_answer::policy::Weighted;
use weigh_model::link::LinkSpec;
use weigh_model::site::{Kind, LinkShare, Site};
use weigh_run::lab::Home;

/// The links of a site's visitors, with their shares.
///
/// # Errors
/// A link that nothing is known of.
pub fn visitors_links(home: &Home, site: &Site) -> Result<Vec<Weighted>> {
    let of = |share: &LinkShare| {
        let link = home.definitions.link(&share.link).context("visitors.links")?;
        Ok((LinkSpec { paced: site.visitors.paced, ..link }, share.share))
    };
    site.visitors.links.iter().map(of).collect()
}

/// Where the file of a sample lies.
fn located(site: &Site, folder: &Path, kind: Kind, path: &str) -> Result<String> {
    let file = crate::located(&site.sources, folder, kind, path);
    let full = std::path::absolute(&file).context("a sample's file has no path")?;
    full.to_str().map(str::to_owned).context("a sample's path is not UTF-8")
}

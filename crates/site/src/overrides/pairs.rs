//! The plan for a site on two running servers, before and after a change: its page and its sampled files by two URLs each, requested as
//! each kind of client does.

use anyhow::{Context, Result, ensure};
use url::Url;

use super::urls::{self, Asking};
use weigh_answer::policy::{ByUrl, accepted};
use weigh_model::cell::Subject;
use weigh_model::plan::Plan;
use weigh_model::policy::Policy;
use weigh_model::site::{Accept, Kind, Sample, Site};
use weigh_model::text::clean;
use weigh_run::planning::Planning;

/// Files of a kind that are requested: those that stand for most requests.
const MOST: usize = 10;

/// The pages of two running servers.
pub struct Two<'a> {
    pub before: &'a str,
    pub after: &'a str,
    /// Hosts that are not this machine and may be asked.
    pub allowed: &'a [String],
}

/// A plan with what its payloads stand for.
pub struct Paired {
    pub plan: Plan,
    /// Each content before and after.
    pub pairs: Vec<ByUrl>,
}

impl Two<'_> {
    /// The plan of what a policy changes: its page, and the files of the site's samples below the same folder.
    ///
    /// # Errors
    /// One line: a URL that cannot or may not be requested.
    pub fn plan(
        &self,
        site: &Site,
        policy: &Policy,
        seconds: f64,
        planning: &mut Planning<'_>,
    ) -> Result<Paired> {
        let mut study = urls::study()?;
        study.budget.seconds = seconds;
        let mut asking = Asking::new(self.allowed);
        let classes = site.classes();
        let clients = classes.iter().filter(|client| client.share >= Accept::LEAST_SHARE);
        let accepts: Vec<String> = clients.map(|client| accepted(&client.codings)).collect();
        let mut paired = Paired { plan: urls::empty(&study, planning.options), pairs: Vec::new() };
        asking.permit("--before", self.before)?;
        asking.permit("--after", self.after)?;
        for (kind, sample, [before, after]) in self.wanted(site, policy)? {
            let mut names = Vec::new();
            for (flag, url) in [("--before", before), ("--after", after)] {
                let subject = if kind == Kind::Page { Subject::PAGE } else { Subject::ASSET };
                match asking.add(&mut paired.plan, subject, (flag, &url), &accepts, planning) {
                    Ok(name) => names.push(Some(name)),
                    Err(error) if kind == Kind::Page => return Err(error),
                    Err(error) => {
                        planning.progress.note(&format!("left out: {error:#}"));
                        names.push(None);
                    }
                }
            }
            let [Some(before), Some(after)] = &names[..] else { continue };
            let body = |name: &String| paired.plan.payloads.iter().find(|one| one.name == *name);
            let is_same = body(before).zip(body(after)).is_some_and(|(a, b)| a.sha256 == b.sha256);
            if !is_same {
                let path = clean(&sample.path);
                planning.progress.note(&format!("{path}: before and after are not the same content"));
            }
            if is_same || kind == Kind::Page {
                let (before, after) = (before.clone(), after.clone());
                paired.pairs.push(ByUrl { kind, sha256: sample.sha256.clone(), before, after });
            }
        }
        let is_used =
            |name: &String| paired.pairs.iter().any(|pair| pair.before == *name || pair.after == *name);
        paired.plan.cells.retain(|cell| is_used(&cell.payload));
        paired.plan.payloads.retain(|payload| is_used(&payload.name));
        Ok(paired)
    }

    /// What is requested: kind, sample and the two URLs.
    fn wanted<'s>(&self, site: &'s Site, policy: &Policy) -> Result<Vec<(Kind, &'s Sample, [String; 2])>> {
        let bases: Vec<Url> = [("--before", self.before), ("--after", self.after)]
            .iter()
            .map(|(flag, url)| {
                weigh_load::target::Location::parse(url).with_context(|| (*flag).to_owned())?;
                Url::parse(url.trim()).with_context(|| format!("{flag} {}", clean(url)))
            })
            .collect::<Result<_>>()?;
        let mut wanted = Vec::new();
        for decision in policy.decisions.iter().filter(|decision| !decision.keep) {
            let mut samples: Vec<(&Sample, f64)> = site
                .of(decision.kind)
                .flat_map(|stratum| {
                    stratum.sample.iter().map(|one| (one, one.share * stratum.requests.value))
                })
                .collect();
            samples.sort_by(|a, b| b.1.total_cmp(&a.1));
            match decision.kind {
                // The page of the URL stands for all.
                Kind::Page => wanted.extend(
                    samples
                        .first()
                        .map(|(sample, _)| (Kind::Page, *sample, [self.before.into(), self.after.into()])),
                ),
                Kind::Asset if site.sources.docroot.is_some() => {
                    for (sample, _) in samples.into_iter().take(MOST) {
                        let urls = [&bases[0], &bases[1]].map(|base| below(base, &sample.path));
                        wanted.push((Kind::Asset, sample, urls));
                    }
                }
                Kind::Asset | Kind::Download | Kind::Value => {}
            }
        }
        ensure!(!wanted.is_empty(), "the policy changes neither pages nor files that have URLs");
        Ok(wanted)
    }
}

/// The URL of a file below the folder of a page.
fn below(page: &Url, path: &str) -> String {
    let mut url = page.clone();
    url.set_query(None);
    url.set_fragment(None);
    if let Ok(mut segments) = url.path_segments_mut() {
        // What stands after the last slash is the page itself.
        segments.pop().extend(path.split('/'));
    }
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_below_the_folder_of_the_page() {
        let of = |page: &str, path: &str| below(&Url::parse(page).unwrap(), path);
        assert_eq!(
            of("http://127.0.0.1:8080/shop/", "css/a b?.css"),
            "http://127.0.0.1:8080/shop/css/a%20b%3F.css"
        );
        assert_eq!(of("http://127.0.0.1/index.php?a=1#b", "50%25.js"), "http://127.0.0.1/50%2525.js");
        assert_eq!(of("http://127.0.0.1", "a.js"), "http://127.0.0.1/a.js");
    }
}

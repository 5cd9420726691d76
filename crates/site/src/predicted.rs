//! Loads of the site's pages in a browser: as they are recorded, and as predicted over the links of its visitors.

use std::collections::HashSet;

use anyhow::Result;
use url::{Position, Url};

use super::advise;
use super::folder::Draft;
use super::page_loads::{self, RecordedPage, RecordedPages};
use super::pages::Visited;
use super::request::SiteRequest;
use super::traffic::LoggedPage;
use weigh_answer::page_load::{self, PredictedLoad};
use weigh_model::site::{LoadedPage, Sample, Site};
use weigh_run::lab::{Lab, Progress};

/// Loads of the pages in a browser, with what is to be said of them.
pub fn recorded(ask: &SiteRequest, visited: &Visited, progress: &mut dyn Progress) -> Vec<RecordedPage> {
    if !ask.browser {
        return Vec::new();
    }
    let mut recorded = visited.recorded.clone();
    if let Some(first) = ask.urls.first().filter(|_| !ask.render) {
        progress.doing("loading pages in a browser");
        let given = ask.urls.iter().filter_map(|url| Url::parse(url.trim()).ok());
        let mut paths: Vec<String> =
            given.map(|url| url[Position::BeforePath..Position::AfterQuery].to_owned()).collect();
        paths.extend(visited.pages.iter().map(|page| page.url.clone()));
        let mut seen = HashSet::new();
        paths.retain(|path| seen.insert(path.clone()));
        recorded = page_loads::of_running(first, &paths, &ask.allow_remote)
            .unwrap_or_else(|error| RecordedPages::without(&error));
    }
    if recorded.pages.is_empty() && recorded.notes.is_empty() {
        recorded.notes.push("--browser: no page to load; give --url or --render".into());
    }
    recorded.notes.iter().for_each(|note| progress.note(note));
    recorded.pages
}

/// What loads over the links of the site's visitors take; the graphs are kept beside its file. Pages count as often as the log has them, else alike.
pub fn predicted(
    lab: &Lab,
    site: &mut Site,
    recorded: &[RecordedPage],
    asked: &[LoggedPage],
    draft: &mut Draft,
) -> Result<Vec<PredictedLoad>> {
    let path = |page: &LoggedPage| page.url.split('?').next().unwrap_or_default().to_owned();
    let views = |page: &RecordedPage| -> f64 {
        asked.iter().filter(|one| path(one) == page.path).map(|one| one.hits.requests).sum()
    };
    let all: f64 = recorded.iter().map(views).sum();
    for page in recorded {
        let name = page.path.trim_matches('/');
        let name = format!("{}.json", if name.is_empty() { "index" } else { name });
        let share = if all > 0.0 { views(page) / all } else { 1.0 / recorded.len() as f64 };
        let Sample { path: file, bytes, sha256, .. } =
            draft.add("loads", &name, &serde_json::to_vec_pretty(&page.graph)?, share)?;
        site.loaded.push(LoadedPage { page: page.path.clone(), file, bytes, sha256, share, graph: None });
    }
    let links = advise::visitors_links(lab, site)?.into_iter().map(|(link, _)| link).collect::<Vec<_>>();
    let pages = recorded.iter().map(|page| (page.path.as_str(), &page.graph));
    Ok(page_load::predict(pages, &links, (site.visitors.tls, site.visitors.paced == Some(true))))
}

//! Which file a path of a log is, where no file has that path: the server rewrites it (`/static/version123/app.js`), has a folder of its own
//! for it, or adds an extension. It is asked, and what it answers with is looked for among the files.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use super::hits::{Hits, RequestsByPath};
use super::private::STANDS_IN;
use super::served::Served;
use weigh_content::user::{self, Links};
use weigh_os::digest::{self, sha256};
use weigh_os::interrupt::Interrupt;
use weigh_rig::asker::{Asker, Question};
use weigh_run::subject::delivery::url;

/// Paths that are asked for: those with most bytes.
const MOST: usize = 2000;
/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest file that is looked for, in bytes.
const LONGEST: u64 = 64 << 20;

/// A body, by its length and digest.
type Body = (u64, String);

/// The paths of the log that no file of the site has, those with most bytes first.
pub fn unknown(asked: &RequestsByPath, served: &Served) -> Vec<String> {
    let is_file = |path: &str| served.locate(path).is_some_and(|file| file.is_file());
    let mut paths: Vec<(&String, &Hits)> =
        asked.paths.iter().filter(|(path, hits)| hits.requests > 0.0 && !is_file(path)).collect();
    paths.sort_by(|a, b| b.1.bytes.total_cmp(&a.1.bytes).then_with(|| a.0.cmp(b.0)));
    paths.into_iter().take(MOST).map(|(path, _)| path.clone()).collect()
}

/// What these paths are answered with, where that is not made by a program.
pub fn bodies(asker: &Asker<'_>, paths: &[String]) -> HashMap<String, Body> {
    let until = Instant::now() + PATIENCE;
    let mut found = HashMap::new();
    for path in paths {
        if Instant::now() >= until || Interrupt::caught().is_set() {
            break;
        }
        let url = format!("/{}", url::file(path));
        let Ok(reply) = asker.ask(&Question { path: &url, ..Question::default() }) else { continue };
        if reply.status == 200 && !reply.body.is_empty() && !reply.body.starts_with(STANDS_IN) {
            found.insert(path.clone(), (reply.body.len() as u64, sha256(&reply.body)));
        }
    }
    found
}

/// Gives the requests of these paths to the files that have their bodies; the paths with what was asked of them, and the files. `without_query`: what is asked
/// of a script without a query string, for with one it may answer otherwise.
pub fn assign(
    bodies: &HashMap<String, Body>,
    served: &Served,
    output: &Path,
    asked: &mut RequestsByPath,
    without_query: &dyn Fn(&str) -> Option<Hits>,
) -> Vec<(String, Hits, String)> {
    let files = files(bodies, served, output);
    let mut moved = Vec::new();
    for (path, body) in bodies {
        let Some(file) = files.get(body).filter(|file| *file != path) else { continue };
        let Some(mut all) = asked.paths.remove(path) else { continue };
        let hits = without_query(path).unwrap_or(all);
        all.subtract(&hits);
        if all.any() {
            asked.paths.insert(path.clone(), all);
        }
        asked.paths.entry(file.clone()).or_default().add(&hits);
        moved.push((path.clone(), hits, file.clone()));
    }
    moved
}

/// The files of the site with these bodies, by the paths that they have below its root; of several the first by name.
fn files(bodies: &HashMap<String, Body>, served: &Served, output: &Path) -> HashMap<Body, String> {
    let lengths: HashSet<u64> = bodies.values().map(|body| body.0).collect();
    let wanted: HashSet<&Body> = bodies.values().collect();
    let mut found: HashMap<Body, String> = HashMap::new();
    for one in served.counted() {
        let links = if served.follows() { Links::Served(served.roots()) } else { Links::Inside };
        user::visit(&one.folder, output, links, &mut |file| {
            let below = file.path.strip_prefix(&one.folder).ok().and_then(Path::to_str);
            let path = below.map(|below| format!("{}{below}", one.begin))?;
            if !lengths.contains(&file.bytes) || file.bytes > LONGEST {
                return None;
            }
            let opened = served.open(&path).ok();
            let sum =
                opened.and_then(|(mut file, _)| digest::copy(&mut file, &mut std::io::sink(), LONGEST).ok());
            if let Some(body) = sum.map(|sum| (sum.bytes, sum.sha256)).filter(|body| wanted.contains(body)) {
                let known = found.entry(body).or_insert_with(|| path.clone());
                if path < *known {
                    *known = path;
                }
            }
            None
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use weigh_model::site::From;

    #[test]
    fn requests_go_to_the_file_that_has_the_body() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("css")).unwrap();
        for (name, text) in [("css/b.css", "body{}"), ("css/a.css", "body{}"), ("other.css", "p{}")] {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        let served = Served::new(Some(root.path()), None);
        let hits = |requests: f64| Hits { requests, bytes: requests * 6.0, ..Hits::default() };
        let paths = [("v1/css/a.css", 5.0), ("other.css", 1.0), ("page", 9.0), ("css/a.css", 2.0)];
        let paths = paths.into_iter().map(|(path, n)| (path.to_owned(), hits(n))).collect();
        let mut asked = RequestsByPath { paths, from: From::Counted };
        assert_eq!(unknown(&asked, &served), ["page", "v1/css/a.css"]);
        let body = |text: &str| (text.len() as u64, sha256(text.as_bytes()));
        let bodies = [("v1/css/a.css", body("body{}")), ("page", body("made by a program"))];
        let bodies = bodies.into_iter().map(|(path, body)| (path.to_owned(), body)).collect();
        let moved = assign(&bodies, &served, Path::new("/nowhere"), &mut asked, &|_| None);
        assert_eq!(moved, [("v1/css/a.css".to_owned(), hits(5.0), "css/a.css".to_owned())]);
        assert_eq!((asked.of("css/a.css").requests, asked.of("v1/css/a.css").requests), (7.0, 0.0));
        assert_eq!(asked.of("page").requests, 9.0);
        let bodies = [("page".to_owned(), body("p{}"))].into();
        assign(&bodies, &served, Path::new("/nowhere"), &mut asked, &|path| {
            (path == "page").then(|| hits(2.0))
        });
        assert_eq!((asked.of("page").requests, asked.of("other.css").requests), (7.0, 3.0));
    }
}

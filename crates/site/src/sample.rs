//! From layers to the strata of `site.toml`: figures with their source, and the files that stand for each.

use std::collections::HashMap;

use anyhow::Result;

use super::choose::{self, Chosen, Weight};
use super::folder::Draft;
use super::pages::Visited;
use super::scripts::{Answered, MADE};
use super::served::Served;
use super::strata::{BANDS, Key, Layer, Strata};
use weigh_content::saving;
use weigh_content::types;
use weigh_model::site::{Figure, From, Kind, Sample, Stratum};
use weigh_model::text::clean;
use weigh_os::digest;
use weigh_run::lab::Progress;

/// Files that stand for a site, values apart; more only where fewer would not cover a kind.
const MOST: usize = 40;
/// The longest file that stands for others; what is measured is no longer either.
const LONGEST: u64 = 64 << 20;

pub struct Origin<'a> {
    /// The document root with the folders beside it.
    pub served: Option<&'a Served>,
    /// Pages, and assets where there is no document root.
    pub visited: &'a Visited,
    /// What scripts answered that is not a page, by their keys.
    pub made: &'a HashMap<String, Answered>,
    /// Where requests are known from.
    pub from: From,
    /// Whether a log has no bytes.
    pub is_without_bytes: bool,
    /// Milliseconds that pages take as a log has them; none: those of the pages that were fetched.
    pub made_ms: Option<f64>,
}

impl Origin<'_> {
    /// The strata. A file that cannot be read is said and left out.
    ///
    /// # Errors
    /// A file beside `site.toml` cannot be written.
    pub fn strata(
        &self,
        strata: &Strata,
        draft: &mut Draft,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Stratum>> {
        let layers: Vec<(&Key, &Layer)> = strata.0.iter().collect();
        let weight = |(key, layer): &(&Key, &Layer)| Weight {
            kind: key.0,
            requests: layer.hits.requests,
            traffic: layer.traffic(),
            files: layer.top.len() + layer.drawn.len(),
        };
        let weights: Vec<Weight> = layers.iter().map(weight).collect();
        let places = choose::places(&weights, MOST);
        let mut done = Vec::new();
        for ((key, layer), places) in layers.into_iter().zip(places) {
            let mut chosen = choose::choose(layer, places);
            let mut sample = Vec::new();
            chosen.retain(|one| match self.sample(key.0, one, draft) {
                Ok(file) => {
                    sample.push(file);
                    true
                }
                Err(error) => {
                    progress.note(&format!("left out {} of the sample: {error:#}", clean(&one.file.path)));
                    false
                }
            });
            choose::even_out(chosen.iter_mut().map(|one| &mut one.share));
            let shares = chosen.iter().map(|one| (one.share * 1e6).round() / 1e6);
            sample.iter_mut().zip(shares).for_each(|(file, share)| file.share = share);
            let saving = self.saving(key.0, &chosen);
            done.push(Stratum { saving, ..self.stratum(key, layer, sample) });
        }
        Ok(done)
    }

    fn sample(&self, kind: Kind, chosen: &Chosen, draft: &mut Draft) -> Result<Sample> {
        let path = &chosen.file.path;
        if let Some(answered) = path.strip_prefix(MADE).and_then(|key| self.made.get(key)) {
            let key = path[MADE.len()..].split('?').next().unwrap_or_default();
            return draft.add("made", &made_name(key, &answered.format), &answered.body, chosen.share);
        }
        if kind == Kind::Page {
            let page = &self.visited.pages[path.parse::<usize>()?];
            let name = if page.path.is_empty() { "front" } else { page.path.trim_end_matches('/') };
            let name = if page.format == "text/html" && !name.ends_with(".html") {
                format!("{name}.html")
            } else {
                name.into()
            };
            return draft.add("pages", &name, &page.body, chosen.share);
        }
        let Some(served) = self.served else {
            let body = &self.visited.fetched[path];
            return draft.add("assets", path, body, chosen.share);
        };
        let (mut file, _) = served.open(path)?;
        let sum = digest::copy(&mut file, &mut std::io::sink(), LONGEST)?;
        Ok(Sample {
            path: path.clone(),
            bytes: sum.bytes,
            sha256: sum.sha256,
            share: chosen.share,
            sent: Vec::new(),
        })
    }

    /// The share that encoding saves of the files that stand for a stratum.
    fn saving(&self, kind: Kind, chosen: &[Chosen]) -> Option<f64> {
        let made = |one: &Chosen| Some(self.made.get(one.file.path.strip_prefix(MADE)?)?.body.clone());
        let head = |one: &Chosen| match (kind, self.served) {
            _ if one.file.path.starts_with(MADE) => made(one),
            (Kind::Page, _) => {
                Some(self.visited.pages.get(one.file.path.parse::<usize>().ok()?)?.body.clone())
            }
            (_, Some(served)) => saving::head(served.open(&one.file.path).ok()?.0).ok(),
            (_, None) => self.visited.fetched.get(&one.file.path).cloned(),
        };
        let (mut all, mut saved) = (0.0, 0.0);
        for bytes in chosen.iter().filter_map(head) {
            let bytes = &bytes[..bytes.len().min(saving::SAMPLE as usize)];
            all += bytes.len() as f64;
            saved += saving::share(bytes) * bytes.len() as f64;
        }
        (all > 0.0).then(|| (saved / all * 1e4).round() / 1e4)
    }

    fn stratum(&self, key: &Key, layer: &Layer, sample: Vec<Sample>) -> Stratum {
        let (kind, format, at) = key;
        let hits = &layer.hits;
        let from = if layer.is_assumed { From::Assumed } else { self.from };
        let figure = |value: f64| Figure { value: value.round(), from };
        let counted = |value: f64| (from == From::Counted).then(|| figure(value));
        let some = |value: f64| counted(value).filter(|figure| figure.value > 0.0);
        let is_page = *kind == Kind::Page;
        let count = if is_page && layer.unseen == 0 { Figure::measured } else { Figure::counted };
        // What a log names is known by the bytes sent: with a content coding, they are fewer than those of the content.
        let size = if layer.unseen > 0 { Figure::assumed } else { count };
        Stratum {
            kind: *kind,
            format: format.clone(),
            from_bytes: BANDS[*at],
            to_bytes: BANDS.get(at + 1).copied(),
            files: count(layer.files as f64),
            bytes: size(layer.bytes as f64),
            requests: figure(hits.requests),
            not_modified: some(hits.not_modified),
            ranges: some(hits.ranges),
            sent_bytes: counted(hits.bytes).filter(|_| !self.is_without_bytes),
            writes: None,
            made_ms: is_page.then(|| self.made_ms(layer)).flatten(),
            saving: None,
            sample,
        }
    }

    /// What the log has, else the mean over the pages of a layer.
    fn made_ms(&self, layer: &Layer) -> Option<Figure> {
        if let Some(logged) = self.made_ms {
            return Some(Figure::counted(logged));
        }
        let all = layer.top.iter().chain(layer.drawn.units());
        let times: Vec<f64> = all
            .filter_map(|page| self.visited.pages.get(page.path.parse::<usize>().ok()?))
            .map(|page| page.made_ms)
            .collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        (!times.is_empty()).then(|| Figure::measured((mean * 100.0).round() / 100.0))
    }
}
/// A file name for what a script answers, which has the type of the answer: a server would hand one that ends in `.php` to PHP.
fn made_name(script: &str, format: &str) -> String {
    let stem = if script.is_empty() { "front" } else { script };
    let extension = types::extensions(&[format.to_owned()]).first().copied().unwrap_or("bin");
    if stem.ends_with(&format!(".{extension}")) { stem.to_owned() } else { format!("{stem}.{extension}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_answers_has_a_name_of_its_own_type() {
        for (script, format, name) in [
            ("js/messages.php", "text/javascript", "js/messages.php.js"),
            ("lib/exe/css.php", "text/css", "lib/exe/css.php.css"),
            ("", "application/rss+xml", "front.rss"),
            ("app.css", "text/css", "app.css"),
            ("x.php", "application/x-unheard-of", "x.php.bin"),
        ] {
            assert_eq!(made_name(script, format), name);
        }
    }
}

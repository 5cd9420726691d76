//! Files by kind, media type and size band, while they are looked at: sums, and a few files of each that may stand for it. Memory
//! does not grow with the number of files.

use std::collections::BTreeMap;

use weigh_model::site::Kind;

use super::hits::Hits;
use weigh_content::strata::Drawn;
pub use weigh_content::strata::{BANDS, band};

/// Files with the most requests that are kept of a stratum.
const MOST_TOP: usize = 12;
/// Files drawn at random that are kept of a stratum.
const MOST_DRAWN: usize = 64;

/// A file that may stand for its stratum.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its path, as `site.toml` will have it.
    pub path: String,
    pub bytes: u64,
    /// Requests per month; zero if nothing is known of it.
    pub requests: f64,
}

impl Candidate {
    /// Bytes per month, without encoding.
    pub fn traffic(&self) -> f64 {
        self.requests * self.bytes as f64
    }
}

/// A stratum while files are added.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    pub files: u64,
    /// Their bytes together.
    pub bytes: u64,
    pub hits: Hits,
    /// Bytes per month of whole responses, without encoding, as far as files were added with their requests.
    pub traffic: f64,
    /// Files with requests, those with the most bytes per month first.
    pub top: Vec<Candidate>,
    /// How many of the files are known from a log alone: their bytes are those sent.
    pub unseen: u64,
    /// Whether the requests are assumed, though others are counted.
    pub is_assumed: bool,
    /// Some files, drawn by a digest of their path.
    pub drawn: Drawn<Candidate, MOST_DRAWN>,
}

/// Kind, format and the number of the size band.
pub type Key = (Kind, String, usize);

#[derive(Clone, Debug, Default)]
pub struct Strata(pub BTreeMap<Key, Layer>);

impl Strata {
    pub fn add(&mut self, kind: Kind, format: &str, file: Candidate, hits: &Hits) {
        let layer = self.0.entry((kind, format.to_owned(), band(file.bytes))).or_default();
        layer.files += 1;
        layer.bytes += file.bytes;
        layer.hits.add(hits);
        layer.traffic += hits.requests * file.bytes as f64;
        layer.consider(file);
    }

    /// Adds files of a size that are known from a log alone: none of them can stand for others.
    pub fn count(&mut self, kind: Kind, format: &str, files: u64, each: u64, hits: &Hits) {
        let layer = self.0.entry((kind, format.to_owned(), band(each))).or_default();
        layer.files += files;
        layer.unseen += files;
        layer.bytes += files * each;
        layer.hits.add(hits);
        layer.traffic += hits.requests * each as f64;
    }
}

impl Layer {
    /// Keeps a file if it is among those with the most bytes per month, or else among those drawn.
    fn consider(&mut self, file: Candidate) {
        if file.requests > 0.0 {
            let place = self
                .top
                .partition_point(|other| (other.traffic(), &file.path) > (file.traffic(), &other.path));
            if place < MOST_TOP {
                self.top.insert(place, file);
                self.top.truncate(MOST_TOP);
                return;
            }
        }
        // The files with the smallest digests of their paths are a sample that the order of files does not change.
        self.drawn.consider(file.path.clone(), file);
    }

    /// Bytes per month of whole responses, without encoding.
    pub fn traffic(&self) -> f64 {
        let mean = self.bytes as f64 / self.files.max(1) as f64;
        if self.traffic > 0.0 { self.traffic } else { mean * self.hits.requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: String, bytes: u64, requests: f64) -> Candidate {
        Candidate { path, bytes, requests }
    }

    #[test]
    fn a_stratum_keeps_few_files_whatever_their_number_and_order() {
        let all: Vec<_> = (0..3000u64).map(|n| file(format!("{n}.js"), 2000 + n, (n % 50) as f64)).collect();
        let of = |files: &mut dyn Iterator<Item = &Candidate>| {
            let mut strata = Strata::default();
            for file in files {
                let hits = Hits { requests: file.requests, ..Hits::default() };
                strata.add(Kind::Asset, "text/javascript", file.clone(), &hits);
            }
            strata.0.pop_first().unwrap()
        };
        let (key, layer) = of(&mut all.iter());
        assert_eq!(key, (Kind::Asset, "text/javascript".into(), 1));
        assert_eq!((layer.files, layer.top.len(), layer.drawn.len()), (3000, MOST_TOP, MOST_DRAWN));
        assert_eq!(layer.hits.requests, all.iter().map(|file| file.requests).sum::<f64>());
        let mut most: Vec<f64> = all.iter().map(Candidate::traffic).collect();
        most.sort_by(|a, b| b.total_cmp(a));
        let kept: Vec<f64> = layer.top.iter().map(Candidate::traffic).collect();
        assert_eq!(kept, most[..MOST_TOP], "{:?}", layer.top);
        assert_eq!(layer.traffic, most.iter().sum::<f64>());
        let (_, reversed) = of(&mut all.iter().rev());
        let requests = |layer: &Layer| layer.top.iter().map(|file| file.requests).collect::<Vec<_>>();
        assert_eq!(requests(&reversed), requests(&layer));
    }
}

//! What is assumed where nothing is counted. `docs/REFERENCE.md` has the sources.

use weigh_model::site::Kind;

use super::hits::Hits;
use super::strata::{Key, Strata};
use weigh_content::class;
use weigh_content::types::MediaTypes;
use weigh_content::types::is_same;

/// Page views per month. No source: a round figure that the user is to replace.
pub const PAGE_VIEWS: f64 = 100_000.0;
/// Requests per page view on the median desktop page, by the begin of the media type: Web Almanac 2025, chapter Page Weight, of the HTTP
/// Archive's crawl of July 2025.
const MIX: [(&str, f64); 5] =
    [("text/html", 3.0), ("text/css", 8.0), ("text/javascript", 23.0), ("image/", 14.0), ("font/", 4.0)];
/// Downloads per page view. No source: a round figure.
const DOWNLOADS: f64 = 0.01;
/// Reads of cached values per page view. No source: a round figure.
pub const READS: f64 = 10.0;
/// Reads of cached values per write. No source: a round figure.
pub const READS_PER_WRITE: f64 = 9.0;

/// Types of assets that servers leave out of their logs, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssetType {
    StyleSheet,
    Script,
    Image,
    Font,
}

impl AssetType {
    pub const ALL: [AssetType; 4] =
        [AssetType::StyleSheet, AssetType::Script, AssetType::Image, AssetType::Font];

    /// What a path's name says.
    pub fn of(path: &str) -> Option<AssetType> {
        let format = MediaTypes::default().find(&class::extension(path))?;
        AssetType::ALL.into_iter().find(|kind| kind.is(&format))
    }

    /// The begin of its media types, its plural, and the name of an example.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            AssetType::StyleSheet => ("text/css", "style sheets", "x.css"),
            AssetType::Script => ("text/javascript", "scripts", "x.js"),
            AssetType::Image => ("image/", "images", "x.png"),
            AssetType::Font => ("font/", "fonts", "x.woff2"),
        }
    }

    /// Whether a media type is of it.
    pub fn is(self, format: &str) -> bool {
        let begin = self.words().0;
        format.starts_with(begin) || is_same(format, begin)
    }

    pub fn plural(self) -> &'static str {
        self.words().1
    }

    pub fn example(self) -> &'static str {
        self.words().2
    }
}

/// Gives assets the requests of the published mix: those of a type are spread evenly over its files.
pub fn mix(strata: &mut Strata, page_views: f64) {
    for (begin, per_page) in MIX {
        spread(strata, per_page * page_views, |key| {
            key.0 == Kind::Asset && (key.1.starts_with(begin) || is_same(&key.1, begin))
        });
    }
}

/// Marks assets of these types as assumed; those that nothing is known of get the requests of the published mix, but a file no more than one per view.
pub fn unlogged(strata: &mut Strata, types: &[AssetType], page_views: f64) {
    for kind in types {
        let is_meant = |key: &Key| key.0 == Kind::Asset && kind.is(&key.1);
        let layers = || strata.0.iter().filter(|(key, _)| is_meant(key)).map(|(_, layer)| layer);
        if !layers().any(|layer| layer.hits.any()) {
            let per_page = MIX.iter().find(|(begin, _)| kind.is(begin)).map_or(0.0, |mix| mix.1);
            let files = layers().map(|layer| layer.files).sum::<u64>() as f64;
            spread(strata, per_page.min(files) * page_views, is_meant);
        }
        strata.0.iter_mut().filter(|(key, _)| is_meant(key)).for_each(|(_, layer)| layer.is_assumed = true);
    }
}

/// Gives downloads their requests, spread evenly over the files.
pub fn downloads(strata: &mut Strata, page_views: f64) {
    spread(strata, DOWNLOADS * page_views, |key| key.0 == Kind::Download);
}

fn spread(strata: &mut Strata, requests: f64, is_meant: impl Fn(&Key) -> bool) {
    let files: u64 = strata.0.iter().filter(|(key, _)| is_meant(key)).map(|(_, layer)| layer.files).sum();
    for (_, layer) in strata.0.iter_mut().filter(|(key, _)| is_meant(key)) {
        layer.hits = Hits { requests: requests * layer.files as f64 / files as f64, ..Hits::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strata::Candidate;

    #[test]
    fn the_mix_gives_each_type_its_requests_whatever_the_number_of_files() {
        let mut strata = Strata::default();
        for (format, path, bytes) in [
            ("text/css", "a", 5),
            ("text/css", "b", 5000),
            ("application/javascript", "c", 5),
            ("image/png", "d", 5),
        ] {
            let file = Candidate { path: path.into(), bytes, requests: 0.0 };
            strata.add(Kind::Asset, format, file, &Hits::default());
        }
        mix(&mut strata, 1000.0);
        downloads(&mut strata, 1000.0);
        let of = |format: &str| -> Vec<f64> {
            strata.0.iter().filter(|(key, _)| key.1 == format).map(|(_, layer)| layer.hits.requests).collect()
        };
        assert_eq!((of("text/css"), of("application/javascript")), (vec![4000.0, 4000.0], vec![23_000.0]));
        assert_eq!(of("image/png"), [14_000.0]);
        strata.0.values_mut().for_each(|layer| layer.hits = Hits::default());
        unlogged(&mut strata, &[AssetType::StyleSheet, AssetType::Script], 1000.0);
        let of = |format: &str| -> Vec<(f64, bool)> {
            let own = strata.0.iter().filter(|(key, _)| key.1 == format);
            own.map(|(_, layer)| (layer.hits.requests, layer.is_assumed)).collect()
        };
        assert_eq!(of("text/css"), [(1000.0, true), (1000.0, true)]);
        assert_eq!(
            (of("application/javascript"), of("image/png")),
            (vec![(1000.0, true)], vec![(0.0, false)])
        );
    }
}

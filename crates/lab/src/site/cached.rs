//! Cached values in strata: one per form and size band, with a few values that stand for each.

use std::collections::BTreeMap;

use anyhow::Result;

use super::assumed;
use super::folder::Draft;
use super::hits::MONTH_DAYS;
use super::store::Stored;
use super::strata::{BANDS, band};
use super::values::Value;
use crate::content::strata::Drawn;
use weigh_model::site::{Figure, From, Kind, Sample, Stratum, Today};

/// Values that are kept of one stratum.
const MOST_OF_ONE: usize = 4;
/// The most values in all.
const MOST: usize = 24;

/// Values of one form and one size band.
#[derive(Debug, Default)]
struct Layer {
    keys: f64,
    bytes: f64,
    stored: f64,
    /// Some of them, drawn by a digest of their key.
    drawn: Drawn<(String, Value), MOST_OF_ONE>,
}

/// All values.
#[derive(Debug, Default)]
pub struct Cached {
    layers: BTreeMap<(&'static str, usize), Layer>,
    codecs: BTreeMap<(&'static str, Option<&'static str>), f64>,
    /// How many were looked at.
    pub seen: u64,
}

impl Cached {
    /// Adds a value that stands for this many.
    pub fn add(&mut self, key: String, value: Value, weight: f64) {
        self.seen += 1;
        *self.codecs.entry((value.form, value.codec)).or_default() += weight;
        let layer = self.layers.entry((value.form, band(value.bytes.len() as u64))).or_default();
        layer.keys += weight;
        layer.bytes += weight * value.bytes.len() as f64;
        layer.stored += weight * value.stored as f64;
        layer.drawn.consider(key.clone(), (key, value));
    }

    /// What the site does today: the form and codec of most values.
    pub fn today(&self) -> Option<Today> {
        let ((form, codec), _) = self.codecs.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        Some(Today {
            kind: Kind::Value,
            method: codec.map_or((*form).to_owned(), |codec| format!("{form}+{codec}")),
            about: format!("{form}, {}", codec.unwrap_or("uncompressed")),
            from: From::Measured,
        })
    }

    /// The strata, with the values that stand for them written to the draft. Reads are as frequent for each key as for another.
    ///
    /// # Errors
    /// A value cannot be written.
    pub fn strata(self, stored: Option<&Stored>, page_views: f64, draft: &mut Draft) -> Result<Vec<Stratum>> {
        let (reads, writes) = rates(stored, page_views);
        let keys: f64 = self.layers.values().map(|layer| layer.keys).sum();
        let each = (MOST / self.layers.len().max(1)).clamp(1, MOST_OF_ONE);
        let mut left = MOST;
        let mut layers: Vec<_> = self.layers.into_iter().collect();
        // Where there are more strata than places, those with more keys have one.
        layers.sort_by(|a, b| b.1.keys.total_cmp(&a.1.keys).then(a.0.cmp(&b.0)));
        let mut strata = Vec::new();
        for ((form, at), layer) in layers {
            let share = layer.keys / keys;
            let of = |all: Figure| Figure { value: (all.value * share).round(), from: all.from };
            let sample = sample(form, &layer, each.min(left), draft)?;
            left -= sample.len();
            strata.push(Stratum {
                kind: Kind::Value,
                format: form.to_owned(),
                from_bytes: BANDS[at],
                to_bytes: BANDS.get(at + 1).copied(),
                files: Figure::counted(layer.keys.round()),
                bytes: Figure::counted(layer.bytes.round()),
                requests: of(reads),
                not_modified: None,
                ranges: None,
                sent_bytes: Some(Figure::counted(layer.stored.round())),
                writes: Some(of(writes)),
                made_ms: None,
                saving: None,
                sample,
            });
        }
        strata.sort_by(|a, b| (&a.format, a.from_bytes).cmp(&(&b.format, b.from_bytes)));
        Ok(strata)
    }
}

fn sample(form: &str, layer: &Layer, most: usize, draft: &mut Draft) -> Result<Vec<Sample>> {
    let mut chosen: Vec<&(String, Value)> = layer.drawn.units().take(most).collect();
    chosen.sort_by_key(|(_, value)| value.bytes.len());
    let share = 1.0 / chosen.len().max(1) as f64;
    // Keys may name people: files are named by their form.
    chosen.into_iter().map(|(_, value)| draft.add("values", form, &value.bytes, share)).collect()
}

/// Reads and writes per month.
fn rates(stored: Option<&Stored>, page_views: f64) -> (Figure, Figure) {
    match stored.and_then(|stored| stored.calls).filter(|calls| calls.seconds > 0.0 && calls.reads > 0.0) {
        Some(calls) => {
            let per_month = MONTH_DAYS * 86_400.0 / calls.seconds;
            (Figure::counted(calls.reads * per_month), Figure::counted(calls.writes * per_month))
        }
        None => {
            let reads = assumed::READS * page_views;
            (Figure::assumed(reads), Figure::assumed(reads / assumed::READS_PER_WRITE))
        }
    }
}

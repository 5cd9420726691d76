//! Cached values in strata: one per form and size band, with a few values that stand for each.

use std::collections::BTreeMap;

use anyhow::Result;

use super::assumed;
use super::folder::Draft;
use super::hits::MONTH_DAYS;
use super::store::{Calls, Stored};
use super::strata::{BANDS, band};
use super::values::coding::Coding;
use super::values::form::{Form, Inside};
use super::values::{Value, setting};
use weigh_content::strata::Drawn;
use weigh_model::site::{Figure, From, Kind, Sample, Stratum, Today};
use weigh_model::units;

/// Values that are kept of one stratum.
const MOST_OF_ONE: usize = 4;
/// The most values in all.
const MOST: usize = 24;
/// The most forms that are named of what is done today, and the least share of the bytes that one of them has.
const NAMED: (usize, f64) = (4, 0.01);
/// Lengths of stored values that tell the level of their codec.
const TELLING: std::ops::Range<usize> = 1_000..50_000;
/// The method of values that no study has.
const UNKNOWN: &str = "unknown";

/// Values of one form and one size band.
#[derive(Debug, Default)]
struct Layer {
    keys: f64,
    bytes: f64,
    stored: f64,
    /// Contents of some of them, drawn by a digest of their key.
    drawn: Drawn<Vec<u8>, MOST_OF_ONE>,
}

/// Values of one form that one codec wrote.
#[derive(Debug, Default)]
struct Written {
    /// Bytes without the codec.
    bytes: f64,
    /// One of them, as it is stored, with its flags.
    example: Option<(Vec<u8>, Option<u32>)>,
}

#[derive(Debug, Default)]
pub struct Cached {
    layers: BTreeMap<(String, usize), Layer>,
    written: BTreeMap<(Form, Option<Coding>), Written>,
    /// How many were looked at.
    pub seen: u64,
}

impl Cached {
    /// Adds the stored bytes of a value that stands for this many. `flags` are those of Memcached.
    pub fn add(&mut self, key: &str, stored: Vec<u8>, flags: Option<u32>, weight: f64) {
        self.seen += 1;
        let value = Value::read(&stored, flags);
        self.count(&value.inside, value.coding, weight, value.stored as f64);
        let written = self.written.entry((value.inside.form, value.coding)).or_default();
        // One of a middle length tells the level of its codec best.
        let tells = |stored: &[u8]| TELLING.contains(&stored.len());
        let is_better = written.example.as_ref().is_none_or(|(other, _)| !tells(other) && tells(&stored));
        if value.coding.is_some() && is_better {
            written.example = Some((stored, flags));
        }
        let layer = self.layers.entry(stratum(&value.inside)).or_default();
        if let Some(content) = value.inside.content {
            layer.drawn.consider(key, content);
        }
    }

    /// Adds values that were not read, of this mean length in the store.
    pub fn add_unread(&mut self, keys: f64, mean: f64) {
        let inside = Inside { form: Form::Unread, content: None, bytes: mean.round() as u64 };
        self.count(&inside, None, keys, mean);
    }

    fn count(&mut self, inside: &Inside, coding: Option<Coding>, weight: f64, stored: f64) {
        self.written.entry((inside.form, coding)).or_default().bytes += weight * inside.bytes as f64;
        let layer = self.layers.entry(stratum(inside)).or_default();
        layer.keys += weight;
        layer.bytes += weight * inside.bytes as f64;
        layer.stored += weight * stored;
    }

    /// What the site does today: the forms and codecs of most bytes, counted without the codec, so that those of which it saves most
    /// are not the least. The method is that of the most; it is known where studies have its serializer and its codec.
    pub fn today(&self) -> Option<Today> {
        let all: f64 = self.written.values().map(|written| written.bytes).sum();
        let mut forms: Vec<_> = self.written.iter().collect();
        forms.sort_by(|a, b| b.1.bytes.total_cmp(&a.1.bytes));
        let ((form, coding), most) = forms.first()?;
        let codec = most.example.as_ref().and_then(|(stored, flags)| setting(stored, *flags));
        let method = match (form.serializer(), coding, &codec) {
            (Some(serializer), None, _) => serializer.to_owned(),
            (Some(serializer), Some(_), Some(codec)) => format!("{serializer}+{codec}"),
            _ => UNKNOWN.to_owned(),
        };
        let share = |written: &Written| written.bytes / all.max(f64::EPSILON);
        let named = forms.iter().take(NAMED.0).filter(|(_, written)| share(written) >= NAMED.1);
        let part = |(at, ((form, coding), written)): (usize, &(&(Form, Option<Coding>), &Written))| {
            (about(*form, *coding, codec.as_deref().filter(|_| at == 0)), share(written))
        };
        let parts: Vec<_> = named.enumerate().map(part).collect();
        let of_bytes =
            |(about, share): &(String, f64)| format!("{about}: {} of the bytes", units::percent(*share));
        let about = match &parts[..] {
            [(about, _)] => about.clone(),
            _ => parts.iter().map(of_bytes).collect::<Vec<_>>().join("; "),
        };
        Some(Today { kind: Kind::Value, method, about, from: From::Measured })
    }

    /// The strata, with the values that stand for them written to the draft. Reads are as frequent for each key as for another.
    ///
    /// # Errors
    /// A value cannot be written.
    pub fn strata(self, stored: Option<&Stored>, page_views: f64, draft: &mut Draft) -> Result<Vec<Stratum>> {
        let (reads, writes) = rates(stored, page_views);
        let keys: f64 = self.layers.values().map(|layer| layer.keys).sum();
        let stored_bytes: f64 = self.layers.values().map(|layer| layer.stored).sum();
        let known = self.layers.values().filter(|layer| !layer.drawn.is_empty()).count();
        let each = (MOST / known.max(1)).clamp(1, MOST_OF_ONE);
        let mut left = MOST;
        let mut layers: Vec<_> = self.layers.into_iter().collect();
        // Where there are more strata than places, those with more of the keys and bytes have one.
        let weight = |layer: &Layer| layer.keys / keys + layer.stored / stored_bytes.max(1.0);
        layers.sort_by(|a, b| weight(&b.1).total_cmp(&weight(&a.1)).then(a.0.cmp(&b.0)));
        let mut strata = Vec::new();
        for ((format, at), layer) in layers {
            let share = layer.keys / keys;
            let of = |all: Figure| Figure { value: (all.value * share).round(), from: all.from };
            let sample = sample(&format, &layer, each.min(left), draft)?;
            left -= sample.len();
            strata.push(Stratum {
                kind: Kind::Value,
                format,
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

/// The format and size band of a value. Those that cannot be measured have a format of their own.
fn stratum(inside: &Inside) -> (String, usize) {
    let is_foreign = inside.content.is_none() && inside.form.serializer().is_some();
    let format =
        if is_foreign { format!("{} with objects", inside.form.word()) } else { inside.form.word().into() };
    (format, band(inside.bytes))
}

/// `igbinary, LZ4 by phpredis`.
fn about(form: Form, coding: Option<Coding>, setting: Option<&str>) -> String {
    let coding =
        coding.map(|coding| coding.about(setting)).or(form.is_plain().then(|| "uncompressed".to_owned()));
    coding.map_or(form.about().to_owned(), |coding| format!("{}, {coding}", form.about()))
}

fn sample(format: &str, layer: &Layer, most: usize, draft: &mut Draft) -> Result<Vec<Sample>> {
    let mut chosen: Vec<&Vec<u8>> = layer.drawn.units().take(most).collect();
    chosen.sort_by_key(|content| content.len());
    let share = 1.0 / chosen.len().max(1) as f64;
    // Keys may name people: files are named by their form.
    chosen.into_iter().map(|content| draft.add("values", format, content, share)).collect()
}

/// Seconds that a store has counted at least for what it says to stand for a month.
const LEAST_SECONDS: f64 = 3600.0;

/// Reads and writes per month.
fn rates(stored: Option<&Stored>, page_views: f64) -> (Figure, Figure) {
    let is_told = |calls: &Calls| calls.seconds >= LEAST_SECONDS && calls.reads > 0.0;
    match stored.and_then(|stored| stored.calls).filter(is_told) {
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

#[cfg(test)]
mod tests {
    use super::super::folder::SiteFile;
    use super::*;

    /// A text by `serialize()`.
    fn text(length: usize, at: usize) -> Vec<u8> {
        format!("s:{length}:\"{:0>length$}\";", at).into_bytes()
    }

    /// FastLZ as php-memcached frames it, of literals alone.
    fn fastlz(content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_le_bytes().to_vec();
        let literals = content.chunks(32).flat_map(|part| [&[part.len() as u8 - 1], part].concat());
        length.into_iter().chain(literals).collect()
    }

    #[test]
    fn what_a_store_counted_in_a_moment_stands_for_no_month() {
        let after = |seconds: f64| {
            let calls = Calls { reads: 7200.0, writes: 3600.0, seconds };
            rates(Some(&Stored { calls: Some(calls), ..Stored::default() }), 10.0)
        };
        let (reads, writes) = after(2.0);
        assert_eq!(
            (reads.from, reads.value, writes.from),
            (From::Assumed, 10.0 * assumed::READS, From::Assumed)
        );
        let (reads, writes) = after(7200.0);
        assert_eq!((reads.from, reads.value), (From::Counted, MONTH_DAYS * 86_400.0));
        assert_eq!(writes.value * 2.0, reads.value);
    }

    fn strata(cached: Cached) -> Vec<Stratum> {
        let home = tempfile::tempdir().unwrap();
        let place = SiteFile { file: home.path().join("site.toml"), force: false };
        cached.strata(None, 100.0, &mut place.begin().unwrap()).unwrap()
    }

    #[test]
    fn today_is_what_most_bytes_are_and_every_form_is_named_with_its_share() {
        let mut cached = Cached::default();
        (0..300).for_each(|at| cached.add(&format!("small{at}"), text(800, at), None, 1.0));
        let plain = cached.today().unwrap();
        assert_eq!((plain.method.as_str(), plain.about.as_str()), ("serialize", "serialize, uncompressed"));
        (0..60)
            .for_each(|at| cached.add(&format!("large{at}"), fastlz(&text(14_000, at)), Some(0x50 | 4), 1.0));
        let today = cached.today().unwrap();
        assert_eq!(today.method, UNKNOWN, "no study has FastLZ");
        let (most, rest) = today.about.split_once("; ").unwrap();
        assert_eq!(most, "serialize, FastLZ by php-memcached: 77.6% of the bytes");
        assert_eq!(rest, "serialize, uncompressed: 22.4% of the bytes");
        let all = strata(cached);
        assert_eq!(
            all.iter().map(|one| (one.files.value, one.sample.len())).collect::<Vec<_>>(),
            [(300.0, 4), (60.0, 4)]
        );
        assert!(all.iter().all(|one| one.format == "serialize"));
    }

    #[test]
    fn values_that_cannot_be_measured_keep_their_keys_and_bytes() {
        let mut cached = Cached::default();
        cached.add("plain", text(2000, 1), None, 2.0);
        cached.add("objects", b"O:8:\"App\\Post\":0:{}".to_vec(), None, 3.0);
        cached.add("unknown", (0..3000u32).map(|n| (n % 7) as u8 | 0x80).collect(), None, 5.0);
        cached.add_unread(7.0, 9e6);
        let all = strata(cached);
        let told: Vec<_> =
            all.iter().map(|one| (one.format.as_str(), one.files.value, one.sample.len())).collect();
        assert_eq!(
            told,
            [
                ("form not known", 5.0, 0),
                ("not read", 7.0, 0),
                ("serialize", 2.0, 1),
                ("serialize with objects", 3.0, 0)
            ]
        );
        let stored: Vec<_> = all.iter().map(|one| one.sent_bytes.unwrap().value).collect();
        assert_eq!(stored, [15_000.0, 63e6, 2.0 * 2010.0, 3.0 * 19.0]);
        assert_eq!(all.iter().map(|one| one.requests.value).sum::<f64>(), (assumed::READS * 100.0).round());
    }
}

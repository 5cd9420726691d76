//! What to encode with: one setting for all similar contents, by total time at the usual link and the usual mix of
//! reads and writes of the study. It is the setting whose total is closest to the best on the content where it is
//! furthest from it.

use weigh_model::setting::Setting;
use weigh_model::units;
use weigh_stats::{CONFIDENCE, Choice, Chosen, ROUNDS, drawn_figures, regret_bound, regret_by_figures};

use crate::advice::{Advice, Part, Recommended, Sentence};
use crate::estimate::QUANTILE;
use crate::exhibit::links::{Line, Mix};
use crate::finding::codec::{by_runtime, item_bytes, lines, speeds, stored, usual_mbit, usual_mix};
use crate::finding::{Evidence, label};
use crate::first::distinct;
use crate::group::Group;
use crate::row::Row;
use crate::subject::codec::IDENTITY;
use crate::text::shorten;
use crate::verdict::ratio_of_totals;

/// A setting that is behind the best by more than this at a link speed is not recommended there.
const FAR_BEHIND: f64 = 1.1;
/// The most settings without a significant difference that are named.
const NAMED: usize = 3;

/// A setting with its serializer, common to all contents.
type Key<'a> = (Option<&'a str>, &'a Setting);

/// One content, and the costs of its settings.
struct Content<'a> {
    group: &'a Group,
    lines: Vec<Line<'a>>,
    /// The factor of each line's true cost in each drawing.
    drawn: Vec<Vec<f64>>,
}

/// The inputs of the recommendation.
struct Case<'a, 'e> {
    evidence: &'e Evidence<'a>,
    contents: Vec<Content<'a>>,
    mix: Mix,
    /// The usual link speed.
    mbit: f64,
}

/// The recommendation; none if a study computes no totals, or if nothing competes.
pub fn advise(evidence: &Evidence) -> Option<Advice> {
    let case = Case::of(evidence, usual_mix(evidence)?)?;
    let is_value =
        |of: &Content| evidence.report.payload(of.group.payload()).is_some_and(|of| of.value.is_some());
    if case.contents.iter().any(is_value) { values(&case) } else { assets(&case) }
}

impl<'a, 'e> Case<'a, 'e> {
    /// The contents of the runtime with the most contents.
    fn of(evidence: &'e Evidence<'a>, mix: Mix) -> Option<Case<'a, 'e>> {
        let groups = by_runtime(evidence).into_iter().map(|(_, groups)| groups).rev().max_by_key(Vec::len)?;
        let content = |group: &'a Group| {
            let mut lines = lines(evidence, group, mix);
            lines.retain(|line| line.candidate);
            Content { group, lines, drawn: Vec::new() }
        };
        let mut contents: Vec<Content> = groups.into_iter().map(content).collect();
        contents.retain(|content| content.lines.len() > 1);
        draw(&mut contents, evidence.plan.seed);
        let mbit = usual_mbit(evidence).filter(|_| !contents.is_empty())?;
        Some(Case { evidence, contents, mix, mbit })
    }

    /// Every setting, in the plan's order.
    fn keys(&self) -> Vec<Key<'a>> {
        distinct(self.contents.iter().flat_map(|content| content.lines.iter().map(key)))
    }

    /// The settings of one content coding.
    fn of_coding(&self, coding: &str) -> Vec<Key<'a>> {
        self.keys().into_iter().filter(|(_, setting)| coding_of(setting) == Some(coding)).collect()
    }

    /// The best of these settings at these speeds: among those measured on the most contents, the one whose largest
    /// distance from the best is smallest.
    fn pick(&self, keys: &[Key<'a>], speeds: &[f64]) -> Option<Key<'a>> {
        let measured = |key: &Key| self.contents.iter().filter(|content| content.line(key).is_some()).count();
        let most = keys.iter().map(measured).max()?;
        let worst = |key: &Key| self.behind(key, keys, speeds);
        let widest = keys.iter().filter(|key| measured(key) == most);
        widest.min_by(|a, b| worst(a).total_cmp(&worst(b))).copied()
    }

    /// The total of a setting ÷ the best total of `keys`, on the content and at the speed where this is largest.
    fn behind(&self, key: &Key, keys: &[Key], speeds: &[f64]) -> f64 {
        let of = |content: &Content, mbit: f64| {
            let own = content.line(key)?.total(mbit);
            let all = keys.iter().filter_map(|key| Some(content.line(key)?.total(mbit)));
            Some(own / all.fold(f64::INFINITY, f64::min))
        };
        let each = speeds.iter().flat_map(|mbit| self.contents.iter().filter_map(|c| of(c, *mbit)));
        each.fold(1.0, f64::max)
    }

    /// The rows of a setting, by content.
    fn rows(&self, key: &Key) -> Vec<&'a Row> {
        self.contents.iter().filter_map(|content| Some(content.line(key)?.row)).collect()
    }

    fn recommended(&self, key: &Key, scope: impl Into<String>) -> Recommended {
        Recommended { scope: scope.into(), name: label::cell(key.0, key.1), cells: ids(&self.rows(key)) }
    }

    /// The median content by size among those with the setting, and the setting's line there.
    fn middle(&self, key: &Key) -> Option<(&Content<'a>, &Line<'a>)> {
        let mut all: Vec<_> = self.contents.iter().filter_map(|c| Some((c, c.line(key)?))).collect();
        all.sort_by_key(|(content, _)| item_bytes(self.evidence, content.group));
        all.get(all.len() / 2).copied()
    }

    /// `1 Gbit/s, 10 reads per write`.
    fn conditions(&self) -> String {
        let mix = match self.mix {
            Mix::Write => "writes only".to_owned(),
            Mix::Read => "reads only".to_owned(),
            Mix::ReadsPerWrite(reads) => format!("{} reads per write", units::trimmed_number(reads)),
        };
        format!("{}, {mix}", units::mbit(self.mbit))
    }

    /// The largest distance of a setting from the best at the usual link.
    fn limit(&self, key: &Key) -> Sentence {
        let contents: Vec<&Content> = self.contents.iter().filter(|c| c.line(key).is_some()).collect();
        let (within, sure) = self.regret(key, &contents);
        let where_ = match contents.as_slice() {
            [one] => name(self.evidence, one.group),
            all => {
                let sizes: Vec<f64> = all.iter().map(|c| item_bytes(self.evidence, c.group) as f64).collect();
                format!("{} contents, {}", all.len(), label::range(&sizes, |b| units::bytes(b as u64)))
            }
        };
        let text =
            format!("Within {within} of the fastest on {where_} ({sure}; modelled: {}).", self.conditions());
        Sentence::new(Part::Limit, text, ids(&self.rows(key)))
    }

    /// `8%` and `95% confidence`; the figures alone if there are too few rounds for confidence.
    fn regret(&self, key: &Key, contents: &[&Content]) -> (String, String) {
        let chosen: Vec<Chosen> =
            contents.iter().filter_map(|content| content.chosen(key, self.mbit)).collect();
        let rounds = self.rows(key).into_iter().map(|row| self.rounds(row)).min().unwrap_or(0);
        // Rounded up, never down.
        let percent = |share: f64| units::percent((share * 100.0 - 1e-9).ceil().max(1.0) / 100.0);
        match regret_bound(&chosen).filter(|_| rounds >= ROUNDS) {
            Some(bound) => (percent(bound), format!("{} confidence", units::percent(CONFIDENCE))),
            None => (
                percent(regret_by_figures(&chosen)),
                format!("{} only", units::count(rounds, "round", "rounds")),
            ),
        }
    }

    fn rounds(&self, row: &Row) -> usize {
        let lines = self.contents.iter().flat_map(|content| &content.lines);
        let own = lines.filter(|line| line.row.id() == row.id());
        own.map(|line| line.cost.drawn_rounds().len()).next().unwrap_or(0)
    }
}

impl<'a> Content<'a> {
    fn line(&self, of: &Key) -> Option<&Line<'a>> {
        self.lines.iter().find(|line| key(line) == *of)
    }

    /// A setting among the choices at a link speed; none if it was not measured.
    fn chosen(&self, of: &Key, mbit: f64) -> Option<Chosen<'_>> {
        let made = vec![self.lines.iter().position(|line| key(line) == *of)?];
        let choices = self.lines.iter().zip(&self.drawn).map(|(line, drawn)| Choice {
            figure: line.cost.value,
            drawn,
            known: vec![line.transfer(mbit)],
        });
        Some(Chosen { all: choices.collect(), made })
    }

    fn reference(&self) -> Option<&Line<'a>> {
        self.lines.iter().find(|line| self.group.reference() == Some(line.row.id()))
    }
}

/// Draws possible true costs of all contents together, because they share their rounds.
fn draw(contents: &mut [Content], seed: u64) {
    let lines = contents.iter().flat_map(|content| &content.lines);
    let rounds: Vec<Vec<(u32, f64)>> = lines.map(|line| line.cost.drawn_rounds().to_vec()).collect();
    let mut drawn = drawn_figures(&rounds, QUANTILE, seed).into_iter();
    for content in contents {
        content.drawn = drawn.by_ref().take(content.lines.len()).collect();
    }
}

fn key<'a>(line: &Line<'a>) -> Key<'a> {
    (line.row.cell.serializer.as_deref(), &line.row.cell.setting)
}

/// A content's name, short enough for a sentence.
fn name(evidence: &Evidence, group: &Group) -> String {
    shorten(&label::content(evidence, group.payload()), 40)
}

fn ids(rows: &[&Row]) -> Vec<String> {
    rows.iter().map(|row| row.cell.id.clone()).collect()
}

/// Cached values: one setting.
fn values(case: &Case) -> Option<Advice> {
    let keys = case.keys();
    let best = case.pick(&keys, &[case.mbit])?;
    let rows = case.rows(&best);
    let text = match (best.0, best.1.codec == IDENTITY) {
        (_, false) => format!("Use {} for cached values.", label::cell(best.0, best.1)),
        (Some(serializer), true) => format!("Use {serializer} for cached values, and no compression."),
        (None, true) => "Leave cached values uncompressed.".to_owned(),
    };
    let mut sentences = vec![Sentence::new(Part::Use, text, ids(&rows))];
    sentences.extend(needs(&best).map(|text| Sentence::new(Part::Needs, text, [])));
    sentences.extend(gain(case, &best));
    sentences.extend(change(case, &best, &keys));
    sentences.push(case.limit(&best));
    sentences.extend(ties(case, &best));
    Some(Advice::new(vec![case.recommended(&best, "")], sentences))
}

/// What PHP needs for a setting: `It needs ext-igbinary, and ext-zstd or FFI.`
fn needs(key: &Key) -> Option<String> {
    let serializer = match key.0 {
        Some("igbinary") => Some("ext-igbinary"),
        Some("msgpack") => Some("ext-msgpack"),
        _ => None,
    };
    let all: Vec<&str> = serializer.into_iter().chain(extension(&key.1.codec)).collect();
    (!all.is_empty()).then(|| format!("It needs {}.", all.join(", and ")))
}

/// The extension that PHP needs for a codec.
pub(crate) fn extension(codec: &str) -> Option<&'static str> {
    match codec {
        "zstd" => Some("ext-zstd or FFI"),
        "brotli" => Some("ext-brotli or FFI"),
        "lz4" | "lz4hc" => Some("ext-lz4 or FFI"),
        "snappy" => Some("ext-snappy or FFI"),
        "libdeflate" => Some("FFI"),
        "bzip2" => Some("ext-bz2"),
        "xz" => Some("ext-xz or FFI"),
        _ => None,
    }
}

/// Compared with current practice, on the median content by size.
fn gain(case: &Case, best: &Key) -> Option<Sentence> {
    let (content, line) = case.middle(best)?;
    let usual = content.reference().filter(|usual| usual.row.id() != line.row.id())?;
    let total = |line: &Line| line.transfer(case.mbit);
    let ratio = ratio_of_totals((&line.cost, total(line)), (&usual.cost, total(usual)))?;
    let text = format!(
        "Compared with {} ({}): {}, {}.",
        label::of_cell(&usual.row.cell),
        name(case.evidence, content.group),
        label::change(&ratio, "time"),
        size_beside(line.row, usual.row),
    );
    Some(Sentence::new(Part::Gain, text, [line.row.cell.id.clone(), usual.row.cell.id.clone()]))
}

fn size_beside(ours: &Row, theirs: &Row) -> String {
    label::bytes_beside(stored(ours), stored(theirs))
}

/// The links on which something else is better: the speeds, below and above the usual one, at which a setting is far
/// behind the best.
fn change<'a>(case: &Case<'a, '_>, best: &Key<'a>, keys: &[Key<'a>]) -> Option<Sentence> {
    let speeds = speeds(case.evidence);
    let is_far = |mbit: &&f64| case.behind(best, keys, &[**mbit]) > FAR_BEHIND;
    let slow: Vec<f64> =
        speeds.iter().filter(|mbit| **mbit < case.mbit).take_while(is_far).copied().collect();
    let fast: Vec<f64> =
        speeds.iter().rev().filter(|mbit| **mbit > case.mbit).take_while(is_far).copied().collect();
    let mut cells = Vec::new();
    let mut part = |speeds: &[f64], word: &str| {
        let mbit = units::mbit(*speeds.last()?);
        let other = case.pick(keys, speeds).filter(|other| other != best)?;
        cells.extend(ids(&case.rows(&other)));
        Some(format!("{} {word} {mbit}", label::cell(other.0, other.1)))
    };
    let parts: Vec<String> =
        [part(&slow, "on links up to"), part(&fast, "from")].into_iter().flatten().collect();
    (!parts.is_empty())
        .then(|| Sentence::new(Part::Change, format!("Better elsewhere: {}.", parts.join("; ")), cells))
}

/// Settings without a significant difference to the best on any content.
fn ties(case: &Case, best: &Key) -> Option<Sentence> {
    let is_tie = |other: &Key| {
        let both = case.contents.iter().filter_map(|c| Some((c.line(best)?, c.line(other)?)));
        let mut both = both.peekable();
        both.peek().is_some() && both.all(|(a, b)| !a.clearly_below(b, case.mbit))
    };
    let ties: Vec<Key> = case.keys().into_iter().filter(|key| key != best && is_tie(key)).collect();
    let cells = ties.iter().flat_map(|key| ids(&case.rows(key))).collect::<Vec<_>>();
    let names: Vec<String> = ties.iter().take(NAMED).map(|(s, setting)| label::cell(*s, setting)).collect();
    let text = match ties.len() - names.len() {
        _ if names.is_empty() => return None,
        0 => format!("No significant difference: {}.", units::list(&names)),
        more => format!("No significant difference: {} and {more} more.", names.join(", ")),
    };
    Some(Sentence::new(Part::Limit, text, cells))
}

/// The content coding that a native codec writes.
fn coding_of(setting: &Setting) -> Option<&'static str> {
    if setting.options.contains_key("dict") {
        return None;
    }
    match setting.codec.as_str() {
        "brotli" => Some("br"),
        "zstd" => Some("zstd"),
        "zlib" | "zlib-ng" | "zlib-rs" | "libdeflate" | "isal" | "zopfli" => Some("gzip"),
        _ => None,
    }
}

/// Files that are encoded once and sent many times: one setting for each content coding.
fn assets(case: &Case) -> Option<Advice> {
    let of_coding = |coding| Some((coding, case.pick(&case.of_coding(coding), &[case.mbit])?));
    let chosen: Vec<(&str, Key)> = ["br", "gzip", "zstd"].into_iter().filter_map(of_coding).collect();
    let (_, first) = chosen.first()?;
    let name = |(coding, (_, setting)): &(&str, Key)| format!("{} ({coding})", label::setting(setting));
    let rows: Vec<&Row> = chosen.iter().flat_map(|(_, key)| case.rows(key)).collect();
    let names: Vec<String> = chosen.iter().map(name).collect();
    let text = format!("Precompress text assets with {}.", units::list(&names));
    let mut sentences = vec![Sentence::new(Part::Use, text, ids(&rows))];
    sentences.extend(fewer_bytes(case, &chosen));
    sentences.extend(on_the_fly(case));
    sentences.push(case.limit(first));
    let recommended =
        chosen.iter().map(|(coding, key)| case.recommended(key, format!("clients that take {coding}")));
    Some(Advice::new(recommended.collect(), sentences))
}

/// The bytes of precompression compared with current practice on the fly.
fn fewer_bytes(case: &Case, chosen: &[(&str, Key)]) -> Option<Sentence> {
    let (content, first) = case.middle(&chosen.first()?.1)?;
    let usual = content.reference()?;
    let mut cells = vec![usual.row.cell.id.clone(), first.row.cell.id.clone()];
    let of = |(coding, key): &(&str, Key)| {
        let row = content.line(key)?.row;
        cells.push(row.cell.id.clone());
        Some(format!("{} with {coding}", size_beside(row, usual.row)))
    };
    let parts: Vec<String> = chosen.iter().filter_map(of).collect();
    let text = format!(
        "Compared with {} ({}): {}.",
        label::setting(&usual.row.cell.setting),
        name(case.evidence, content.group),
        parts.join(", "),
    );
    Some(Sentence::new(Part::Gain, text, cells))
}

/// The choice if each response were encoded on the fly.
fn on_the_fly(case: &Case) -> Option<Sentence> {
    let each = Case::of(case.evidence, Mix::ReadsPerWrite(1.0))?;
    let of_coding = |coding| Some((coding, each.pick(&each.of_coding(coding), &[each.mbit])?));
    let chosen: Vec<(&str, Key)> = ["br", "gzip", "zstd"].into_iter().filter_map(of_coding).collect();
    let names: Vec<String> = chosen.iter().map(|(_, (_, setting))| label::setting(setting)).collect();
    let rows: Vec<&Row> = chosen.iter().flat_map(|(_, key)| each.rows(key)).collect();
    let text = format!("To compress each response on the fly, use {}.", units::list(&names));
    (!names.is_empty()).then(|| Sentence::new(Part::Change, text, ids(&rows)))
}

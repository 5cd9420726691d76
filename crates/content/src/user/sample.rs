//! A sample of many files that says how exact its totals are: strata of type and size, a pilot encoded by a fast codec, and as many files
//! of each stratum as the error asked for needs. Memory does not grow with the number of files. docs/dev/SIMULATIONS.md has the method.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use anyhow::{Context, Result};
use weigh_codec::{Coder, Params, codecs};
use weigh_stats::{Stratum, allocation, relative_half_width};

use super::pieces::{Piece, every};
use super::walk::Found;
use super::{Note, read};
use crate::kind;
use crate::strata::{Drawn, band};
use weigh_model::units;

/// Files above are cut into blocks of [`BLOCK`], each a unit of the sample.
const WHOLE: u64 = 8 << 20;
/// See [`WHOLE`].
const BLOCK: u64 = 1 << 20;
/// The longest item where all files are taken: a worker holds a part in memory.
const LARGEST: u64 = 64 << 20;
/// The most units of one stratum.
const MOST: usize = 4096;
/// Units of each stratum in the pilot.
const PILOT: usize = 24;
/// The least units of a stratum, where it has as many.
const LEAST: u64 = 8;
/// The least bytes of a stratum's sample, where it has as many: a processor learns fewer, and is quicker over them than over all.
const LEAST_BYTES: u64 = 384 << 10;
/// Strata with less than this share of the bytes are joined, by size.
const SMALL: f64 = 0.01;
/// How often the sample may grow after the pilot, as larger samples tell more of how units differ.
const STEPS: u32 = 4;

/// A file, or a block of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub path: PathBuf,
    pub piece: Piece,
}

/// Files that are measured together, and what they stand for.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub units: Vec<Unit>,
    /// Units and bytes of the stratum that these are a sample of; none: they stand for themselves.
    pub stands_for: Option<(u64, u64)>,
}

impl Group {
    /// Files with their pieces, which stand for themselves.
    pub fn of(files: Vec<(Found, Vec<Piece>)>) -> Group {
        let unit = |(file, pieces): (Found, Vec<Piece>)| {
            pieces.into_iter().map(move |piece| Unit { path: file.path.clone(), piece })
        };
        Group { units: files.into_iter().flat_map(unit).collect(), stands_for: None }
    }
}

/// All files; what is larger than [`LARGEST`] in blocks of that size.
pub(super) fn whole(files: &[Found]) -> Group {
    let pieces = |file: &Found| (file.clone(), every(file.bytes, file.bytes.min(LARGEST)));
    Group::of(files.iter().map(pieces).collect())
}

/// Which part of how many files a sample is, and how exact its totals are.
pub(super) fn describe_sample(taken: usize, of: u64, reached: Option<f64>) -> String {
    let exact = match reached {
        Some(share) => format!("encoded total within {} at 95% confidence, by zstd 1", units::percent(share)),
        None => "too few files to tell how exact totals are".into(),
    };
    let of = units::count(usize::try_from(of).unwrap_or(usize::MAX), "file", "files");
    format!("{} of {of} by type and size ({exact})", units::count(taken, "piece", "pieces"))
}

/// The units of a stratum while files are looked at.
#[derive(Clone, Debug, Default)]
struct Layer {
    units: u64,
    bytes: u64,
    drawn: Drawn<Unit, MOST>,
}

/// All files, as far as they have to be remembered.
#[derive(Debug, Default)]
pub(super) struct Frame {
    strata: BTreeMap<(&'static str, usize), Layer>,
    pub files: u64,
    pub bytes: u64,
}

fn pieces(file: &Found) -> Vec<Piece> {
    every(file.bytes, if file.bytes > WHOLE { BLOCK } else { file.bytes })
}

impl Frame {
    /// Takes a file in. `key` is what it is drawn by, the same wherever its folder is.
    pub fn add(&mut self, file: &Found, key: &[u8]) {
        self.files += 1;
        self.bytes += file.bytes;
        let kind = kind::detect_kind(&file.path, &[]);
        for piece in pieces(file) {
            let layer = self.strata.entry((kind, band(piece.bytes))).or_default();
            layer.units += 1;
            layer.bytes += piece.bytes;
            layer.drawn.consider((key, piece.at), Unit { path: file.path.clone(), piece });
        }
    }

    /// The strata, small ones joined by their size.
    fn layers(self) -> Vec<Layer> {
        let mut joined: BTreeMap<(&'static str, usize), Layer> = BTreeMap::new();
        for ((kind, band), layer) in self.strata {
            let is_small = (layer.bytes as f64) < SMALL * self.bytes as f64;
            let into = joined.entry((if is_small { "" } else { kind }, band)).or_default();
            into.units += layer.units;
            into.bytes += layer.bytes;
            into.drawn.merge(layer.drawn);
        }
        joined.into_values().collect()
    }

    /// A sample from which the encoded bytes of all follow to this share of them, of up to `most` bytes: its groups, and the share that was
    /// reached; none: too few files tell. What cannot be read is left out, with a note.
    ///
    /// # Errors
    /// The pilot's codec is not there.
    pub fn sample(self, within: f64, most: u64, notes: &mut Vec<Note>) -> Result<(Vec<Group>, Option<f64>)> {
        let mut probe = Probe::new()?;
        let mut open: Vec<Open> = self.layers().into_iter().map(Open::new).collect();
        open.iter_mut().for_each(|one| one.take(PILOT as u64, &mut probe, notes));
        for _ in 0..STEPS {
            let strata: Vec<Stratum> = open.iter().map(Open::stratum).collect();
            let counts = affordable(&open, &strata, within, most);
            let before: usize = open.iter().map(|one| one.taken.len()).sum();
            open.iter_mut().zip(counts).for_each(|(one, count)| one.take(count, &mut probe, notes));
            let after: usize = open.iter().map(|one| one.taken.len()).sum();
            let strata: Vec<Stratum> = open.iter().map(Open::stratum).collect();
            if after == before || relative_half_width(&strata).is_some_and(|share| share <= within) {
                break;
            }
        }
        let strata: Vec<Stratum> = open.iter().map(Open::stratum).collect();
        let reached = relative_half_width(&strata);
        let mut all = Group::default();
        let mut groups = Vec::new();
        for one in open {
            let is_whole = one.units == one.taken.len() as u64;
            let is_read = !one.taken.is_empty();
            let units = one.taken.into_iter().map(|taken| taken.0);
            if is_whole {
                all.units.extend(units);
            } else if is_read {
                groups.push(Group { units: units.collect(), stands_for: Some((one.units, one.bytes)) });
            }
        }
        groups.extend(Some(all).filter(|all| !all.units.is_empty()));
        Ok((groups, reached))
    }
}

/// How many units of each stratum: as many as the error needs, or a larger error where that is more than `most` bytes.
fn affordable(open: &[Open], strata: &[Stratum], mut within: f64, most: u64) -> Vec<u64> {
    loop {
        let mut counts = allocation(strata, within);
        let least = |one: &Open| LEAST.max((LEAST_BYTES as f64 / one.mean()).ceil() as u64);
        open.iter()
            .zip(&mut counts)
            .for_each(|(one, count)| *count = (*count).max(least(one)).min(one.drawn()));
        let bytes: f64 = open.iter().zip(&counts).map(|(one, count)| *count as f64 * one.mean()).sum();
        let is_least =
            open.iter().zip(&counts).all(|(one, count)| *count <= least(one).max(one.taken.len() as u64));
        if bytes <= most as f64 || is_least {
            return counts;
        }
        within *= 1.2;
    }
}

/// A stratum while its sample grows.
struct Open {
    units: u64,
    bytes: u64,
    /// Units that were read, each with its encoded bytes.
    taken: Vec<(Unit, u64)>,
    /// Those that follow in the draw.
    rest: VecDeque<Unit>,
}

impl Open {
    fn new(layer: Layer) -> Open {
        let rest = layer.drawn.into_units().collect();
        Open { units: layer.units, bytes: layer.bytes, taken: Vec::new(), rest }
    }

    fn mean(&self) -> f64 {
        self.bytes as f64 / self.units as f64
    }

    fn drawn(&self) -> u64 {
        (self.taken.len() + self.rest.len()) as u64
    }

    /// Encodes further units until `count` are taken.
    fn take(&mut self, count: u64, probe: &mut Probe, notes: &mut Vec<Note>) {
        while (self.taken.len() as u64) < count {
            let Some(unit) = self.rest.pop_front() else { return };
            match probe.encoded(&unit) {
                Ok(bytes) => self.taken.push((unit, bytes)),
                Err(why) => {
                    // One that cannot be read stands for nothing, and nothing for it.
                    self.units -= 1;
                    self.bytes -= unit.piece.bytes;
                    notes.push(Note::Unreadable { path: unit.path, why });
                }
            }
        }
    }

    fn stratum(&self) -> Stratum {
        let sample = self.taken.iter().map(|(unit, encoded)| (unit.piece.bytes as f64, *encoded as f64));
        Stratum { units: self.units, total: self.bytes as f64, sample: sample.collect() }
    }
}

/// The pilot's codec: zstd at its quickest usual level, whose ratios differ from file to file as those of others do.
struct Probe {
    coder: Box<dyn Coder>,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Probe {
    fn new() -> Result<Probe> {
        let codec = codecs::find("zstd").context("this program has no zstd, which a pilot needs")?;
        let coder = codec.coder(&Params { level: Some(1), ..Params::default() })?;
        Ok(Probe { coder, input: Vec::new(), output: Vec::new() })
    }

    fn encoded(&mut self, unit: &Unit) -> std::result::Result<u64, String> {
        read(&unit.path, &unit.piece, &mut self.input)?;
        self.coder.encode(&self.input, &mut self.output).map_err(|error| error.to_string())?;
        Ok(self.output.len() as u64)
    }
}

/// Deals units to groups that are alike, each of up to `items` units and about `bytes` bytes, by type and size.
pub(super) fn deal(mut group: Group, items: usize, bytes: u64) -> Vec<Group> {
    let total: u64 = group.units.iter().map(|unit| unit.piece.bytes).sum();
    let count = group.units.len().div_ceil(items).max(usize::try_from(total.div_ceil(bytes)).unwrap_or(1));
    let count = count.clamp(1, group.units.len().max(1));
    if group.stands_for.is_none() {
        group.units.sort_by_cached_key(|unit| {
            (kind::detect_kind(&unit.path, &[]), unit.piece.bytes, unit.path.clone(), unit.piece.at)
        });
    }
    let mut dealt: Vec<Group> = (0..count).map(|_| Group::default()).collect();
    // There and back again, so that none has the larger one of each turn.
    for (number, unit) in group.units.into_iter().enumerate() {
        let (turn, place) = (number / count, number % count);
        dealt[if turn % 2 == 0 { place } else { count - 1 - place }].units.push(unit);
    }
    if let Some((units, bytes)) = group.stands_for {
        share_out(&mut dealt, units, bytes, total);
    }
    for one in &mut dealt {
        one.units.sort_by(|a, b| (&a.path, a.piece.at).cmp(&(&b.path, b.piece.at)));
    }
    dealt
}

/// What groups stand for, by their bytes of `total`; it adds up.
fn share_out(dealt: &mut [Group], units: u64, bytes: u64, total: u64) {
    let (mut own, mut before) = (0u128, (0, 0));
    for one in dealt {
        own += u128::from(one.units.iter().map(|unit| unit.piece.bytes).sum::<u64>());
        let upto = |all: u64| (u128::from(all) * own / u128::from(total.max(1))) as u64;
        let after = (upto(units), upto(bytes));
        one.stands_for = Some((after.0 - before.0, after.1 - before.1));
        before = after;
    }
}

#[cfg(test)]
mod tests;

//! One visit to one cell: everything once untimed and verified, then the samples.

use std::collections::BTreeMap;
use std::fs;
use std::rc::Rc;

use weigh_codec::{Codec, Params};

use super::Agent;
use super::blob::split;
use super::coders::{Pair, pack};
use super::fault::{fault, find_codec, from_codec};
use super::sample::{self, Baseline, Clock, Span, SystemClock};
use weigh_model::protocol::{Fault, FaultKind, Phase, Samples, Visit, VisitRequest};
use weigh_os::digest::sha256;

pub fn visit(agent: &mut Agent, request: &VisitRequest) -> Result<Visit, Fault> {
    let codec = find_codec(&request.codec)?;
    let params = Params { level: request.level, options: request.options.clone(), dictionary: None };
    refuse_what_is_not_ours(request, &*codec, &params)?;
    let blob = agent.blobs.get(&request.blob, &request.sha256, length(request)?)?;
    let items = split(&blob, &request.items).map_err(|e| fault(FaultKind::Payload, e))?;
    let folds = match params.word("dict") {
        Some("trained") => Some(agent.dictionaries.get(&*codec, &request.sha256, &items)?),
        _ => None,
    };
    let (key, pair) = agent.hands.take(&*codec, &params, folds.clone(), request.memory)?;
    let clock = SystemClock::new();
    let mut bench = Bench::new(&clock, &*codec, request, items, pair);
    let mut visit = Visit { format: codec.format(&params).name().into(), ..bench.run()? };
    bench.dump(folds.as_ref(), &mut visit)?;
    agent.hands.put((key, bench.pair));
    Ok(visit)
}

/// Parameters the codec does not take, and what only a PHP runtime can do.
fn refuse_what_is_not_ours(request: &VisitRequest, codec: &dyn Codec, params: &Params) -> Result<(), Fault> {
    let refuse = |message: String| Err(fault(FaultKind::Parameter, message));
    params.check(codec.info()).map_err(|e| from_codec(&e.into(), codec))?;
    if let Some(serializer) = &request.serializer {
        return refuse(format!("the native runtime has no serializer `{serializer}`: it encodes bytes"));
    }
    if let Some(phase) = request.phases.iter().find(|p| !matches!(p, Phase::Encode | Phase::Decode)) {
        return refuse(format!("the native runtime has no phase {phase:?}: it encodes and decodes bytes"));
    }
    if request.samples == 0 {
        return refuse("at least 1 sample is needed".into());
    }
    if request.items.is_empty() {
        return Err(fault(FaultKind::Payload, "the payload has no items"));
    }
    Ok(())
}

fn length(request: &VisitRequest) -> Result<u64, Fault> {
    let sum = request.items.iter().try_fold(0u64, |sum, item| sum.checked_add(*item));
    sum.ok_or_else(|| fault(FaultKind::Payload, "the lengths of the items add up to too much"))
}

/// The items of a visit with the coders at work on them.
pub struct Bench<'a, C> {
    clock: &'a C,
    codec: &'a dyn Codec,
    request: &'a VisitRequest,
    items: Vec<&'a [u8]>,
    pair: Pair,
    /// The encoded items, one after the other.
    packed: Vec<u8>,
    lengths: Vec<u64>,
    /// Where the encoders write, kept so that its pages are there when samples are taken.
    encoded: Vec<u8>,
    /// Where the decoders write, likewise.
    decoded: Vec<u8>,
}

impl<'a, C: Clock> Bench<'a, C> {
    /// Items in the hands of coders, on a clock.
    pub fn new(
        clock: &'a C,
        codec: &'a dyn Codec,
        request: &'a VisitRequest,
        items: Vec<&'a [u8]>,
        pair: Pair,
    ) -> Bench<'a, C> {
        let (packed, lengths, encoded, decoded) = Default::default();
        Bench { clock, codec, request, items, pair, packed, lengths, encoded, decoded }
    }

    /// Everything once, verified; then the samples of each phase, and of a family those of its first instance again and again.
    ///
    /// # Errors
    /// [`FaultKind::Codec`] and [`FaultKind::RoundTrip`].
    pub fn run(&mut self) -> Result<Visit, Fault> {
        let (encode, encode_peak) = self.first_encode()?;
        let (decode, decode_peak) = self.first_decode()?;
        let (all, one) = (self.items.len(), usize::from(self.request.family));
        let (mut phases, mut again) = (BTreeMap::new(), BTreeMap::new());
        if self.request.phases.contains(&Phase::Encode) {
            phases.insert(Phase::Encode, self.sample_encode(encode, all)?);
            if one > 0 {
                again.insert(Phase::Encode, self.sample_encode(encode.of_one(all), one)?);
            }
        }
        if self.request.phases.contains(&Phase::Decode) {
            phases.insert(Phase::Decode, self.sample_decode(decode, all)?);
            if one > 0 {
                again.insert(Phase::Decode, self.sample_decode(decode.of_one(all), one)?);
            }
        }
        let peaks = [(Phase::Encode, encode_peak), (Phase::Decode, decode_peak)];
        Ok(Visit {
            id: self.request.id,
            decoded: self.request.items.clone(),
            encoded: self.lengths.clone(),
            format: String::new(),
            // Every item came back byte for byte, so that the source's digest is the decoded one.
            sha256_decoded: self.request.sha256.to_ascii_lowercase(),
            sha256_encoded: sha256(&self.packed),
            verified: true,
            dictionary_bytes: 0,
            dictionary_path: None,
            phases,
            again,
            peak_bytes: peaks.into_iter().filter_map(|(phase, peak)| Some((phase, peak?))).collect(),
        })
    }

    /// Encodes every item once and keeps what comes out. When memory is asked for the coders are fresh, so
    /// that the peak holds all of their state, and the output of the largest item.
    fn first_encode(&mut self) -> Result<(Span, Option<u64>), Fault> {
        // Touched ahead, so that keeping the encoded items adds nothing to the peak.
        let room: usize = self.items.iter().map(|i| i.len() + i.len() / 8 + 64).sum();
        self.packed.resize(if self.request.memory { room } else { 0 }, 0);
        self.packed.clear();
        self.lengths.reserve(self.items.len());
        let baseline = if self.request.memory { Baseline::set() } else { None };
        let out = &mut self.encoded;
        let (done, span) = sample::time(self.clock, || {
            for (i, item) in self.items.iter().enumerate() {
                let coder = i % self.pair.encoders.len();
                self.pair.encoders[coder].encode(item, out)?;
                self.packed.extend_from_slice(out);
                self.lengths.push(out.len() as u64);
            }
            Ok(())
        });
        done.map_err(|e| from_codec(&e, self.codec))?;
        Ok((span, baseline.and_then(Baseline::risen)))
    }

    /// Decodes every item once and compares it with its source, always: the first pass is needed to warm up
    /// and to choose the batch anyway, and the comparison costs nothing beside it.
    fn first_decode(&mut self) -> Result<(Span, Option<u64>), Fault> {
        let packed = cut(&self.packed, &self.lengths);
        let baseline = if self.request.memory { Baseline::set() } else { None };
        let (decoders, out) = (&mut self.pair.decoders, &mut self.decoded);
        let (done, span) = sample::time(self.clock, || {
            for (i, (item, encoded)) in self.items.iter().zip(&packed).enumerate() {
                let coder = i % decoders.len();
                let decoded = decoders[coder].decode(encoded, item.len(), out);
                decoded.map_err(|e| Fault { kind: FaultKind::RoundTrip, ..from_codec(&e, self.codec) })?;
                if out[..] != **item {
                    let message =
                        format!("item {i} of {} came back as {} other bytes", item.len(), out.len());
                    return Err(fault(FaultKind::RoundTrip, message));
                }
            }
            Ok(())
        });
        done?;
        Ok((span, baseline.and_then(Baseline::risen)))
    }

    /// Samples of passes over the first `count` items.
    fn sample_encode(&mut self, first: Span, count: usize) -> Result<Samples, Fault> {
        let (items, encoders, out) = (&self.items[..count], &mut self.pair.encoders, &mut self.encoded);
        sample::take(self.clock, self.request, first, || {
            for (i, item) in items.iter().enumerate() {
                let coder = i % encoders.len();
                encoders[coder].encode(item, out).map_err(|e| from_codec(&e, self.codec))?;
            }
            Ok(())
        })
    }

    /// Samples of passes over the first `count` encoded items.
    fn sample_decode(&mut self, first: Span, count: usize) -> Result<Samples, Fault> {
        let packed = cut(&self.packed, &self.lengths);
        let (decoders, out) = (&mut self.pair.decoders, &mut self.decoded);
        sample::take(self.clock, self.request, first, || {
            for (i, (item, encoded)) in self.items.iter().zip(&packed).take(count).enumerate() {
                let coder = i % decoders.len();
                let decoded = decoders[coder].decode(encoded, item.len(), out);
                decoded.map_err(|e| from_codec(&e, self.codec))?;
            }
            Ok(())
        })
    }

    /// Writes the encoded items, and the dictionaries beside them, where a dump was asked for.
    fn dump(&self, folds: Option<&Rc<[Vec<u8>; 2]>>, visit: &mut Visit) -> Result<(), Fault> {
        if let Some(folds) = folds {
            visit.dictionary_bytes = (folds[0].len() + folds[1].len()).div_ceil(2) as u64;
        }
        let Some(path) = &self.request.dump else { return Ok(()) };
        write(path, &self.packed)?;
        if let Some(folds) = folds {
            let beside = format!("{path}.dict");
            write(&beside, &pack(&folds[..]))?;
            visit.dictionary_path = Some(beside);
        }
        Ok(())
    }
}

/// The encoded items, cut apart again.
fn cut<'a>(packed: &'a [u8], lengths: &[u64]) -> Vec<&'a [u8]> {
    let mut rest = packed;
    lengths.iter().map(|length| rest.split_off(..*length as usize).unwrap_or_default()).collect()
}

fn write(path: &str, bytes: &[u8]) -> Result<(), Fault> {
    fs::write(path, bytes)
        .map_err(|e| fault(FaultKind::Payload, format!("cannot write the dump {path}: {e}")))
}

//! The cells of a study's blocks of codecs: every factor multiplied out, with a reason for each one left out.

use std::collections::HashSet;

use anyhow::{Result, bail};

use super::study::CellBlock;
use crate::draft::{ContentSource, Draft, unknown};
use crate::nominal::nominal_rate;
use weigh_model::cell::{Cell, Subject};
use weigh_model::inventory::{Listed, NATIVE, PHP, RuntimeEntry};
use weigh_model::payload::Payload;
use weigh_model::protocol::CodecDescription;
use weigh_model::setting::{Request, Setting};

/// The word for cells on bytes among serializers.
pub const BYTES: &str = "-";

/// Where the cells of a block stand: one value for each factor but the codec.
#[derive(Clone, Copy)]
struct CodecFactors<'a> {
    payload: &'a Payload,
    runtime: &'a RuntimeEntry,
    serializer: Option<&'a str>,
}

impl CodecFactors<'_> {
    fn id(&self, setting: &Setting) -> String {
        Cell::make_id(&self.payload.name, &self.runtime.plan.name, self.serializer, setting)
    }
}

/// Takes the cells of a block in.
///
/// # Errors
/// A name that nothing answers to, a level or an option that a codec does not take.
pub fn block(draft: &mut Draft<'_>, block: &CellBlock, contents: &mut ContentSource<'_>) -> Result<()> {
    let requests: Vec<Request> = block.codecs.iter().map(|c| Request::parse(c)).collect::<Result<_, _>>()?;
    let all = &draft.inventory.runtimes;
    let names = all.iter().map(|r| r.plan.name.as_str()).chain([PHP]);
    let content = block.content.join(",");
    let runtimes = draft.select(&block.runtimes, all, RuntimeEntry::is_meant_by, "", |draft, word| {
        if word != PHP {
            return unknown("runtime", word, names.clone());
        }
        no_php(draft, format!("{content}/{word}"));
        Ok(())
    })?;
    // Where a runtime of the block is not here, nobody can tell which names it would know.
    if block.runtimes.iter().all(|word| all.iter().any(|r| r.is_meant_by(word))) {
        check_names(block, &requests, &runtimes)?;
    }
    for name in &block.content {
        for payload in contents(name, block.block_bytes)? {
            for runtime in &runtimes {
                for serializer in &block.serializers {
                    let serializer = (serializer != BYTES).then_some(serializer.as_str());
                    let factors = CodecFactors { payload: &payload, runtime, serializer };
                    settings(draft, block, factors, &requests)?;
                }
            }
            draft.keep(payload);
        }
    }
    Ok(())
}

/// Leaves out cells in PHP where there is none.
pub fn no_php(draft: &mut Draft<'_>, cell: String) {
    draft.exclude(cell, "no PHP was found", Some("apt install php-cli, or name a binary with --php BINARY"));
}

fn settings(
    draft: &mut Draft<'_>,
    block: &CellBlock,
    factors: CodecFactors<'_>,
    requests: &[Request],
) -> Result<()> {
    if let Some(name) = factors.serializer
        && !has_serializer(draft, name, factors)
    {
        return Ok(());
    }
    for request in requests {
        for codec in codecs_of(draft, request, factors) {
            // A marshaller serializes by itself: its cell has no serializer and is named once.
            let factors =
                if codec.takes_value { CodecFactors { serializer: None, ..factors } } else { factors };
            if codec.takes_value && factors.payload.value.is_none() {
                let id = factors.id(&Setting::bare(&codec.name));
                draft.exclude(id, "takes a PHP value, not bytes", None);
                continue;
            }
            for setting in request.expand(codec, &draft.options.levels)? {
                if !factors.payload.parts.is_empty()
                    && setting.options.get("dict").is_some_and(|d| d == "trained")
                {
                    let reason = "a dictionary is trained on all files, and these are measured in parts";
                    draft.exclude(
                        factors.id(&setting),
                        reason,
                        Some("fewer files, without --on or --sample"),
                    );
                    continue;
                }
                cell(draft, block, factors, codec, setting);
            }
        }
    }
    Ok(())
}

fn has_serializer(draft: &mut Draft<'_>, name: &str, factors: CodecFactors<'_>) -> bool {
    let CodecFactors { payload, runtime, .. } = factors;
    let any = || factors.id(&Setting::bare("*"));
    let reason = match runtime.serializer(name) {
        _ if runtime.plan.name == NATIVE => "PHP values are serialized by PHP only".to_owned(),
        _ if payload.value.is_none() => format!("{} is not a PHP value", payload.name),
        None => format!("{} has no serializer `{name}`", runtime.plan.name),
        Some(serializer) => return draft.has(serializer, any),
    };
    draft.exclude(any(), reason, None);
    false
}

/// The available codecs that a request names on a runtime; the others are left out.
fn codecs_of<'a>(
    draft: &mut Draft<'_>,
    request: &Request,
    factors: CodecFactors<'a>,
) -> Vec<&'a CodecDescription> {
    let is_named = |codec: &&CodecDescription| match request.set() {
        Some("all") => true,
        Some(set) => codec.sets.iter().any(|s| s == set),
        None => codec.name == request.name,
    };
    let id = |name: &str| factors.id(&Setting::bare(name));
    let mut named: Vec<_> = factors.runtime.codecs.iter().filter(is_named).collect();
    if named.is_empty() && request.set().is_none() {
        let reason = format!("{} has no codec `{}`", factors.runtime.plan.name, request.name);
        draft.exclude(id(&request.name), reason, None);
    }
    named.retain(|codec| draft.has(*codec, || id(codec.name())));
    named
}

fn cell(
    draft: &mut Draft<'_>,
    block: &CellBlock,
    factors: CodecFactors<'_>,
    codec: &CodecDescription,
    setting: Setting,
) {
    let expected_seconds = one_pass_seconds(codec, setting.level, factors.payload.bytes);
    let cell = Cell {
        id: factors.id(&setting),
        subject: if factors.runtime.plan.name == NATIVE { Subject::CODEC } else { Subject::PHP_CODEC },
        payload: factors.payload.name.clone(),
        runtime: factors.runtime.plan.name.clone(),
        serializer: factors.serializer.map(str::to_owned),
        setting,
        keep: block.keep,
        expected_seconds,
        ..Cell::default()
    };
    draft.add(cell, expected_seconds, "call");
}

/// Expected CPU seconds of one encode and one decode of `bytes`.
fn one_pass_seconds(codec: &CodecDescription, level: Option<i32>, bytes: u64) -> f64 {
    let rate = nominal_rate(&codec.nominal, level.or(codec.levels.as_ref().map(|l| l.default)).unwrap_or(0));
    // Decoders run several times faster than encoders; a tenth of a gigabyte a second is the slow end.
    let decode = rate.max(100.0) * 3.0;
    bytes as f64 / 1e6 * (1.0 / rate + 1.0 / decode)
}

/// Formats that several codecs write, or that one of another name does.
const FORMATS: [(&str, &str); 3] = [
    ("gzip", "zlib, zlib-ng, libdeflate or zopfli"),
    ("deflate", "zlib, zlib-ng or libdeflate"),
    ("br", "brotli"),
];

/// Checks that each codec, set and serializer of a block is known to one of its runtimes at least. One that some lack is left out with
/// a reason, later.
fn check_names(block: &CellBlock, requests: &[Request], runtimes: &[&RuntimeEntry]) -> Result<()> {
    let codecs = || runtimes.iter().flat_map(|r| &r.codecs);
    let sorted = |names: &mut Vec<&'_ str>| {
        names.sort_unstable();
        names.dedup();
    };
    for request in requests {
        match request.set() {
            Some("all") => {}
            Some(set) => {
                let sets: HashSet<&str> = codecs().flat_map(|c| c.sets.iter().map(String::as_str)).collect();
                if !sets.contains(set) {
                    let mut known: Vec<_> = sets.into_iter().chain(["all"]).collect();
                    sorted(&mut known);
                    unknown("set", set, known)?;
                }
            }
            None if codecs().all(|c| c.name != request.name) => {
                if let Some((format, codecs)) = FORMATS.iter().find(|(format, _)| *format == request.name) {
                    bail!("{format} is a format: use {codecs} (or --sets web)");
                }
                let mut known: Vec<_> = codecs().map(|c| c.name.as_str()).collect();
                sorted(&mut known);
                unknown("codec", &request.name, known)?;
            }
            None => {}
        }
    }
    for name in block.serializers.iter().filter(|s| s.as_str() != BYTES) {
        let known = || runtimes.iter().flat_map(|r| &r.serializers).map(|s| s.name.as_str());
        if known().next().is_some() && known().all(|k| k != name) {
            unknown("serializer", name, known())?;
        }
    }
    Ok(())
}

//! speedscope's JSON files, sampled or evented. Such a file is one value, so it is held as a whole: its size is bounded.

use std::io::Read;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::sampled::Sampled;
use weigh_model::profile::{Format, LARGEST, Profile, Unit};

/// The largest file that is read, in bytes.
const LARGEST_FILE: u64 = 512 << 20;

#[derive(Deserialize)]
struct File {
    shared: Shared,
    profiles: Vec<One>,
}

#[derive(Deserialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    name: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum One {
    Sampled { unit: String, samples: Vec<Vec<usize>>, weights: Vec<f64> },
    Evented { unit: String, events: Vec<Event> },
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: char,
    frame: usize,
    at: f64,
}

/// Reads a file.
pub fn read(input: impl Read) -> Result<Profile> {
    let mut text = Vec::new();
    input.take(LARGEST_FILE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST_FILE {
        bail!("a speedscope file larger than {} MiB is not read", LARGEST_FILE >> 20);
    }
    let file: File = serde_json::from_slice(&text).context("it is no speedscope file")?;
    let mut sampled = Sampled::default();
    let frames: Vec<u32> =
        file.shared.frames.iter().map(|f| sampled.frame(f.name.as_bytes())).collect::<Result<_>>()?;
    let mut units: Vec<&str> = Vec::new();
    for one in &file.profiles {
        let unit = match one {
            One::Sampled { unit, .. } | One::Evented { unit, .. } => unit,
        };
        units.push(unit);
        if unit != units[0] {
            bail!("its profiles have several units: {} and {unit}", units[0]);
        }
        let size = nanoseconds(unit).unwrap_or(1.0);
        match one {
            One::Sampled { samples, weights, .. } => {
                for (stack, weight) in samples.iter().zip(weights) {
                    sampled.add(&known(stack, &frames)?, (weight * size).round() as i64);
                }
            }
            One::Evented { events, .. } => evented(events, &frames, size, &mut sampled)?,
        }
    }
    let unit = match units.first() {
        Some(unit) if nanoseconds(unit).is_some() => Unit::Nanoseconds,
        Some(unit) if *unit != "none" => Unit::Event(unit.chars().take(40).collect()),
        _ => Unit::Samples,
    };
    sampled.profile(Format::Speedscope, unit, None)
}

/// What a stack was for as long as it stayed.
fn evented(events: &[Event], frames: &[u32], size: f64, sampled: &mut Sampled) -> Result<()> {
    let mut stack: Vec<usize> = Vec::new();
    let mut since = events.first().map_or(0.0, |event| event.at);
    for event in events {
        sampled.add(&known(&stack, frames)?, ((event.at - since) * size).round() as i64);
        since = event.at;
        match event.kind {
            'O' => stack.push(event.frame),
            'C' if stack.last() == Some(&event.frame) => {
                stack.pop();
            }
            _ => bail!("its events do not open and close frames in turn"),
        }
        if stack.len() as i64 > LARGEST.min(20_000) {
            bail!("more than 20,000 frames on a stack");
        }
    }
    Ok(())
}

fn known(stack: &[usize], frames: &[u32]) -> Result<Vec<u32>> {
    let number =
        |at: &usize| frames.get(*at).copied().with_context(|| format!("there is no frame {at} in it"));
    stack.iter().map(number).collect()
}

fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "nanoseconds" => 1.0,
        "microseconds" => 1e3,
        "milliseconds" => 1e6,
        "seconds" => 1e9,
        _ => return None,
    })
}

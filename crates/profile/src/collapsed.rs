//! Collapsed stacks: `outer;inner;innermost 12` a line, as flame graph tools, excimer and many others write them.

use std::io::BufRead;

use anyhow::{Result, bail};

use super::sampled::Sampled;
use weigh_model::profile::{Cut, Format, LARGEST, Profile, Unit};
use weigh_os::lines::Lines;

/// Reads a file. `broken` says why it is known to end too early, where it is.
///
/// # Errors
/// It cannot be read, or a line is of another grammar; the message names the line.
pub fn read(input: impl BufRead, broken: Option<String>) -> Result<Profile> {
    let mut lines = Lines::new(input);
    let (mut sampled, mut frames) = (Sampled::default(), Vec::new());
    let (mut end, mut cut) = ((0, 0), None);
    while let Some((line, place)) = lines.next_line()? {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let Some((stack, weight)) = split(line) else {
            if !place.is_whole {
                cut = Some("it ends within a line".to_owned());
                break;
            }
            bail!("line {}: it is no stack with a number after it", place.number);
        };
        frames.clear();
        // Some write an empty name before the first.
        for name in stack.split(|b| *b == b';').filter(|name| !name.is_empty()) {
            frames.push(sampled.frame(name)?);
        }
        sampled.add(&frames, weight);
        end = (place.end, place.number);
    }
    let cut = broken.or(cut).map(|why| Cut { byte: end.0, line: end.1, why });
    sampled.profile(Format::Collapsed, Unit::Samples, cut)
}

/// The stack and its weight.
pub fn split(line: &[u8]) -> Option<(&[u8], i64)> {
    let at = line.iter().rposition(|b| *b == b' ')?;
    let (stack, weight) = (line[..at].trim_ascii_end(), &line[at + 1..]);
    let weight = std::str::from_utf8(weight).ok()?;
    if stack.is_empty() || weight.is_empty() {
        return None;
    }
    // Some write means or seconds; a weight is a whole number of whatever it counts.
    let weight: f64 = weight.parse().ok().filter(|w: &f64| w.is_finite() && *w >= 0.0)?;
    Some((stack, (weight.round() as i64).min(LARGEST)))
}

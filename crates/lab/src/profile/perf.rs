//! The output of `perf script`: a line a sample, its frames below it from the innermost outwards, and a blank line.

use std::io::BufRead;

use anyhow::Result;

use super::sampled::Sampled;
use crate::lines::Lines;
use weigh_model::profile::{Cut, Format, Profile, Unit};

/// Reads a file. `broken` says why it is known to end too early, where it is.
pub fn read(input: impl BufRead, broken: Option<String>) -> Result<Profile> {
    let mut lines = Lines::new(input);
    let (mut sampled, mut frames) = (Sampled::default(), Vec::new());
    let mut program: Option<u32> = None;
    let mut end = (0, 0);
    while let Some((line, place)) = lines.next()? {
        if line.starts_with(b"#") {
            continue;
        }
        if line.trim_ascii().is_empty() {
            flush(&mut sampled, &mut program, &mut frames);
        } else if line[0].is_ascii_whitespace() && program.is_some() {
            frames.push(sampled.frame(symbol(line))?);
        } else {
            flush(&mut sampled, &mut program, &mut frames);
            program = Some(sampled.frame(command(line))?);
        }
        end = (place.end, place.number);
    }
    if broken.is_none() {
        flush(&mut sampled, &mut program, &mut frames);
    }
    let cut = broken.map(|why| Cut { byte: end.0, line: end.1, why });
    sampled.profile(Format::PerfScript, Unit::Samples, cut)
}

fn flush(sampled: &mut Sampled, program: &mut Option<u32>, frames: &mut Vec<u32>) {
    if let Some(program) = program.take() {
        frames.push(program);
        frames.reverse();
        sampled.add(frames, 1);
    }
    frames.clear();
}

/// The program's name: what stands before its process id.
fn command(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let end = line.windows(2).position(|pair| pair[0].is_ascii_whitespace() && pair[1].is_ascii_digit());
    line[..end.unwrap_or(line.len())].trim_ascii()
}

/// The symbol of `  55d0 execute_ex+0x1f (/usr/bin/php)`; one that is not known is told by its file.
fn symbol(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let rest = line.iter().position(|b| *b == b' ').map_or(line, |at| &line[at + 1..]).trim_ascii_start();
    let file = rest.windows(2).rposition(|pair| pair == b" (");
    let (name, file) = file.map_or((rest, &b""[..]), |at| (&rest[..at], &rest[at + 1..]));
    let name = name.windows(3).rposition(|part| part == b"+0x").map_or(name, |at| &name[..at]);
    if name == b"[unknown]" && !file.is_empty() { file } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_turned_and_unknown_ones_told_by_their_file() {
        let text = "php 12 [000] 1.0: 1000 cpu-clock:\n\t55d0 zif_strlen+0x1f (/usr/bin/php)\n\t\
                    55d1 [unknown] (/usr/lib/x.so)\n\nphp 12 1.1: 1 cpu-clock:\n\t1 main+0x1 (/usr/bin/php)\n";
        let profile = read(text.as_bytes(), None).unwrap();
        let names: Vec<&str> = profile.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["php", "zif_strlen", "(/usr/lib/x.so)", "main"]);
        assert_eq!((profile.total.amount, profile.functions[0].inclusive.amount), (2, 2));
        assert_eq!(profile.functions[1].own.amount, 1);
    }
}

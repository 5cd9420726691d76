//! Kept inputs of the crate whose tests include this file: the seeds of its fuzz targets, and what `make fuzz` left on this machine. Where
//! cargo-fuzz is not to be had, `WEIGH_MUTATE=90 cargo test kept_inputs -- --nocapture --test-threads 1` also changes them at random, for this many
//! seconds for each target; the input that is tried is in `artifacts` meanwhile, and stays there if it is a find.

use std::panic::{RefUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// Holds every kept input of a target; a panic names the file.
pub fn replay(target: &str, hold: impl Fn(&[u8]) + RefUnwindSafe) {
    assert!(folder().join("seeds").join(target).is_dir(), "{target} has no seeds");
    let mut kept = Vec::new();
    for kind in ["seeds", "corpus", "artifacts"] {
        // Only seeds are part of the source.
        let Ok(inputs) = std::fs::read_dir(folder().join(kind).join(target)) else { continue };
        for input in inputs {
            let path = input.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            if let Err(panic) = catch_unwind(|| hold(&bytes)) {
                eprintln!("the input was {}", path.display());
                resume_unwind(panic);
            }
            kept.push(bytes);
        }
    }
    let seconds = std::env::var("WEIGH_MUTATE").ok().and_then(|seconds| seconds.parse().ok());
    seconds.into_iter().for_each(|seconds| mutate(target, &kept, &hold, Duration::from_secs(seconds)));
}

/// Holds inputs that are made of kept ones, from a seed that is the clock.
fn mutate(target: &str, kept: &[Vec<u8>], hold: &dyn Fn(&[u8]), length: Duration) {
    let (until, file) = (Instant::now() + length, folder().join("artifacts").join(target).join("tried"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut state = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64 | 1;
    let (mut tried, mut slowest) = (0, Duration::ZERO);
    while Instant::now() < until {
        let mut below = |most: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % most.max(1)
        };
        let mut input = kept[below(kept.len())].clone();
        for _ in 0..1 << below(5) {
            let (at, other) = (below(input.len()), &kept[below(kept.len())]);
            let (end, from) = ((at + below(64)).min(input.len()), below(other.len()));
            match below(6) {
                0 if at < end => input[at] ^= 1 << below(8),
                1 if at < end => input[at] = b"\0\x7f\xff\x1b\n\r\"\\{}[]<>;:,.-9 "[below(21)],
                2 => drop(input.drain(at..end)),
                3 => drop(input.splice(at..at, input[at..end].repeat(1 << below(12)))),
                4 => drop(input.splice(at..end, other[from..].iter().take(below(256)).copied())),
                _ => input.truncate(if below(8) == 0 { at } else { input.len() }),
            }
        }
        std::fs::write(&file, &input).unwrap();
        let begun = Instant::now();
        hold(&input);
        (tried, slowest) = (tried + 1, slowest.max(begun.elapsed()));
    }
    std::fs::remove_file(file).unwrap();
    println!("{target}: {tried} changed inputs in {} s, the slowest took {slowest:?}", length.as_secs());
}

/// The same for a target that takes text: it is given the valid part.
pub fn replay_text(target: &str, hold: fn(&str)) {
    replay(target, |bytes| {
        hold(match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap(),
        });
    });
}

/// The names of all targets, in order.
pub fn targets() -> Vec<String> {
    let files = std::fs::read_dir(folder().join("targets")).unwrap();
    let name = |file: PathBuf| file.file_stem().unwrap().to_string_lossy().into_owned();
    let mut names: Vec<String> = files.map(|file| name(file.unwrap().path())).collect();
    names.sort();
    names
}

//! Kept inputs pass in every build: the seeds of fuzzing, and inputs that `make fuzz` left on this machine.

use std::path::Path;

use crate::fuzz::{chunked, exchange, frames, head, request_file};

/// Checks every kept input of a target; a panic names the file.
fn replay(target: &str, hold: fn(&[u8])) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    assert!(root.join("seeds").join(target).is_dir(), "{target} has no seeds");
    for kind in ["seeds", "corpus", "artifacts"] {
        // Only seeds are part of the source.
        let Ok(inputs) = std::fs::read_dir(root.join(kind).join(target)) else { continue };
        for input in inputs {
            let path = input.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            if let Err(panic) = std::panic::catch_unwind(|| hold(&bytes)) {
                eprintln!("the input was {}", path.display());
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[test]
fn heads() {
    replay("head", head::hold);
}

#[test]
fn chunks() {
    replay("chunked", chunked::hold);
}

#[test]
fn exchanges() {
    replay("exchange", exchange::hold);
}

#[test]
fn connections() {
    replay("frames", frames::hold);
}

#[test]
fn request_files() {
    // A target that takes text is given the valid part.
    replay("request_file", |bytes| {
        request_file::hold(match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap(),
        });
    });
}

#[test]
fn every_target_is_replayed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/targets");
    let mut targets: Vec<String> = std::fs::read_dir(root)
        .unwrap()
        .map(|target| target.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    targets.sort();
    assert_eq!(targets, ["chunked", "exchange", "frames", "head", "request_file"]);
}

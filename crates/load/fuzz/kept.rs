//! Kept inputs of the crate whose tests include this file: the seeds of its fuzz targets, and what `make fuzz` left on this machine.

use std::panic::{RefUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// Holds every kept input of a target; a panic names the file.
pub fn replay(target: &str, hold: impl Fn(&[u8]) + RefUnwindSafe) {
    assert!(folder().join("seeds").join(target).is_dir(), "{target} has no seeds");
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
        }
    }
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

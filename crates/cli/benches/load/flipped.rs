//! One flipped byte in one response of 100,000: is it found, and shown as it was?

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::{SEED, Targets, WEIGH, progress};
use crate::flip::{Flip, FlipServer};

/// Requests of a try, and bytes of each body.
const REQUESTS: u64 = 100_000;
const BODY: usize = 4096;
/// Connections; the server has a thread for each.
const CONNECTIONS: u32 = 8;
/// The first response that may be wrong: the preflight has to see what is right.
const FIRST: u64 = 1000;

/// Prints a line: how many tries found the byte as it was.
pub fn find(targets: &mut Targets, tries: usize) -> Result<()> {
    let body: Vec<u8> = (0..BODY).map(|n| b' ' + (n * 7 % 95) as u8).collect();
    let mut draw = ChaCha8Rng::seed_from_u64(SEED);
    let mut found = 0;
    for _ in 0..tries {
        let flip = Flip {
            response: draw.random_range(FIRST..REQUESTS),
            offset: draw.random_range(0..BODY),
            mask: 1 << draw.random_range(0..8),
        };
        match one(&body, flip) {
            Ok(()) => found += 1,
            Err(why) => progress(&format!("{flip:?}: {why:#}")),
        }
    }
    let measured = format!("{found} of {tries} found, with offset, expected and got");
    targets.line(&format!("one flipped byte in {REQUESTS} responses"), &measured, "all", found == tries);
    Ok(())
}

fn one(body: &[u8], flip: Flip) -> Result<()> {
    let server = FlipServer::start(body.to_vec(), flip)?;
    let scratch = tempfile::tempdir()?;
    let output = Command::new(WEIGH)
        .current_dir(&scratch)
        .args(["load", "--json", "--quiet", "-c", &CONNECTIONS.to_string(), "-n", &REQUESTS.to_string()])
        .arg(format!("http://{}/", server.address))
        .stdin(Stdio::null())
        .output()?;
    let document: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())?;
    let result = &document["result"];
    let faults = result["faults"].as_array().context("no faults")?;
    ensure!(faults.len() == 1 && faults[0]["count"] == 1, "faults: {faults:?}");
    ensure!(
        result["classes"][0]["counts"]["completed"] == REQUESTS - 1,
        "{}",
        result["classes"][0]["counts"]
    );
    let shown = &faults[0]["example"]["difference"];
    let (expected, got) = flip.bytes(body);
    // What is shown begins at the byte and is as long as the tool likes, but not empty.
    let begins =
        |what: &str, truth: &str| shown[what].as_str().is_some_and(|s| s.len() >= 2 && truth.starts_with(s));
    let right = shown["offset"] == flip.offset && begins("expected", &expected) && begins("got", &got);
    ensure!(right, "shown was {shown}");
    Ok(())
}

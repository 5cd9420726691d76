//! `make bench-codec`: do we report what the libraries can do?
//!
//! Our figures, through the same worker and protocol as in any run, beside those of programs that measure the
//! same library by themselves: `zstd -b`, lzbench where it is found, and for PHP the zlib that PHP is linked to.
//! Each round visits both sides one after the other, now one first and now the other; a ratio is formed inside each
//! round. Both sides tell CPU time: the peers by a preloaded clock.

#[path = "../common/mod.rs"]
mod common;
mod lzbench;
mod php;
mod zstd;

use std::process::ExitCode;

use anyhow::Result;

use common::worker::{Content, Worker};
use common::{Targets, content, progress, rounds};

/// How far a median ratio may be from 1.
const TOLERANCE: f64 = 0.03;
/// A page and a style sheet: about 270 KB each, so that a call is much longer than a clock's reading and shorter than a
/// machine's good moment.
const CONTENTS: &[&str] = &["page-path", "bootstrap-5.3.3.css"];

fn main() -> Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let mut targets = Targets::default();
    let contents = content(CONTENTS, folder.path())?;
    let contents: Vec<Content> = contents.iter().map(|(n, p)| Content::of(n, p)).collect::<Result<_>>()?;
    let mut ours = Worker::native(folder.path())?;
    let rounds = rounds(15);
    zstd::compare(&mut targets, &mut ours, &contents, rounds)?;
    lzbench::compare(&mut targets, &mut ours, &contents, rounds)?;
    php::compare(&mut targets, &mut ours, &contents, folder.path(), rounds)?;
    Ok(targets.end())
}

/// What the two sides showed in the rounds so far: nanoseconds of CPU time a call, (peer, ours), so that the ratio is
/// our throughput ÷ the peer's.
#[derive(Debug, Default)]
struct Pairs {
    encode: Vec<(f64, f64)>,
    decode: Vec<(f64, f64)>,
}

/// One visit of each side, in turns who is first.
fn both<A, B>(
    round: usize,
    ours: impl FnOnce() -> Result<A>,
    peer: impl FnOnce() -> Result<B>,
) -> Result<(A, B)> {
    if round.is_multiple_of(2) {
        let ours = ours()?;
        Ok((ours, peer()?))
    } else {
        let peer = peer()?;
        Ok((ours()?, peer))
    }
}

/// Says which round of which comparison begins.
fn begins(what: &str, round: usize, rounds: usize) {
    progress(&format!("{what}: round {} of {rounds}", round + 1));
}

//! `make bench-codec`: do we report what the libraries can do?
//!
//! Our figures, through the same worker and protocol as in any run, beside those of programs that measure the
//! same library by themselves: `zstd -b`, lzbench where it is found, and for PHP the zlib that PHP is linked to.
//! Both sides tell CPU time: the peers by a preloaded clock.
//!
//! In each round both sides take some short turns, now one first and now the other, and each is represented by its best one:
//! a busy neighbour only ever adds CPU time, so that the best turn is the one that shows the code. Printed is the ratio of the
//! two sides' low quantiles over rounds, with its interval.

#[path = "../common/mod.rs"]
mod common;
mod lzbench;
mod php;
mod zstd;

use std::process::ExitCode;

use anyhow::Result;

use common::worker::{Content, Worker};
use common::{Targets, content, progress, rounds};

/// How far a ratio may be from 1.
const TOLERANCE: f64 = 0.03;
/// A page and a style sheet: about 270 KB each, so that a call is much longer than a clock's reading and shorter than a
/// machine's good moment.
const CONTENTS: &[&str] = &["corpus:page-path", "corpus:bootstrap-5.3.3.css"];

fn main() -> ExitCode {
    common::end(compare())
}

fn compare() -> Result<Targets> {
    let folder = tempfile::tempdir()?;
    let mut targets = Targets::default();
    let contents = content(CONTENTS, folder.path())?;
    let contents: Vec<Content> = contents.iter().map(|(n, p)| Content::of(n, p)).collect::<Result<_>>()?;
    let mut ours = Worker::native(folder.path())?;
    let rounds = rounds(7);
    zstd::compare(&mut targets, &ours, folder.path(), &contents, rounds)?;
    lzbench::compare(&mut targets, &mut ours, &contents, rounds)?;
    php::compare(&mut targets, &mut ours, &contents, folder.path(), rounds)?;
    Ok(targets)
}

/// Turns of each side in a round, where nothing else is said.
const TURNS: usize = 6;

/// The best turn of a side in a round so far: nanoseconds of CPU time per call.
#[derive(Debug)]
struct Best {
    encode: f64,
    decode: f64,
}

impl Default for Best {
    fn default() -> Self {
        Best { encode: f64::INFINITY, decode: f64::INFINITY }
    }
}

impl Best {
    fn see(&mut self, encode: f64, decode: f64) {
        self.encode = self.encode.min(encode);
        self.decode = self.decode.min(decode);
    }
}

/// (peer's, ours) of each round, so that the ratio of times is our throughput ÷ the peer's.
#[derive(Debug, Default)]
struct Pairs {
    encode: Vec<(f64, f64)>,
    decode: Vec<(f64, f64)>,
}

impl Pairs {
    fn push(&mut self, peer: &Best, ours: &Best) {
        self.encode.push((peer.encode, ours.encode));
        self.decode.push((peer.decode, ours.decode));
    }
}

/// One turn of each side, now one first and now the other.
fn both<A, B>(
    turn: usize,
    ours: impl FnOnce() -> Result<A>,
    peer: impl FnOnce() -> Result<B>,
) -> Result<(A, B)> {
    if turn.is_multiple_of(2) {
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

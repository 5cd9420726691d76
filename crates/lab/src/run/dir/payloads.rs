//! The inputs of a run, kept beside it under their digests until it is complete.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use super::PAYLOADS;
use crate::digest::hex;
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;

/// Where a payload is kept, relative to the run directory.
pub fn kept(payload: &Payload) -> PathBuf {
    Path::new(PAYLOADS).join(&payload.sha256)
}

/// Copies every payload's blob into the run directory and lets the plan name the copies.
pub fn copy(plan: &mut Plan, root: &Path) -> Result<()> {
    for payload in &mut plan.payloads {
        let kept = kept(payload);
        if !root.join(&kept).exists() {
            copy_one(payload, &root.join(&kept))?;
        }
        payload.blob = kept;
    }
    Ok(())
}

fn copy_one(payload: &Payload, to: &Path) -> Result<()> {
    let from = payload.blob.display();
    let mut source = File::open(&payload.blob).with_context(|| format!("{from}: cannot be read"))?;
    let mut copy = File::create_new(to).with_context(|| format!("{}: cannot be written", to.display()))?;
    let mut digest = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = source.read(&mut buffer).with_context(|| format!("{from}: cannot be read"))?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
        bytes += read as u64;
        let wrote = copy.write_all(&buffer[..read]);
        wrote.with_context(|| format!("{}: cannot be written", to.display()))?;
    }
    let found = hex(digest.finalize());
    ensure!(
        bytes == payload.bytes && found == payload.sha256,
        "{from}: not the content that was planned (payload {}); plan again",
        payload.name
    );
    copy.sync_all().with_context(|| format!("{}: cannot be written", to.display()))
}

/// Makes sure that every payload is still there, by length; workers check the digests.
pub fn verify(plan: &Plan, root: &Path) -> Result<()> {
    for payload in &plan.payloads {
        let path = root.join(&payload.blob);
        let found = path.metadata().map(|m| m.len());
        if !found.is_ok_and(|length| length == payload.bytes) {
            bail!(
                "{}: payload {} is missing or cut, so this run cannot go on; start a new one (what it has \
                 measured can still be reported)",
                path.display(),
                payload.name
            );
        }
    }
    Ok(())
}

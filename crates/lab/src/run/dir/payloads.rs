//! The inputs of a run, kept beside it under their digests until it is complete.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::PAYLOADS;
use crate::digest;
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
    let doing = || format!("{}: cannot be written", to.display());
    let mut copy = File::create_new(to).with_context(doing)?;
    let found = digest::copy(&mut source, &mut copy, u64::MAX).with_context(doing)?;
    ensure!(
        (found.bytes, &found.sha256) == (payload.bytes, &payload.sha256),
        "{from}: not the content that was planned (payload {}); plan again",
        payload.name
    );
    copy.sync_all().with_context(doing)
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

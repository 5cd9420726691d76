//! A study of 40 configurations: its wall time on a cluster of one node and on this machine.

use std::fs;

use anyhow::{Result, ensure};

use super::Ground;
use super::common::{Targets, progress};

/// Wall time there is at most this many times that here, and [`START`].
const TIMES: f64 = 1.1;
/// Seconds that the cluster may take to start and to end.
const START: f64 = 10.0;
/// Two contents by twenty settings.
const STUDY: &str = include_str!("study.toml");

/// Measures it.
pub fn measure(ground: &Ground, rounds: usize, targets: &mut Targets) -> Result<()> {
    fs::write(ground.home().join("forty.toml"), STUDY)?;
    let mut worst = f64::NEG_INFINITY;
    for round in 0..rounds {
        progress(&format!("study: round {} of {rounds}", round + 1));
        let args = ["run", "forty.toml", "--exhaustive"];
        let (here, there) = (format!("forty-here-{round}"), format!("forty-there-{round}"));
        let local = ground.run(&[&args[..], &["--out", &here]].concat())?;
        let ray = ground.run(&[&args[..], &["--on", "ray", "--yes", "--out", &there]].concat())?;
        progress(&format!("wall seconds: {:.2} here, {:.2} on Ray", local.wall, ray.wall));
        let plan = fs::read_to_string(ground.home().join(&there).join("plan.json"))?;
        let plan: serde_json::Value = serde_json::from_str(&plan)?;
        ensure!(
            plan["cells"].as_array().is_some_and(|cells| cells.len() == 40),
            "the study has not 40 cells"
        );
        worst = worst.max(ray.wall - TIMES * local.wall);
    }
    let measured = format!("{worst:.1} s beyond {TIMES} × the local time");
    targets.line("study", &measured, &format!("at most {START} s"), worst <= START);
    Ok(())
}

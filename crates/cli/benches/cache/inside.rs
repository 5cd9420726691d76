//! A store inside the worker's process that takes as long as it is told, laid over the program's own by `--defs`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use weigh_model::record::ClientVisit;

use super::study::{self, ALONE, TRANSACTIONS};

const DRIVER: &str = include_str!("scripted/drivers/scripted.php");
const CLASS: &str = include_str!("scripted/lib/Store.php");

/// One visit, and the seconds that each of its reads took by the store's own word. `micros` are the delays: every seventh read takes the
/// last of them, every other one the first.
///
/// # Errors
/// The program does not run, or counted something else.
pub fn visit(micros: &str) -> Result<(ClientVisit, Vec<f64>)> {
    let room = tempfile::tempdir()?;
    let truth = room.path().join("truth");
    let store = room.path().join("defs/stores/scripted");
    put(&store.join("drivers/scripted.php"), DRIVER)?;
    put(&store.join("lib/Store.php"), CLASS)?;
    let (about, within) = ("takes as long as it is told", "process");
    let ini = format!("\"weigh.script='{micros}'\", \"weigh.truth='{}'\"", truth.display());
    let head = format!("schema = 1\nname = \"scripted\"\nabout = \"{about}\"\nwithin = \"{within}\"\n");
    put(&store.join("store.toml"), &format!("{head}ini = [{ini}]\n"))?;
    let text = study::study("scripted", "integer", TRANSACTIONS as u64, "scripted", ALONE);
    let visit = study::visit(room.path(), &text, &[], Some(&room.path().join("defs")))?;
    let all = seconds(&fs::read_to_string(&truth).context("the scripted store wrote nothing down")?)?;
    ensure!(all.len() >= TRANSACTIONS, "the scripted store was read {} times only", all.len());
    // What came before is warming up.
    Ok((visit, all[all.len() - TRANSACTIONS..].to_vec()))
}

fn put(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().context("a file stands in a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}

fn seconds(lines: &str) -> Result<Vec<f64>> {
    lines.lines().map(|line| Ok(line.parse::<f64>()? / 1e9)).collect()
}

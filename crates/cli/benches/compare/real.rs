//! Runs of this machine.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use serde_json::Value;
use weigh_answer::compare::{Comparison, Names};
use weigh_run::dir::StoredRun;

use crate::common::{Targets, WEIGH, progress};

/// Seconds of a run.
const SECONDS: u32 = 30;
/// About 40 configurations that are quick enough for 20 rounds in this time.
const CODECS: &str = "lz4,snappy,zstd:-7..-1,zstd:1..9,zlib:1..9,libdeflate:1..9,brotli:1..5";

/// Pairs of runs of the same program.
pub fn nothing_changed(targets: &mut Targets, pairs: u32) -> Result<()> {
    let home = tempfile::tempdir()?;
    let page = home.path().join("page.txt");
    std::fs::write(&page, text(60_000))?;
    let mut wrong = 0;
    for pair in 1..=pairs {
        let [a, b] = ["a", "b"].map(|side| home.path().join(format!("{pair}{side}")));
        [&a, &b].into_iter().try_for_each(|out| codec(&page, out))?;
        let (a, b) = (StoredRun::read(&a)?.report(), StoredRun::read(&b)?.report());
        let comparison = Comparison::of(&a, &b, Names { a: "a".into(), b: "b".into() }, &[]);
        let found: Vec<&str> = comparison.findings().map(|row| row.configuration.as_str()).collect();
        let common = |metric| comparison.quantities.iter().find(|quantity| quantity.metric == metric);
        if let (Some(encode), Some(decode)) = (common("encode"), common("decode")) {
            progress(&format!(
                "pair {pair} of {pairs}: {} results, {} rounds; shift {:.3} and {:.3}, spread {:.3} and {:.3}; findings: {found:?}",
                comparison.rows.len(),
                comparison.b.rounds,
                encode.shift,
                decode.shift,
                encode.spread,
                decode.spread
            ));
        }
        wrong += u32::from(!found.is_empty());
    }
    let measured = format!("{wrong} of {pairs} pairs have a finding");
    targets.line("real runs with nothing changed", &measured, "at most 5%", wrong * 20 <= pairs);
    Ok(())
}

fn codec(page: &Path, out: &Path) -> Result<()> {
    let seconds = SECONDS.to_string();
    let status = Command::new(WEIGH)
        .arg("codec")
        .arg(page)
        .args(["--codecs", CODECS, "--budget", &seconds, "--out"])
        .arg(out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(status.success(), "weigh codec ended with {status}");
    Ok(())
}

/// A codec that does work in proportion to a setting of PHP's ini, so that two starts of one PHP are two programs.
const CODEC: &str = include_str!("codec.php");

/// Two PHPs, one with 2% more work.
pub fn paired(targets: &mut Targets, minutes: u32) -> Result<()> {
    let home = tempfile::tempdir()?;
    let at = |name: &str| home.path().join(name);
    std::fs::create_dir_all(at("defs/php/codecs"))?;
    std::fs::write(at("defs/php/codecs/mine.php"), CODEC)?;
    std::fs::write(at("page.txt"), text(4_000))?;
    for (name, times) in [("php-a", 1000), ("php-b", 1020)] {
        std::fs::write(at(name), format!("#!/bin/sh\nexec php -d user_agent={times} \"$@\"\n"))?;
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(0o755))?;
    }
    std::fs::write(
        at("two.toml"),
        "schema = 1\nname = \"two\"\ntitle = \"Two\"\nquestion = \"Which?\"\nreading = \"\"\n[[cells]]\n\
         content = [\"corpus:page-path\"]\nruntimes = [\"php\"]\ncodecs = [\"mine\"]\n",
    )?;
    let time = format!("{minutes}m");
    let ran = Command::new(WEIGH)
        .current_dir(home.path())
        .args(["--defs", "defs", "compare", "--paired", "two.toml", "--content", "page.txt", "--for", &time])
        .args(["--php", "./php-a", "--php", "./php-b", "--json"])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(ran.status.success(), "weigh compare ended with {}", ran.status);
    let found: Value = serde_json::from_slice(&ran.stdout)?;
    let rows = found["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    for metric in ["encode", "decode"] {
        let row = rows.iter().find(|row| row["metric"] == metric);
        let name = format!("2% more work, interleaved for {minutes} minutes, {metric}");
        let Some(row) = row else {
            targets.missing(&name, "there is no result", "found");
            continue;
        };
        let end = |name: &str| row["ratio"][name].as_f64().unwrap_or(f64::NAN);
        let measured = format!(
            "{:.4} [{:.4}, {:.4}], {}",
            end("value"),
            end("low"),
            end("high"),
            row["ratio"]["rounds"]
        );
        targets.line(&name, &format!("{measured} rounds"), "found", row["verdict"] == "worse");
    }
    Ok(())
}

/// Text that compresses about as a page does.
fn text(bytes: usize) -> String {
    let words = [
        "the", "page", "that", "a", "reader", "asks", "for", "is", "sent", "encoded", "by", "server", "or",
        "script",
    ];
    let mut state = 1u64;
    let mut text = String::new();
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(words[(state >> 33) as usize % words.len()]);
        text.push(if state >> 60 == 0 { '\n' } else { ' ' });
    }
    text
}

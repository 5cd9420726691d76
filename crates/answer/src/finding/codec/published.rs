//! The published table: where it agrees with these measurements, and what it understates.

use super::*;

/// Published and measured figures that differ by less than this share agree: they come from different machines,
/// versions and content.
const AGREES: f64 = 0.15;

pub fn agreement(evidence: &Evidence) -> Vec<Draft> {
    let Some(published) = &evidence.report.exhibits.published_levels else { return Vec::new() };
    let rows = published.rows.as_slice();
    let here = format!("here{}", label::on_runtime(evidence, &published.runtime));
    let cite = evidence.plan.study.published.as_ref().map(|published| published.cite.as_str());
    let mut drafts =
        vec![decompression(rows, &here, cite.filter(|c| !c.is_empty()).unwrap_or("The published table"))];
    drafts.extend(ratios(rows, &here));
    drafts.extend(cost_of_the_highest(evidence, rows));
    drafts
}

fn ids(rows: &[LevelComparison]) -> Vec<String> {
    rows.iter().map(|r| r.cell.clone()).collect()
}

/// The row of the library's default level, or the middle one.
fn middle(rows: &[LevelComparison]) -> &LevelComparison {
    rows.iter().find(|r| r.published.level == 6).unwrap_or(&rows[rows.len() / 2])
}

fn decompression(rows: &[LevelComparison], here: &str, cite: &str) -> Draft {
    let row = middle(rows);
    let text = format!(
        "{cite} divides compressed bytes by decompression time. Its {} at level {} are {} uncompressed; {here} {}.",
        units::mb_s(row.published.decompress_mb_s_published),
        row.published.level,
        units::mb_s(row.decompress_mb_s_corrected),
        units::mb_s(row.decompress_mb_s),
    );
    Draft::lead(text, vec![row.cell.clone()])
}

fn ratios(rows: &[LevelComparison], here: &str) -> Option<Draft> {
    let (first, last) = (rows.first()?, rows.last()?);
    let difference = |r: &LevelComparison| r.ratio / r.published.ratio - 1.0;
    let furthest = rows.iter().max_by(|a, b| difference(a).abs().total_cmp(&difference(b).abs()))?;
    let numbers = match rows {
        [one] => format!("level {}", one.published.level),
        _ => format!("levels {} to {}", first.published.level, last.published.level),
    };
    let levels = |of: fn(&LevelComparison) -> f64| {
        if rows.len() == 1 {
            units::significant(of(first))
        } else {
            format!("{} to {}", units::significant(of(first)), units::significant(of(last)))
        }
    };
    let most = units::percent(difference(furthest).abs());
    let verdict = match furthest.published.level {
        _ if difference(furthest).abs() < AGREES => format!("they agree within {most}"),
        level => {
            let word = if difference(furthest) < 0.0 { "lower" } else { "higher" };
            format!("up to {most} {word} (level {level})")
        }
    };
    let text = format!(
        "Published compression ratios for {numbers} are {}, {here} {}: {verdict}.",
        levels(|r| r.published.ratio),
        levels(|r| r.ratio),
    );
    Some(Draft::detail(text, ids(rows)))
}

/// The cost of the highest level compared with the default one: a ratio of times, which is similar on different
/// machines.
fn cost_of_the_highest(evidence: &Evidence, rows: &[LevelComparison]) -> Option<Draft> {
    let (low, high) = (middle(rows), rows.last()?);
    if low.published.level >= high.published.level {
        return None;
    }
    let cost = |level: &LevelComparison| {
        let row = evidence.report.row(&level.cell)?;
        row.get(COMPRESS).or_else(|| row.get(ENCODE))
    };
    let here = ratio(cost(high)?, cost(low)?)?;
    let published = low.published.compress_mb_s / high.published.compress_mb_s;
    let agree =
        (here.value / published - 1.0).abs() < AGREES || (here.low <= published && published <= here.high);
    let text = format!(
        "Level {} takes {} the time of level {} as published, and {} here: they {}.",
        high.published.level,
        units::times(published),
        low.published.level,
        units::times_interval(here.value, here.low, here.high),
        if agree { "agree" } else { "disagree" },
    );
    Some(Draft::detail(text, vec![low.cell.clone(), high.cell.clone()]))
}

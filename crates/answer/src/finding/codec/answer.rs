//! What to use at which link speed and value size, in as few rules as hold.
//!
//! Naming the best setting of every value at every speed makes a table, not an answer, and its best is often
//! ahead by less than noise. So the rules are sought that stay near the best: payloads in order of item size
//! are drawn together into bands, and the speeds of a band into ranges with one setting each, as long as that
//! setting's total is within a tolerance of the best total of every payload at every speed. The tolerance is the
//! smallest tried that needs few bands. It was kept by the figures that the rule was chosen by, which says too little of
//! the truth; the sentence states what the rule's regret is at most, with 95% confidence, over drawings of the rounds.

use weigh_stats::{CONFIDENCE, Choice, Chosen, ROUNDS, drawn_figures, regret_bound, regret_by_figures};

use super::*;
use crate::estimate::QUANTILE;

/// Tolerances tried, as factors of the best total.
const TOLERANCES: [f64; 3] = [1.05, 1.10, 1.20];

/// Payloads that are named one by one.
const LISTED: usize = 4;

/// The number of bands that still makes a rule.
const FEW_BANDS: usize = 3;

/// A setting with its serializer: what payloads have in common.
type Key<'a> = (Option<&'a str>, &'a Setting);

/// One payload: for each setting the total ÷ the best total, by speed, with the cell's id.
struct Table<'a> {
    group: &'a Group,
    behind: BTreeMap<Key<'a>, (Vec<f64>, &'a str)>,
    /// The settings that may be best, and by what factor the true cost of each differs in each drawing.
    lines: Vec<Line<'a>>,
    drawn: Vec<Vec<f64>>,
    /// Settings measured, those beaten beyond doubt too.
    measured: usize,
}

/// Payloads that follow one rule: settings with the range of speeds (places, inclusive) that each holds.
struct Band<'a, 't> {
    tables: Vec<&'t Table<'a>>,
    ranges: Vec<(Key<'a>, usize, usize)>,
}

pub fn rules(evidence: &Evidence) -> Vec<Draft> {
    let (Some(mix), speeds) = (usual_mix(evidence), speeds(evidence)) else { return Vec::new() };
    if speeds.is_empty() {
        return Vec::new();
    }
    let mut drafts = Vec::new();
    for (runtime, groups) in by_runtime(evidence) {
        let mut tables: Vec<Table> = groups
            .iter()
            .map(|group| table(evidence, group, mix, &speeds))
            .filter(|table| table.behind.len() > 1)
            .collect();
        draw(&mut tables, evidence.plan.seed);
        let bands = rule(&tables, speeds.len());
        // Large values are where a choice costs most.
        for band in bands.iter().rev() {
            drafts.push(sentence(evidence, band, runtime, mix, &speeds));
        }
    }
    drafts
}

fn table<'a>(evidence: &Evidence<'a>, group: &'a Group, mix: Mix, speeds: &[f64]) -> Table<'a> {
    let lines = lines(evidence, group, mix);
    let best: Vec<f64> =
        speeds.iter().map(|s| smallest(&lines, *s).map_or(f64::NAN, |line| line.total(*s))).collect();
    let behind = candidates(&lines)
        .map(|line| {
            let cell = &line.row.cell;
            let behind = speeds.iter().zip(&best).map(|(s, best)| line.total(*s) / best).collect();
            ((cell.serializer.as_deref(), &cell.setting), (behind, cell.id.as_str()))
        })
        .collect();
    let measured = lines.len();
    let lines = lines.into_iter().filter(|line| line.candidate).collect();
    Table { group, behind, lines, drawn: Vec::new(), measured }
}

/// Draws what the costs of all tables could be: together, because their rounds are the same.
fn draw(tables: &mut [Table], seed: u64) {
    let lines = tables.iter().flat_map(|table| &table.lines);
    let units: Vec<Vec<(u32, f64)>> = lines.map(|line| line.cost.drawn_rounds().to_vec()).collect();
    let mut drawn = drawn_figures(&units, QUANTILE, seed).into_iter();
    for table in tables {
        table.drawn = drawn.by_ref().take(table.lines.len()).collect();
    }
}

/// What a band's rule is measured by: per table what could be chosen, and what was at each speed.
fn chosen<'t>(band: &'t Band, speeds: &[f64]) -> Vec<Chosen<'t>> {
    let of_table = |table: &&'t Table| {
        let choice = |(line, drawn): (&Line, &'t Vec<f64>)| Choice {
            figure: line.cost.value,
            drawn,
            known: speeds.iter().map(|speed| line.transfer(*speed)).collect(),
        };
        let made =
            band.ranges.iter().filter_map(|(key, first, last)| Some((table.place(key)?, last - first + 1)));
        Chosen {
            all: table.lines.iter().zip(&table.drawn).map(choice).collect(),
            made: made.flat_map(|(place, speeds)| std::iter::repeat_n(place, speeds)).collect(),
        }
    };
    band.tables.iter().map(of_table).collect()
}

/// `8%` and ` (95% confidence)`; by the figures alone where there are too few rounds for it.
fn regret(band: &Band, speeds: &[f64]) -> (String, String) {
    let chosen = chosen(band, speeds);
    let rounds = |table: &Table, key: &Key| Some(table.lines[table.place(key)?].cost.drawn_rounds().len());
    let keys = band.ranges.iter().map(|(key, ..)| key);
    let all = keys.flat_map(|key| band.tables.iter().filter_map(move |table| rounds(table, key)));
    let fewest = all.min().unwrap_or(0);
    let bound = regret_bound(&chosen).filter(|_| fewest >= ROUNDS);
    // Never less than what it is.
    let percent = |share: f64| units::percent((share * 100.0 - 1e-9).ceil().max(1.0) / 100.0);
    match bound {
        Some(bound) => (percent(bound), format!(" ({} confidence)", units::percent(CONFIDENCE))),
        None => (percent(regret_by_figures(&chosen)), ", by figures of too few rounds to be sure".to_owned()),
    }
}

impl Table<'_> {
    /// The place of a setting's line.
    fn place(&self, key: &Key) -> Option<usize> {
        let (_, id) = self.behind.get(key)?;
        self.lines.iter().position(|line| line.row.id() == *id)
    }
}

/// The bands at the smallest tolerance that needs few of them.
fn rule<'a, 't>(tables: &'t [Table<'a>], speeds: usize) -> Vec<Band<'a, 't>> {
    let mut last = Vec::new();
    for tolerance in TOLERANCES {
        last = bands(tables, tolerance, speeds);
        if last.len() <= FEW_BANDS {
            break;
        }
    }
    last
}

/// Draws neighbours in size together while a common rule needs no more settings than one of them alone.
fn bands<'a, 't>(tables: &'t [Table<'a>], tolerance: f64, speeds: usize) -> Vec<Band<'a, 't>> {
    let mut bands: Vec<Band> = Vec::new();
    let mut allowed = 0;
    for table in tables {
        let Some(alone) = ranges(&[table], tolerance, speeds) else { continue };
        if let Some(band) = bands.last_mut() {
            let together: Vec<&Table> = band.tables.iter().copied().chain([table]).collect();
            let common = ranges(&together, tolerance, speeds);
            if let Some(ranges) = common.filter(|common| common.len() <= allowed.max(alone.len())) {
                allowed = allowed.max(alone.len());
                *band = Band { tables: together, ranges };
                continue;
            }
        }
        allowed = alone.len();
        bands.push(Band { tables: vec![table], ranges: alone });
    }
    bands
}

/// The fewest settings that cover all speeds within the tolerance: from the slowest link on, always the one
/// that reaches furthest, and of these the one that is never far behind.
fn ranges<'a>(tables: &[&Table<'a>], tolerance: f64, speeds: usize) -> Option<Vec<(Key<'a>, usize, usize)>> {
    let first = tables.first()?;
    let common = || first.behind.keys().filter(|key| tables.iter().all(|t| t.behind.contains_key(*key)));
    let worst = |key: &Key<'a>, at: usize| {
        tables.iter().filter_map(|t| t.behind.get(key)).map(|(behind, _)| behind[at]).fold(0.0, f64::max)
    };
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < speeds {
        let reach = |key: &Key<'a>| (at..speeds).take_while(|i| worst(key, *i) <= tolerance).count();
        let furthest = common().map(reach).max().filter(|reach| *reach > 0)?;
        let farthest_behind = |key: &Key<'a>| (at..at + furthest).map(|i| worst(key, i)).fold(0.0, f64::max);
        let key = common()
            .filter(|key| reach(key) == furthest)
            .min_by(|a, b| farthest_behind(a).total_cmp(&farthest_behind(b)))?;
        ranges.push((*key, at, at + furthest - 1));
        at += furthest;
    }
    Some(ranges)
}

fn sentence(evidence: &Evidence, band: &Band, runtime: &str, mix: Mix, speeds: &[f64]) -> Draft {
    let choices: Vec<String> = band
        .ranges
        .iter()
        .map(|((serializer, setting), first, last)| {
            format!("{} {}", label::cell(*serializer, setting), speed_range(speeds, *first, *last))
        })
        .collect();
    let settings = band.tables.iter().map(|t| t.measured).min().unwrap_or(0);
    let payloads = match band.tables.len() {
        1 => String::new(),
        _ => " for every one of them".to_string(),
    };
    let every = if speeds.len() > 1 { " at every speed" } else { "" };
    let (within, sure) = regret(band, speeds);
    let text = format!(
        "{}{}, {}: {}. Within {within} of the best of the {} measured{every}{payloads}{sure}; computed from {}; {}.",
        subject(evidence, band),
        label::on_runtime(evidence, runtime),
        mix_label(mix),
        choices.join("; "),
        units::count(settings, "setting", "settings"),
        measured_parts(evidence),
        evidence.plan.study.links.as_ref().map(stored_by).unwrap_or_default()
    );
    let cells = band
        .ranges
        .iter()
        .flat_map(|(key, _, _)| {
            band.tables.iter().filter_map(|t| t.behind.get(key)).map(|(_, id)| (*id).to_string())
        })
        .collect();
    Draft::lead(text, cells)
}

/// `For tree-2.4m (2.46 MB)`, `For values of 1 KB to 16 KB (rows-1k, i18n-one and rows-4k)`, `… (18 payloads)`.
fn subject(evidence: &Evidence, band: &Band) -> String {
    let names: Vec<&str> = band.tables.iter().map(|t| t.group.payload()).collect();
    let sizes: Vec<f64> = band.tables.iter().map(|t| item_bytes(evidence, t.group) as f64).collect();
    let size = label::range(&sizes, |bytes| units::bytes(bytes as u64));
    if let [name] = names[..] {
        return format!("For {name} ({size})");
    }
    let listed =
        if names.len() <= LISTED { units::list(&names) } else { format!("{} payloads", names.len()) };
    let values = names.iter().all(|name| evidence.report.payload(name).is_some_and(|p| p.value.is_some()));
    format!("For {} of {size} ({})", if values { "values" } else { "content" }, listed)
}

fn speed_range(speeds: &[f64], first: usize, last: usize) -> String {
    let (from, to) = (units::mbit(speeds[first]), units::mbit(speeds[last]));
    match (first == 0, last + 1 == speeds.len()) {
        (true, true) if first == last => format!("at {from}"),
        (true, true) => format!("on every link from {from} to {to}"),
        (true, false) => format!("on links up to {to}"),
        (false, true) => format!("from {from} on"),
        (false, false) if first == last => format!("at {from}"),
        (false, false) => format!("from {from} to {to}"),
    }
}

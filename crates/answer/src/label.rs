//! Names of settings, contents and places in sentences.

use weigh_model::cell::Cell;
use weigh_model::setting::Setting;
use weigh_model::units;

use crate::document::group::is_synthetic;
use crate::metric::codec::IDENTITY;
use crate::report::finding::Evidence;
use crate::row::Row;
use crate::verdict::{Confidence, Ratio};

/// `zstd 3`, `zlib 6 (memlevel=9)`, `no compression`.
pub fn setting(setting: &Setting) -> String {
    if setting.codec == IDENTITY {
        return "no compression".to_string();
    }
    let mut text = setting.codec.clone();
    if let Some(level) = setting.level {
        text.push_str(&format!(" {level}"));
    }
    if !setting.options.is_empty() {
        let options: Vec<String> =
            setting.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        text.push_str(&format!(" ({})", options.join(", ")));
    }
    text
}

/// A name as its owner writes it: `Apache`, `X-Sendfile`, `Redis`; others as they are.
pub fn owned(name: &str) -> &str {
    OWNED.iter().find(|(known, _)| *known == name).map_or(name, |(_, owned)| owned)
}

const OWNED: [(&str, &str); 9] = [
    ("apache", "Apache"),
    ("caddy", "Caddy"),
    ("x-sendfile", "X-Sendfile"),
    ("x-accel-redirect", "X-Accel-Redirect"),
    ("redis", "Redis"),
    ("valkey", "Valkey"),
    ("memcached", "Memcached"),
    ("aerospike", "Aerospike"),
    ("apcu", "APCu"),
];

/// `PHP 8.2`, `PHP 8.2 with JIT`; a name that is none of PHP's as it is.
pub fn runtime(name: &str) -> String {
    let (php, with) = name.split_once('+').unwrap_or((name, ""));
    let php = match php.strip_prefix("php") {
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => format!("PHP {version}"),
        _ => php.to_owned(),
    };
    let with = if with == "jit" { "JIT" } else { with };
    if with.is_empty() { php } else { format!("{php} with {with}") }
}

/// With the serializer: `igbinary with zstd 3`, `igbinary alone`, `zstd 3` for bytes.
pub fn cell(serializer: Option<&str>, of: &Setting) -> String {
    match serializer {
        None => setting(of),
        Some(serializer) if of.codec == IDENTITY => format!("{serializer} alone"),
        Some(serializer) => format!("{serializer} with {}", setting(of)),
    }
}

/// As [`cell`], of a whole cell.
pub fn of_cell(of: &Cell) -> String {
    cell(of.serializer.as_deref(), &of.setting)
}

/// Several settings, codec by codec in the order given: `zstd 1 to 5 and brotli 2`.
pub fn several(rows: &[&Row]) -> String {
    let mut parts: Vec<(String, Vec<i32>)> = Vec::new();
    for row in rows {
        let of = &row.cell.setting;
        match of.level.filter(|_| of.options.is_empty()) {
            Some(level) => {
                match parts.iter_mut().find(|(codec, levels)| *codec == of.codec && !levels.is_empty()) {
                    Some((_, levels)) => levels.push(level),
                    None => parts.push((of.codec.clone(), vec![level])),
                }
            }
            None => parts.push((setting(of), Vec::new())),
        }
    }
    let words: Vec<String> = parts
        .into_iter()
        .map(|(codec, all)| if all.is_empty() { codec } else { format!("{codec} {}", levels(&all)) })
        .collect();
    units::list(&words)
}

/// `1 to 5 and 9`: runs of three and more are drawn together.
pub fn levels(levels: &[i32]) -> String {
    let mut levels = levels.to_vec();
    levels.sort_unstable();
    levels.dedup();
    let mut words: Vec<String> = Vec::new();
    for run in levels.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => words.push(format!("{first} to {last}")),
            few => words.extend(few.iter().map(i32::to_string)),
        }
    }
    units::list(&words)
}

/// A payload's name; content that is not real is called so.
pub fn content(evidence: &Evidence, name: &str) -> String {
    let is_synthetic = evidence.report.payload(name).is_some_and(is_synthetic);
    format!("{name}{}", if is_synthetic { " (synthetic)" } else { "" })
}

/// ` (php8.2)` where the plan has several runtimes, else nothing.
pub fn on_runtime(evidence: &Evidence, runtime: &str) -> String {
    if evidence.plan.runtimes.len() > 1 { format!(" ({runtime})") } else { String::new() }
}

/// The first few names of a list, and how many more there are.
pub fn some(names: &[String], most: usize) -> String {
    match names.len().saturating_sub(most) {
        0 => units::list(names),
        more => format!("{} and {more} more", names[..most].join(", ")),
    }
}

pub fn seconds(seconds: f64) -> String {
    units::ns(seconds * 1e9)
}

/// `2.1% fewer bytes`, `3% more bytes`, `2.5× the bytes`, `the same bytes`: `ours` beside `theirs`.
pub fn bytes_beside(ours: f64, theirs: f64) -> String {
    if ours == theirs || theirs <= 0.0 {
        return "the same bytes".to_string();
    }
    let change = ours / theirs - 1.0;
    match change.abs() {
        _ if change >= 1.0 => format!("{} the bytes", units::times(ours / theirs)),
        size => format!("{} {} bytes", share(size), if change < 0.0 { "fewer" } else { "more" }),
    }
}

/// A positive share in percent that never reads 0%.
pub fn share(share: f64) -> String {
    if share < 0.0005 { "less than 0.1%".to_string() } else { units::percent(share) }
}

/// A ratio of two costs with its interval: `3.5× (2.7–4.1)`; where it holds 1 `no significant difference (1.06×, 0.894–1.15)`.
pub fn ratio(ratio: &Ratio) -> String {
    if ratio.confidence() == Confidence::TooFewRounds {
        return format!("{} ({})", units::times(ratio.value), Confidence::TooFewRounds.name());
    }
    if ratio.holds_one() {
        let (value, range) = (units::times(ratio.value), units::range(ratio.low, ratio.high));
        return format!("no significant difference ({value}, {range})");
    }
    units::times_interval(ratio.value, ratio.low, ratio.high)
}

/// What a cost changes to by a ratio: `52% less CPU time (44–58%)`, `3.2× the CPU time (2.9–3.5)`, `no significant difference in CPU time (0.89–1.15×)`.
pub fn change(ratio: &Ratio, what: &str) -> String {
    let Ratio { value, low, high, .. } = *ratio;
    if ratio.confidence() == Confidence::TooFewRounds {
        return format!("{} the {what} so far ({})", units::times(value), Confidence::TooFewRounds.name());
    }
    if ratio.holds_one() {
        return format!("no significant difference in {what} ({}×)", units::range(low, high));
    }
    if value >= 2.0 {
        return format!("{} the {what} ({})", units::times(value), units::range(low, high));
    }
    let digits = if high - low < 0.02 { 1 } else { 0 };
    let percent = |share: f64| format!("{:.digits$}", share.abs() * 100.0);
    let ends = [percent(1.0 - low), percent(1.0 - high)];
    let [low, high] = if value < 1.0 { [&ends[1], &ends[0]] } else { [&ends[0], &ends[1]] };
    let word = if value < 1.0 { "less" } else { "more" };
    format!("{}% {word} {what} ({low}–{high}%)", percent(1.0 - value))
}

/// Several costs at once, by their ratios; of one, its [`change`]: `34–64% less CPU time`, `1.2× to 3.5× the CPU
/// time`, `0.98× to 1.3× the CPU time (1 of 3 without significant difference)`.
pub fn changes(ratios: &[Ratio], what: &str) -> String {
    if let [one] = ratios {
        return change(one, what);
    }
    let values: Vec<f64> = ratios.iter().map(|ratio| ratio.value).collect();
    let (range, all) = (range(&values, units::times), ratios.len());
    if ratios.iter().any(|ratio| ratio.confidence() == Confidence::TooFewRounds) {
        return format!("{range} the {what} so far ({})", Confidence::TooFewRounds.name());
    }
    let less: Vec<f64> = values.iter().map(|value| 1.0 - value).collect();
    match ratios.iter().filter(|ratio| ratio.holds_one()).count() {
        0 if less.iter().all(|less| *less > 0.0) => format!("{} less {what}", shares(&less)),
        0 => format!("{range} the {what}"),
        open if open == all => format!("no significant difference in {what} ({range})"),
        open => format!("{range} the {what} ({open} of {all} without significant difference)"),
    }
}

/// The smallest and the largest of some shares: `34–64%`.
pub fn shares(shares: &[f64]) -> String {
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let [least, most] = [least, most].map(units::percent);
    if least == most { least } else { format!("{}–{most}", least.trim_end_matches('%')) }
}

/// The smallest and the largest of some numbers: `0.12× to 0.68×`, or one of them when they read the same.
pub fn range(numbers: &[f64], format: impl Fn(f64) -> String) -> String {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (least, most) = (format(least), format(most));
    if least == most { least } else { format!("{least} to {most}") }
}

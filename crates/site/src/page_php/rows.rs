//! What was measured of each page and PHP, as `site.toml` has it.

use weigh_model::site::{AtRate, PageParts, PhpPage};
use weigh_stats::{FAMILY_WISE, LogRatio, Ratio, Rule, median, quantile};

/// The quantile that stands for the blocks of a start: what else runs on the machine only adds time.
const FIGURE: f64 = 0.1;

/// CPU time of PHP, wall time, and CPU time of the server per request in the blocks of one start, in milliseconds.
pub type Blocks = Vec<[f64; 3]>;

/// A page by one PHP.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub row: PhpPage,
    /// By start; those of all PHPs with the same numbers ran at the same time.
    pub starts: Vec<Blocks>,
    /// The same of the first PHP without a content coding.
    pub plain: Vec<Blocks>,
    /// By start, CPU time per request at the site's rate in milliseconds; none: it was not asked so.
    pub paced: Vec<Option<f64>>,
}

/// CPU time, wall time, CPU time at the site's rate.
const QUANTITIES: [usize; 3] = [0, 1, PACED];
const SERVER: usize = 2;
/// Starts that all say the same by chance once in 256 times.
const MANY: usize = 8;
const PACED: usize = 3;

impl Measured {
    /// By start, one of [`QUANTITIES`]; none: it was not asked in that start.
    fn ms(&self, quantity: usize) -> Vec<Option<f64>> {
        if quantity == PACED {
            return self.paced.clone();
        }
        figures(&self.starts, |block| block[quantity])
    }

    /// What the page takes by part; none: it was not asked for without a content coding.
    fn parts(&self) -> Option<PageParts> {
        let of = |starts: &[Blocks], quantity: fn(&[f64; 3]) -> f64| {
            median(&figures(starts, quantity).into_iter().flatten().collect::<Vec<_>>())
        };
        let waiting = of(&self.starts, |block| block[1] - block[0] - block[SERVER])?.max(0.0);
        let more = |quantity: usize| -> Vec<f64> {
            let [coded, plain] = [&self.starts, &self.plain].map(|all| figures(all, |block| block[quantity]));
            coded.into_iter().zip(plain).filter_map(|(coded, plain)| Some(coded? - plain?)).collect()
        };
        // PHP encodes if it takes more in every one of many starts; else what it takes more or less is chance.
        let is_more = |all: &Vec<f64>| all.len() >= MANY && all.iter().all(|more| *more > 0.0);
        let by_php = Some(more(0)).filter(is_more).and_then(|all| median(&all));
        let encoding = by_php.unwrap_or_default() + median(&more(SERVER))?.max(0.0);
        let [php, server] = [of(&self.starts, |block| block[0])?, of(&self.starts, |block| block[SERVER])?];
        let [php_ms, server_ms, waiting_ms, encoding_ms] =
            [php, server, waiting, encoding].map(|ms| rounded(ms, 1e3));
        Some(PageParts { php_ms, server_ms, waiting_ms, encoding_ms })
    }

    /// By start, this ÷ another.
    fn ratios(&self, other: &Measured, quantity: usize) -> Vec<f64> {
        let pairs = self.ms(quantity).into_iter().zip(other.ms(quantity));
        pairs.filter_map(|(own, other)| Some(own? / other?)).collect()
    }
}

/// What stands for each start; none: it has no block.
fn figures(starts: &[Blocks], of: impl Fn(&[f64; 3]) -> f64) -> Vec<Option<f64>> {
    starts.iter().map(|blocks| quantile(&blocks.iter().map(&of).collect::<Vec<_>>(), FIGURE)).collect()
}

/// The rows of all pages, each with its PHPs, the first of which the others are compared with, and what came at this rate. The correction is for all
/// ratios together.
pub fn rows(mut pages: Vec<Vec<Measured>>, per_second: Option<f64>) -> Vec<PhpPage> {
    for measured in pages.iter_mut().flatten() {
        let cpu_ms = median(&measured.paced.iter().flatten().copied().collect::<Vec<f64>>());
        let at_rate = per_second.zip(cpu_ms).map(|(per_second, cpu_ms)| (per_second, rounded(cpu_ms, 1e3)));
        measured.row.at_rate =
            at_rate.map(|(per_second, cpu_ms)| AtRate { per_second, cpu_ms, cpu_ratio: None });
    }
    let compared = QUANTITIES.map(|quantity| ratios(&pages, quantity));
    let logs = compared.each_ref().map(|all| all.iter().map(|(.., log, _)| *log).collect());
    let rules = Rule::family(&logs, FAMILY_WISE);
    for (quantity, (all, rule)) in QUANTITIES.into_iter().zip(compared.iter().zip(&rules)) {
        for (page, php, log, value) in all {
            let row = &mut pages[*page][*php].row;
            let found = rule.compare_log(log, *value, 1.0).and_then(ends);
            match (quantity, &mut row.at_rate) {
                (0, _) => row.cpu_ratio = found,
                (PACED, Some(at_rate)) => at_rate.cpu_ratio = found,
                (PACED, None) => {}
                _ => row.time_ratio = found,
            }
        }
    }
    let row = |measured: Measured| {
        let of = |quantity| median(&measured.ms(quantity).into_iter().flatten().collect::<Vec<f64>>());
        let [cpu_ms, time_ms] = [0, 1].map(|quantity| of(quantity).map(|ms| rounded(ms, 1e3)));
        let starts = measured.starts.iter().filter(|blocks| !blocks.is_empty()).count() as u32;
        PhpPage { cpu_ms, time_ms, starts, parts: measured.parts(), ..measured.row }
    };
    pages.into_iter().flatten().map(row).collect()
}

/// Page, PHP, logarithms of the ratios to the first PHP's over starts, and their median.
fn ratios(pages: &[Vec<Measured>], quantity: usize) -> Vec<(usize, usize, LogRatio, f64)> {
    let mut all = Vec::new();
    for (page, phps) in pages.iter().enumerate() {
        for (php, measured) in phps.iter().enumerate().skip(1) {
            let ratios = measured.ratios(&phps[0], quantity);
            let log = LogRatio::of(ratios.iter().map(|ratio| (*ratio, 1.0)));
            if let Some((log, value)) = log.zip(median(&ratios)) {
                all.push((page, php, log, value));
            }
        }
    }
    all
}

fn ends(ratio: Ratio) -> Option<[f64; 3]> {
    let all = [ratio.value, ratio.low, ratio.high];
    let is_one = |end: f64| (end - 1.0).abs() < 5e-5;
    // Rounded, an end that excludes 1 still does.
    let digits = if is_one(ratio.low) || is_one(ratio.high) { 1e9 } else { 1e4 };
    all.iter().all(|one| one.is_finite()).then(|| all.map(|one| rounded(one, digits)))
}

fn rounded(number: f64, digits: f64) -> f64 {
    (number * digits).round() / digits
}

#[cfg(test)]
mod tests {
    use weigh_model::site::Brings;

    use super::*;

    /// Starts of two PHPs, of which the second takes `factor` as long; each start has a level of its own.
    fn page(factor: f64, levels: &[f64]) -> Vec<Measured> {
        let start = |factor: f64| -> Vec<Blocks> {
            levels.iter().map(|level| vec![[10.0 * factor * level, 12.0 * level, *level]; 3]).collect()
        };
        let mut apart = start(factor);
        for (at, blocks) in apart.iter_mut().enumerate() {
            let more = if at % 2 == 0 { 1.002 } else { 0.998 };
            blocks.iter_mut().for_each(|[cpu, ..]| *cpu *= more);
        }
        [start(1.0), apart].map(|starts| Measured { starts, ..Measured::default() }).into()
    }

    #[test]
    fn what_all_starts_show_is_said_and_what_a_start_shows_for_itself_is_not() {
        let levels = [1.0, 1.3, 0.8, 1.1, 1.0, 1.2, 0.9, 1.4];
        let mut first = page(0.8, &levels);
        for (measured, ms) in first.iter_mut().zip([30.0, 60.0]) {
            measured.plain = levels.iter().map(|level| vec![[8.0 * level, 9.0, 0.5 * level]]).collect();
            let noise = |at: usize| if at.is_multiple_of(2) { ms / 15e3 } else { ms / -15e3 };
            measured.paced =
                levels.iter().enumerate().map(|(at, level)| Some(ms * level + noise(at) * ms)).collect();
        }
        let rows = rows(vec![first, page(1.0, &levels), page(1.5, &levels[..4])], Some(5.0));
        let brings: Vec<_> = rows.iter().map(PhpPage::brings).collect();
        assert_eq!(brings[..2], [None, Some(Brings::Better)], "{rows:#?}");
        assert_eq!(brings[3], Some(Brings::Same), "{rows:#?}");
        assert_eq!(brings[5], Some(Brings::Undecided), "four starts are not enough: {rows:#?}");
        let at_rate = rows[1].at_rate.as_ref().unwrap();
        assert!(
            at_rate.per_second == 5.0
                && at_rate.cpu_ratio.is_some_and(|[value, low, _]| (1.9..2.1).contains(&value) && low > 1.5),
            "{rows:#?}"
        );
        assert_eq!(rows[3].at_rate, None);
        let parts = PageParts { php_ms: 10.5, server_ms: 1.05, waiting_ms: 1.05, encoding_ms: 2.625 };
        assert_eq!(rows[0].parts, Some(parts));
        assert_eq!((rows[0].cpu_ms, rows[0].cpu_ratio, rows[0].starts), (Some(10.5), None, 8));
    }
}

//! The site's pages by PHP: what fails comes first, then a row for each page and PHP, then in what pages differ.

use weigh_answer::table::{Cell, Column, Grid, Kind as Form, Sheet, Tone};
use weigh_model::site::{Brings, PhpPage, SAME, Site};
use weigh_model::text::clean;
use weigh_model::units::{self, count};

use super::screen::{WIDTH, and_others, wrapped};

/// The part of a screen; empty if PHPs were not compared.
pub fn render(site: &Site) -> String {
    let all = &site.page_php;
    let Some(first) = all.first() else { return String::new() };
    let fails = all.iter().filter_map(|row| Some(format!("{}: {}.", by(row), row.problem.as_deref()?)));
    let mut text: String = fails.map(|line| wrapped(&[&clean(&line)])).collect();
    text += &format!("Pages by PHP\n{}\n", table(all).trim_end());
    let starts = all.iter().map(|row| row.starts).max().unwrap_or_default();
    let about = format!(
        "CPU time of all processes of PHP per request, beside PHP {}; {}. Same: within {}.",
        clean(&first.php),
        count(starts as usize, "start of each", "starts of each"),
        units::percent(SAME)
    );
    text += &wrapped(&[&about]);
    text += &all.iter().filter_map(parts).map(|line| wrapped(&[&line])).collect::<String>();
    text += &paced(all);
    let mut logged: Vec<(&PhpPage, &str, usize)> = Vec::new();
    for row in all.iter().filter(|row| row.problem.is_none()) {
        let differs = row.differs.iter().map(|what| format!("{}: {what}.", by(row)));
        text += &differs.map(|line| wrapped(&[&clean(&line)])).collect::<String>();
        if let Some(what) = &row.logs {
            match logged.iter_mut().find(|(first, known, _)| first.php == row.php && known == what) {
                Some((.., more)) => *more += 1,
                None => logged.push((row, what, 0)),
            }
        }
    }
    for (row, what, more) in logged {
        let line = format!("{}{} by PHP {}, in its log: {what}.", row.page, and_others(more), row.php);
        text += &wrapped(&[&clean(&line)]);
    }
    let mut without: Vec<&str> =
        all.iter().filter(|row| row.opcache == Some(false)).map(|row| row.php.as_str()).collect();
    without.dedup();
    if !without.is_empty() {
        text += &wrapped(&[&format!("Without OPcache: PHP {}.", clean(&units::list(&without)))]);
    }
    text + "\n"
}

/// What a page takes by part.
fn parts(row: &PhpPage) -> Option<String> {
    let parts = row.parts.as_ref()?;
    let [php, server, waiting, encoding] =
        [parts.php_ms, parts.server_ms, parts.waiting_ms, parts.encoding_ms].map(|ms| units::ns(ms * 1e6));
    let page = clean(&row.page);
    Some(format!(
        "{page}: PHP computes {php} and waits {waiting}, the server computes {server}; {encoding} of it encode."
    ))
}

/// What the first page takes at the site's rate; empty: it was not asked so.
fn paced(all: &[PhpPage]) -> String {
    let of = |row: &PhpPage| {
        let rate = row.at_rate.as_ref()?;
        let ratio = rate
            .cpu_ratio
            .map(|[value, low, high]| format!(" ({})", units::times_interval(value, low, high)));
        Some(format!("{} by PHP {}{}", units::ns(rate.cpu_ms * 1e6), row.php, ratio.unwrap_or_default()))
    };
    let by_php: Vec<String> = all.iter().filter_map(of).collect();
    let Some((row, rate)) = all.iter().find_map(|row| Some((row, row.at_rate.as_ref()?))) else {
        return String::new();
    };
    let rate = units::trimmed_number(rate.per_second);
    wrapped(&[&clean(&format!(
        "{} at {rate} requests per second, which come at random: CPU time {}.",
        row.page,
        by_php.join(", ")
    ))])
}

/// `/about by PHP 8.4.24`.
fn by(row: &PhpPage) -> String {
    format!("{} by PHP {}", row.page, row.php)
}

/// A line per page and PHP.
fn table(all: &[PhpPage]) -> String {
    let mut grid = Grid::new(vec![
        Column::factor("page", "", Form::Text),
        Column::factor("PHP", "", Form::Text),
        Column::factor("CPU", "ms", Form::Three),
        Column::factor("ratio", "", Form::Text),
        Column::factor("time", "ms", Form::Three),
        Column::factor("", "", Form::Text),
    ]);
    let mut before = "";
    for row in all {
        let ratio = row.cpu_ratio.map(|[value, low, high]| units::times_interval(value, low, high));
        let verdict = match row.problem {
            Some(_) => "fails",
            None => row.brings().map_or("", Brings::name),
        };
        let page = if before == row.page { String::new() } else { clean(&row.page) };
        before = &row.page;
        grid.push(
            Tone::Plain,
            vec![
                page.into(),
                clean(&row.php).into(),
                Cell::Number(row.cpu_ms),
                ratio.unwrap_or_default().into(),
                Cell::Number(row.time_ms),
                verdict.into(),
            ],
        );
    }
    grid.draw(&Sheet::plain(WIDTH.min(crate::terminal::width())))
}

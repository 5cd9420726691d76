//! What `weigh site` says: how much was looked at, a line per kind of content, what is assumed, and what to type next.

use std::path::Path;

use super::{by_php, worker};
use weigh_answer::page_load::PredictedLoad;
use weigh_answer::table::{Cell, Column, Grid, Kind as Form, Sheet, Tone};
use weigh_model::page::Visit;
use weigh_model::site::{Figure, From, Kind, Site, Stratum};
use weigh_model::text::{clean, clean_path};
use weigh_model::units::{self, count};
use weigh_site::Looked;
use weigh_site::here::FoundSoftware;

/// Columns of the screen.
pub(super) const WIDTH: usize = 80;
/// Seconds that a cache holds pages, of those in the site's file.
const SHORT: u64 = 10;
const LONG: u64 = 300;

/// The screen after a look.
pub fn render_screen(looked: &Looked, out: &Path) -> String {
    let site = &looked.site;
    let mut text = wrapped(&[&facts(looked)]) + "\n" + table(site).trim_end() + "\n\n";
    if !looked.loads.is_empty() {
        text += &format!("{}\n", loads(&looked.loads).trim_end());
        text += &wrapped(&[
            "\nPredicted from loads in Chromium here, for a first visit; --json has repeated ones. Mostly within 10% over slow links; over fast ones a load differs by more from the next.\n",
        ]);
    }
    if site.strata.iter().any(|s| s.kind != Kind::Value && s.sent_bytes.is_none()) {
        text += match site.sources.logs.is_empty() {
            true => "GB/month is uncompressed: give --log for the real figure.\n\n",
            false => "GB/month is uncompressed where the log tells no bytes.\n\n",
        };
    }
    for (kind, flag) in [
        (Kind::Asset, "--docroot or --url"),
        (Kind::Page, "--url or --render"),
        (Kind::Download, "--docroot"),
    ] {
        let mut strata = site.of(kind).filter(|stratum| stratum.requests.value > 0.0).peekable();
        if strata.peek().is_some() && strata.all(|stratum| stratum.sample.is_empty()) {
            text += &format!("No sample of {}: they cannot be measured; give {flag}.\n\n", kind.plural());
        }
    }
    text += &by_php::render(site);
    text += &worker::render(site);
    text += &page_cache(site).map(|line| wrapped(&[&line]) + "\n").unwrap_or_default();
    text += &refused(site).iter().map(|line| wrapped(&[line])).collect::<String>();
    if let Some(front) = &site.sources.front {
        text += &wrapped(&[&format!("In front of the server: {}.", clean(front))]);
        text.push('\n');
    }
    let assumed = units::list(&assumed(site));
    let kept = looked.facts.kept;
    let kept = if kept == 0 {
        String::new()
    } else {
        format!("Kept {}. ", count(kept, "figure of yours", "figures of yours"))
    };
    let wrote = format!("Wrote {}. {kept}Assumed (edit it): {assumed}.", clean_path(out));
    text + &wrapped(&[&wrote, "Next: weigh advise"])
}

/// What was looked at, in a sentence.
fn facts(looked: &Looked) -> String {
    let facts = &looked.facts;
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    if facts.files > 0 {
        parts.push(count(whole(facts.files), "file", "files"));
    }
    if let Some((requests, days, unreadable)) = facts.log {
        let days = units::trimmed_number(days);
        let unreadable = count(whole(unreadable), "line", "lines");
        let requests = count(whole(requests), "request", "requests");
        parts.push(format!("{requests} of {days} days ({unreadable} unreadable)"));
    }
    if facts.pages > 0 {
        parts.push(count(facts.pages, "page", "pages"));
    }
    if let Some((seen, all)) = facts.values {
        parts.push(format!(
            "{} of {}",
            units::trimmed_number(seen as f64),
            count(whole(all), "cached value", "cached values")
        ));
    }
    let samples: usize = looked.site.strata.iter().map(|stratum| stratum.sample.len()).sum();
    let stand = match samples {
        0 => "nothing can be measured as a sample".to_owned(),
        _ => format!("{samples} will be measured as a sample"),
    };
    format!("Found {}; {stand}.", units::list(&parts))
}

/// A line per kind of content.
fn table(site: &Site) -> String {
    let mut grid = Grid::new(vec![
        Column::factor("kind", "", Form::Text),
        Column::factor("files", "", Form::Whole),
        Column::factor("requests/month", "", Form::Text),
        Column::factor("GB/month", "", Form::Three),
        Column::factor("today", "", Form::Text),
    ]);
    for kind in Kind::ALL {
        let strata: Vec<&Stratum> = site.of(kind).collect();
        if strata.is_empty() {
            continue;
        }
        let sum = |figure: fn(&Stratum) -> f64| strata.iter().map(|stratum| figure(stratum)).sum::<f64>();
        let today = site.today(kind).map_or("unknown".into(), |today| clean(&today.about));
        grid.push(
            Tone::Plain,
            vec![
                kind.plural().into(),
                Cell::Number(Some(sum(|stratum| stratum.files.value))),
                amount(sum(|stratum| stratum.requests.value)).into(),
                Cell::Number(
                    strata.iter().copied().map(traffic).sum::<Option<f64>>().map(|bytes| bytes / 1e9),
                ),
                today.into(),
            ],
        );
    }
    grid.draw(&Sheet::plain(WIDTH.min(crate::terminal::width())))
}

/// What a cache of pages would have answered, for a short and a long life of what it holds.
fn page_cache(site: &Site) -> Option<String> {
    let of = |seconds: u64| site.page_cache.iter().find(|one| one.seconds == seconds);
    let (short, long) = (of(SHORT)?, of(LONG)?);
    let held =
        long.megabytes.map(|all| format!(", and held {} MB", units::trimmed_number(all))).unwrap_or_default();
    let at_most = if long.at_most { "at most " } else { "" };
    let may = site.cacheable.iter().filter(|page| page.refused.is_none()).count();
    let all = count(site.cacheable.len(), "page", "pages");
    let asked = match (may, site.cacheable.len()) {
        (_, 0) => "Whether pages may be held was not asked (--page-cache).".to_owned(),
        (0, _) => format!("None of {all} may be held."),
        _ => format!("{may} of {all} may be held: they were the same for all who asked."),
    };
    Some(format!(
        "A cache in front of PHP would have answered {at_most}{} of its requests if it held pages for {}, {} for {}{held}. {asked}",
        units::percent(short.hits),
        units::ns(SHORT as f64 * 1e9),
        units::percent(long.hits),
        units::ns(LONG as f64 * 1e9),
    ))
}

/// ` and 2 other pages`; empty: there is none.
pub fn and_others(pages: usize) -> String {
    if pages > 0 { format!(" and {}", count(pages, "other page", "other pages")) } else { String::new() }
}

/// Why pages may not be held, each reason once with its first page and what it was seen by there.
fn refused(site: &Site) -> Vec<String> {
    let mut all: Vec<(&str, &str, &str, usize)> = Vec::new();
    for page in &site.cacheable {
        let Some(why) = &page.refused else { continue };
        let reason = why.split(": line ").next().unwrap_or_default();
        match all.iter_mut().find(|one| one.0 == reason) {
            Some(one) => one.3 += 1,
            None => all.push((reason, why, &page.page, 0)),
        }
    }
    let told = |(_, why, page, more): &(&str, &str, &str, usize)| {
        let more = and_others(*more);
        format!("Not to be held: {}{more}: {}.", clean(page), clean(why))
    };
    all.iter().map(told).collect()
}

/// A line per page, link and protocol.
fn loads(all: &[PredictedLoad]) -> String {
    let mut grid = Grid::new(vec![
        Column::factor("page", "", Form::Text),
        Column::factor("link", "", Form::Text),
        Column::factor("protocol", "", Form::Text),
        Column::factor("FCP", "s", Form::Fixed(2)),
        Column::factor("LCP", "s", Form::Fixed(2)),
        Column::factor("load", "s", Form::Fixed(2)),
    ]);
    for load in all.iter().filter(|load| load.visit == Visit::First) {
        let seconds = |ms: f64| Cell::Number(Some(ms / 1e3));
        grid.push(
            Tone::Plain,
            vec![
                clean(&load.page).into(),
                clean(&load.link).into(),
                load.protocol.name().into(),
                seconds(load.load.fcp_ms),
                seconds(load.load.lcp_ms),
                seconds(load.load.load_ms),
            ],
        );
    }
    grid.draw(&Sheet::plain(WIDTH.min(crate::terminal::width())))
}

/// Bytes per month; none: of values, and where neither what was sent is known nor how large it is.
fn traffic(stratum: &Stratum) -> Option<f64> {
    let mean = stratum.bytes.value / stratum.files.value.max(1.0);
    let whole = || (mean > 0.0 || stratum.requests.value == 0.0).then_some(mean * stratum.requests.value);
    stratum.sent_bytes.map(|sent| sent.value).or_else(whole).filter(|_| stratum.kind != Kind::Value)
}

/// `2.3 M`, `800 k`, `12`.
fn amount(number: f64) -> String {
    match number {
        0.0..1e4 => units::trimmed_number(number.round()),
        1e4..1e6 => format!("{} k", units::trimmed_number(number / 1e3)),
        _ => format!("{} M", units::trimmed_number(number / 1e6)),
    }
}

/// What is assumed, in the words of the file.
fn assumed(site: &Site) -> Vec<&'static str> {
    let visitors = &site.visitors;
    let is = |from: From| from == From::Assumed;
    let any = |figures: &[&Figure]| figures.iter().any(|figure| is(figure.from));
    let requests = |kind: Kind| site.of(kind).any(|stratum| is(stratum.requests.from));
    let (prices, limits) = (&site.prices, &site.limits);
    let all = [
        ("page views", visitors.page_views.is_some_and(|views| is(views.from))),
        ("requests per page view", requests(Kind::Asset)),
        ("downloads", requests(Kind::Download)),
        ("reads of values", requests(Kind::Value)),
        ("today", site.today.iter().any(|one| one.kind != Kind::Download && is(one.from))),
        ("visitors' codings", visitors.accept.iter().any(|one| is(one.from))),
        ("links", visitors.links.iter().any(|one| is(one.from))),
        ("connections", is(visitors.new_connections.from)),
        ("devices", is(visitors.slower_devices.from)),
        ("prices", any(&[&prices.core_hour, &prices.gb_out, &prices.gb_month, &prices.visitor_second])),
        ("limits", any(&[&limits.peak_share, &limits.first_byte_ms])),
    ];
    all.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect()
}

/// What would be looked at, and the command that does it.
pub fn here(found: &FoundSoftware) -> String {
    let mut text = String::new();
    let mut runs: Vec<&str> = found.servers.clone();
    runs.extend(found.fpm.then_some("PHP-FPM"));
    if !runs.is_empty() {
        text += &format!("Running here: {}.\n", units::list(&runs));
    }
    if found.is_empty() {
        return text
            + "No web server's configuration, access log or document root is at its usual place.\n\
               Say where to look:\n  weigh site --docroot DIR --url http://localhost/\n";
    }
    text += "Nothing was read yet. This could be looked at:\n";
    for root in &found.roots {
        text += &format!("  {}: files, by type and size\n", clean_path(root));
    }
    for config in &found.configs {
        text += &format!("  {}: what is encoded today\n", clean_path(config));
    }
    for (pattern, files) in &found.logs {
        text += &format!("  {}: {}, requests by path\n", clean(pattern), count(*files, "log", "logs"));
    }
    text += "Type, with the document root of your site:\n  weigh site";
    text + &found
        .command()
        .iter()
        .map(|word| format!(" {}", clean(word)))
        .collect::<Vec<_>>()
        .join(" \\\n   ")
        + "\n"
}

/// Sentences in lines no wider than the screen.
pub(super) fn wrapped(sentences: &[&str]) -> String {
    let mut lines = vec![String::new()];
    for word in sentences.iter().flat_map(|sentence| sentence.split(' ')) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_owned());
            continue;
        }
        if !lines[last].is_empty() {
            lines[last].push(' ');
        }
        lines[last].push_str(word);
    }
    lines.join("\n") + "\n"
}

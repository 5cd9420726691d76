//! The pages: the list of runs, a run, a run while it measures, and a comparison.

use std::path::Path;

use anyhow::Result;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use weigh_answer::compare::{self, Comparison, Names};
use weigh_answer::format::{self, Options, markdown};
use weigh_answer::page::{self, escape, safe};
use weigh_answer::report::Report;
use weigh_history::{RunRow, State};
use weigh_model::text::clean_lines;
use weigh_model::units;
use weigh_profile::stored::flames_of_run;
use weigh_run::dir::StoredRun;

/// The style of the server's own pages.
pub const STYLE: &str = include_str!("pages/style.css");
/// The program of the page of a run that is measuring.
pub const PROGRAM: &str = include_str!("pages/live.js");

/// What stands in a link as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// A page, and the policy it is under.
pub struct Page {
    pub html: Vec<u8>,
    pub policy: String,
}

impl Page {
    /// A page of a report or a comparison.
    fn of_report(html: Vec<u8>) -> Page {
        Page { html, policy: page::header_policy() }
    }

    fn own(html: String) -> Page {
        Page { html: html.into_bytes(), policy: super::response::OWN.into() }
    }
}

fn linked(name: &str) -> String {
    utf8_percent_encode(name, PLAIN).to_string()
}

/// A page around a body; `up` leads to the list from where it stands.
fn framed(title: &str, up: &str, head: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"{up}style.css\">\n{head}</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        title = safe(title)
    )
}

/// The list of runs; `more` were left out.
pub fn list_page(runs: &[RunRow], more: usize) -> Page {
    let mut body = String::from("<h1>Runs</h1>\n");
    if runs.is_empty() {
        body.push_str("<p>There are no runs yet. Measure one: <code>weigh run --quick</code></p>\n");
        return Page::own(framed("Runs", "", "", &body));
    }
    body.push_str(
        "<form action=\"compare\" method=\"get\">\n<table>\n<thead><tr><th>Compare</th><th>Run</th><th>Study</th><th>Started (UTC)</th>\
         <th>State</th><th class=\"number\">Configurations</th><th class=\"number\">Size</th></tr></thead>\n<tbody>\n",
    );
    runs.iter().for_each(|run| body.push_str(&row(run)));
    body.push_str("</tbody>\n</table>\n<button type=\"submit\">Compare two runs</button>\n</form>\n");
    if more > 0 {
        body.push_str(&format!(
            "<p>{more} older runs are not shown; <code>weigh runs</code> lists them.</p>\n"
        ));
    }
    Page::own(framed("Runs", "", "", &body))
}

fn row(run: &RunRow) -> String {
    let name = safe(&run.name);
    let link = linked(&run.name);
    let shown = match run.state {
        State::Damaged => name.clone(),
        State::Running => format!("<a href=\"live/{link}\">{name}</a>"),
        _ => format!("<a href=\"run/{link}\">{name}</a>"),
    };
    let choose = |side: &str, label: &str| {
        format!("<label><input type=\"radio\" name=\"{side}\" value=\"{name}\"> {label}</label>")
    };
    let compare = match run.state {
        State::Damaged => String::new(),
        _ => format!("{} {}", choose("a", "A"), choose("b", "B")),
    };
    let why =
        run.damaged.as_deref().map_or_else(String::new, |why| format!("<br><small>{}</small>", safe(why)));
    format!(
        "<tr><td>{compare}</td><td>{shown}{why}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
        safe(run.study.as_deref().unwrap_or("–")),
        safe(run.started.replace('T', " ").trim_end_matches('Z')),
        run.state.name(),
        run.configurations,
        units::bytes(run.bytes),
    )
}

/// The page of the run in this folder: its report in the format `html`, or as text in a build without that.
///
/// # Errors
/// The report cannot be written in that form.
pub fn run_page(folder: &Path, run: &StoredRun) -> Result<Page> {
    let report = run.report();
    let (command, repeat) = (Some(run.file.command_line()), run.file.repeat());
    let flames = flames_of_run(folder).into();
    let options = Options { command, repeat, flames, ..Options::default() };
    let html = format::available().find(|format| format.name() == "html");
    let files = html.map(|format| format.render(&report, &options)).transpose()?;
    match files.and_then(|files| files.into_iter().next()) {
        Some(file) => Ok(Page::of_report(file.bytes)),
        None => text_page(&report, &options),
    }
}

/// The report as text in a page.
fn text_page(report: &Report, options: &Options) -> Result<Page> {
    let files = format::named("markdown")?.render(report, options)?;
    let texts = files.iter().map(|file| clean_lines(&String::from_utf8_lossy(&file.bytes), false));
    let text: String = texts.collect();
    Ok(plain_page(&report.study.title, "../", &text))
}

/// A text in a page, in a build without the page's program; `up` leads to the list.
fn plain_page(title: &str, up: &str, text: &str) -> Page {
    let body = format!(
        "<p><a href=\"{}\">All runs</a></p>\n<p>{}</p>\n<pre>{}</pre>\n",
        if up.is_empty() { "./" } else { up },
        safe(page::MISSING),
        escape(text)
    );
    Page::own(framed(title, up, "", &body))
}

/// The page of a run that is measuring; its program shows the events.
pub fn live_page(name: &str) -> Page {
    let (shown, link) = (safe(name), linked(name));
    let body = format!(
        "<p><a href=\"../\">All runs</a></p>\n<h1>{shown}</h1>\n<p id=\"state\" role=\"status\">Connecting</p>\n\
         <progress id=\"bar\" max=\"1\" value=\"0\" aria-label=\"Configurations done\"></progress>\n<dl>\n\
         <dt>Samples</dt><dd id=\"samples\">–</dd>\n<dt>Failures</dt><dd id=\"failures\">–</dd>\n<dt>Round</dt><dd id=\"round\">–</dd>\n\
         <dt>Configurations done</dt><dd id=\"done\">–</dd>\n<dt>Seconds</dt><dd id=\"seconds\">–</dd>\n<dt>Last sample</dt><dd id=\"last\">–</dd>\n\
         </dl>\n<p><a href=\"../run/{link}\">The report so far</a></p>\n"
    );
    let head = "<script src=\"../live.js\" defer></script>\n<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n";
    Page::own(framed(name, "../", head, &body))
}

/// A comparison of two runs.
///
/// # Errors
/// What keeps it from being made.
pub fn comparison_page(a: (&str, &StoredRun), b: (&str, &StoredRun)) -> Result<Page> {
    let names = Names { a: a.0.to_owned(), b: b.0.to_owned() };
    let comparison = Comparison::of(&a.1.report(), &b.1.report(), names, &[]);
    let blocks = compare::document::page_blocks(&comparison);
    if !page::is_built_in() {
        return Ok(plain_page("Comparison", "", &markdown::text(&blocks, &[], &Options::default())));
    }
    Ok(Page::of_report(page::page(&blocks, &[], None::<&()>)?.into_bytes()))
}

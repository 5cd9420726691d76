//! Blocks as HTML. Every text is escaped here, and nowhere else.

use std::collections::BTreeSet;

use weigh_model::units;

use super::{Block, Picture};
use crate::block::{Step, Tile};
use crate::chart::dark;
use crate::document::FAILURES;
use crate::document::group::RECOMMENDED;
use crate::table::{Columns, Grid, Role, Tone};
use crate::text::{clean, slug};

/// A text in HTML, also inside a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A text from outside: without control characters, and escaped.
pub fn safe(of: &str) -> String {
    escape(&clean(of))
}

/// The same as prose: no line ends within a flag.
fn prose(of: &str) -> String {
    let text = safe(of);
    let words = text.split(' ').map(|word| match word.trim_start_matches('(').starts_with("--") {
        true => format!("<span class=\"flag\">{word}</span>"),
        false => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What is being written: the answer with its chart, and the parts below it.
#[derive(Default)]
struct Body {
    head: String,
    answer: String,
    chart: String,
    failures: String,
    main: String,
    /// The title and the content of the part that is open.
    title: Option<String>,
    part: String,
    parts: usize,
    tables: usize,
    /// All parts are evidence of an answer, or those with tables and files are: they are folded.
    is_run: bool,
    has_tiles: bool,
    paints: BTreeSet<dark::Paint>,
}

/// The body of a page: title and question, the answer beside a chart, the place of the page's program, and the parts, of a run folded; and
/// the style of its charts.
pub(super) fn body(blocks: &[Block], pictures: &[Picture]) -> (String, String) {
    // The report of a run has a place for its charts.
    let is_run = blocks.iter().any(|block| matches!(block, Block::StudyCharts));
    let mut body = Body { is_run, ..Body::default() };
    blocks.iter().for_each(|block| body.add(block, pictures));
    body.close();
    let Body { head, answer, chart, failures, main, paints, .. } = body;
    let section = |id: &str, label: &str, content: String| match content.is_empty() {
        true => String::new(),
        false => format!("<section id=\"{id}\" aria-label=\"{label}\">{content}</section>\n"),
    };
    let chart = if is_run { chart + "\n" } else { chart };
    let first = section("answer", "Answer", answer) + &section("view", "Chart", chart);
    let body = format!(
        "<a class=\"skip\" href=\"#main\">Skip to the answer</a>\n<header id=\"head\">{head}</header>\n<main id=\"main\">\n\
         <div class=\"first\">{first}</div>\n{failures}<section id=\"explore\" aria-label=\"Your own conditions\" hidden></section>\n{main}</main>\n"
    );
    (body, dark::rules(&paints))
}

impl Body {
    /// Where blocks go: title and question into the head, everything before the first part into the answer.
    fn out(&mut self) -> &mut String {
        match (self.title.is_some(), self.answer.is_empty() && !self.head.contains("<p")) {
            (true, _) => &mut self.part,
            (false, true) => &mut self.head,
            (false, false) => &mut self.answer,
        }
    }

    fn push(&mut self, html: &str) {
        self.out().push_str(html);
    }

    /// Ends a part. Failures are before all others.
    fn close(&mut self) {
        let (Some(title), part) = (self.title.take(), std::mem::take(&mut self.part)) else { return };
        self.parts += 1;
        let is_failures = title == FAILURES;
        let is_evidence = self.has_tiles && ["<table", "<pre"].iter().any(|of| part.contains(of));
        let (class, open) = (
            if is_failures { "part failures" } else { "part" },
            if self.is_run || is_evidence { "" } else { " open" },
        );
        let to = if is_failures { &mut self.failures } else { &mut self.main };
        to.push_str(&format!(
            "<details class=\"{class}\" id=\"part-{}-{}\"{open}>\n<summary><h2>{}</h2></summary>\n{part}</details>\n",
            self.parts,
            slug(&title),
            safe(&title)
        ));
    }

    fn add(&mut self, block: &Block, pictures: &[Picture]) {
        match block {
            Block::Heading(1, title) => self.head.push_str(&format!("<h1>{}</h1>\n", safe(title))),
            Block::Heading(2, title) => {
                self.close();
                self.title = Some(title.clone());
            }
            Block::Heading(level, title) => {
                self.push(&format!("<h{level}>{}</h{level}>\n", safe(title)));
            }
            Block::Answer(sentences) => {
                let sentence = |(at, of): (usize, &String)| {
                    let class = if at == 0 { " class=\"lead\"" } else { "" };
                    format!("<p{class}>{}</p>\n", prose(of))
                };
                let mut all: Vec<String> = sentences.iter().enumerate().map(sentence).collect();
                if self.is_run {
                    all.insert(all.len().min(2), "<div id=\"tiles\"></div>\n".into());
                }
                self.answer.push_str(&all.concat());
            }
            Block::Text(of) => self.push(&format!("<p>{}</p>\n", prose(of))),
            Block::Remark(of) if of.is_empty() => {}
            Block::Remark(of) => self.push(&format!("<p class=\"remark\">{}</p>\n", prose(of))),
            Block::Steps(steps) => {
                let is_action = steps.iter().any(|step| !step.change.is_empty());
                let class = if is_action { " class=\"cards\"" } else { "" };
                let items: String = steps.iter().map(if is_action { card } else { item }).collect();
                self.push(&format!("<ol{class}>\n{items}</ol>\n"));
            }
            Block::Tiles(what, tiles) => {
                self.has_tiles = true;
                let tiles: String = tiles.iter().map(tile).collect();
                let what = safe(what);
                self.push(&format!("<p class=\"remark\">{what}</p>\n<dl class=\"tiles\">{tiles}</dl>\n"));
            }
            Block::Points(points) => {
                let items: String = points.iter().map(point).collect();
                self.push(&format!("<ul class=\"points\">\n{items}</ul>\n"));
            }
            Block::Table(grid) => {
                self.tables += 1;
                // The answer has what is most important; the parts have every column.
                let columns = if self.title.is_some() { Columns::All } else { Columns::Few };
                self.push(&table(grid, self.tables, &columns));
            }
            Block::Literal(lines) => self.push(&literal(lines)),
            Block::Loads(loads) => self.push(&super::loads::html(loads)),
            Block::Charts(group) => self.pictures(pictures, Some(*group)),
            Block::StudyCharts => self.pictures(pictures, None),
        }
    }

    fn pictures(&mut self, pictures: &[Picture], group: Option<usize>) {
        for picture in pictures.iter().filter(|picture| picture.group == group) {
            let about = safe(&picture.about);
            let svg = picture.chart.svg();
            // The file starts with a declaration that has no place inside a page.
            let svg = svg.find("<svg").map_or("", |at| &svg[at..]);
            self.paints.extend(dark::colors(svg));
            let figure = format!(
                "<figure class=\"chart\">\n{svg}<figcaption>{about}. The figures are in the tables.</figcaption>\n</figure>\n"
            );
            // The first picture of a run is beside the answer.
            let out = if self.is_run && self.chart.is_empty() { &mut self.chart } else { self.out() };
            out.push_str(&figure);
        }
    }
}

fn literal(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(safe).collect();
    format!("<pre class=\"literal\"><code>{}</code></pre>\n", lines.join("\n"))
}

fn item(step: &Step) -> String {
    format!("<li>{}</li>\n", safe(&step.sentences()))
}

/// Something to do: what, what it brings, what it takes, and what to type.
fn card(step: &Step) -> String {
    let (title, more) = step.text.split_once(". ").unwrap_or((&step.text, ""));
    let change: String = step.change.iter().map(|change| format!("<li>{}</li>", safe(change))).collect();
    let needs = match step.needs.as_slice() {
        [] => "Needs nothing new.".to_owned(),
        needs => format!("Needs {}.", units::list(needs)),
    };
    let deploy = step.deploy.as_ref().map_or("", |_| " Run weigh pack at each deployment.");
    // What goes into a configuration and what is typed are copied one by one.
    let install = (!step.install.is_empty()).then(|| step.install.join("\n"));
    let literal: String = install.iter().chain(&step.deploy).map(|text| literal(text)).collect();
    format!(
        "<li><h3>{}</h3>\n<p>{}</p>\n<ul>{change}</ul>\n<p class=\"remark\">{}{deploy}</p>\n{literal}</li>\n",
        safe(title.trim_end_matches('.')),
        safe(more),
        safe(&needs)
    )
}

fn tile(Tile { name, before, after, change, is_better }: &Tile) -> String {
    let tone = match is_better {
        Some(true) => " good",
        Some(false) => " bad",
        None => "",
    };
    let [name, before, after, change] = [name, before, after, change].map(|of| safe(of));
    format!(
        "<div><dt>{name}</dt><dd>{before} → <b>{after}</b></dd><dd class=\"change{tone}\">{change}</dd></div>\n"
    )
}

fn point((what, remedy): &(String, Option<String>)) -> String {
    let remedy = remedy.as_deref().map(|remedy| format!(" <span class=\"remedy\">→ {}</span>", safe(remedy)));
    format!("<li>{}{}</li>\n", safe(what), remedy.unwrap_or_default())
}

/// A table in a box of its own that scrolls.
fn table(grid: &Grid, number: usize, wanted: &Columns) -> String {
    let (mut shown, _) = grid.chosen(wanted);
    // A column that says nothing takes room from the others.
    shown.retain(|index| grid.texts(*index).iter().any(|text| !text.trim().is_empty()));
    if shown.is_empty() {
        return String::new();
    }
    let columns: Vec<_> = shown.iter().map(|index| &grid.columns[*index]).collect();
    let texts: Vec<_> = shown.iter().map(|index| grid.texts(*index)).collect();
    let class = |column: &crate::table::Column| match (column.kind.is_right(), column.role) {
        (true, _) => " class=\"number\"",
        (false, Role::Note) => " class=\"note\"",
        (false, _) => "",
    };
    let head = |column: &&crate::table::Column| {
        let about = match column.about {
            "" => String::new(),
            about => format!(" title=\"{}\"", escape(about)),
        };
        let unit = match column.unit.as_str() {
            "" => String::new(),
            unit => format!(" <span class=\"unit\">{}</span>", safe(unit)),
        };
        format!("<th scope=\"col\"{}{about}>{}{unit}</th>", class(column), safe(column.name))
    };
    let heads: String = columns.iter().map(head).collect();
    let named = columns.iter().position(|column| column.role == Role::Factor);
    let mut rows = String::new();
    for (row, (tone, _)) in grid.rows.iter().enumerate() {
        let is_recommended = named.is_some_and(|at| texts[at][row].starts_with(RECOMMENDED));
        let tone = match (is_recommended, tone) {
            (true, _) => " class=\"best\"",
            (false, Tone::Strong) => " class=\"strong\"",
            (false, Tone::Dim) => " class=\"dim\"",
            (false, Tone::Plain) => "",
        };
        let cell = |(at, (column, texts)): (usize, (&&crate::table::Column, &Vec<String>))| {
            let content = safe(texts[row].trim());
            match Some(at) == named {
                true => format!("<th scope=\"row\">{content}</th>"),
                false => format!("<td{}>{content}</td>", class(column)),
            }
        };
        let cells: String = columns.iter().zip(&texts).enumerate().map(cell).collect();
        rows.push_str(&format!("<tr{tone}>{cells}</tr>\n"));
    }
    let legend: String = grid
        .legend(&shown)
        .iter()
        .map(|(name, about)| format!("<dt>{}</dt><dd>{}</dd>\n", safe(name), safe(about)))
        .collect();
    let legend = match legend.is_empty() {
        true => String::new(),
        false => format!(
            "<details class=\"legend\"><summary>What the columns mean</summary><dl>{legend}</dl></details>\n"
        ),
    };
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Table {number}\" tabindex=\"0\"><table class=\"grid\">\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{legend}"
    )
}
